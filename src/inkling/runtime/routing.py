"""Routing of rows: which operators read a stream or a derived event, and in which form.

A stage gets stage rows (`evaluators.stage.rows.format`), with conditions evaluated. If columns of a stream look back at
earlier rows, the stage gets rows of the stream, because only its state has the earlier rows.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.engine import source_table
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.keys import buckets_of, is_divisible, keys_of
from inkling.evaluators.stage.rows.prepare import InputReader
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import ProgramPlan
from inkling.model.batch import MatchBatch
from inkling.physical.plan import PhysicalPlan, Stage

GUARD = -4
"""The address of the guard of integer times, which comes before all other operators on Structured Streaming."""
CHANGELOGS = -2
"""The address of the changelogs of streams, which programs with revision have before their stages."""
UNCERTAIN = -3
"""The address of the events over uncertain streams, the last operator. The address of a stage is its number, from 0."""


@dataclass(frozen=True, slots=True)
class RoutedRows:
    """Rows for the operator at an address: stage rows, or rows of a stream."""

    stage: int  # the address: a stage number, `CHANGELOGS` or `UNCERTAIN`
    stream: str | None  # None for stage rows
    rows: pa.Table
    withdrawn: bool = False  # whether the rows are withdrawn, not added


class SourceReader:
    """Makes the rows of one stream or derived event into rows of each stage that reads it; compiled once."""

    def __init__(
        self, plan: PhysicalPlan, source: str, tables: Mapping[str, pa.Table], context: ExpressionContext
    ) -> None:
        stream = plan.program.stream(source)
        self._source = source
        self._looks_back = stream is not None and bool(stream.derived)
        self._readers: dict[int, list[InputReader]] = {}
        for stage in plan.stages:
            if any(step.event.name == source for step in stage.steps):
                continue
            numbers = [number for number, given in enumerate(stage.inputs) if given.source == source]
            if numbers:
                self._readers[stage.number] = [InputReader(stage, number, tables, context) for number in numbers]

    @property
    def has_readers(self) -> bool:
        """Whether any stage reads the source."""
        return bool(self._readers)

    def __call__(self, rows: pa.Table, *, withdrawn: bool = False) -> Iterator[RoutedRows]:
        """Withdrawn rows get no table facts.

        Facts may have changed since the rows arrived, and identity ignores them.
        """
        for stage, readers in self._readers.items():
            if self._looks_back:
                yield RoutedRows(stage, self._source, rows, withdrawn)
                continue
            read = [reader.named(rows) if withdrawn else reader(rows) for reader in readers]
            yield RoutedRows(stage, None, read[0] if len(read) == 1 else pa.concat_tables(read), withdrawn)


class Routes:
    """The readers of all streams and derived events of a plan."""

    def __init__(
        self,
        staged: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        uncertain: Collection[str] = (),
    ) -> None:
        """`uncertain`: the streams that events over uncertain streams read."""
        self._staged, self._tables, self._context, self._uncertain = staged, tables, context, uncertain
        self._readers: dict[str, SourceReader] = {}

    def __call__(self, source: str, rows: MatchBatch | pa.Table, *, withdrawn: bool = False) -> Iterator[RoutedRows]:
        """The rows for each operator that reads the source."""
        if source not in self._readers:
            self._readers[source] = SourceReader(self._staged, source, self._tables, self._context)
        reader, is_uncertain = self._readers[source], source in self._uncertain
        if not len(rows) or not (is_uncertain or reader.has_readers):
            return
        table = source_table(rows) if isinstance(rows, MatchBatch) else rows
        if is_uncertain:
            yield RoutedRows(UNCERTAIN, source, table, withdrawn)
        yield from reader(table, withdrawn=withdrawn)


def divided(part: RoutedRows, plan: PhysicalPlan, n_buckets: int) -> Iterator[tuple[int, RoutedRows]]:
    """Stage rows divided by bucket; rows of one key are always in one bucket."""
    if not len(part.rows):
        return
    buckets = _buckets(part, plan.stages[part.stage], plan.program, n_buckets)
    yield from pieces(part, buckets)


def pieces(part: RoutedRows, buckets: NDArray[np.int64]) -> Iterator[tuple[int, RoutedRows]]:
    if not buckets.any():
        yield 0, part
        return
    order = np.argsort(buckets, kind="stable")
    rows, ordered = part.rows.take(pa.array(order)).combine_chunks(), buckets[order]
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    for first, last in zip([0, *cuts], [*cuts, len(ordered)], strict=True):
        yield int(ordered[first]), RoutedRows(part.stage, part.stream, rows.slice(first, last - first), part.withdrawn)


def _buckets(part: RoutedRows, stage: Stage, program: ProgramPlan, n_buckets: int) -> NDArray[np.int64]:
    if not is_divisible(stage, program):
        return np.zeros(len(part.rows), np.int64)
    return buckets_of(
        keys_of(part.stream or r.STAGE_ROWS, part.rows, stage),
        [r.key_name(place) for place in range(len(stage.key_types))],
        n_buckets,
    )
