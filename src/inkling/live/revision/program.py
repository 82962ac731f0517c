"""A whole program whose past may change, in one process: ledgers of its streams, then its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.live.chain import concatenated
from inkling.live.clocks import Marks
from inkling.live.late import no_late_rows, reported
from inkling.live.parts import Part
from inkling.live.program import Outcome
from inkling.live.reading import Reading
from inkling.live.revision.books import Books, readers_of
from inkling.live.revision.chain import AnyStage, AnyState, RevisedChain, Told, rewindowed, viewed
from inkling.live.revision.matches import shown_table
from inkling.live.revision.snapshot import books_from_bytes, books_to_bytes, state_from_bytes, state_to_bytes
from inkling.live.stage import LiveStage, LiveState
from inkling.logical.evaluate import Surroundings
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema


@dataclass(frozen=True, slots=True)
class RevisedState:
    """The ledgers, one state per stage, and how many rows of each stream have come. A step uses it up."""

    books: Books
    stages: tuple[AnyState, ...]
    n_read: Mapping[str, int]


class RevisedProgram:
    """Takes the place of `LiveProgram` where streams withdraw rows or are not waited for."""

    def __init__(
        self,
        plan: PhysicalPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        around: Surroundings,
    ) -> None:
        self._plan, self._around = plan, around
        self._clock = next(iter(clocks.values()), Clock.TICKS)
        self._chain = RevisedChain(plan, tables, around)
        self._streams = [stream for stream in plan.program.streams if stream.schema.name in clocks]
        self._read = Reading(self._streams, clocks)

    @property
    def stages(self) -> Sequence[AnyStage]:
        return self._chain.stages

    def start(self) -> RevisedState:
        return self.at({})

    def at(self, n_read: Mapping[str, int]) -> RevisedState:
        """Nothing is known yet, but so many rows were read."""
        return RevisedState(self._books(), self._chain.start(), n_read)

    def watermark(self, state: RevisedState) -> int:
        """The time up to which everything that is known was told."""
        return self._chain.watermark(state.stages)

    def viewed(self, state: RevisedState) -> list[tuple[LiveStage, LiveState]]:
        """The stages with what they remember, as things look now."""
        return [viewed(*pair) for pair in zip(self.stages, state.stages, strict=True)]

    def dumped(self, state: RevisedState) -> list[bytes]:
        return [books_to_bytes(state.books), *(state_to_bytes(stage) for stage in state.stages)]

    def loaded(self, parts: Sequence[bytes], n_read: Mapping[str, int]) -> RevisedState:
        books = books_from_bytes(self._books(), parts[0])
        return RevisedState(books, tuple(map(state_from_bytes, parts[1:])), n_read)

    def step(
        self, state: RevisedState, raw: Mapping[str, pa.Table], said: Marks | None = None
    ) -> tuple[RevisedState, Outcome]:
        """Take in raw rows of some streams, and what was `said` about time."""
        read = self._read(raw, state.n_read)
        latest = {name: int(some[r.END].to_numpy().max()) for name, some in read.rows.items() if len(some)}
        news = Marks.together([said or Marks(), Marks(latest)])
        parts: list[Part] = []
        late, rejects = [no_late_rows()], [read.rejects]
        for name, entered in state.books.enter(read.rows, read.withdrawals, news).items():
            parts += self._chain.parts(name, entered.withdrawn, withdrawn=True)
            parts += self._chain.parts(name, entered.added, withdrawn=False)
            late.append(entered.late)
            rejects.append(entered.rejects)
        stages, told = self._chain.advance(state.stages, parts, news)
        refused = concatenated([*rejects, told.rejects])
        outcome = Outcome({}, reported(concatenated([*late, told.late]), self._clock), refused, self._shown(told))
        return RevisedState(state.books, stages, read.n_read), outcome

    def rewindowed(self, state: RevisedState) -> RevisedState:
        """A state that goes on with the windows of the program as it is compiled now."""
        state.books.rewindowed(readers_of(self._plan, self._around))
        stages = (rewindowed(*pair) for pair in zip(self.stages, state.stages, strict=True))
        return replace(state, stages=tuple(stages))

    def _books(self) -> Books:
        return Books([stream.schema for stream in self._streams], readers_of(self._plan, self._around))

    def _shown(self, told: Told) -> dict[str, pa.Table]:
        """What was taken back, then what was told, in the public columns."""
        shown = {}
        for stage in self._plan.stages:
            for step in stage.steps:
                event, name = step.event, step.event.name
                schema = result_schema(event, stage.id_type, self._clock)
                tables = [schema.empty_table()]
                for found, op in ((told.withdrawn.get(name), "-"), (told.added.get(name), "+")):
                    if found is not None:
                        tables.append(shown_table(event, found, self._clock, op).cast(schema))
                shown[name] = pa.concat_tables(tables)
        return shown
