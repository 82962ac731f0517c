"""Marks, ends, timeouts and rates on a stream: what is waited for, and every reason for which a row is rejected."""

from __future__ import annotations

import pytest

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.io.rejects import Reason
from inkling.local_stream import LocalStream
from inkling.query import Program

SAMPLING = Sampling(epsilon=0.1, delta=0.1, seed=1, exact_up_to=0, budget=1)
Row = dict[str, object]

COLUMNS = "id STRING, k STRING, n INT, s STRING, t INT"
SHIFTS = f"STREAM Shift({COLUMNS}) ID id KEY k TIME t NUMBERED BY n SEGMENTS ROLE s"
EVERY = "EVENT work(k, b.s AS s, b.n AS n) AS PATTERN Shift b PARTITION BY k;"
MARKED = inkling.parse(f"{SHIFTS}; {EVERY}")
COUNTED = inkling.parse(f"{SHIFTS} COUNT total BOUNDS since TO until RATE rate; {EVERY}")
CLOSING = inkling.parse(f"{SHIFTS} COUNT total TIMEOUT 10 TICKS; {EVERY}")


def shift(n: int | None, t: int, role: str | None = None, k: str = "p", **said: object) -> Row:
    word = role or ("open" if n is None or n % 2 else "close")
    about = {"total": None, "since": None, "until": None, "rate": None, **said}
    return {"id": f"{k}{n}{word}@{t}", "k": k, "n": n, "s": word, "t": t, **about}


def opened(program: Program) -> LocalStream:
    return program.open(unbounded=True, sampling=SAMPLING)


def lost(rows: list[Row]) -> list[tuple[object, object, object]]:
    return sorted((row["k"], row["n"], row["s"]) for row in rows if row["lineage"] == [None])


class TestWhatIsWaitedFor:
    def test_a_mark_moves_time_on_like_an_event(self) -> None:
        stream = opened(MARKED)
        stream.push({"Shift": [shift(1, 2), shift(2, 4)]})
        assert stream.watermark == 1  # event 2 is not complete
        stream.push({"Shift": [shift(2, 30, "mark")]})
        assert stream.watermark == 3
        found = stream.push({"Shift": [shift(4, 40, "mark"), shift(4, 41, "mark")]})
        assert stream.watermark == 39
        assert lost(found["work"].to_pylist()) == []
        found = stream.push({"Shift": [shift(4, 50, "mark"), shift(4, 60, "mark")]})
        assert lost(found["work"].to_pylist()) == [("p", 3, "open"), ("p", 4, "close")]

    def test_a_mark_of_all_events_completes_a_key(self) -> None:
        stream = opened(COUNTED)
        rows = [shift(1, 2, total=2), shift(2, 4, "mark", total=2), shift(1, 28, k="q"), shift(2, 30, k="q")]
        stream.push({"Shift": rows})
        assert stream.watermark == 27  # q may continue, p does not

    def test_nothing_follows_the_end(self) -> None:
        stream = opened(MARKED)
        rows = [shift(n, n, word) for n, word in enumerate(("start", "suspend", "resume", "end"), start=1)]
        stream.push({"Shift": [*rows, shift(1, 28, k="q"), shift(2, 30, k="q")]})
        assert stream.watermark == 27
        stream = opened(MARKED)
        stream.push({"Shift": [*rows[:3], shift(4, 4), shift(1, 28, k="q"), shift(2, 30, k="q")]})
        assert stream.watermark == 3  # p may continue, too

    def test_a_timeout_closes_a_key(self) -> None:
        stream = opened(CLOSING)
        stream.push({"Shift": [shift(1, 2), shift(2, 4), shift(3, 6), shift(1, 6, k="q"), shift(2, 7, k="q")]})
        assert not stream.push({"Shift": [shift(1, 16, k="r")]}).n_results
        assert stream.watermark == 5  # p may continue until 16
        stream.push({"Shift": [shift(1, 18, k="s")]})
        assert stream.watermark == 15  # r may continue
        found = stream.push({"Shift": [shift(2, 27, k="s")]})["work"].to_pylist()
        assert stream.watermark == 17  # s may continue
        assert lost(found) == [("p", 4, "close")]
        assert lost(stream.finish()["work"].to_pylist()) == [("r", 2, "close")]

    def test_a_key_that_was_closed_stays_closed(self) -> None:
        stream = opened(CLOSING)
        stream.push({"Shift": [shift(1, 2), shift(2, 4)]})
        stream.push({"Shift": [shift(1, 50, k="q"), shift(2, 51, k="q")]})
        stream = LocalStream.restore(CLOSING, stream.snapshot(), sampling=SAMPLING)
        late = [shift(3, 60), shift(1, 61), shift(2, 62, "mark")]
        rejected = [row for one in late for row in stream.push({"Shift": [one]}).rejects.to_pylist()]
        rejected += stream.finish().rejects.to_pylist()
        assert [(one["id"], one["reason"]) for one in rejected] == [(one["id"], "after timeout") for one in late]
        assert {one["detail"] for one in rejected} == {
            f"it is at {t}, and its key was closed at 14" for t in (60, 61, 62)
        }

    def test_what_is_remembered_of_closed_keys_is_one_row_each(self) -> None:
        stream = opened(CLOSING)
        sizes = []
        for number in range(60):
            stream.push({"Shift": [shift(n, 20 * number + n, k=f"k{number % 3}") for n in (1, 2)]})
            sizes.append(len(stream.snapshot()))
        assert max(sizes[20:]) < 1.2 * max(sizes[4:20])

    def test_what_an_early_row_says_of_its_key_is_not_forgotten(self) -> None:
        rows = [shift(1, 2, total=6, since=0, until=50), *(shift(n, 5 * n) for n in (2, 3, 4)), shift(1, 70, k="q")]
        stream, told = opened(COUNTED), []
        for row in rows:
            told += stream.push({"Shift": [row]})["work"].to_pylist()
        assert lost([*told, *stream.finish()["work"].to_pylist()]) == [("p", 5, "open"), ("p", 6, "close")]

    def test_a_rate_at_the_end(self) -> None:
        rows = [shift(1, 2, total=4, rate=0.5), shift(2, 4)]
        stream = opened(COUNTED)
        stream.push({"Shift": rows})
        found = stream.finish()["work"].to_pylist()
        assert lost(found) == [("p", 3, "open"), ("p", 4, "close")]
        expected = COUNTED.run_local({"Shift": rows}, sampling=SAMPLING).tables["work"].to_pylist()
        assert sorted(map(str, found)) == sorted(map(str, expected))

    def test_what_a_rate_shows_at_the_start_may_be_too_long_ago(self) -> None:
        stream = opened(COUNTED)
        told = [stream.push({"Shift": [shift(2, 2, rate=0.5), shift(3, 4)]})]
        told += [stream.push({"Shift": [shift(2, 41, k="r", rate=0.5), shift(4, 60)]}), stream.finish()]
        assert [row["id"] for one in told for row in one.late.to_pylist()] == ["r2close@41"]
        assert lost([row for one in told for row in one["work"].to_pylist()]) == [("p", 1, "open")]


FAULTS: list[tuple[Reason, Program, list[Row], Row]] = [
    (Reason.NULL_NUMBER, MARKED, [], shift(None, 5)),
    (Reason.BAD_NUMBER, MARKED, [], shift(0, 5)),
    (Reason.BAD_NUMBER, MARKED, [], shift(-1, 5, "mark")),
    (Reason.AFTER_TIMEOUT, CLOSING, [shift(1, 5)], shift(2, 16)),
    (Reason.DUPLICATE_NUMBER, MARKED, [shift(1, 4)], shift(1, 5)),
    (Reason.BAD_COUNT, COUNTED, [shift(1, 4, total=2, until=9)], shift(2, 5, total=4)),
    (Reason.BAD_COUNT, COUNTED, [shift(2, 4, since=1, total=2)], shift(3, 5)),
    (Reason.BAD_COUNT, COUNTED, [shift(2, 4, since=1, total=2)], shift(3, 5, "mark")),
    (Reason.ODD_COUNT, COUNTED, [], shift(1, 5, total=3, until=9)),
    (Reason.BAD_BOUNDS, COUNTED, [], shift(1, 5, since=7)),
    (Reason.BAD_BOUNDS, COUNTED, [], shift(1, 5, until=3)),
    (Reason.BAD_BOUNDS, COUNTED, [shift(1, 4, until=6)], shift(2, 7)),
    (Reason.BAD_BOUNDS, COUNTED, [shift(1, 4, since=2)], shift(2, 7, since=3)),
    (Reason.BAD_BOUNDS, COUNTED, [shift(1, 4, until=9)], shift(2, 7, until=8)),
    (Reason.BAD_RATE, COUNTED, [], shift(1, 5, rate=0.0)),
    (Reason.BAD_RATE, COUNTED, [shift(1, 4, rate=1.0)], shift(2, 5, rate=2.0)),
    (Reason.NOT_INCREASING, MARKED, [shift(1, 4), shift(3, 5)], shift(2, 6)),
    (Reason.NOT_INCREASING, MARKED, [shift(1, 4), shift(2, 5)], shift(3, 5)),
    (Reason.NOT_INCREASING, MARKED, [shift(1, 4), shift(1, 6, "mark")], shift(2, 6)),
    (Reason.NOT_INCREASING, MARKED, [shift(1, 4), shift(2, 6)], shift(1, 7, "mark")),
    (Reason.ZERO_LENGTH_SEGMENT, MARKED, [shift(1, 5)], shift(2, 5)),
    (Reason.ZERO_WINDOW, MARKED, [shift(1, 5)], shift(4, 5)),
    (Reason.ZERO_WINDOW, MARKED, [shift(1, 5)], shift(2, 5, "mark")),
    (Reason.ZERO_WINDOW, COUNTED, [], shift(2, 5, since=5)),
    (Reason.ZERO_WINDOW, COUNTED, [], shift(1, 5, total=2, until=5)),
    (Reason.MISSING_BOUND, MARKED, [], shift(2, 5)),
    (Reason.MISSING_BOUND, MARKED, [], shift(2, 5, "mark")),
    (Reason.MISSING_BOUND, COUNTED, [], shift(1, 5, total=2)),
    (Reason.ROLE_MISMATCH, MARKED, [], shift(1, 5, "close")),
    (Reason.ROLE_MISMATCH, MARKED, [], shift(1, 5, "resume")),
    (Reason.ROLE_MISMATCH, MARKED, [shift(1, 4), shift(2, 5)], shift(3, 6, "start")),
    (Reason.ROLE_MISMATCH, MARKED, [shift(1, 4), shift(2, 5, "end")], shift(3, 6)),
    (Reason.ROLE_MISMATCH, MARKED, [shift(1, 4), shift(2, 5, "end")], shift(3, 6, "mark")),
    (Reason.ROLE_MISMATCH, MARKED, [], shift(1, 5, "end")),
    (Reason.ROLE_MISMATCH, MARKED, [shift(1, 4, "up")], shift(2, 5, "up")),
    (Reason.ROLE_MISMATCH, COUNTED, [], shift(2, 5, "suspend", since=0, total=2)),
    (Reason.ROLE_MISMATCH, COUNTED, [], shift(2, 5, "end", since=0, until=9, total=4)),
    (Reason.RUN_TOO_LONG, MARKED, [shift(1, 4)], shift(20_000, 5)),
    (Reason.RUN_TOO_LONG, MARKED, [shift(1, 4)], shift(20_000, 5, "mark")),
]


@pytest.mark.parametrize(
    ("reason", "program", "before", "row"), FAULTS, ids=[f"{one[0].value} {n}" for n, one in enumerate(FAULTS)]
)
def test_every_fault_has_its_reason(reason: Reason, program: Program, before: list[Row], row: Row) -> None:
    """A run over all rows rejects the whole key, unless one row has nothing to do with it; a stream, the row."""
    alone = reason in (Reason.NULL_NUMBER, Reason.BAD_NUMBER, Reason.AFTER_TIMEOUT)
    found = program.run_local({"Shift": [*before, row]}, sampling=SAMPLING).rejects.to_pylist()
    expected = [row] if alone else [*before, row]
    assert [(one["id"], one["reason"]) for one in found] == [(one["id"], reason.value) for one in expected]
    for pushes in ([[*before, row]], [[*before], [row]], [[one] for one in (*before, row)]):
        stream = opened(program)
        stream.push({"Shift": [shift(1, 1, k="h")]})  # nothing is decided that a key may be forgotten for
        rejected = [one for some in pushes for one in stream.push({"Shift": some}).rejects.to_pylist()]
        rejected += stream.finish().rejects.to_pylist()
        assert [(one["id"], one["reason"]) for one in rejected] == [(row["id"], reason.value)]
        assert all(one["detail"] for one in rejected)


def test_every_reason_of_numbers_was_tried() -> None:
    numbered = list(Reason)[list(Reason).index(Reason.NULL_NUMBER) :]
    assert {one[0] for one in FAULTS} == set(numbered)
