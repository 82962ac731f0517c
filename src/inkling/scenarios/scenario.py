"""Scenarios: streams generated block by block, background tables, and the ground truth."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa

Streams: TypeAlias = dict[str, pa.RecordBatch]
"""The rows of one time range, by name of the stream."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The ground truth of a data set.

    `episodes` counts the complete injected episodes; `matches` is the exact number of results of the event of that name
    in the example program. Events that are not in `matches` may also match by chance.
    """

    scenario: str
    seed: int
    keys: int
    rows: Mapping[str, int]
    episodes: Mapping[str, int]
    matches: Mapping[str, int] = field(default_factory=dict)


class Scenario(Protocol):
    """Protocol: one domain, size and seed; `blocks` can be iterated once, and `truth` is complete afterwards."""

    streams: Mapping[str, pa.Schema]
    main: str  # the main stream: `events` is its number of rows

    def tables(self) -> dict[str, pa.Table]:
        """The background tables by file name without suffix."""
        ...

    def blocks(self) -> Iterator[Streams]:
        """All streams in order of time, in blocks of any size."""
        ...

    def truth(self) -> Truth: ...


@runtime_checkable
class HasVariants(Protocol):
    """Protocol: a scenario with variants of the same events, such as the ground truth or a baseline assumption."""

    def variants(self) -> Mapping[str, Scenario]:
        """The variants by name; each generates the events again."""
        ...


@runtime_checkable
class HasExtraTables(Protocol):
    """Protocol: a scenario with tables that its example program does not read."""

    def extra_tables(self) -> Mapping[str, pa.Table]:
        """These tables by file name without suffix; pattern libraries or inference read them."""
        ...


def in_chunks(scenario: Scenario, chunk_rows: int) -> Iterator[Streams]:
    """The rows of a scenario in chunks of `chunk_rows` rows of the main stream.

    Other streams are cut at the time of the last main row of a chunk; later rows belong to the last chunk.
    """
    held = {name: schema.empty_table() for name, schema in scenario.streams.items()}
    for block in scenario.blocks():
        held = {name: pa.concat_tables([rows, pa.table(block[name])]) for name, rows in held.items()}
        while held[scenario.main].num_rows > chunk_rows:
            border = held[scenario.main]["t"][chunk_rows - 1]
            cuts = {name: _rows_until(rows, border) for name, rows in held.items()}
            cuts[scenario.main] = chunk_rows
            yield {name: _as_batch(rows.slice(0, cuts[name])) for name, rows in held.items()}
            held = {name: rows.slice(cuts[name]) for name, rows in held.items()}
    yield {name: _as_batch(rows) for name, rows in held.items()}


def _rows_until(rows: pa.Table, border: pa.Scalar) -> int:
    times = rows["t"].cast(pa.int64()).to_numpy()
    return int(np.searchsorted(times, border.cast(pa.int64()).as_py(), side="right"))


def _as_batch(rows: pa.Table) -> pa.RecordBatch:
    batches = rows.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=rows.schema)
