"""Every golden case of `tests/golden`: a query and its events."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tests.conformance.case import Case
from tests.golden.test_golden import read_rows

import inkling
from inkling.meaning.streams import plain
from inkling.model.time import Clock

FOLDER = Path(__file__).parents[1] / "golden"


NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/query.ink")))


def golden_case(name: str) -> Case:
    folder = FOLDER / name
    text = (folder / "query.ink").read_text()
    plan = inkling.parse(text).plan
    rows = {
        stream.schema.name: read_rows(folder / f"{stream.schema.name}.csv", stream.schema.columns)
        for stream in plan.streams
    }
    tables = {table.name: read_rows(folder / f"{table.name}.csv", table.columns) for table in plan.tables}
    on_clock = any(isinstance(row[one.schema.start], datetime) for one in plan.streams for row in rows[one.schema.name])
    numbers = {name: [{one: plain(value) for one, value in row.items()} for row in some] for name, some in rows.items()}
    clock = Clock.TIMESTAMP if on_clock else Clock.TICKS
    return Case(folder.name, "golden", text, (numbers,), tables, clock=clock)
