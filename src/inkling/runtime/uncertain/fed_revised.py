"""Raw rows of uncertain streams whose past may change: checked, entered and withdrawn, told with probabilities."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.sampling import Sampling
from inkling.live.chain import concatenated
from inkling.live.clocks import Marks
from inkling.live.late import no_late_rows, reported
from inkling.live.program import Outcome
from inkling.live.reading import Reading
from inkling.live.revision.books import Books
from inkling.live.revision.snapshot import books_from_bytes, books_to_bytes
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.uncertain.fed import no_results, reported_here
from inkling.runtime.uncertain.revised import RevisableWorlds, RevisedWorlds


@dataclass(frozen=True, slots=True)
class FedRevisedState:
    """The ledgers, all worlds, and how many rows of each stream have come. A step uses it up."""

    books: Books
    worlds: RevisableWorlds
    n_read: Mapping[str, int]


class FedRevisedWorlds:
    """Takes the place of `FedWorlds` where streams withdraw rows or are not waited for."""

    n_parts = 2  # of `dumped`

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
    ) -> None:
        self._worlds = RevisedWorlds(plan, tables, around, measure, sampling)
        self._plan, self._clock = plan, measure.clock
        names = [stream.schema.name for stream in plan.program.streams]
        self._read = Reading(plan.program.streams, dict.fromkeys(names, measure.clock))

    @property
    def streams(self) -> Collection[str]:
        return self._worlds.live.streams

    def start(self) -> FedRevisedState:
        return self.at({})

    def at(self, n_read: Mapping[str, int]) -> FedRevisedState:
        """Nothing is known yet, but so many rows were read."""
        return FedRevisedState(self._books(), self._worlds.start(), n_read)

    def watermark(self, state: FedRevisedState) -> int:
        return self._worlds.decided(state.worlds)

    def dumped(self, state: FedRevisedState) -> list[bytes]:
        return [books_to_bytes(state.books), self._worlds.to_bytes(state.worlds)]

    def loaded(self, parts: Sequence[bytes], n_read: Mapping[str, int]) -> FedRevisedState:
        books, worlds = parts
        return FedRevisedState(books_from_bytes(self._books(), books), self._worlds.from_bytes(worlds), n_read)

    def rewindowed(self, state: FedRevisedState) -> FedRevisedState:
        """A state that goes on with the windows of the program as it is compiled now."""
        state.books.rewindowed(self._worlds.readers)
        return replace(state, worlds=self._worlds.rewindowed(state.worlds))

    def step(
        self, state: FedRevisedState, raw: Mapping[str, pa.Table], said: Marks | None = None
    ) -> tuple[FedRevisedState, Outcome]:
        """Take in raw rows of some streams, and what was `said` about time."""
        read = self._read(raw, state.n_read)
        news = Marks.together([said or Marks(), self._worlds.marks(read.rows)])
        added, withdrawn, late, rejects = {}, {}, [no_late_rows()], [read.rejects]
        for name, entered in state.books.enter(read.rows, read.withdrawals, news).items():
            added[name], withdrawn[name] = entered.added, entered.withdrawn
            late.append(entered.late)
            rejects.append(entered.rejects)
        worlds, told = self._worlds.advance(state.worlds, added, withdrawn, news)
        tables = {
            event.name: told.tables.get(event.name, no_results(self._plan, event, self._clock))
            for event in self._plan.program.events
            if event.name in self._plan.uncertain
        }
        late_rows = reported(concatenated([*late, told.late]), self._clock)
        refused = concatenated([reported_here(self._worlds.live, concatenated(rejects)), told.rejects])
        return FedRevisedState(state.books, worlds, read.n_read), Outcome({}, late_rows, refused, tables)

    def _books(self) -> Books:
        return Books([stream.schema for stream in self._plan.program.streams], self._worlds.readers)
