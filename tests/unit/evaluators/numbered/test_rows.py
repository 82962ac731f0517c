"""Rows with numbers become recorded rows, rows for what was lost, and gaps with borders."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from inkling.errors import InputError
from inkling.evaluators.gaps.rows import NumberedRows, roles_of
from inkling.evaluators.relation.intensity import CumulativeIntensity
from inkling.io import normalize, read_table
from inkling.model.batch import FOREVER
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents, Rate

Row = dict[str, object]
COLUMNS = ("k", "n", "t", "role", "total", "since", "until", "rate", "stop")


def found(uncertainty: LostEvents, *listed: tuple[object, ...], **tables: list[Row]) -> NumberedRows:
    columns = tuple(Column(name, Type.STRING) for name in ("k", "role", "stop"))
    schema = StreamSchema("Bus", columns, None, ("k",), "t", "t", Type.INTEGER, uncertainty=uncertainty)
    rows = [dict(zip(COLUMNS, (*row, *[None] * 9), strict=False)) for row in listed]
    given = {name: pa.Table.from_pylist(some) for name, some in tables.items()}
    return NumberedRows.of(schema, normalize(read_table(rows, what="Bus"), schema).rows, tables=given)


def gaps(numbered: NumberedRows) -> list[tuple[object, list[object], int, int]]:
    """Key, numbers and borders of each."""
    rows = numbered.rows.to_pylist()
    borders = zip(numbered.gaps[:-1], numbered.gaps[1:], numbered.low, numbered.high, strict=True)
    return sorted(
        (rows[begin]["k"], [row["n"] for row in rows[begin:end]], int(low), int(high))
        for begin, end, low, high in borders
    )


PLAIN = LostEvents("n", "role", "total", ("since", "until"))


def test_gaps_before_between_and_after() -> None:
    one = found(PLAIN, ("a", 3, 5, "open", 8, 0, 20), ("a", 5, 9, "open"), ("b", 1, 4), ("b", 2, 6))
    assert gaps(one) == [("a", [1, 2], 0, 5), ("a", [4], 5, 9), ("a", [6, 7, 8], 9, 20)]
    assert sorted(one.rows["n"].to_pylist()[: one.n_recorded]) == [1, 2, 3, 5]


def test_marks_are_borders_and_no_rows() -> None:
    rows = [("a", 0, 1, "mark"), ("a", 2, 4, "close"), ("a", 3, 7, "mark"), ("a", 6, 9, "close"), ("a", 8, 12, "mark")]
    one = found(PLAIN, *rows)
    assert gaps(one) == [("a", [1], 1, 4), ("a", [3], 4, 7), ("a", [4, 5], 7, 9), ("a", [7, 8], 9, 12)]
    assert one.rows["role"].to_pylist()[: one.n_recorded] == ["close", "close"]


def test_keys_without_events() -> None:
    one = found(PLAIN, ("a", 0, 1, "mark"), ("a", 0, 6, "mark"), ("b", 0, 2, "mark", 2, None, 9), ("c", 1, 4))
    assert gaps(one) == [("b", [1, 2], 2, 9)]
    assert [(row["k"], row["t"]) for row in one.empty.to_pylist()] == [("a", 6)]
    every = one.with_empty_keys()
    assert (every.n_recorded, len(every.rows), gaps(every)) == (2, 4, gaps(one))


def test_a_timeout_closes_what_is_open() -> None:
    uncertainty = LostEvents("n", "role", "total", ("since", "until"), timeout=Duration(Fraction(5), "TICKS"))
    rows = [("a", 1, 4), ("b", 2, 4, None, None, 0), ("c", 1, 4, None, None, None, 7), ("d", 1, 4, None, 4)]
    assert gaps(found(uncertainty, *rows)) == [
        ("a", [2], 4, 9),
        ("b", [1], 0, 4),
        ("c", [2], 4, 7),
        ("d", [2, 3, 4], 4, 9),
    ]
    assert gaps(found(uncertainty, ("a", 1, 4, "start"), ("a", 2, 6, "end"))) == []


def test_where_a_rate_takes_the_place_of_a_border() -> None:
    uncertainty = LostEvents("n", "role", "total", rate="rate")
    rows = [("a", 2, 4, None, 4, None, None, 0.5), ("b", 1, 4, None, 2)]
    assert gaps(found(uncertainty, *rows)) == [("a", [1], -FOREVER, 4), ("a", [3, 4], 4, FOREVER)]
    fixed = LostEvents("n", "role", "total", rate=Rate(3.0, Duration(Fraction(1), "TICKS")))
    assert gaps(found(fixed, ("a", 2, 4, None, None), ("a", 2, 6, "mark"))) == [("a", [1], -FOREVER, 4)]


@pytest.mark.parametrize(
    ("words", "roles", "lost"),
    [
        (("open", "close"), ("close", "open"), ["open", "close", "open", "close"]),
        (("start", "end"), ("suspend", "resume"), ["start", "suspend", "resume", "end"]),
        (("RESUME", None), (None, "RESUME"), ["START", "SUSPEND", "RESUME", "END"]),
        (("up", None), (None, "up"), ["up", None, "up", None]),
    ],
)
def test_roles(words: tuple[str, str | None], roles: tuple[str, str], lost: list[str | None]) -> None:
    """What others are called is what lost ones are called, where that fits their place."""
    others = [("b", n, n, word, None, 0) for n, word in zip((5, 6), words, strict=True)]
    one = found(PLAIN, ("a", 0, 0, "mark", 4, None, 9), *others)
    assert roles_of(one.rows.slice(0, one.n_recorded), PLAIN) == roles
    assert [row["role"] for row in one.rows.to_pylist() if row["k"] == "a"] == lost


class TestKnown:
    UNCERTAINTY = LostEvents("n", "role", known="plan")

    def test_by_number_and_key(self) -> None:
        plan: list[Row] = [{"n": n, "k": k, "stop": f"{k}{n}"} for n in (1, 2, 3) for k in "ab"]
        rows = [("a", 1, 1), ("a", 4, 9), ("b", 1, 1), ("b", 3, 5), ("c", 1, 1), ("c", 3, 5)]
        one = found(self.UNCERTAINTY, *rows, plan=plan)
        lost = sorted((row["k"], row["n"], row["stop"]) for row in one.rows.to_pylist()[6:])
        assert lost == [("a", 2, "a2"), ("a", 3, "a3"), ("b", 2, "b2"), ("c", 2, None)]

    def test_by_number_alone(self) -> None:
        one = found(
            self.UNCERTAINTY, ("a", 1, 1), ("a", 4, 9), plan=[{"n": 3, "stop": "west"}, {"n": 3, "stop": "west"}]
        )
        assert one.rows["stop"].to_pylist() == [None, None, None, "west"]

    def test_two_things_about_one_event(self) -> None:
        plan: list[Row] = [{"n": 2, "k": "a", "stop": "west"}, {"n": 2, "k": "a", "stop": "east"}]
        with pytest.raises(InputError, match="two rows that differ for n = 2, k = 'a'") as raised:
            found(self.UNCERTAINTY, ("a", 1, 1), ("a", 4, 9), plan=plan)
        assert raised.value.diagnostics[0].code == "INK0563"

    def test_an_empty_table(self) -> None:
        nothing = pa.schema([("n", pa.int64()), ("stop", pa.string())]).empty_table()
        columns = tuple(Column(name, Type.STRING) for name in ("k", "role", "stop"))
        schema = StreamSchema("Bus", columns, None, ("k",), "t", "t", Type.INTEGER, uncertainty=self.UNCERTAINTY)
        rows = [dict(zip(COLUMNS, ("a", n, n, *[None] * 6), strict=False)) for n in (1, 3)]
        one = NumberedRows.of(schema, normalize(read_table(rows, what="Bus"), schema).rows, tables={"plan": nothing})
        assert one.rows["stop"].to_pylist() == [None, None, None]


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([], "has no rows"),
        ([(0, 1.0), (None, 2.0)], "lacks a time or a rate"),
        ([(0, None)], "lacks a time or a rate"),
        ([(0, 1.0), (5, 0.0)], "has a rate that is not positive"),
        ([(0, float("nan"))], "has a rate that is not positive"),
        ([(0, 1.0), (5, 2.0), (0, 2.0)], "has two rates for one time"),
    ],
)
def test_tables_of_rates_that_make_no_sense(rows: list[tuple[object, object]], what: str) -> None:
    schema = pa.schema([("since", pa.int64()), ("rate", pa.float64())])
    table = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
    with pytest.raises(InputError, match=f"the table `busy` {what}") as raised:
        CumulativeIntensity.of("busy", table)
    assert raised.value.diagnostics[0].code == "INK0564"


def test_a_rate_that_is_said_twice() -> None:
    axis = CumulativeIntensity.of("busy", pa.table({"since": [5, 0, 5], "rate": [2.0, 1.0, 2.0]}))
    assert axis(pa.array([-1, 0, 5, 7]).to_numpy()).tolist() == [-1.0, 0.0, 5.0, 9.0]
