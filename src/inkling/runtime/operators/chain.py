"""Operators one after the other: each takes in the rows that are addressed to it, and sends on what others read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from inkling.evaluators.stage.engine import source_table
from inkling.io.rejects import NO_REJECTS
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import MatchBatch
from inkling.model.watermarks import Marks
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.late import NO_LATE_ROWS
from inkling.runtime.operators.protocol import UNCERTAIN, Emitted, Operator
from inkling.runtime.parts import Part, SourceReader, concatenated


class Routes:
    """Which operators read a stream or a derived event, and what of its rows."""

    def __init__(
        self,
        staged: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        uncertain: Collection[str] = (),
    ) -> None:
        """`uncertain` names the streams that events over uncertain streams read."""
        self._staged, self._tables, self._around, self._uncertain = staged, tables, around, uncertain
        self._readers: dict[str, SourceReader] = {}

    def __call__(self, source: str, rows: MatchBatch | pa.Table, *, withdrawn: bool = False) -> Iterator[Part]:
        """What rows are to those that read them."""
        if source not in self._readers:
            self._readers[source] = SourceReader(self._staged, source, self._tables, self._around)
        reader, is_uncertain = self._readers[source], source in self._uncertain
        if not len(rows) or not (is_uncertain or reader.has_readers):
            return
        table = source_table(rows) if isinstance(rows, MatchBatch) else rows
        if is_uncertain:
            yield Part(UNCERTAIN, source, table, withdrawn)
        yield from reader(table, withdrawn=withdrawn)


class OperatorChain:
    """Takes rows through all operators in one process."""

    def __init__(self, operators: Sequence[Operator[Any]], routes: Routes) -> None:
        self.operators, self.routes = operators, routes

    def start(self) -> tuple[Any, ...]:
        return tuple(operator.start() for operator in self.operators)

    def step(self, states: Sequence[Any], parts: Iterable[Part], marks: Marks) -> tuple[tuple[Any, ...], Emitted]:
        """Every operator takes in its parts and the news about time."""
        parts = list(parts)
        after, emitted = [], []
        for operator, before in zip(self.operators, states, strict=True):
            state, one = operator.step(before, [part for part in parts if part.stage == operator.address], marks)
            after.append(state)
            emitted.append(one)
            for sent in one.onward:
                parts += self.routes(sent.source, sent.rows, withdrawn=sent.withdrawn)
        return tuple(after), _together(emitted)


def _together(emitted: Sequence[Emitted]) -> Emitted:
    return Emitted(
        concatenated([NO_LATE_ROWS, *(one.late for one in emitted)]),
        concatenated([NO_REJECTS, *(one.rejects for one in emitted)]),
        {name: found for one in emitted for name, found in one.matches.items()},
        {name: table for one in emitted for name, table in one.tables.items()},
    )
