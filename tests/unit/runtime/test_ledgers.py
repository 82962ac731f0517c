"""What stands of a stream whose events are withdrawn by id, and what becomes of withdrawals that make no sense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.oracle import bound

from inkling.io.normalize import Normalizer
from inkling.model.time import Clock
from inkling.model.watermarks import Marks
from inkling.runtime.revision import entries
from inkling.runtime.revision.books import Books, Entered
from inkling.runtime.revision.clocks import Windows
from inkling.runtime.revision.snapshot import books_from_bytes, books_to_bytes

LATENESS, WINDOW = 2, 5
PLAN = bound(
    f"""
    STREAM A(id STRING, k STRING, x INT, t INT, op STRING) ID id KEY k TIME t
      LATENESS {LATENESS} TICKS OP op FOR {WINDOW} TICKS;
    STREAM B(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t LATENESS {LATENESS} TICKS SPECULATIVE;
    EVENT e AS PATTERN SEQ(A a, B b);
    """
)
SCHEMAS = {stream.schema.name: stream.schema for stream in PLAN.streams}
Event = tuple[str, int | None, int]
"""An id, its time, its x."""


class Book:
    """The ledger of one stream, fed with rows written short."""

    def __init__(self, stream: str = "A") -> None:
        self.stream, self._schema = stream, SCHEMAS[stream]
        self.books = self._fresh()
        self._normalizer = Normalizer(self._schema, (), Clock.TICKS)

    def _fresh(self) -> Books:
        windows = Windows({self.stream: LATENESS}, {self.stream: WINDOW})
        return Books([self._schema], {self.stream: [windows]})

    def enter(self, events: Sequence[Event] = (), gone: Sequence[tuple[str, int | None]] = ()) -> Entered:
        rows = [{"id": one, "k": "p", "x": x, "t": t, "op": "+"} for one, t, x in events]
        rows += [{"id": one, "k": None, "x": None, "t": t, "op": "-"} for one, t in gone]
        kinds = {"id": pa.string(), "k": pa.string(), "x": pa.int64(), "t": pa.int64(), "op": pa.string()}
        raw = pa.Table.from_pylist(rows, pa.schema(kinds.items()))
        read = self._normalizer(raw, np.arange(len(raw)))
        times = [t for _, t, _ in events if t is not None]
        marks = Marks({self.stream: max(times)}) if times else Marks()
        return self.books.enter({self.stream: read.rows}, {self.stream: read.withdrawals}, marks)[self.stream]

    def finish(self) -> Entered | None:
        return self.books.enter({}, {}, Marks(finished=True)).get(self.stream)

    def reopened(self) -> Book:
        again = Book(self.stream)
        again.books = books_from_bytes(self._fresh(), books_to_bytes(self.books))
        return again


def ids(rows: pa.Table) -> list[tuple[str, int]]:
    return sorted(zip(rows["id"].to_pylist(), rows["x"].to_pylist(), strict=True))


def reasons(entered: Entered | None) -> list[tuple[str, str]]:
    assert entered is not None
    return [(row["id"], row["reason"]) for row in entered.rejects.to_pylist()]


def test_a_withdrawal_takes_out_the_whole_row() -> None:
    book = Book()
    assert ids(book.enter([("a", 1, 7), ("b", 2, 8)]).added) == [("a", 7), ("b", 8)]
    entered = book.enter(gone=[("a", None)])
    assert ids(entered.withdrawn) == [("a", 7)]
    assert not len(entered.added)
    assert reasons(entered) == []


def test_a_withdrawal_that_comes_first_waits_for_its_event() -> None:
    book = Book()
    early = book.enter(gone=[("a", None)])
    assert reasons(early) == []
    entered = book.enter([("a", 1, 7), ("b", 2, 8)])
    assert ids(entered.added) == [("b", 8)]
    assert not len(entered.withdrawn)
    assert book.finish() is None


def test_an_event_and_its_withdrawal_that_come_together_leave_nothing() -> None:
    entered = Book().enter([("a", 1, 7)], gone=[("a", None)])
    assert not len(entered.added)
    assert not len(entered.withdrawn)
    assert reasons(entered) == []


def test_nothing_is_withdrawn_twice() -> None:
    book = Book()
    book.enter([("a", 1, 7)])
    entered = book.enter(gone=[("a", None), ("a", 1)])
    assert ids(entered.withdrawn) == [("a", 7)]
    assert reasons(entered) == [("a", "withdrawn twice")]
    again = book.enter(gone=[("a", None)])
    assert not len(again.withdrawn)
    assert reasons(again) == [("a", "withdrawn twice")]


def test_an_unknown_id_is_refused_when_its_event_cannot_come_any_more() -> None:
    book = Book()
    assert reasons(book.enter([("a", 1, 7)], gone=[("x", None)])) == []
    assert reasons(book.enter([("b", 1 + WINDOW, 7)])) == []
    # now nothing at 1 can change any more
    assert reasons(book.enter([("c", 1 + WINDOW + 1, 7)])) == [("x", "nothing to withdraw")]
    assert book.finish() is None


def test_an_unknown_id_is_refused_at_the_end() -> None:
    book = Book()
    book.enter([("a", 1, 7)], gone=[("x", None)])
    assert reasons(book.finish()) == [("x", "nothing to withdraw")]


def test_a_withdrawal_that_was_refused_holds_no_more() -> None:
    book = Book()
    book.enter([("a", 1, 7)], gone=[("x", None)])
    book.enter([("c", 1 + WINDOW + 1, 7)])
    assert ids(book.enter([("x", 8, 9)]).added) == [("x", 9)]


def test_before_any_event_came_nobody_knows_how_late_a_withdrawal_is() -> None:
    book = Book()
    assert reasons(book.enter(gone=[("x", None)])) == []
    assert reasons(book.enter([("a", 100, 7)])) == []
    assert not len(book.enter([("x", 99, 7)]).added)


def test_after_its_window_a_withdrawal_is_late_and_changes_nothing() -> None:
    book = Book()
    book.enter([("a", 1, 7)])
    book.enter([("b", 1 + WINDOW + 1, 8)])
    entered = book.enter(gone=[("a", None), ("z", 1)])
    assert not len(entered.withdrawn)
    assert reasons(entered) == []
    found = [(row["stream"], row["id"], row["time"], row["delay"]) for row in entered.late.to_pylist()]
    assert found == [("A", "a", 1, WINDOW + 1), ("A", "z", 1, WINDOW + 1)]


def test_at_its_limit_a_withdrawal_is_in_time() -> None:
    book = Book()
    book.enter([("a", 1, 7)])
    book.enter([("b", 1 + WINDOW, 8)])
    assert ids(book.enter(gone=[("a", None)]).withdrawn) == [("a", 7)]


def test_a_row_behind_what_is_closed_is_late() -> None:
    book = Book()
    book.enter([("a", 10, 7)])
    entered = book.enter([("b", 10 - LATENESS - 1, 8), ("c", 10 - LATENESS, 9)])
    assert ids(entered.added) == [("c", 9)]
    assert [(row["id"], row["delay"]) for row in entered.late.to_pylist()] == [("b", LATENESS + 1)]


@pytest.mark.parametrize("first", [0, 1])
def test_of_rows_with_one_id_the_least_stays_in_whatever_order_they_come(first: int) -> None:
    both: list[Event] = [("a", 1, 7), ("a", 2, 6)]
    book = Book()
    one, other = book.enter([both[first]]), book.enter([both[1 - first]])
    assert ids(one.added) == [("a", both[first][2])]
    assert ids(other.withdrawn) == ([("a", 6)] if first == 1 else [])
    assert ids(other.added) == ([("a", 7)] if first == 1 else [])
    assert reasons(other) == [("a", "duplicate id")]
    assert ids(book.enter(gone=[("a", None)]).withdrawn) == [("a", 7)]


def test_without_op_rows_at_other_times_are_other_events() -> None:
    book = Book("B")
    assert ids(book.enter([("a", 1, 7), ("a", 2, 6)]).added) == [("a", 6), ("a", 7)]
    entered = book.enter([("a", 1, 5)])
    assert ids(entered.withdrawn) == [("a", 7)]
    assert ids(entered.added) == [("a", 5)]
    assert reasons(entered) == [("a", "duplicate id")]


def test_what_is_settled_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "SPARE", 0)
    book = Book()
    for time in range(400):
        book.enter([(f"a{time}", time, time)])
        held = book.books.ledgers["A"].entries.to_tables()["rows"]
        assert len(held) <= 2 * (WINDOW + LATENESS) + 4
    assert ids(book.enter(gone=[("a399", None)]).withdrawn) == [("a399", 399)]


def test_a_ledger_goes_through_bytes() -> None:
    book = Book()
    book.enter([("a", 1, 7), ("b", 2, 8), ("c", 3, 9)], gone=[("x", None)])
    book.enter(gone=[("a", None)])
    again = book.reopened()
    for one in (book, again):
        entered = one.enter([("x", 4, 1)], gone=[("a", None), ("b", None)])
        assert ids(entered.withdrawn) == [("b", 8)]
        assert not len(entered.added)
        assert reasons(entered) == [("a", "withdrawn twice")]
