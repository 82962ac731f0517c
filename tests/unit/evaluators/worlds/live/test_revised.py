"""Uncertain streams whose past changes: probabilities are corrected, and what comes too late is reported."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.kit.oracle import bound, probable_oracle

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.local_stream import Found, LocalStream
from inkling.model.watermarks import Watermarks
from inkling.runtime.uncertain import BufferedState, UncertainProgram

Row = dict[str, Any]

SEEN = """
STREAM Seen(op STRING, id STRING, t BIGINT, v STRING) ID id TIME t PROBABILITY p
    LATENESS 10 TICKS SPECULATIVE OP op FOR 20 TICKS;
"""
ALARM = f"{SEEN}EVENT alarm AS PATTERN SEQ(Seen a[v = 'smoke'], Seen b[v = 'fire']) PER END;"


def seen(identity: str, t: int, v: str, p: float = 1.0) -> Row:
    return {"op": "+", "id": identity, "t": t, "v": v, "p": p}


def never_seen(identity: str) -> Row:
    return {"op": "-", "id": identity, "t": None, "v": None, "p": None}


def changes(found: Found, event: str = "alarm") -> list[tuple[str, int, Fraction]]:
    rows = found[event].to_pylist()
    return [(row["op"], row["end"], Fraction(row["probability"]).limit_denominator(1000)) for row in rows]


def by_definition(rows: list[Row]) -> dict[int, Fraction]:
    exact = [{**row, "p": Fraction(row["p"]).limit_denominator(1000)} for row in rows]
    return {one.end: one.probability for one in probable_oracle(bound(ALARM), {"Seen": exact})["alarm"]}


def test_a_withdrawn_reading_changes_a_probability() -> None:
    stream = inkling.parse(ALARM).open(unbounded=True)
    rows = [seen("a", 1, "smoke", 1 / 2), seen("b", 2, "smoke", 1 / 3), seen("c", 3, "fire", 3 / 4)]
    (told,) = [one for row in rows for one in changes(stream.push({"Seen": [row]}))]
    assert told == ("+", 3, Fraction(1, 2))  # 3/4 of 1 - 1/2 * 2/3
    assert by_definition(rows) == {3: Fraction(1, 2)}
    corrected = changes(stream.push({"Seen": [never_seen("b")]}))
    assert corrected == [("-", 3, Fraction(1, 2)), ("+", 3, Fraction(3, 8))]
    assert by_definition([rows[0], rows[2]]) == {3: Fraction(3, 8)}
    assert changes(stream.push({"Seen": [never_seen("a")]})) == [("-", 3, Fraction(3, 8))]
    assert changes(stream.finish()) == []


def test_a_reading_that_comes_late_changes_a_probability() -> None:
    stream = inkling.parse(ALARM).open(unbounded=True)
    assert changes(stream.push({"Seen": [seen("a", 1, "smoke", 1 / 2), seen("c", 5, "fire")]})) == [
        ("+", 5, Fraction(1, 2))
    ]
    late = stream.push({"Seen": [seen("b", 2, "smoke", 1 / 3)]})
    assert changes(late) == [("-", 5, Fraction(1, 2)), ("+", 5, Fraction(2, 3))]
    assert not len(late.late)


def test_an_unrelated_change_is_no_correction() -> None:
    stream = inkling.parse(ALARM).open(unbounded=True)
    stream.push({"Seen": [seen("a", 1, "smoke", 1 / 3), seen("b", 3, "fire", 1 / 3), seen("c", 4, "dust", 0.1)]})
    assert changes(stream.push({"Seen": [never_seen("c")]})) == []


def test_alternatives_of_a_reading_are_withdrawn_together() -> None:
    stream = inkling.parse(ALARM).open(unbounded=True)
    either = [seen("a", 1, "smoke", 1 / 2), seen("a", 1, "fire", 1 / 2)]
    assert changes(stream.push({"Seen": [*either, seen("c", 3, "fire")]})) == [("+", 3, Fraction(1, 2))]
    assert changes(stream.push({"Seen": [never_seen("a")]})) == [("-", 3, Fraction(1, 2))]


def test_a_result_below_the_threshold_is_taken_back() -> None:
    program = inkling.parse(ALARM.replace("PER END", "CONFIDENCE > 0.6 PER END"))
    stream = program.open(unbounded=True)
    rows = [seen("a", 1, "smoke", 1 / 2), seen("b", 2, "smoke", 1 / 2), seen("c", 3, "fire")]
    assert changes(stream.push({"Seen": rows})) == [("+", 3, Fraction(3, 4))]
    assert changes(stream.push({"Seen": [never_seen("a")]})) == [("-", 3, Fraction(3, 4))]


def test_a_snapshot_remembers_what_was_told() -> None:
    program = inkling.parse(ALARM)
    stream = program.open(unbounded=True)
    stream.push({"Seen": [seen("a", 1, "smoke", 1 / 2), seen("b", 2, "smoke", 1 / 3), seen("c", 3, "fire")]})
    stream = LocalStream.restore(program, stream.snapshot())
    assert changes(stream.push({"Seen": [never_seen("b")]})) == [("-", 3, Fraction(2, 3)), ("+", 3, Fraction(1, 2))]


def test_bad_withdrawals_are_told_apart() -> None:
    stream = inkling.parse(ALARM).open(unbounded=True)
    stream.push({"Seen": [seen("a", 1, "smoke"), seen("b", 2, "fire"), never_seen("early")]})
    found = stream.push({"Seen": [seen("early", 3, "fire"), never_seen("b"), never_seen("nobody")]})
    assert changes(found) == [("-", 2, Fraction(1))]
    again = stream.push({"Seen": [never_seen("b")]})
    assert [(row["id"], row["reason"]) for row in again.rejects.to_pylist()] == [("b", "withdrawn twice")]
    after = stream.push({"Seen": [seen("later", 40, "dust")]})
    assert [(row["id"], row["reason"]) for row in after.rejects.to_pylist()] == [("nobody", "nothing to withdraw")]
    missed = stream.push({"Seen": [never_seen("a")]})
    assert [(row["id"], row["time"], row["delay"]) for row in missed.late.to_pylist()] == [("a", 1, 39)]
    assert changes(missed) == []


IMPRECISE = """
STREAM A(op STRING, id STRING, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi AT MOST 4 TICKS
    LATENESS 3 TICKS SPECULATIVE OP op FOR 20 TICKS;
EVENT pair AS PATTERN SEQ(A a, A b) WITHIN 10 TICKS;
"""


def around(identity: str, lo: int | None, hi: int | None, op: str = "+") -> Row:
    return {"op": op, "id": identity, "lo": lo, "hi": hi}


def test_imprecise_times_are_too_late_by_their_first_tick() -> None:
    """The latest first tick is 20; four ticks of width and three of lateness later everything is closed."""
    stream = inkling.parse(IMPRECISE).open(unbounded=True)
    stream.push({"A": [around("a", 20, 20)]})
    found = stream.push({"A": [around("b", 12, 16), around("c", 13, 17)]})
    assert [(row["id"], row["time"], row["delay"]) for row in found.late.to_pylist()] == [("b", 12, 8)]
    assert changes(found, "pair") == [("+", 20, Fraction(1))]


def test_a_withdrawn_imprecise_reading_takes_its_pairs_along() -> None:
    stream = inkling.parse(IMPRECISE).open(unbounded=True)
    found = stream.push({"A": [around("a", 1, 2), around("b", 2, 3), around("c", 5, 5)]})
    chances = {tuple(row["lineage"]): row["probability"] for row in found["pair"].to_pylist()}
    assert chances == pytest.approx({("a", "b"): 3 / 4, ("a", "c"): 1, ("b", "c"): 1})
    gone = stream.push({"A": [around("b", None, None, "-")]})["pair"].to_pylist()
    assert [(row["op"], tuple(row["lineage"])) for row in gone] == [("-", ("a", "b")), ("-", ("b", "c"))]


def test_a_withdrawn_row_that_was_numbered_is_a_lost_one() -> None:
    program = inkling.parse("""
        STREAM A(op STRING, id STRING, k STRING, t BIGINT, n BIGINT) ID id KEY k TIME t NUMBERED BY n
            OP op FOR 100 TICKS;
        EVENT second AS PATTERN A a WHERE a.n = 2 PARTITION BY k;
    """)
    stream = program.open(unbounded=True)
    rows = [{"op": "+", "id": f"r{n}", "k": "p", "t": 10 * n, "n": n} for n in (1, 2, 3, 4, 5)]
    told = stream.push({"A": rows})["second"].to_pylist()
    assert [(row["op"], row["lineage"], row["probability"]) for row in told] == [("+", ["r2"], 1)]
    corrected = stream.push({"A": [{"op": "-", "id": "r2", "k": None, "t": None, "n": None}]})["second"].to_pylist()
    assert [(row["op"], row["lineage"], row["probability"]) for row in corrected] == [
        ("-", ["r2"], 1),
        ("+", [None], 1),
    ]


def test_windows_of_uncertain_streams_change_while_they_run() -> None:
    stream = inkling.parse(ALARM).open(unbounded=True)
    stream.push({"Seen": [seen("a", 1, "smoke", 1 / 2), seen("b", 2, "fire")]})
    stream.change_windows("Seen", withdrawals="50 TICKS")
    stream.push({"Seen": [seen("c", 40, "dust")]})
    assert changes(stream.push({"Seen": [never_seen("a")]})) == [("-", 2, Fraction(1, 2))]


def test_what_is_taken_back_has_an_output_of_its_own() -> None:
    stream = inkling.parse(ALARM.replace("PER END", "PER END ON RETRACT undone")).open(unbounded=True)
    stream.push({"Seen": [seen("a", 1, "smoke", 1 / 2), seen("b", 2, "fire")]})
    found = stream.push({"Seen": [never_seen("a")]})
    assert changes(found) == [("-", 2, Fraction(1, 2))]
    assert changes(found, "undone") == [("+", 2, Fraction(1, 2))]
    assert found["undone"]["event"].to_pylist() == ["undone"]


SAMPLING = Sampling(epsilon=0.15, delta=0.1, seed=3, exact_up_to=0, budget=1)
BOUNDED = """
STREAM A(op STRING, id STRING, k STRING, t BIGINT, n BIGINT) ID id KEY k TIME t
    NUMBERED BY n SEGMENTS COUNT total BOUNDS since TO until OP op FOR {window} TICKS;
EVENT any AS PATTERN A a PARTITION BY k;
"""


def numbered(identity: str, t: int, since: int, until: int) -> Row:
    about = {"total": 2, "since": since, "until": until}
    return {"op": "+", "id": identity, "k": identity[0], "t": t, "n": int(identity[1]), **about}


def segment(key: str, t: int) -> list[Row]:
    """Of which nothing was lost."""
    return [numbered(f"{key}{n}", t + n, t, t + 3) for n in (1, 2)]


def test_a_row_may_tell_of_events_lost_in_a_past_that_can_change() -> None:
    """Without its first row a key begins with one that tells of an event lost when nobody knew of the key."""
    program = inkling.parse(BOUNDED.format(window=100))
    stream = program.open(unbounded=True, sampling=SAMPLING)
    first, second = numbered("p1", 28, 27, 36), numbered("p2", 35, 27, 36)
    withdrawal = dict.fromkeys(first) | {"id": "p1", "op": "-"}
    pushes = [[first], [withdrawal], segment("q", 31), [second, *segment("r", 90)]]
    found = [stream.push({"A": push}) for push in pushes] + [stream.finish()]
    assert not any(len(one.late) for one in found)
    net = [row for one in found for row in one["any"].to_pylist()]
    assert all(row["op"] == "+" for row in net)
    left = [*pushes[2], *pushes[3]]
    expected = program.run_local({"A": left}, sampling=SAMPLING).tables["any"].to_pylist()
    assert any(row["lineage"] == [None] for row in expected)
    assert sorted(map(str, net)) == sorted(map(str, expected))


def test_a_row_that_tells_of_a_settled_past_is_too_late() -> None:
    stream = inkling.parse(BOUNDED.format(window=5)).open(unbounded=True, sampling=SAMPLING)
    for push in (segment("q", 31), segment("s", 50)):
        stream.push({"A": push})
    found = stream.push({"A": [numbered("p2", 53, 27, 60), *segment("r", 90)]})
    assert [(row["id"], row["time"], row["delay"]) for row in found.late.to_pylist()] == [("p2", 53, 39)]


BY_ROOM = """
STREAM Seen(op STRING, id STRING, room STRING, t BIGINT, v STRING) ID id KEY room TIME t PROBABILITY p
    OP op FOR 100 TICKS;
EVENT alarm(room) AS PATTERN SEQ NEXT(Seen a[v = 'smoke'], Seen b[v = 'fire']) PARTITION BY room PER END;
"""


@pytest.mark.parametrize(("head", "retaken"), [("(room)", {"r2"}), ("(a.room AS place)", {f"r{n}" for n in range(6)})])
def test_only_keys_that_a_change_concerns_are_replayed(
    monkeypatch: pytest.MonkeyPatch, head: str, retaken: set[str]
) -> None:
    """Where results do not show their key as it is, all keys are."""
    taken: list[str] = []
    advance = UncertainProgram.advance

    def recorded(
        live: UncertainProgram, state: BufferedState, rows: Mapping[str, pa.Table], watermarks: Watermarks
    ) -> Any:
        taken.extend(room for table in rows.values() for room in table["room"].to_pylist())
        return advance(live, state, rows, watermarks)

    monkeypatch.setattr(UncertainProgram, "advance", recorded)
    stream = inkling.parse(BY_ROOM.replace("(room) AS", f"{head} AS")).open(unbounded=True)
    for t, v in enumerate(("smoke", "smoke", "fire", "dust")):
        stream.push({"Seen": [{**seen(f"r{n}-{t}", t, v, 1 / 2), "room": f"r{n}"} for n in range(6)]})
    taken.clear()
    corrected = stream.push({"Seen": [{**never_seen("r2-1"), "room": None}]})
    assert changes(corrected) == [("-", 2, Fraction(3, 8)), ("+", 2, Fraction(1, 4))]  # 1/2 of 3/4, and of 1/2
    assert set(taken) == retaken
