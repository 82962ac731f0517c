"""A program in the possible worlds of complete streams: few worlds are enumerated, many are sampled.

data = WorldData.of(program, rows, tables, exact_up_to=1024)
data.enumerated()                            # results of components with at most 1024 worlds
data.sampled(sampling, 0, n_worlds, chosen)  # results of the chosen components in sampled worlds
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.evaluators.certain import run_plan
from inkling.evaluators.memory import require_rest, working_on
from inkling.evaluators.protocol import OnWorlds
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.probabilities.batched_worlds import BatchedWorlds, can_batch
from inkling.evaluators.worlds.probabilities.combine import Summed, joined_results, summed
from inkling.evaluators.worlds.probabilities.exact import (
    Choices,
    Components,
    components_of,
    count_worlds,
    enumerate_worlds,
)
from inkling.evaluators.worlds.probabilities.regular import RegularEvent, RegularSums
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.streams.assignment import Weights, WeightType, WorldAssignment, world_rows
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.evaluators.worlds.streams.world_stream import WorldStream, world_stream
from inkling.io.normalize import ID, OWN_ID
from inkling.logical.plan import StreamPlan
from inkling.model.batch import Ints, MatchBatch
from inkling.model.time import FARTHEST, FOREVER
from inkling.physical.plan import PhysicalPlan

ROWS_AT_ONCE = 1 << 18
"""The approximate number of rows, over all worlds, that are evaluated together."""

WORLDS_AT_ONCE = 4096
"""The number of worlds that automata read between two reports of progress."""


@dataclass(frozen=True, slots=True)
class WorldData:
    """Checked rows of all streams with their worlds, and the components that share no match with each other."""

    program: WorldProgram
    streams: tuple[WorldStream, ...]
    tables: Mapping[str, pa.Table]
    parts: Components
    choices: Choices

    @classmethod
    def of(
        cls, program: WorldProgram, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], exact_up_to: int
    ) -> WorldData:
        streams = tuple(
            world_stream(
                one.schema,
                _ordered_by_id(one, rows[one.schema.name]),
                tables,
                program.clock,
                with_empty=one.schema.name in program.compared,
            )
            for one in program.streams
        )
        require_room(program, streams)
        parts = components_of(streams, program.key, program.reach)
        choices = count_worlds(streams, parts, exact_up_to, program.scale, order_only=program.order_only)
        return cls(program, streams, tables, parts, choices)

    @property
    def is_sampled(self) -> np.ndarray:
        """Which components have too many worlds to enumerate."""
        return np.asarray(~np.isfinite(self.choices.n_worlds), bool)

    def enumerated(self, numbers: WeightType = WeightType.FLOAT) -> dict[str, Summed]:
        """Results of the components that are enumerated, with their probabilities, by event."""
        found: list[dict[str, Summed]] = []
        for chunk in self._chunks():
            worlds = enumerate_worlds(self.streams, self.parts, chunk, self.program.scale, numbers)
            assignment = dict(zip((stream.schema.name for stream in self.streams), worlds.assignment, strict=True))
            found.append(self._sums(self.program.physical, self.streams, assignment, worlds.weights))
        return self._joined(found)

    def sampled(
        self, sampling: Sampling, first: int, n_worlds: int, chosen: np.ndarray, on_worlds: OnWorlds | None = None
    ) -> dict[str, Summed]:
        """Results of the chosen components in worlds from `first` on; weights are numbers of worlds."""
        streams, masks = self.restricted(chosen)
        seed = np.uint64(sampling.seed & (2**64 - 1))
        regular = self._regular_sums(streams)
        plan = self.program.irregular
        needed = () if plan is None else tuple(stream.schema.name for stream in plan.program.streams)
        n_rows = max(1, sum(len(stream.rows) for stream in streams if stream.schema.name in needed))
        step = max(1, ROWS_AT_ONCE // n_rows) if plan is not None else WORLDS_AT_ONCE
        batched = self._batched(streams)
        found: list[dict[str, Summed]] = []
        for at in range(first, first + n_worlds, step):
            n = min(step, first + n_worlds - at)
            for one in regular:
                one.sample(seed, at, n, self._in_full)
            if plan is not None:
                assignment = {
                    stream.schema.name: restricted_to(stream.draw(seed, at, n, self.program.scale), mask)
                    for stream, mask in zip(streams, masks, strict=True)
                    if stream.schema.name in needed
                }
                if batched is not None:
                    found.append(self._added_up(batched.matches(assignment, at, n), None))
                else:
                    found.append(self._sums(plan, streams, assignment, None))
            if on_worlds is not None:
                on_worlds(at + n, first + n_worlds)
        return self._joined(found) | {one.regular.event.name: one.results() for one in regular}

    def _regular_sums(self, streams: Sequence[WorldStream]) -> list[RegularSums]:
        """The sums of the events that an automaton counts in all worlds at once."""
        named = {stream.schema.name: stream for stream in streams}
        found = []
        for regular in self.program.regular:
            stream = named[regular.stream]
            assert isinstance(stream, ProbableStream)
            found.append(RegularSums.of(regular, stream, self.tables, self.program.context, self.program.scale))
        return found

    def _in_full(self, regular: RegularEvent, stream: ProbableStream, assignment: WorldAssignment) -> MatchBatch:
        rows = world_rows(stream.rows, stream.tokens, assignment, stream.time_columns, self.program.scale)
        found = run_plan(regular.in_full, {regular.stream: rows}, self.tables, self.program.context)
        return found[regular.event.name]

    def _sums(
        self,
        plan: PhysicalPlan,
        streams: Sequence[WorldStream],
        assignment: Mapping[str, WorldAssignment],
        weights: Weights | None,
    ) -> dict[str, Summed]:
        """The results of a plan in worlds: matches of all worlds added up."""
        program = self.program
        sources = {
            name: world_rows(stream.rows, stream.tokens, assignment[name], stream.time_columns, program.scale)
            for stream in streams
            if (name := stream.schema.name) in assignment
        }
        return self._added_up(run_plan(plan, sources, self.tables, program.context), weights)

    def _added_up(self, matches: Mapping[str, MatchBatch], weights: Weights | None) -> dict[str, Summed]:
        found = {}
        for event in self.program.events:
            if event.name in matches:
                working_on(event.name)
                require_rest(event.name)
                found[event.name] = summed(event, matches[event.name], weights)
        return found

    def _batched(self, streams: Sequence[WorldStream]) -> BatchedWorlds | None:
        """The events as one stage that needs no copy of the rows per world; None if there is no such stage."""
        plan = self.program.irregular
        if plan is None or not can_batch(plan, self.program):
            return None
        return BatchedWorlds.of(plan, self.program, streams, self.tables)

    def _joined(self, found: list[dict[str, Summed]]) -> dict[str, Summed]:
        return {name: joined_results([one[name] for one in found]) for name in (found[0] if found else {})}

    def _chunks(self) -> Iterator[Choices]:
        """The components that are enumerated, in portions that fit into memory."""
        n_rows = np.zeros(self.parts.count)
        for component in self.parts.of_rows:
            np.add.at(n_rows, component, 1)
        finite = np.isfinite(self.choices.n_worlds)
        if not self.parts.count:  # without rows, results are empty tables all the same
            yield self.choices
        if not finite.any():
            return
        cost = np.where(finite, n_rows * np.where(finite, self.choices.n_worlds, 0), 0)
        portion = (np.cumsum(cost) // ROWS_AT_ONCE).astype(np.int64)
        for number in np.unique(portion[finite]):
            here = finite & (portion == number)
            lost = {component: found for component, found in self.choices.lost.items() if here[component]}
            yield replace(self.choices, n_worlds=np.where(here, self.choices.n_worlds, np.inf), lost=lost)

    def restricted(self, chosen: np.ndarray) -> tuple[list[WorldStream], list[np.ndarray | None]]:
        """The streams with only the rows of some components.

        A stream with lost events keeps all rows, and gets a mask.
        """
        streams: list[WorldStream] = []
        masks: list[np.ndarray | None] = []
        for stream, component in zip(self.streams, self.parts.of_rows, strict=True):
            kept = chosen[component]
            if kept.all() or isinstance(stream, LossyStream):
                streams.append(stream)
                masks.append(None if kept.all() else kept)
            else:
                streams.append(world_stream(stream.schema, stream.rows.filter(pa.array(kept))))
                masks.append(None)
        return streams, masks


def restricted_to(assignment: WorldAssignment, mask: np.ndarray | None) -> WorldAssignment:
    """The assignment of those rows that a mask over the rows of the stream selects."""
    return assignment if mask is None else assignment.take(np.flatnonzero(mask[assignment.rows]))


def tokens_behind(lineage: pa.ListArray) -> Ints | None:
    """The tokens in the lineage of some results; None if a result has no lineage, so that any event may matter."""
    if len(lineage) and pc.min(lineage.value_lengths()).as_py() == 0:
        return None
    return np.unique(lineage.flatten().to_numpy())


def components_with(data: WorldData, tokens: Ints | None) -> np.ndarray:
    """Which components hold an event with one of these tokens; all for None."""
    if tokens is None:
        return np.ones(data.parts.count, bool)
    found = np.zeros(data.parts.count, bool)
    for stream, component in zip(data.streams, data.parts.of_rows, strict=True):
        found[component[np.isin(stream.tokens.view(np.int64), tokens)]] = True
    return found


def _ordered_by_id(stream: StreamPlan, rows: pa.Table) -> pa.Table:
    """Rows with their declared id in a further column where derived columns look back in the order of ids."""
    return rows.append_column(OWN_ID, rows[ID]) if stream.derived else rows


def require_room(program: WorldProgram, streams: Sequence[WorldStream]) -> None:
    """Rejects times that are too large for a sub-tick clock, and gaps with more lost events than moments."""
    if program.scale == 1:
        _require_moments(streams)
        return
    farthest = FARTHEST // program.scale
    for stream in streams:
        times = np.concatenate(stream.extents)
        times = np.abs(times[np.abs(times) < FOREVER])  # without a border, the time of a lost event is unlimited
        if times.max(initial=0) > farthest:
            raise InputError.of(
                "INK0559",
                f"the times of `{stream.schema.name}` are too large to place lost events between them",
                notes=(f"with NUMBERED BY, integer times lie within {farthest:,} of zero",),
                helps=("give times as timestamps, or count them from a later origin",),
            )


def _require_moments(streams: Sequence[WorldStream]) -> None:
    for stream in streams:
        if not isinstance(stream, LossyStream):
            continue
        n_lost = np.diff(stream.gaps)
        crowded = np.flatnonzero(stream.high - stream.low <= n_lost)
        if len(crowded):
            gap = crowded[0]
            raise InputError.of(
                "INK0559",
                f"{n_lost[gap]:,} events of `{stream.schema.name}` were lost within"
                f" {stream.high[gap] - stream.low[gap]:,} microseconds",
                notes=("timestamps count microseconds, and events of one key happen one after the other",),
                helps=("leave out the rows around the gap, or check their numbers and times",),
            )
