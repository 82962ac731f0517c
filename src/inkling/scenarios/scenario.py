"""A scenario: streams made block by block, the tables beside them, and a count of what was put in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa

Streams: TypeAlias = dict[str, pa.RecordBatch]
"""Stream name to the rows of one stretch of time."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a data set holds by construction.

    `episodes` counts the complete injected episodes, `matches` the exact number of results of the event of
    that name in the scenario's example program. What is not listed in `matches` may also arise by chance.
    """

    scenario: str
    seed: int
    keys: int
    rows: Mapping[str, int]
    episodes: Mapping[str, int]
    matches: Mapping[str, int] = field(default_factory=dict)


class Scenario(Protocol):
    """One domain, size and seed; `blocks` may be drawn once, and `truth` is complete afterwards."""

    streams: Mapping[str, pa.Schema]
    main: str  # the dense stream: `events` counts its rows

    def tables(self) -> dict[str, pa.Table]:
        """The background tables, by file name without ending."""
        ...

    def blocks(self) -> Iterator[Streams]:
        """Every stream in the order of time, cut where it suits the scenario."""
        ...

    def truth(self) -> Truth: ...


@runtime_checkable
class HasVariants(Protocol):
    """A scenario with variants of the same events: what really happened, or what someone would assume."""

    def variants(self) -> Mapping[str, Scenario]:
        """The variants by name; each draws the events anew."""
        ...


@runtime_checkable
class HasExtraTables(Protocol):
    """A scenario with more tables than its example program reads."""

    def extra_tables(self) -> Mapping[str, pa.Table]:
        """These tables, by file name without ending; pattern libraries or inference read them."""
        ...


def in_chunks(scenario: Scenario, chunk_rows: int) -> Iterator[Streams]:
    """The scenario's rows in pieces of `chunk_rows` rows of the main stream.

    The other streams are cut at the time of a piece's last main row; what happens after the last reading
    rides with the last piece.
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
