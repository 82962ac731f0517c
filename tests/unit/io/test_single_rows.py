"""A single row is read as `normalize` reads it, or left to `normalize`."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from inkling import parse
from inkling.io.normalize import Normalizer
from inkling.io.single_rows import SingleRows
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock

NOON = datetime(2024, 5, 1, 12, 30, 15, 250_001)
PLAIN = {"id": "a1", "n": 3, "x": 0.5, "s": "on", "b": True, "seen": NOON, "t": NOON}
VALUES = {
    "id": ["", "é", None, 7],
    "n": [0, -(2**63), 2**63 - 1, 2**63, True, 2.0, "3", None],
    "x": [-0.0, 1, 2**53, 2**60, 1e300, math.nan, math.inf, "0.5", None],
    "s": ["", " ", "ü", "\N{SNOWMAN}", 5, None],
    "b": [False, 1, "true", None],
    "seen": [
        NOON.replace(tzinfo=UTC),
        NOON.replace(tzinfo=timezone(timedelta(hours=-5))),
        NOON.replace(tzinfo=ZoneInfo("Europe/Vienna")),
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
        datetime(1969, 12, 31, 23, 59, 59, 1),
        "2024-05-01T12:30:15Z",
        None,
    ],
    "t": [NOON.replace(tzinfo=UTC), datetime(1, 1, 1), datetime(9999, 12, 31), NOON.date(), None],
}
LEFT_TO_NORMALIZE = {"id": [None, 7], "n": [2**63, True, 2.0, "3"], "t": [None]}


def _schema(declared: str) -> StreamSchema:
    return parse(f"STREAM S({declared}; EVENT e AS PATTERN S a;").plan.streams[0].schema


POINTS = _schema("id STRING, n INT, x DOUBLE, s STRING, b BOOLEAN, seen TIMESTAMP, t TIMESTAMP) ID id TIME t")


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in VALUES.items() for value in values])
def test_a_row_is_what_normalize_makes_of_it(name: str, value: object) -> None:
    rows, given = SingleRows.of(POINTS, (), Clock.TIMESTAMP), {**PLAIN, name: value}
    assert rows is not None
    row = rows(given, 1)
    if row is None:
        return
    expected = Normalizer(POINTS, (), Clock.TIMESTAMP)(pa.Table.from_pylist([given]))
    assert not len(expected.rejects)
    assert rows.table([row]).equals(expected.rows)


@pytest.mark.parametrize(("name", "value"), [(name, one) for name, some in LEFT_TO_NORMALIZE.items() for one in some])
def test_other_rows_are_left_to_normalize(name: str, value: object) -> None:
    rows = SingleRows.of(POINTS, (), Clock.TIMESTAMP)
    assert rows is not None
    assert rows({**PLAIN, name: value}, 1) is None


def test_plain_rows_are_read() -> None:
    rows = SingleRows.of(POINTS, (), Clock.TIMESTAMP)
    assert rows is not None
    assert rows(PLAIN, 1) is not None
    assert rows({"id": "a1"}, 1) is None, "a column is missing"


def test_intervals_without_ids() -> None:
    shifts = _schema("began BIGINT, ended BIGINT) TIME FROM began TO ended")
    rows = SingleRows.of(shifts, (), Clock.TICKS)
    assert rows is not None
    row = rows({"began": 3, "ended": 5}, 7)
    assert row is not None
    expected = Normalizer(shifts, (), Clock.TICKS)(pa.table({"began": [3], "ended": [5]}), np.array([7]))
    assert rows.table([row]).equals(expected.rows)
    assert rows({"began": 5, "ended": 3}, 8) is None, "it ends before it starts"
