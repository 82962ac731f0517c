"""The input events that results rest on, found again by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from inkling.io import normalize, read_table
from inkling.io.corrections import corrected_stream
from inkling.logical.plan import StreamPlan
from inkling.model.uncertainty import ImpreciseTime
from inkling.report.data import MemberRow, Scalar

if TYPE_CHECKING:
    from inkling.io import Data

Members: TypeAlias = Mapping[str, MemberRow]
"""The events of one stream by the text of their id; results of several streams spell ids as text."""

INTERNAL = "@"

MOST_STRETCHES = 60
"""A bar of a few hundred pixels shows no more shades than that."""


def members_of(stream: StreamPlan, data: Data, ids: Iterable[str]) -> Members:
    """The events of a stream that have one of these ids."""
    wanted = sorted(set(ids))
    schema = stream.schema
    raw = _rows_with_ids(schema.id, data, wanted, what=schema.name)
    rows = corrected_stream(schema, normalize(raw, schema, [column.name for column in stream.derived])).rows
    rows = rows.filter(pc.is_in(rows["@id"].cast(pa.string()), pa.array(wanted, pa.string())))
    imprecise = schema.doubt if isinstance(schema.doubt, ImpreciseTime) else None
    weights = None if imprecise is None else imprecise.weights
    times = (schema.start, schema.end, weights)
    shown = [name for name in rows.column_names if name[0] != INTERNAL and name not in times]
    found: dict[str, list[MemberRow]] = {}
    for row in rows.to_pylist():
        member = _member(schema.name, row, shown)
        if imprecise is not None:
            given = None if weights is None else row[weights]
            member = replace(member, imprecise=True, weights=in_stretches(given or ()))
        found.setdefault(str(row["@id"]), []).append(member)
    return {name: _either(alternatives) for name, alternatives in found.items()}


def in_stretches(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights of single moments added up over stretches of equal length, of which there are not too many.

    >>> in_stretches([0.5, 0.25, 0.25]), len(in_stretches([1.0] * 1000))
    ((0.5, 0.25, 0.25), 59)
    """
    size = max(1, -(-len(weights) // MOST_STRETCHES))
    full = [fsum(weights[first : first + size]) for first in range(0, len(weights), size)]
    rest = len(weights) % size
    if rest:
        full[-1] *= size / rest  # the last stretch is shorter, and its shade means weight per moment
    return tuple(full)


def _either(alternatives: list[MemberRow]) -> MemberRow:
    """Alternatives of one event as one; values that differ stand side by side, in the order of the rows."""
    first = alternatives[0]
    values: dict[str, Scalar] = {}
    for name, value in first.values.items():
        every = [one.values.get(name) for one in alternatives]
        values[name] = value if all(one == value for one in every) else " | ".join(map(str, every))
    return replace(first, values=values)


def _member(stream: str, row: Mapping[str, object], shown: list[str]) -> MemberRow:
    identity, start, end = row["@id"], row["@start"], row["@end"]
    assert isinstance(identity, str | int)
    assert isinstance(start, int)
    assert isinstance(end, int)
    values = {name: _scalar(row[name]) for name in shown if row[name] != identity}
    return MemberRow(identity, stream, start, end, values)


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _rows_with_ids(id_column: str | None, data: Data, ids: list[str], *, what: str) -> pa.Table:
    """All rows that can have one of the ids; a column file is not read as a whole for a few of them."""
    if id_column is None:
        return read_table(data, what=what)
    if isinstance(data, str | Path) and Path(data).suffix == ".parquet":
        files = pa.dataset.dataset(data, format="parquet")
        has_id = pc.field(id_column).cast(pa.string()).isin(pa.array(ids, pa.string()))
        return files.to_table(filter=has_id)
    if hasattr(data, "toArrow"):
        from pyspark.sql import functions as fn

        return data.where(fn.col(id_column).cast("string").isin(ids)).toArrow()
    return read_table(data, what=what)
