"""The account of one event over given inputs: how far its pattern got, and what each of its results rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import pyarrow as pa

from inkling.io import Data
from inkling.local import taken_in
from inkling.model.batch import MatchBatch
from inkling.model.event import Value
from inkling.model.time import Clock
from inkling.physical.runnable import Runnable
from inkling.results import result_table
from inkling.why.progress import Progress, progress_of
from inkling.why.questions import answers, asked_for, needed_part
from inkling.why.trees import Derivation, Fact, Shown, Trees, columns_of
from inkling.why.worlds_of import InWorlds

__all__ = ["Derivation", "Fact", "Shown", "Why"]


class Why:
    """Why an event has the results that it has; made by `Program.why`."""

    def __init__(
        self, program: Runnable, event: str, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None = None
    ) -> None:
        self._event = asked_for(event, program.plan)
        self._plan = needed_part(program.plan, self._event)
        self._given = taken_in(program, inputs, tables)

    @cached_property
    def progress(self) -> Progress:
        """How far the pattern got, part by part; for an uncertain event, in the most probable world."""
        return progress_of(self._event, self._plan, self._given)

    @property
    def clock(self) -> Clock:
        """What times are: numbers, or microseconds since 1970."""
        return self._given.measure.clock

    @cached_property
    def results(self) -> pa.Table:
        """The results that a run reports, in the public columns."""
        return result_table(self._event, self._matches[self._event.name], self._given.measure.clock)

    @property
    def possible(self) -> pa.Table:
        """The results that some world has: those of a run, then those that it leaves out.

        A run leaves out results of an uncertain event that are less probable than CONFIDENCE, or not among the TOP.
        """
        return self.results

    def results_with(self, ids: Iterable[Value]) -> list[int]:
        """The places of the possible results that rest on all these events, counted from 1."""
        wanted = {str(one) for one in ids}
        lineages = self.possible["lineage"].to_pylist()
        return [place for place, ids in enumerate(lineages, start=1) if wanted <= set(map(str, ids))]

    def tree(self, number: int = 1) -> Derivation:
        """What a result rests on; results are counted from 1, in the order of `possible`.

        For an uncertain event, in the most probable world that has the result.
        """
        self._require(number)
        return Trees(self._plan, self._given, self._matches, columns_of(self._plan)).of(self._event, number - 1)

    def worlds(self, number: int = 1) -> InWorlds | None:
        """In which worlds an uncertain event has a result; None if the event is certain."""
        self._require(number)
        return None

    def _require(self, number: int) -> None:
        if not 1 <= number <= len(self.possible):
            raise IndexError(f"expected a result from 1 to {len(self.possible)}, found {number}")

    @cached_property
    def _matches(self) -> Mapping[str, MatchBatch]:
        return answers(self._plan, self._given)
