"""The stages of a plan one after the other: each reads checked rows and what the stages before it derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from inkling.evaluators.stage.engine import source_table
from inkling.io.rejects import NO_REJECTS
from inkling.live.clocks import Marks
from inkling.live.late import no_late_rows
from inkling.live.parts import Part, SourceReader
from inkling.live.stage import LiveStage, LiveState
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import MatchBatch
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class Moved:
    """What all stages found in a step; `late` rows are in the clock's units."""

    matches: Mapping[str, MatchBatch]
    late: pa.Table
    rejects: pa.Table


class StageChain:
    """Compiled once; its states are values of their own."""

    def __init__(
        self, plan: PhysicalPlan, tables: Mapping[str, pa.Table], around: Surroundings, *, distinct: bool = False
    ) -> None:
        """`distinct` promises that no row is a repeat of another."""
        self._plan, self._tables, self._around = plan, tables, around
        self.stages = [LiveStage.of(plan, stage.number, tables, around, distinct=distinct) for stage in plan.stages]
        self._readers: dict[str, SourceReader] = {}

    def start(self) -> tuple[LiveState, ...]:
        return tuple(stage.start() for stage in self.stages)

    def parts(self, source: str, rows: pa.Table, *, withdrawn: bool = False) -> Iterable[Part]:
        """What checked rows of a stream, or derived events, are to the stages that read them."""
        if source not in self._readers:
            self._readers[source] = SourceReader(self._plan, source, self._tables, self._around)
        return self._readers[source](rows, withdrawn=withdrawn) if self._readers[source].has_readers else ()

    def advance(
        self, states: Sequence[LiveState], parts: Iterable[Part], news: Marks
    ) -> tuple[tuple[LiveState, ...], Moved]:
        """Every stage takes in its parts and the news about time."""
        parts = list(parts)
        matches: dict[str, MatchBatch] = {}
        after, late, rejects = [], [no_late_rows()], [NO_REJECTS]
        for stage, before in zip(self.stages, states, strict=True):
            state, step = stage.advance(before, [part for part in parts if part.stage == stage.number], news)
            after.append(state)
            late.append(step.late)
            rejects.append(step.rejects)
            matches.update(step.found.matches)
            for name, found in step.found.matches.items():
                if len(found):
                    parts += self.parts(name, source_table(found))
        return tuple(after), Moved(matches, concatenated(late), concatenated(rejects))


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of one schema one after the other; most of them are empty."""
    some = [table for table in tables if len(table)] or [tables[0]]
    return some[0] if len(some) == 1 else pa.concat_tables(some)
