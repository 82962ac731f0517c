"""Columns of every kind are read as declared; quick ways give what reading one by one gives."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from inkling.io.casting import Cast, are_canonical, cast_column, clock_of, is_readable, plain_values
from inkling.io.spellings import MisspelledError, read_value
from inkling.model.terms import MalformedTermError, canonical
from inkling.model.time import Clock
from inkling.model.types import Type

SPELLINGS = {
    Type.INTEGER: ["0", "-7", "+7", "007", "3.0", "0x1F", "0X1f", "9" * 18, "9" * 19, "9" * 25, "1e3", " 4 ", "x"],
    Type.DOUBLE: ["0", "-1.5", "1e400", "1e-400", "nan", "inf", "0.1", "1" * 20, ".5", "5.", "0x1", "1e5", " 2.5"],
    Type.BOOLEAN: ["true", "F", "1", "0", "yes", "", " t"],
    Type.TIME: [
        "2024-02-29",
        "2023-02-29",
        "0000-01-01",
        "2024-01-01T00:00:00Z",
        "2024-01-01 00:00:00.25",
        "2024-01-01T00:00:00+02:00",
        "2024-01-01T00:00:00.1234567",
        "2024-01-01T12",
        "1969-12-31T23:59:59.999999",
        "now",
    ],
}


def cast(values: list[object], kind: Type, have: pa.DataType | None = None, clock: Clock = Clock.TIMESTAMP) -> Cast:
    return cast_column(pa.chunked_array([pa.array(values, have)]), kind, clock)


def defined(text: str | None, kind: Type) -> tuple[object, bool]:
    if text is None:
        return None, False
    try:
        return read_value(text, kind, Clock.TIMESTAMP), False
    except MisspelledError:
        return None, True


@pytest.mark.parametrize("kind", list(SPELLINGS))
def test_text_columns_eq_one_text_at_a_time(kind: Type) -> None:
    rng = Random(3)
    columns = [[one] for one in SPELLINGS[kind]] + [[]]
    columns += [rng.choices([*SPELLINGS[kind], None], k=rng.randrange(1, 6)) for _ in range(300)]
    for texts in columns:
        found = cast(texts, kind, pa.string())
        expected = [defined(text, kind) for text in texts]
        assert found.values.to_pylist() == [value for value, _ in expected], texts
        assert found.bad.tolist() == [bad for _, bad in expected], texts


def test_doubles_read_as_integers_must_be_whole() -> None:
    found = cast([3.0, 3.5, float("nan"), float("inf"), 2.0**63, None], Type.INTEGER)
    assert found.values.to_pylist() == [3, None, None, None, None, None]
    assert found.bad.tolist() == [False, True, False, True, True, False]


@pytest.mark.parametrize("given", [[-0.0, 0.0, None], [-0.0, 1.5], ["-0.0", "-0", "-0e3"], ["-0.0", "-1.5"]])
def test_no_double_is_a_negative_zero(given: list[object]) -> None:
    """So that equal keys have equal bits."""
    found = cast(given, Type.DOUBLE).values.to_pylist()
    assert [repr(value) for value in found if value == 0] == ["0.0"] * sum(value == 0 for value in found)
    assert 0.0 in found


def test_plain_doubles_keep_no_negative_zero() -> None:
    found = plain_values(pa.array([-0.0, 2.0]), Type.DOUBLE, Clock.TICKS)
    assert found is not None
    assert repr(found.to_pylist()) == "[0.0, 2.0]"


def test_not_a_number_and_infinity_are_no_values() -> None:
    found = cast([1.5, float("nan"), float("inf"), None], Type.DOUBLE)
    assert found.values.to_pylist() == [1.5, None, None, None]
    assert not found.bad.any()


def test_decimals_are_rounded_once() -> None:
    found = cast([Decimal("0.1000000000000000055511151231257827021")], Type.DOUBLE, pa.decimal128(38, 37))
    assert found.values.to_pylist() == [0.1]
    assert cast([Decimal("5.00"), Decimal("5.25")], Type.INTEGER).bad.tolist() == [False, True]


def test_integers_beyond_64_bits_are_bad() -> None:
    found = cast([2**63 - 1, 2**63], Type.INTEGER, pa.uint64())
    assert found.values.to_pylist() == [2**63 - 1, None]
    assert found.bad.tolist() == [False, True]


def test_numbers_read_as_texts_and_truths() -> None:
    assert cast([1, None], Type.STRING).values.to_pylist() == ["1", None]
    assert cast([True], Type.STRING).values.to_pylist() == ["true"]
    assert cast([1.0, 1.5], Type.STRING).bad.tolist() == [False, True]
    assert cast([1, 0, 2, None], Type.BOOLEAN).values.to_pylist() == [True, False, None, None]
    assert cast([1, 0, 2, None], Type.BOOLEAN).bad.tolist() == [False, False, True, False]
    assert cast([2**53 + 1], Type.DOUBLE).values.to_pylist() == [2.0**53]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_every_unit_before_and_after_1970(unit: str) -> None:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    found = cast([-per_second, 2 * per_second, None], Type.TIME, pa.timestamp(unit))
    assert found.values.to_pylist() == [-1_000_000, 2_000_000, None]


def test_nanoseconds_are_cut_downward() -> None:
    found = cast([-1, 1_999, -1_001], Type.TIME, pa.timestamp("ns", "Europe/Paris"))
    assert found.values.to_pylist() == [-1, 1, -2]


def test_dates_and_zones() -> None:
    assert cast([date(1969, 12, 31)], Type.TIME).values.to_pylist() == [-86_400_000_000]
    assert cast([datetime(1970, 1, 2)], Type.TIME).values.to_pylist() == [86_400_000_000]
    paris = pa.array([0], pa.timestamp("us", "Europe/Paris"))
    assert cast_column(pa.chunked_array([paris]), Type.TIME, Clock.TIMESTAMP).values.to_pylist() == [0]


def test_dictionaries_views_and_bytes_are_texts() -> None:
    for array in (
        pa.array(["1", "2", "1"]).dictionary_encode(),
        pa.array(["1", "2", "1"], pa.string_view()),
        pa.array(["1", "2", "1"], pa.large_string()),
        pa.array([b"1", b"2", b"1"]),
    ):
        found = cast_column(pa.chunked_array([array]), Type.INTEGER, Clock.TIMESTAMP)
        assert found.values.to_pylist() == [1, 2, 1]


def test_bytes_that_are_not_utf8_are_bad() -> None:
    found = cast([b"caf\xe9", None, "café".encode()], Type.STRING)
    assert found.values.to_pylist() == [None, None, "café"]
    assert found.bad.tolist() == [True, False, False]


@pytest.mark.parametrize(
    "have",
    [
        pa.list_(pa.float64()),
        pa.list_(pa.int8()),
        pa.large_list(pa.float32()),
        pa.list_(pa.decimal128(5, 2)),
        pa.list_(pa.float64(), 2),
    ],
    ids=str,
)
def test_lists_of_numbers_are_weights(have: pa.DataType) -> None:
    assert is_readable(have, Type.WEIGHTS, Clock.TICKS)
    assert not is_readable(have, Type.DOUBLE, Clock.TICKS)
    found = cast([[1, 2], None], Type.WEIGHTS, have)
    assert found.values.type == pa.list_(pa.float64())
    assert found.values.to_pylist() == [[1.0, 2.0], None]
    assert not found.bad.any()


def test_texts_are_weights_too() -> None:
    found = cast(["1 2", "[3]", "one", None, ""], Type.WEIGHTS)
    assert found.values.to_pylist() == [[1.0, 2.0], [3.0], None, None, None]
    assert found.bad.tolist() == [False, False, True, False, False]


def test_other_columns_are_no_weights() -> None:
    for have in (pa.float64(), pa.list_(pa.string()), pa.timestamp("us"), pa.bool_()):
        assert not is_readable(have, Type.WEIGHTS, Clock.TICKS)


def test_nothing_but_nulls() -> None:
    assert cast([None, None], Type.DOUBLE, pa.null()).values.type == pa.float64()


@pytest.mark.parametrize(
    ("texts", "clock"),
    [
        (["17"], Clock.TICKS),
        (["2024-01-01"], Clock.TIMESTAMP),
        ([None, "", "soon", "17", "2024-01-01"], Clock.TICKS),
        (["soon", "2024-01-01", "17"], Clock.TIMESTAMP),
        (["soon"], Clock.TIMESTAMP),
        ([], Clock.TIMESTAMP),
    ],
)
def test_text_times_count_what_the_first_of_them_counts(texts: list[str | None], clock: Clock) -> None:
    assert clock_of(pa.chunked_array([pa.array(texts, pa.string())])) is clock


def test_typed_times_count_what_their_type_says() -> None:
    assert clock_of(pa.chunked_array([pa.array([1], pa.int32())])) is Clock.TICKS
    assert clock_of(pa.chunked_array([pa.array([1], pa.timestamp("ns"))])) is Clock.TIMESTAMP
    assert clock_of(pa.chunked_array([pa.array([1], pa.date32())])) is Clock.TIMESTAMP


def test_some_columns_can_never_be_read_as_declared() -> None:
    assert not is_readable(pa.list_(pa.int64()), Type.INTEGER, Clock.TICKS)
    assert not is_readable(pa.timestamp("us"), Type.DOUBLE, Clock.TIMESTAMP)
    assert not is_readable(pa.timestamp("us"), Type.TIME, Clock.TICKS)
    assert not is_readable(pa.int64(), Type.TIME, Clock.TIMESTAMP)
    assert is_readable(pa.dictionary(pa.int8(), pa.string()), Type.TIME, Clock.TIMESTAMP)


@pytest.mark.parametrize("seed", range(3))
def test_terms_are_canonical_just_when_they_are_read_as_they_are(seed: int) -> None:
    """The quick test may miss canonical terms, but accepts no others; columns have the values of single texts."""
    rng = Random(seed)
    spellings = [
        "0",
        "-0",
        "00",
        "1",
        "-12",
        "+1",
        "1.0",
        "12.5",
        "0.50",
        "-0.5",
        ".5",
        "5.",
        "1.0E0",
        "1.5E1",
        "1.5E-7",
    ]
    spellings += [
        "15E0",
        "1.50E1",
        "-2.0E3",
        "0.0E0",
        "1.5E01",
        "1E2",
        "true",
        "1",
        "TRUE",
        "é",
        "a b",
        "",
        "a%20",
        "a%2",
    ]
    spellings += [
        "2020-01-01T00:00:00Z",
        "2020-01-01T00:00:00.10Z",
        "2020-01-01T00:00:00.1Z",
        "2020-01-01T00:00:00+00:00",
    ]
    spellings += [
        repr(rng.uniform(-9, 9)),
        f"{rng.uniform(1, 9):.14f}E{rng.randint(-99, 99)}",
        str(rng.randrange(10**20)),
    ]
    ends = ["", "@en", "@EN", "@de-at"]
    ends += [
        f"^^<http://www.w3.org/2001/XMLSchema#{name}>"
        for name in ["integer", "decimal", "double", "boolean", "dateTime"]
    ]
    texts = [f'"{text}"{end}' for text in spellings for end in ends] + ["_:a", "_:a.b", "_:", "<a>", "<a:b>", "<a:b c>"]
    texts += [f"<http://ex.org/{text}>" for text in spellings]
    found = cast_column(pa.chunked_array([texts]), Type.TERM, Clock.TICKS)
    for text, value, bad in zip(texts, found.values.to_pylist(), found.bad, strict=True):
        expected = _read_term(text)
        assert (value, bool(bad)) == (expected, expected is None), text
        assert not are_canonical(pa.array([text])) or expected == text


def _read_term(text: str) -> str | None:
    try:
        return canonical(text)
    except MalformedTermError:
        return None


@pytest.mark.parametrize("kind", [Type.BOOLEAN, Type.INTEGER])
def test_unsigned_integers_beyond_64_bits_are_bad_values(kind: Type) -> None:
    cast = cast_column(pa.chunked_array([pa.array([1, 2**64 - 1, None], pa.uint64())]), kind, Clock.TICKS)
    assert (cast.values.to_pylist(), cast.bad.tolist()) == ([1, None, None], [False, True, False])


def test_a_term_among_many_that_repeat_is_not_overlooked() -> None:
    texts = ["<http://example.org/price>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'] * 5000
    assert are_canonical(pa.array(texts))
    assert not are_canonical(pa.array([*texts, "price"]))
