"""Rows of a source on their way into stages: what each stage reads of them, in the form in which it keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.chosen import concatenated as concatenated
from inkling.evaluators.stage.owners import Owners, buckets_of, owners_of
from inkling.evaluators.stage.prepare import InputReader
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.plan import PhysicalPlan, Stage


@dataclass(frozen=True, slots=True)
class Part:
    """Rows for one stage: stage rows, or rows of a stream whose derived columns still have to be computed."""

    stage: int
    stream: str | None  # None for stage rows
    rows: pa.Table
    withdrawn: bool = False  # whether these rows never happened


class SourceReader:
    """Makes parts of the rows of one stream or derived event; prepared once, used for any number of batches."""

    def __init__(self, plan: PhysicalPlan, source: str, tables: Mapping[str, pa.Table], around: Surroundings) -> None:
        stream = plan.program.stream(source)
        self._source = source
        self._looks_back = stream is not None and bool(stream.derived)
        self._readers: dict[int, list[InputReader]] = {}
        for stage in plan.stages:
            if any(step.event.name == source for step in stage.steps):
                continue
            numbers = [number for number, given in enumerate(stage.inputs) if given.source == source]
            if numbers:
                self._readers[stage.number] = [InputReader(stage, number, tables, around) for number in numbers]

    @property
    def has_readers(self) -> bool:
        """Whether any stage reads the source."""
        return bool(self._readers)

    def __call__(self, rows: pa.Table, *, withdrawn: bool = False) -> Iterator[Part]:
        """Rows that are withdrawn only have to be known again; what tables say of them may have changed since."""
        for stage, readers in self._readers.items():
            if self._looks_back:
                yield Part(stage, self._source, rows, withdrawn)
                continue
            read = [reader.named(rows) if withdrawn else reader(rows) for reader in readers]
            yield Part(stage, None, read[0] if len(read) == 1 else pa.concat_tables(read), withdrawn)


def divided(part: Part, plan: PhysicalPlan, n_buckets: int) -> Iterator[tuple[int, Part]]:
    """The part cut by bucket; rows of one key are always in one bucket."""
    if not len(part.rows):
        return
    buckets = _buckets(part, plan.stages[part.stage], plan.program, n_buckets)
    yield from pieces(part, buckets)


def pieces(part: Part, buckets: NDArray[np.int64]) -> Iterator[tuple[int, Part]]:
    """The rows of each bucket."""
    if not buckets.any():
        yield 0, part
        return
    order = np.argsort(buckets, kind="stable")
    rows, ordered = part.rows.take(pa.array(order)).combine_chunks(), buckets[order]
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    for first, last in zip([0, *cuts], [*cuts, len(ordered)], strict=True):
        yield int(ordered[first]), Part(part.stage, part.stream, rows.slice(first, last - first), part.withdrawn)


def is_divisible(stage: Stage, program: ProgramPlan) -> bool:
    """Whether a stage's keys can be kept apart; columns that look back along another key need all rows together."""
    if not stage.key_types:
        return False
    for given in stage.inputs:
        stream = program.stream(given.source)
        if stream is not None and stream.derived and given.key != stream.schema.key:
            return False
    return True


def _buckets(part: Part, stage: Stage, program: ProgramPlan, n_buckets: int) -> NDArray[np.int64]:
    if not is_divisible(stage, program):
        return np.zeros(len(part.rows), np.int64)
    return buckets_of(
        keys_of(part.stream, part.rows, stage), [r.key_name(place) for place in range(len(stage.key_types))], n_buckets
    )


def owners_of_part(part: Part, stage: Stage) -> Owners:
    """A hash of the key of each row of a part."""
    return owners_of(keys_of(part.stream, part.rows, stage), len(stage.key_types))


def keys_of(stream: str | None, rows: pa.Table, stage: Stage) -> pa.Table:
    """The key columns that rows of a stream will have as stage rows; stage rows have them."""
    if stream is None:
        return rows
    given = next(one for one in stage.inputs if one.source == stream)
    return pa.table(
        {
            r.key_name(place): rows[column].cast(ARROW_TYPES[kind])
            for place, (column, kind) in enumerate(zip(given.key, stage.key_types, strict=True))
        }
    )
