"""Late rows as users see them."""

from datetime import UTC, datetime

import pyarrow as pa

from inkling.model.time import Clock
from inkling.runtime.late import LATE_SCHEMA, reported, reported_schema

ROWS = [
    {"stream": "Door", "id": "d1", "time": 1_500_000, "delay": 2_500_000, "row": '{"room": "lab"}'},
    {"stream": "Door", "id": "d1", "time": 1_500_000, "delay": 2_500_000, "row": '{"person": "ada"}'},
    {"stream": "Door", "id": "d2", "time": 1_500_000, "delay": 2_500_000, "row": "{}"},
]


def test_what_several_stages_missed_is_told_once() -> None:
    told = reported(pa.Table.from_pylist(ROWS, LATE_SCHEMA), Clock.TICKS)
    assert sorted((row["id"], row["time"], row["delay"]) for row in told.to_pylist()) == [
        ("d1", 1_500_000, 2_500_000),
        ("d2", 1_500_000, 2_500_000),
    ]


def test_times_of_the_calendar() -> None:
    told = reported(pa.Table.from_pylist(ROWS[2:], LATE_SCHEMA), Clock.TIMESTAMP)
    assert told.schema == reported_schema(Clock.TIMESTAMP)
    assert told["time"].to_pylist() == [datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)]
    assert told["delay"].to_pylist() == [2.5]


def test_NO_LATE_ROWS_have_the_same_columns() -> None:
    for clock in Clock:
        assert reported(LATE_SCHEMA.empty_table(), clock).schema == reported_schema(clock)
