"""The queries of a program on streams without an end: what is kept of the past, and what is told of each time.

Rows come when all rows of their time have come. Results are told at once; whether something ever happens, at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from inkling.evaluators.stage.derive import with_derived_columns
from inkling.io.normalize import Normalizer
from inkling.logical.plan import Per
from inkling.probable.program import ProbableProgram
from inkling.probable.results import added_up, combined, results_of


@dataclass(frozen=True, slots=True)
class Followed:
    """Per event, the state of what answers it, and what was found so far where only the end can tell."""

    states: Mapping[str, Any] = field(default_factory=dict)
    found: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(frozen=True)
class LiveQueries:
    """Takes in checked rows of the streams in the order of their times."""

    program: ProbableProgram

    @property
    def streams(self) -> list[str]:
        return [stream.schema.name for stream in self.program.part.streams]

    def start(self) -> Followed:
        return Followed({name: one.start() for name, one in self.program.evaluators.items()})

    def no_rows(self) -> dict[str, pa.Table]:
        """Of each stream none."""
        clock = self.program.measure.clock
        return {
            one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
            for one in self.program.part.streams
        }

    def advance(
        self, followed: Followed, fresh: Mapping[str, pa.Table], *, is_over: bool
    ) -> tuple[Followed, dict[str, pa.Table]]:
        """Rows of complete times, later than all before; rows of all streams come, of some none."""
        ready = {
            one.schema.name: with_derived_columns(one, fresh[one.schema.name], self.program.around)
            for one in self.program.part.streams
        }
        states, waiting, told = dict(followed.states), dict(followed.found), {}
        for name, evaluator in self.program.evaluators.items():
            mine = {source: ready[source] for source in evaluator.event.sources}
            if any(map(len, mine.values())):
                states[name], found = evaluator.advance(states[name], mine)
                if evaluator.event.per is Per.VALUES:
                    waiting[name] = added_up([*([waiting[name]] if name in waiting else []), found])
                elif len(found):
                    told[name] = self._results(name, found)
            if is_over and name in waiting:
                told[name] = self._results(name, waiting.pop(name))
        return Followed(states, waiting), told

    def _results(self, name: str, found: pa.Table) -> pa.Table:
        evaluator, program = self.program.evaluators[name], self.program
        whole = combined(evaluator, found)
        return results_of(evaluator.event, whole, program.id_types[name], program.measure.clock)
