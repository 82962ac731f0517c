"""Published cases, and values counted by hand, through the example programs about intervals and knowledge."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from inkling import Program, load
from inkling.generate import generate, scenario
from inkling.results import Results
from inkling.testing.arrow import arrow_streams, arrow_tables

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("traffic", "alarms", "heat", "stocks", "supply_chain")
NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
MPH = 1.609344

Rows = Sequence[Mapping[str, object]]


@cache
def example(name: str, ending: str = "ink") -> Program:
    return load(EXAMPLES / name / f"{name}.{ending}")


def found(
    name: str, streams: Mapping[str, Rows], tables: Mapping[str, Rows], event: str, *columns: str
) -> list[tuple[object, ...]]:
    """Columns of an event's results; times are told in minutes, and ids are given."""
    program = example(name)
    rows = {
        stream: [{**row, "id": number, "t": NOON + timedelta(minutes=float(str(row["t"])))} for number, row in numbered]
        for stream, numbered in ((stream, list(enumerate(some))) for stream, some in streams.items())
    }
    for stream in program.plan.streams:
        if stream.schema.columns["id"].type.name == "STRING" if isinstance(stream.schema.columns, dict) else False:
            rows[stream.schema.name] = [{**row, "id": str(row["id"])} for row in rows.get(stream.schema.name, [])]
    results = program.run_local(arrow_streams(program.plan, rows), arrow_tables(program.plan, tables))
    assert results.rejects.num_rows == 0
    return sorted(tuple(_told(row[column]) for column in columns) for row in results.tables[event].to_pylist())


def _told(value: object) -> object:
    return (value - NOON) / timedelta(minutes=1) if isinstance(value, datetime) else value
