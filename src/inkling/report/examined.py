"""The most probable results of uncertain events, examined by a second run over their parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.details.examine import Examined, TimeBin, examine
from inkling.evaluators.worlds.program import WorldProgram
from inkling.local import ingest
from inkling.query import Program
from inkling.report.data import InfluenceRow, TimeShare

if TYPE_CHECKING:
    from inkling.io import Data

MOST_RESULTS = 20
"""The number of results to examine, divided among the events."""

MOST_ROWS = 2_000_000
"""Inputs with more rows are not read a second time."""

Closer = Mapping[tuple[str, int], Examined]
"""By the name of the event and the row in its table."""


def examined(
    program: Program,
    chosen: Mapping[str, pa.Table],
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None,
    sampling: Sampling | None,
    n_rows: int,
) -> Closer:
    """The most probable of the chosen results, examined in worlds; empty if this process cannot read the inputs."""
    if n_rows > MOST_ROWS or not all(is_at_hand(data) for data in inputs.values()):
        return {}
    ingested = ingest(program, inputs, tables)
    uncertain = WorldProgram.of(program.physical, ingested.context, ingested.unit, with_chains=True)
    shown = [event.name for event in uncertain.events if not event.hidden]
    at_most = max(3, MOST_RESULTS // max(1, len(shown)))
    places = {name: _most_probable(chosen[name], at_most) for name in shown}
    results = {name: chosen[name].take(rows) for name, rows in places.items()}
    found = examine(uncertain, ingested.sources, ingested.facts, sampling or Sampling(), results)
    return {
        (name, place): one
        for name, rows in places.items()
        for place, one in zip(rows.to_pylist(), found[name], strict=True)
        if one is not None
    }


def time_shares(bins: tuple[TimeBin, ...]) -> tuple[TimeShare, ...]:
    return tuple(TimeShare(one.low, one.high, one.share) for one in bins)


def influence_rows(one: Examined) -> tuple[InfluenceRow, ...]:
    return tuple(
        InfluenceRow(
            found.event.stream,
            found.event.id if isinstance(found.event.id, str | int) else None,
            found.event.low,
            found.event.high,
            found.without,
            found.share,
        )
        for found in one.influences
    )


def _most_probable(table: pa.Table, n: int) -> pa.Array:
    return pc.sort_indices(table, [("probability", "descending")])[:n].cast(pa.int64())


def is_at_hand(data: Data) -> bool:
    """Whether this process can read the data, which it cannot if they are on Spark."""
    if isinstance(data, str | Path):
        return Path(data).exists()
    return not hasattr(data, "sparkSession")
