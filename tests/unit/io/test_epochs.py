"""Numbers that count time since 1970 become timestamps; the expected moments are computed with Python's fractions."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import inkling
from inkling.errors import InputError

UNITS = {
    "SECONDS": Fraction(1_000_000),
    "MILLISECONDS": Fraction(1000),
    "MICROSECONDS": Fraction(1),
    "NANOSECONDS": Fraction(1, 1000),
}
BASE_US = 1_772_445_600_123_456
COUNTS = [0, 1, -1, 999, -999, 1001, 59_999]


def program(unit: str) -> inkling.Program:
    return inkling.parse(
        f"STREAM S(id INT, t TIMESTAMP) ID id TIME t EPOCH {unit}; EVENT e(s.id AS id) AS PATTERN S s;"
    )


def found(unit: str, column: pa.Array) -> dict[int, int]:
    """Microseconds since 1970 of each row, by the place of the row."""
    table = pa.table({"id": pa.array(range(len(column))), "t": column})
    rows = program(unit).run_local({"S": table})["e"].to_pylist()
    return {row["id"]: (row["start"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) for row in rows}


def exact(count: int, unit: str) -> int:
    """Whole numbers are exact, but nanoseconds are truncated."""
    return floor(count * UNITS[unit])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.uint64(), pa.string(), pa.decimal128(38, 3)])
def test_whole_numbers(unit: str, kind: pa.DataType) -> None:
    now = floor(BASE_US / UNITS[unit])
    counts = [*COUNTS, *(now + count for count in COUNTS)]
    if kind == pa.int32():
        counts = [count for count in counts if abs(count) < 2**31]
    if kind == pa.uint64():
        counts = [count for count in counts if count >= 0]
    column = pa.array([str(count) for count in counts]).cast(kind)
    assert found(unit, column) == {place: exact(count, unit) for place, count in enumerate(counts)}


@pytest.mark.parametrize("unit", ["SECONDS", "MILLISECONDS", "MICROSECONDS"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.string()])
def test_fractions_are_rounded_to_the_nearest_microsecond(unit: str, kind: pa.DataType) -> None:
    counts = [float(BASE_US / UNITS[unit]), 1.25, -0.75, 1e6 + 0.1]
    column = pa.array(counts) if kind == pa.float64() else pa.array([repr(count) for count in counts])
    assert found(unit, column) == {place: round(Fraction(count) * UNITS[unit]) for place, count in enumerate(counts)}


def test_timestamps_stay_timestamps() -> None:
    """The same moment in every spelling; typed timestamps, too."""
    texts = ["1772445600", " 1772445600 ", "1772445600.0", "1.7724456e9", "2026-03-02T10:00:00Z", "2026-03-02 11:00+01"]
    assert set(found("SECONDS", pa.array(texts)).values()) == {1_772_445_600_000_000}
    typed = pa.array([datetime(2026, 3, 2, 10, tzinfo=UTC)])
    assert found("SECONDS", typed) == {0: 1_772_445_600_000_000}


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["x", "", "1e400", "253402300800", "-62135596801", "nan", "0"]),
        pa.array([np.inf, np.nan, -np.inf, 253402300800.0, -62135596801.0, 1e300, 0.0]),
        pa.array([2**62, None, -(2**62), 253402300800, -62135596801, 2**63 - 1, 0]),
    ],
    ids=["text", "double", "integer"],
)
def test_what_is_no_time_is_rejected(column: pa.Array) -> None:
    """All but the last, which is 1970; the first second after the year 9999 and the last before the year 1 are out."""
    table = pa.table({"id": pa.array(range(len(column))), "t": column})
    results = program("SECONDS").run_local({"S": table})
    assert results["e"]["id"].to_pylist() == [6]
    assert len(results.rejects) == 6
    assert set(results.rejects["reason"].to_pylist()) <= {"bad time", "null time"}


def test_intervals_and_other_columns_of_timestamps() -> None:
    text = """STREAM S(id INT, a TIMESTAMP, b TIMESTAMP, sent TIMESTAMP) ID id TIME FROM a TO b EPOCH MILLISECONDS;
    EVENT e(s.sent AS sent) AS PATTERN S s;"""
    (row,) = inkling.parse(text).run_local({"S": [{"id": 1, "a": 1000, "b": 2500, "sent": 3000}]})["e"].to_pylist()
    seconds = [(row[name] - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() for name in ("start", "end", "sent")]
    assert seconds == [1.0, 2.5, 3.0]


def test_a_time_that_is_not_in_the_list_of_columns() -> None:
    text = "STREAM S(id INT) ID id TIME t EPOCH SECONDS; EVENT e AS PATTERN SEQ(S a, S b) WITHIN 1 MINUTE;"
    rows = [{"id": 1, "t": 100}, {"id": 2, "t": 160}, {"id": 3, "t": 161}]
    assert len(inkling.parse(text).run_local({"S": rows})["e"]) == 2


@pytest.mark.parametrize("number", [12, 1_772_445_600, 1_772_445_600_000_000_000])
@pytest.mark.parametrize("typed", [True, False])
def test_integers_are_no_timestamps(number: int, typed: bool, tmp_path: Path) -> None:
    stream = inkling.parse("STREAM S(id INT, t TIMESTAMP) TIME t; EVENT e AS PATTERN S;")
    value = number if typed else str(number)
    helps = {12: "EPOCH SECONDS", 1_772_445_600: "EPOCH SECONDS", 1_772_445_600_000_000_000: "EPOCH NANOSECONDS"}
    with pytest.raises(InputError, match=rf"INK0511[^$]*the first is {number}[^$]*{helps[number]}"):
        stream.run_local({"S": [{"id": 1, "t": value}]})
    with pytest.raises(InputError, match="INK0511"):
        stream.open().push({"S": [{"id": 1, "t": value}]})
