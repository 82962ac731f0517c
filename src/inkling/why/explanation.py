"""The explanation of one event over given inputs: how far its pattern got, and what its results depend on.

For an uncertain event also the worlds that have a result, and the uncertain events that decide it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from inkling.evaluators.worlds.details.influence import Influence
from inkling.evaluators.worlds.details.outcomes import Dependence, WorldScenario
from inkling.io import Data
from inkling.knowledge.proofs import Fact, Proofs
from inkling.local import ingest
from inkling.model.batch import MatchBatch
from inkling.model.event import Value
from inkling.model.time import Clock
from inkling.physical.plan import Runnable
from inkling.results import result_table
from inkling.shown import ShownInNotebooks
from inkling.why.progress import PatternProgress, answers, asked_for, needed_part, progress_of
from inkling.why.trees import Derivation, Shown, Trees, columns_of


@dataclass(frozen=True, slots=True)
class WithResult:
    """A world that has the result, and the derivation of the result in it."""

    scenario: WorldScenario
    tree: Derivation


@dataclass(frozen=True, slots=True)
class Looked:
    """The examined worlds: all worlds of the part of the data that contains the result, or a sample of them."""

    n_worlds: int
    n_having: int  # worlds that have the result
    n_events: int  # uncertain events of the part
    is_sample: bool
    error: float = 0.0  # of a sample: maximum distance of the share of worlds from the probability


@dataclass(frozen=True, slots=True)
class LikeliestCourse:
    """The most probable course of events up to a result of a query that an automaton answers, and its derivation.

    `together` is the probability that the events of the derivation happen, whatever else does.
    """

    probability: float
    together: float
    tree: Derivation


@dataclass(frozen=True, slots=True)
class InWorlds:
    """One result of an uncertain event: its probability, its worlds, and the events that it depends on.

    `without` is the probability of the result if an event is removed from all worlds. `looked` is None if the result
    could not be distinguished from others in worlds, or if no examined world has it. `course` is exact, however rare
    the result is; None for results that no automaton answers.
    """

    probability: float
    error: float  # 0 if the probability is exact
    method: str
    left_out: str | None  # the clause by which a run drops the result
    looked: Looked | None = None
    having: tuple[WithResult, ...] = ()
    lacking: tuple[WorldScenario, ...] = ()
    dependences: tuple[Dependence, ...] = ()
    without: tuple[Influence, ...] = ()
    course: LikeliestCourse | None = None


__all__ = ["Derivation", "Fact", "Shown", "Why"]


class Why(ShownInNotebooks):
    """Why an event has the results that it has; made by `Program.why`."""

    def __init__(
        self, program: Runnable, event: str, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None = None
    ) -> None:
        self._event = asked_for(event, program.plan)
        self._plan = needed_part(program.plan, self._event)
        self._ingested = ingest(program, inputs, tables)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.event}>"

    @property
    def event(self) -> str:
        """The name of the event."""
        return self._event.name

    @cached_property
    def progress(self) -> PatternProgress:
        """How far the pattern got, part by part; for an uncertain event, in the most probable world."""
        return progress_of(self._event, self._plan, self._ingested)

    @property
    def clock(self) -> Clock:
        """The clock of times: ticks, or microseconds since 1970."""
        return self._ingested.unit.clock

    @cached_property
    def results(self) -> pa.Table:
        """The results that a run reports, in the public columns."""
        return result_table(self._event, self._matches[self._event.name], self._ingested.unit.clock)

    @property
    def possible(self) -> pa.Table:
        """The results of at least one world: those that a run reports, then those that it drops.

        A run drops results of an uncertain event that are less probable than CONFIDENCE or not among the TOP.
        """
        return self.results

    def results_with(self, ids: Iterable[Value]) -> list[int]:
        """The numbers, from 1, of the possible results that depend on all these events."""
        wanted = {str(one) for one in ids}
        lineages = self.possible["lineage"].to_pylist()
        return [place for place, ids in enumerate(lineages, start=1) if wanted <= set(map(str, ids))]

    def tree(self, number: int = 1) -> Derivation:
        """The derivation of a result, by its number from 1 in `possible`.

        For an uncertain event, the derivation in the most probable world that has the result.
        """
        self._require(number)
        trees = Trees(self._plan, self._ingested, self._matches, columns_of(self._plan), self._proofs)
        return trees.of(self._event, number - 1)

    def worlds(self, number: int = 1) -> InWorlds | None:
        """In which worlds an uncertain event has a result; None if the event is certain."""
        self._require(number)
        return None

    def _require(self, number: int) -> None:
        if not 1 <= number <= len(self.possible):
            raise IndexError(f"expected a result from 1 to {len(self.possible)}, found {number}")

    @cached_property
    def _proofs(self) -> Proofs:
        return Proofs(self._plan, self._ingested.facts, self._ingested.unit)

    @cached_property
    def _matches(self) -> Mapping[str, MatchBatch]:
        return answers(self._plan, self._ingested)
