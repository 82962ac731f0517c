"""What stands of a stream whose events are withdrawn by id, and what becomes of withdrawals that make no sense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.oracle import bound

from inkling.io.normalize import Normalizer
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks
from inkling.runtime.revision import versions
from inkling.runtime.revision.changelogs import Changelogs, StreamDelta, changelogs_from_bytes, changelogs_to_bytes
from inkling.runtime.revision.clocks import RevisionWindows

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


class OneChangelog:
    """The changelog of one stream; rows are written short."""

    def __init__(self, stream: str = "A") -> None:
        self.stream, self._schema = stream, SCHEMAS[stream]
        self.changelogs = self._fresh()
        self._normalizer = Normalizer(self._schema, (), Clock.TICKS)

    def _fresh(self) -> Changelogs:
        windows = RevisionWindows({self.stream: LATENESS}, {self.stream: WINDOW})
        return Changelogs([self._schema], {self.stream: [windows]})

    def apply(self, events: Sequence[Event] = (), gone: Sequence[tuple[str, int | None]] = ()) -> StreamDelta:
        rows = [{"id": one, "k": "p", "x": x, "t": t, "op": "+"} for one, t, x in events]
        rows += [{"id": one, "k": None, "x": None, "t": t, "op": "-"} for one, t in gone]
        kinds = {"id": pa.string(), "k": pa.string(), "x": pa.int64(), "t": pa.int64(), "op": pa.string()}
        raw = pa.Table.from_pylist(rows, pa.schema(kinds.items()))
        read = self._normalizer(raw, np.arange(len(raw)))
        times = [t for _, t, _ in events if t is not None]
        watermarks = Watermarks({self.stream: max(times)}) if times else Watermarks()
        return self.changelogs.apply({self.stream: read.rows}, {self.stream: read.withdrawals}, watermarks)[self.stream]

    def finish(self) -> StreamDelta | None:
        return self.changelogs.apply({}, {}, Watermarks(finished=True)).get(self.stream)

    def reopened(self) -> OneChangelog:
        again = OneChangelog(self.stream)
        again.changelogs = changelogs_from_bytes(self._fresh(), changelogs_to_bytes(self.changelogs))
        return again


def ids(rows: pa.Table) -> list[tuple[str, int]]:
    return sorted(zip(rows["id"].to_pylist(), rows["x"].to_pylist(), strict=True))


def reasons(delta: StreamDelta | None) -> list[tuple[str, str]]:
    assert delta is not None
    return [(row["id"], row["reason"]) for row in delta.rejects.to_pylist()]


def test_a_withdrawal_takes_out_the_whole_row() -> None:
    changelog = OneChangelog()
    assert ids(changelog.apply([("a", 1, 7), ("b", 2, 8)]).added) == [("a", 7), ("b", 8)]
    delta = changelog.apply(gone=[("a", None)])
    assert ids(delta.withdrawn) == [("a", 7)]
    assert not len(delta.added)
    assert reasons(delta) == []


def test_a_withdrawal_that_comes_first_waits_for_its_event() -> None:
    changelog = OneChangelog()
    early = changelog.apply(gone=[("a", None)])
    assert reasons(early) == []
    delta = changelog.apply([("a", 1, 7), ("b", 2, 8)])
    assert ids(delta.added) == [("b", 8)]
    assert not len(delta.withdrawn)
    assert changelog.finish() is None


def test_an_event_and_its_withdrawal_that_come_together_leave_nothing() -> None:
    delta = OneChangelog().apply([("a", 1, 7)], gone=[("a", None)])
    assert not len(delta.added)
    assert not len(delta.withdrawn)
    assert reasons(delta) == []


def test_nothing_is_withdrawn_twice() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 1, 7)])
    delta = changelog.apply(gone=[("a", None), ("a", 1)])
    assert ids(delta.withdrawn) == [("a", 7)]
    assert reasons(delta) == [("a", "withdrawn twice")]
    again = changelog.apply(gone=[("a", None)])
    assert not len(again.withdrawn)
    assert reasons(again) == [("a", "withdrawn twice")]


def test_an_unknown_id_is_rejected_when_its_event_cannot_come_any_more() -> None:
    changelog = OneChangelog()
    assert reasons(changelog.apply([("a", 1, 7)], gone=[("x", None)])) == []
    assert reasons(changelog.apply([("b", 1 + WINDOW, 7)])) == []
    # now nothing at 1 can change any more
    assert reasons(changelog.apply([("c", 1 + WINDOW + 1, 7)])) == [("x", "nothing to withdraw")]
    assert changelog.finish() is None


def test_an_unknown_id_is_rejected_at_the_end() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 1, 7)], gone=[("x", None)])
    assert reasons(changelog.finish()) == [("x", "nothing to withdraw")]


def test_a_withdrawal_that_was_rejected_holds_no_more() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 1, 7)], gone=[("x", None)])
    changelog.apply([("c", 1 + WINDOW + 1, 7)])
    assert ids(changelog.apply([("x", 8, 9)]).added) == [("x", 9)]


def test_before_any_event_came_nobody_knows_how_late_a_withdrawal_is() -> None:
    changelog = OneChangelog()
    assert reasons(changelog.apply(gone=[("x", None)])) == []
    assert reasons(changelog.apply([("a", 100, 7)])) == []
    assert not len(changelog.apply([("x", 99, 7)]).added)


def test_after_its_window_a_withdrawal_is_late_and_changes_nothing() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 1, 7)])
    changelog.apply([("b", 1 + WINDOW + 1, 8)])
    delta = changelog.apply(gone=[("a", None), ("z", 1)])
    assert not len(delta.withdrawn)
    assert reasons(delta) == []
    found = [(row["stream"], row["id"], row["time"], row["delay"]) for row in delta.late.to_pylist()]
    assert found == [("A", "a", 1, WINDOW + 1), ("A", "z", 1, WINDOW + 1)]


def test_at_its_limit_a_withdrawal_is_in_time() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 1, 7)])
    changelog.apply([("b", 1 + WINDOW, 8)])
    assert ids(changelog.apply(gone=[("a", None)]).withdrawn) == [("a", 7)]


def test_a_row_behind_what_is_closed_is_late() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 10, 7)])
    delta = changelog.apply([("b", 10 - LATENESS - 1, 8), ("c", 10 - LATENESS, 9)])
    assert ids(delta.added) == [("c", 9)]
    assert [(row["id"], row["delay"]) for row in delta.late.to_pylist()] == [("b", LATENESS + 1)]


@pytest.mark.parametrize("first", [0, 1])
def test_of_rows_with_one_id_the_least_stays_in_whatever_order_they_come(first: int) -> None:
    both: list[Event] = [("a", 1, 7), ("a", 2, 6)]
    changelog = OneChangelog()
    one, other = changelog.apply([both[first]]), changelog.apply([both[1 - first]])
    assert ids(one.added) == [("a", both[first][2])]
    assert ids(other.withdrawn) == ([("a", 6)] if first == 1 else [])
    assert ids(other.added) == ([("a", 7)] if first == 1 else [])
    assert reasons(other) == [("a", "duplicate id")]
    assert ids(changelog.apply(gone=[("a", None)]).withdrawn) == [("a", 7)]


def test_without_op_rows_at_other_times_are_other_events() -> None:
    changelog = OneChangelog("B")
    assert ids(changelog.apply([("a", 1, 7), ("a", 2, 6)]).added) == [("a", 6), ("a", 7)]
    delta = changelog.apply([("a", 1, 5)])
    assert ids(delta.withdrawn) == [("a", 7)]
    assert ids(delta.added) == [("a", 5)]
    assert reasons(delta) == [("a", "duplicate id")]


def test_what_is_settled_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "SPARE", 0)
    changelog = OneChangelog()
    for time in range(400):
        changelog.apply([(f"a{time}", time, time)])
        held = changelog.changelogs.by_stream["A"].versions.to_tables()["rows"]
        assert len(held) <= 2 * (WINDOW + LATENESS) + 4
    assert ids(changelog.apply(gone=[("a399", None)]).withdrawn) == [("a399", 399)]


def test_a_ledger_goes_through_bytes() -> None:
    changelog = OneChangelog()
    changelog.apply([("a", 1, 7), ("b", 2, 8), ("c", 3, 9)], gone=[("x", None)])
    changelog.apply(gone=[("a", None)])
    again = changelog.reopened()
    for one in (changelog, again):
        delta = one.apply([("x", 4, 1)], gone=[("a", None), ("b", None)])
        assert ids(delta.withdrawn) == [("b", 8)]
        assert not len(delta.added)
        assert reasons(delta) == [("a", "withdrawn twice")]
