"""What texts mean as numbers, truths and times, and what they do not mean."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inkling.io.spellings import MisspelledError, read_value
from inkling.model.time import Clock
from inkling.model.types import Type

HOUR_US = 3_600_000_000
LEAP_DAY_US = 1_709_164_800_000_000  # date -d 2024-02-29T00:00:00Z +%s, in microseconds


def read(text: str, kind: Type, clock: Clock = Clock.TIMESTAMP) -> object:
    return read_value(text, kind, clock)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("3.0", 3),
        ("3.", 3),
        (" 5\t", 5),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("", None),
        ("  ", None),
        ("NULL", None),
    ],
)
def test_integers(text: str, value: int | None) -> None:
    assert read(text, Type.INTEGER) == value


@pytest.mark.parametrize(
    "text", ["3.5", "1e3", "0x1F", "9223372036854775808", "seven", "1 2", "1,5", "٣", "--1", "1" * 5000]
)
def test_no_integers(text: str) -> None:
    with pytest.raises(MisspelledError):
        read(text, Type.INTEGER)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+1.5E-2", 0.015),
        ("1e-400", 0.0),
        ("NaN", None),
        ("nan", None),
        ("null", None),
    ],
)
def test_doubles(text: str, value: float | None) -> None:
    assert read(text, Type.DOUBLE) == value


@pytest.mark.parametrize("text", ["1e400", "-1e400", "inf", "Infinity", "1d", "0x1p3", "1_000", "fast"])
def test_no_doubles(text: str) -> None:
    with pytest.raises(MisspelledError):
        read(text, Type.DOUBLE)


@pytest.mark.parametrize("text", ["true", "True", "T", "1", " t "])
def test_true(text: str) -> None:
    assert read(text, Type.BOOLEAN) is True


@pytest.mark.parametrize("text", ["false", "FALSE", "f", "0"])
def test_false(text: str) -> None:
    assert read(text, Type.BOOLEAN) is False


@pytest.mark.parametrize("text", ["yes", "no", "on", "2", "1.0"])
def test_neither_true_nor_false(text: str) -> None:
    with pytest.raises(MisspelledError):
        read(text, Type.BOOLEAN)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-02-29", LEAP_DAY_US),
        ("2024-02-29T00", LEAP_DAY_US),
        ("2024-02-29 01:00", LEAP_DAY_US + HOUR_US),
        ("2024-02-29T01:00:00Z", LEAP_DAY_US + HOUR_US),
        ("2024-02-29T01:00:00.5z", LEAP_DAY_US + HOUR_US + 500_000),
        ("2024-02-29T01:00:00+01:00", LEAP_DAY_US),
        ("2024-02-29T01:00:00+0100", LEAP_DAY_US),
        ("2024-02-29T01:00:00+01", LEAP_DAY_US),
        ("2024-02-28T22:30:00-01:30", LEAP_DAY_US),
        ("2024-02-29T00:00:00.123456789", LEAP_DAY_US + 123_456),
        ("1969-12-31T23:59:59.9999999", -1),
        ("0001-01-01", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999", 253_402_300_799_999_999),
    ],
)
def test_instants(text: str, value: int) -> None:
    assert read(text, Type.TIME) == value


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29",
        "2024-13-01",
        "2024-01-01T24:00",
        "2024-01-01T23:59:60",
        "0000-01-01",
        "2024-1-1",
        "20240101",
        "01/02/2024",
        "2024-01-01T00:00:00+15:00",
        "2024-01-01T00:00:00 Europe/Paris",
        "2024-01-01Z",
        "soon",
        "17",
    ],
)
def test_no_instants(text: str) -> None:
    with pytest.raises(MisspelledError):
        read(text, Type.TIME)


def test_times_are_integers_where_ticks_are_counted() -> None:
    assert read("17", Type.TIME, Clock.TICKS) == 17
    with pytest.raises(MisspelledError):
        read("2024-02-29", Type.TIME, Clock.TICKS)


@pytest.mark.parametrize(
    "text", ["0.2 0.5 0.3", "0.2;0.5;0.3", "[0.2, 0.5, 0.3]", " 0.2,.5\t; 3e-1 ", "[0.2;0.5 0.3]", "+0.2 0.5 0.3"]
)
def test_weights(text: str) -> None:
    assert read(text, Type.WEIGHTS) == [0.2, 0.5, 0.3]


@pytest.mark.parametrize(("text", "weights"), [("7", [7.0]), ("[]", []), ("[ ]", []), ("-1", [-1.0])])
def test_few_weights(text: str, weights: list[float]) -> None:
    assert read(text, Type.WEIGHTS) == weights


@pytest.mark.parametrize("text", ["", " ", "null", "None"])
def test_no_weights_at_all(text: str) -> None:
    assert read(text, Type.WEIGHTS) is None


@pytest.mark.parametrize("text", ["nan 1", "inf 1", "[null, 1]", "-Infinity;1"])
def test_weights_that_are_no_numbers_are_left_to_the_checks(text: str) -> None:
    weights = read(text, Type.WEIGHTS)
    assert isinstance(weights, list)
    assert math.isnan(weights[0])
    assert weights[1:] == [1.0]


@pytest.mark.parametrize("text", ["a", "1 x", "1;;2", ",1", "[1", "1]", "1 2,", "0.2|0.5", "[[1]]"])
def test_what_cannot_be_weights(text: str) -> None:
    with pytest.raises(MisspelledError):
        read(text, Type.WEIGHTS)


def test_a_text_stands_for_itself() -> None:
    assert [read(text, Type.STRING) for text in (" a ", "null", "")] == [" a ", "null", ""]


@given(st.datetimes(timezones=st.timezones()), st.sampled_from(["T", " "]))
def test_every_time_of_python_is_read_as_it_means(moment: datetime, between: str) -> None:
    minutes = (moment.utcoffset() or timedelta()).total_seconds() / 60
    if minutes != int(minutes) or abs(minutes) >= 15 * 60:
        return  # offsets of seconds are history before time zones
    micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert read(moment.isoformat(between), Type.TIME) == micros
