"""How the work in worlds is divided: by key, or without a common key by shares of the worlds.

With a key, a piece holds all rows of some keys and answers them completely. Without one, each piece holds all rows; it
enumerates its share of the components and samples its share of the worlds, and the sums of all pieces are added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.evaluators import result_rows as rr
from inkling.evaluators.division import (
    IDENTITY,
    ByKey,
    ByWorlds,
    Carried,
    EvaluatorPart,
    EventMatches,
    Note,
    Piece,
    Share,
    SummedPart,
)
from inkling.evaluators.gaps.rows import RolesOf
from inkling.evaluators.protocol import Rows
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.worlds.answer import (
    Rejection,
    WorldCounts,
    estimates,
    event_ids_by_event,
    first_sample,
    rejection,
    with_further_worlds,
)
from inkling.evaluators.worlds.probabilities.combine import Summed, merged
from inkling.evaluators.worlds.probabilities.estimate import Estimate, exact_estimate, sampled_estimate
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData, components_with, tokens_behind
from inkling.logical.plan import Demand, EventPlan, StreamPlan
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.physical.naming import physical_name

TASKS_PER_CORE = 2
"""More tasks than cores, because keys differ in their number of worlds."""

PASS, WORLD, WEIGHT, TOKENS = "@pass", "@world", "@weight", "@tokens"

ENUMERATED, SAMPLED, FURTHER = 0, 1, 2
"""Values of `PASS`: sums over all worlds, over the first sample, over the second sample for undecided results."""


@dataclass(frozen=True, slots=True)
class WorldNotes:
    """Combines the notes of pieces: numbers of worlds, and rejections of events that demand EXACT."""

    demands: bool
    n_further: int = 0

    def text(self, notes: Sequence[Any]) -> str:
        every = WorldCounts.merged(note for note in notes if isinstance(note, WorldCounts))
        return str(replace(every, n_further=max(every.n_further, self.n_further)))

    def rejection(self, notes: Sequence[Any]) -> InputError | None:
        rejected = [note for note in notes if isinstance(note, Rejection)]
        return min(rejected, key=lambda one: (one.event, one.part)).error if rejected else None


@dataclass(frozen=True, kw_only=True)
class _WorldPart:
    """The common part of both divisions."""

    program: WorldProgram
    tables: Mapping[str, pa.Table]
    sampling: Sampling

    def _data(self, rows: Rows) -> WorldData:
        return WorldData.of(self.program, rows, self.tables, self.sampling.exact_up_to)


@dataclass(frozen=True, kw_only=True)
class WorldsOfKeys(_WorldPart, EvaluatorPart):
    """Pieces hold all rows of some keys; no match crosses keys."""

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches | Note]:
        data = self._data(rows)
        if (rejected := rejection(data, self.sampling)) is not None:
            yield Note(rejected)
            return
        found, counts = estimates(data, self.sampling)
        names = event_ids_by_event(data)
        for event in self.events:
            for one in found[event.name]:
                ids = names[event.name].lineage(one.results.lineage)
                yield EventMatches(event.name, one.matches(event, ids, self.program.scale))
        yield Note(counts)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Results that need a second sample: identities by event number, and the tokens of their lineage (None: any)."""

    identities: Mapping[int, Hashes]
    tokens: Ints | None


@dataclass(frozen=True, kw_only=True)
class WorldsInShares(_WorldPart, SummedPart):
    """Pieces hold all rows; each enumerates its share of the components and samples its share of the worlds."""

    undecided: Undecided | None = None  # given for the second sample

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[pa.Table | Note]:
        share, data = piece if isinstance(piece, Share) else Share(), self._data(rows)
        rejected = rejection(data, self.sampling) if self.undecided is None else None
        if rejected is not None:
            yield from [Note(rejected)] if share.number == 0 else []
            return
        names = event_ids_by_event(data)
        passes = self._first(data, share) if self.undecided is None else self._further(data, share, self.undecided)
        for number, found in passes:
            for event in self.events:
                if event.name in found:
                    ids = names[event.name].lineage(found[event.name].lineage)
                    yield self._rows(event, number, found[event.name], ids)
            if number == SAMPLED and share.number == 0:
                n_worlds, _ = self.sampling.plan(self.events)
                yield Note(WorldCounts.of(data, n_worlds if found else 0))

    def _first(self, data: WorldData, share: Share) -> Iterator[tuple[int, Mapping[str, Summed]]]:
        n_worlds, _ = self.sampling.plan(self.events)
        enumerated = _parts_of_share(data, share).enumerated()
        sampled_only = {event.name for event in self.events if event.demand is Demand.SAMPLED}
        yield ENUMERATED, {name: sums for name, sums in enumerated.items() if name not in sampled_only}
        yield SAMPLED, first_sample(data, self.sampling, *_worlds_of_share(share, n_worlds))

    def _further(
        self, data: WorldData, share: Share, undecided: Undecided
    ) -> Iterator[tuple[int, Mapping[str, Summed]]]:
        n_worlds, _ = self.sampling.plan(self.events)
        first, n = _worlds_of_share(share, (self.sampling.budget - 1) * n_worlds)
        drawn = data.sampled(self.sampling, n_worlds + first, n, components_with(data, undecided.tokens))
        wanted = {}
        for number, identities in undecided.identities.items():
            name = self.events[number].name
            if name in drawn:
                wanted[name] = drawn[name].take(np.flatnonzero(np.isin(drawn[name].identity, identities)))
        yield FURTHER, wanted

    def _rows(self, event: EventPlan, number: int, sums: Summed, ids: pa.ListArray) -> pa.Table:
        """Sums of one event as a table; tokens of the lineage only if a second sample may need them."""
        n = len(sums)
        columns = {
            rr.EVENT: rr.event_column(self.events.index(event), n),
            PASS: pa.array(np.full(n, number, np.int32)),
            r.START: pa.array(sums.start),
            r.END: pa.array(sums.end),
            rr.DETECTED: pa.array(sums.detected_at),
            IDENTITY: pa.array(sums.identity.view(np.int64)),
            WORLD: pa.array(sums.world),
            WEIGHT: pa.array(sums.weight.astype(np.float64)),
            rr.lineage_name(self.ids, self.ids[event.name]): ids,
            **rr.value_columns(event, sums.values),
        }
        if number == SAMPLED and self.may_sample_again:
            columns[TOKENS] = sums.lineage
        return rr.filled(columns, self.sums_schema)

    def added(self, sums: pa.Table) -> Iterator[EventMatches]:
        for number, event in enumerate(self.events):
            for one in self._estimates(sums, number, event):
                further = {IDENTITY: pa.array(one.results.identity.view(np.int64)), TOKENS: one.results.values[TOKENS]}
                yield EventMatches(event.name, one.matches(event, one.results.lineage, self.program.scale), further)

    def _estimates(self, rows: pa.Table, number: int, event: EventPlan) -> list[Estimate]:
        n_worlds, delta = self.sampling.plan(self.events)
        enumerated, sampled, further = (self._sums(rows, number, one) for one in (ENUMERATED, SAMPLED, FURTHER))
        exact = exact_estimate(event, enumerated)
        first = sampled_estimate(event, sampled, n_worlds, delta)
        if self.undecided is None:
            return [exact, first]
        return [exact, *with_further_worlds(event, first, further, self.sampling.budget * n_worlds, delta)]

    def _sums(self, rows: pa.Table, number: int, which: int) -> Summed:
        """Sums of one event over all pieces of a pass; `lineage` holds ids here, and the values hold the tokens."""
        event = self.events[number]
        mine = rows.filter(pc.and_(pc.equal(rows[rr.EVENT], number), pc.equal(rows[PASS], which))).combine_chunks()
        outputs = {one.name: mine[physical_name(one.name, one.type)] for one in (*event.head, *event.returns)}
        return merged(
            Summed(
                mine[IDENTITY].to_numpy().view(np.uint64),
                mine[WORLD].to_numpy(),
                mine[WEIGHT].to_numpy(),
                mine[r.START].to_numpy(),
                mine[r.END].to_numpy(),
                mine[rr.DETECTED].to_numpy(),
                pa.table({**outputs, TOKENS: mine[TOKENS]}),
                mine[rr.lineage_name(self.ids, self.ids[event.name])].combine_chunks(),
            )
        )

    def again(self, undecided: pa.Table) -> WorldsInShares | None:
        if not len(undecided):
            return None
        event, identity = undecided[rr.EVENT].to_numpy(), undecided[IDENTITY].to_numpy().view(np.uint64)
        n_worlds, _ = self.sampling.plan(self.events)
        return replace(
            self,
            undecided=Undecided(
                {int(number): identity[event == number] for number in np.unique(event)},
                tokens_behind(undecided[TOKENS].combine_chunks()),
            ),
            notes=WorldNotes(demands=False, n_further=(self.sampling.budget - 1) * n_worlds),
        )


def world_parts(program: WorldProgram, tables: Mapping[str, pa.Table], sampling: Sampling) -> list[EvaluatorPart]:
    """The work of a program as one part: divided by the common key of its events, or by worlds."""
    events, ids = program.events, {event.name: program.id_types[event.name] for event in program.events}
    common: dict[str, Any] = {"events": events, "ids": ids, "program": program, "tables": tables, "sampling": sampling}
    common["notes"] = WorldNotes(demands=any(event.demand is Demand.EXACT for event in events))
    if program.key:
        division = ByKey({one.schema.name: program.key for one in program.streams}, TASKS_PER_CORE)
        carried = tuple(_of_keys(one, program.key) for one in program.streams)
        return [WorldsOfKeys(**common, carried=carried, division=division)]
    return [
        WorldsInShares(
            **common,
            carried=tuple(Carried.of(one, in_order=True) for one in program.streams),
            division=ByWorlds(sampling.plan(events)[0], TASKS_PER_CORE),
            further=(pa.field(IDENTITY, pa.int64()), pa.field(TOKENS, pa.list_(pa.int64()))),
            sums_schema=_sums_schema(events, ids),
            may_sample_again=sampling.budget > 1 and any(event.confidence is not None for event in events),
        )
    ]


def _of_keys(stream: StreamPlan, key: Sequence[str]) -> Carried:
    schema = stream.schema
    carried = Carried.of(stream, in_order=True, summary=RolesOf.stated(schema))
    return replace(carried, is_distinct=schema.uncertainty is None and not set(key) <= set(schema.key))


def _sums_schema(events: Sequence[EventPlan], ids: Mapping[str, pa.DataType]) -> pa.Schema:
    numbers = [pa.field(PASS, pa.int32()), *(pa.field(name, pa.int64()) for name in (IDENTITY, WORLD))]
    return rr.results_schema(
        events, ids, [*numbers, pa.field(WEIGHT, pa.float64()), pa.field(TOKENS, pa.list_(pa.int64()))]
    )


def _worlds_of_share(share: Share, n_worlds: int) -> tuple[int, int]:
    """The first world of a share, and its number of worlds."""
    first, end = (n_worlds * number // share.count for number in (share.number, share.number + 1))
    return first, end - first


def _parts_of_share(data: WorldData, share: Share) -> WorldData:
    """The data in which only the components of a share are enumerated."""
    mine = np.arange(data.parts.count) % share.count == share.number
    return replace(data, choices=replace(data.choices, n_worlds=np.where(mine, data.choices.n_worlds, np.inf)))
