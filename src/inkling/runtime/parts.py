"""The rows of a source for each stage that reads it, in the columns of that stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.owners import buckets_of, is_divisible, keys_of
from inkling.evaluators.stage.rows.prepare import InputReader
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import ProgramPlan
from inkling.physical.plan import PhysicalPlan, Stage


@dataclass(frozen=True, slots=True)
class RoutedRows:
    """Rows for one stage: stage rows, or stream rows whose derived columns are not computed yet."""

    stage: int
    stream: str | None  # None for stage rows
    rows: pa.Table
    withdrawn: bool = False  # whether these rows never happened


class SourceReader:
    """Turns the rows of one stream or derived event into parts; prepared once, used for any number of batches."""

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
        """Withdrawn rows are matched by identity; facts of tables may have changed since they arrived."""
        for stage, readers in self._readers.items():
            if self._looks_back:
                yield RoutedRows(stage, self._source, rows, withdrawn)
                continue
            read = [reader.named(rows) if withdrawn else reader(rows) for reader in readers]
            yield RoutedRows(stage, None, read[0] if len(read) == 1 else pa.concat_tables(read), withdrawn)


def divided(part: RoutedRows, plan: PhysicalPlan, n_buckets: int) -> Iterator[tuple[int, RoutedRows]]:
    """The part cut by bucket; rows of one key are always in one bucket."""
    if not len(part.rows):
        return
    buckets = _buckets(part, plan.stages[part.stage], plan.program, n_buckets)
    yield from pieces(part, buckets)


def pieces(part: RoutedRows, buckets: NDArray[np.int64]) -> Iterator[tuple[int, RoutedRows]]:
    """The rows of each bucket."""
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
