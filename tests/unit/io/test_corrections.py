"""What a table of changes comes to, and what is said of changes that change nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pyarrow as pa
import pytest

from inkling.errors import InputError
from inkling.io import Normalized, normalize, read_table
from inkling.io.corrections import corrected_stream
from inkling.io.normalize import Normalizer
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Clock, Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, ProbableValue

TRADES = StreamSchema(
    "Trade",
    (Column("id", Type.STRING), Column("account", Type.STRING), Column("price", Type.INTEGER), Column("t", Type.TIME)),
    id="id",
    key=("account",),
    start="t",
    end="t",
    op="op",
    op_for=Duration(60, "TICKS"),
)
Row = dict[str, object]


def event(name: str | None, t: int | None = 1, price: int | None = 5, account: str | None = "a", op: str = "+") -> Row:
    return {"id": name, "account": account, "price": price, "t": t, "op": op}


def withdrawal(name: str | None, t: object = None) -> Row:
    return {"id": name, "account": None, "price": None, "t": t, "op": "-"}


def read(rows: list[Row], schema: StreamSchema = TRADES) -> Normalized:
    return normalize(read_table(rows, what=schema.name), schema, clock=Clock.TICKS)


def corrected(rows: list[Row], schema: StreamSchema = TRADES) -> Normalized:
    return corrected_stream(schema, read(rows, schema))


def rejected(found: Normalized) -> list[tuple[str, str | None]]:
    return sorted((row["reason"], row["id"]) for row in found.rejects.to_pylist())


def test_rows_and_withdrawals_are_told_apart() -> None:
    found = read([event("1"), withdrawal("1", 7), event("2", 3), withdrawal("3")])
    assert found.rows["@id"].to_pylist() == ["1", "2"]
    assert found.rows.column_names == ["id", "account", "price", "t", "@start", "@end", "@place", "@id"]
    assert found.withdrawals.to_pylist() == [
        {"@id": "1", "@end": 7, "row": '{"id": "1", "op": "-"}'},
        {"@id": "3", "@end": None, "row": '{"id": "3", "op": "-"}'},
    ]
    assert (rejected(found), found.n_read) == ([], 4)


@pytest.mark.parametrize("op", ["", "*", "insert", "+ ", None])
def test_anything_but_plus_and_minus_is_rejected(op: str | None) -> None:
    rows = [event("1"), {**event("2"), "op": op}]
    found = corrected(rows)
    assert found.rows["id"].to_pylist() == ["1"]
    assert rejected(found) == [("bad op", "2")]


def test_a_withdrawal_needs_its_id_and_nothing_else() -> None:
    schema = replace(TRADES, order_by="price")
    rows = [event("1"), {"id": "1", "account": None, "price": None, "t": 2**62, "op": "-"}, withdrawal(None)]
    found = corrected(rows, schema)
    assert len(found.rows) == 0
    assert rejected(found) == [("null id", None)]


def test_a_withdrawal_whose_time_cannot_be_read_tells_no_time() -> None:
    raw = pa.table({"id": ["1", "2"], "account": ["a", "a"], "price": ["x", "y"], "t": ["soon", "4"], "op": ["-", "-"]})
    found = normalize(raw, TRADES, clock=Clock.TICKS)
    assert found.withdrawals["@end"].to_pylist() == [None, 4]
    assert len(found.rejects) == 0


def test_a_withdrawal_by_an_id_that_cannot_be_read_is_rejected() -> None:
    schema = replace(TRADES, columns=(Column("id", Type.INTEGER), *TRADES.columns[1:]))
    raw = pa.table({"id": ["1", "x"], "account": ["a", "a"], "price": [1, 1], "t": [1, 2], "op": ["-", "-"]})
    found = normalize(raw, schema, clock=Clock.TICKS)
    assert found.withdrawals.to_pylist() == [{"@id": 1, "@end": 1, "row": '{"id": 1, "op": "-"}'}]
    assert rejected(found) == [("bad value", "x")]


def test_times_of_withdrawals_do_not_tell_what_times_count() -> None:
    raw = pa.table(
        {
            "id": ["1", "1", "2"],
            "account": ["a", "a", "a"],
            "price": [1, 1, 1],
            "t": ["17", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"],
            "op": ["-", "+", "+"],
        }
    )
    assert normalize(raw, TRADES).clock is Clock.TIMESTAMP


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [event("1"), withdrawal("1"), withdrawal("1"), event("2", 4), event("2", 3), withdrawal("9")]
    said = {
        (tuple(found.rows["t"].to_pylist()), tuple(rejected(found)))
        for found in (corrected(list(order)) for order in permutations(rows))
    }
    assert said == {((3,), (("duplicate id", "2"), ("nothing to withdraw", "9"), ("withdrawn twice", "1")))}


def test_withdrawn_twice_and_unknown_are_two_rejects() -> None:
    found = corrected([event("1"), withdrawal("9"), withdrawal("9")])
    assert rejected(found) == [("nothing to withdraw", "9"), ("withdrawn twice", "9")]
    assert found.rows["id"].to_pylist() == ["1"]


def test_the_event_of_a_rejected_row_cannot_be_withdrawn() -> None:
    found = corrected([event("1", t=None), withdrawal("1")])
    assert rejected(found) == [("nothing to withdraw", "1"), ("null time", "1")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (event("1", 1, 9, "z"), event("1", 2, 1, "a")),
        (event("1", 1, 1, "a"), event("1", 1, 9, "b")),
        (event("1", 1, 1), event("1", 1, None)),
    ],
    ids=["earlier", "by the columns in their order", "something before nothing"],
)
def test_the_least_row_of_an_id_stays(first: Row, second: Row) -> None:
    for rows in ([first, second], [second, first]):
        found = corrected(rows)
        assert found.rows.select(["id", "account", "price", "t"]).to_pylist() == [
            {name: value for name, value in first.items() if name != "op"}
        ]
        assert rejected(found) == [("duplicate id", "1")]


def test_a_repeated_row_of_a_withdrawn_event_is_still_a_repetition() -> None:
    found = corrected([event("1"), event("1", 2), withdrawal("1")])
    assert len(found.rows) == 0
    assert rejected(found) == [("duplicate id", "1")]


def test_alternatives_share_an_id_and_are_withdrawn_together() -> None:
    schema = replace(TRADES, uncertainty=ProbableValue("price"))
    found = corrected([event("1", 1, 1), event("1", 1, 2), event("2", 2, 1), withdrawal("1")], schema)
    assert found.rows["id"].to_pylist() == ["2"]
    assert rejected(found) == []


def test_imprecise_events_have_ids_of_their_own() -> None:
    schema = replace(TRADES, start="t", end="price", uncertainty=ImpreciseTime("t", "price"))
    found = corrected([event("1", 1, 4), event("1", 2, 3)], schema)
    assert found.rows["t"].to_pylist() == [1]
    assert rejected(found) == [("duplicate id", "1")]


def test_ids_are_written_as_json() -> None:
    found = read([withdrawal('a "b"\\'), withdrawal("c\nd"), withdrawal("é")])
    assert found.withdrawals["row"].to_pylist() == [
        '{"id": "a \\"b\\"\\\\", "op": "-"}',
        '{"id": "c\\nd", "op": "-"}',
        '{"id": "é", "op": "-"}',
    ]


def test_batch_after_batch_gives_the_same() -> None:
    rows = [event("1"), withdrawal("1", 2), {**event("4"), "op": "?"}, event("2", None), withdrawal(None), event("3")]
    normalizer = Normalizer(TRADES, (), Clock.TICKS)
    for some in (rows, rows[:1], rows[1:2], rows[:0], rows[2:3]):
        raw = pa.Table.from_pylist(some, schema=pa.table(read_table(rows, what="Trade")).schema)
        quick, slow = normalizer(raw), normalize(raw, TRADES, clock=Clock.TICKS)
        assert quick.rows.to_pylist() == slow.rows.to_pylist()
        assert quick.withdrawals.to_pylist() == slow.withdrawals.to_pylist()
        assert quick.withdrawals.schema == slow.withdrawals.schema
        assert (rejected(quick), quick.n_read) == (rejected(slow), slow.n_read)


def test_a_table_of_changes_has_the_column_that_tells() -> None:
    with pytest.raises(InputError, match="no column `op`"):
        normalize(pa.table({"id": ["1"], "account": ["a"], "price": [1], "t": [1]}), TRADES)


def test_a_stream_without_op_is_left_alone() -> None:
    schema = replace(TRADES, op=None, op_for=None)
    read_twice = read([event("1"), event("1", 2)], schema)
    assert corrected_stream(schema, read_twice) is read_twice
