"""What a stream of uncertain rows waits for, what it rejects, and what comes too late."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import inkling
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.local_stream import LocalStream
from inkling.query import Program

pytestmark = pytest.mark.slow

SAMPLING = Sampling(epsilon=0.1, delta=0.1, seed=1, exact_up_to=0, budget=1)
Row = dict[str, object]

BELLS = inkling.parse("""
STREAM Bell(id STRING, k STRING, n INT, t INT) ID id KEY k TIME t NUMBERED BY n;
STREAM Seen(id STRING, k STRING, t INT) ID id KEY k TIME t;
EVENT rung(k) AS PATTERN SEQ(Bell b, Seen s) WITHIN 4 TICKS PARTITION BY k;
""")
SHIFTS = inkling.parse("""
STREAM Shift(id STRING, k STRING, n INT, s STRING, total INT, since INT, until INT, t INT) ID id KEY k TIME t
    NUMBERED BY n SEGMENTS ROLE s COUNT total BOUNDS since TO until;
EVENT work(k, b.s AS s) AS PATTERN Shift b PARTITION BY k;
""")
IN_WORLDS = inkling.parse("""
STREAM Seen(id STRING, k STRING, lo INT, hi INT) ID id KEY k TIME BETWEEN lo AND hi;
EVENT twice(k) AS PATTERN SEQ(Seen a, Seen b) WITHIN 5 TICKS PARTITION BY k SAMPLED;
""")


def bell(k: str, n: int | None, t: int) -> Row:
    return {"id": f"{k}{n}@{t}", "k": k, "n": n, "t": t}


def seen(k: str, t: int) -> Row:
    return {"id": f"seen{k}{t}", "k": k, "t": t}


def shift(k: str, n: int, t: int, *, total: int | None = 4, since: int | None = 0, until: int | None = 20) -> Row:
    role = "open" if n % 2 else "close"
    return {"id": f"{k}{n}@{t}", "k": k, "n": n, "s": role, "total": total, "since": since, "until": until, "t": t}


def opened(program: Program) -> LocalStream:
    return program.open(unbounded=True, sampling=SAMPLING)


def test_a_number_that_may_still_come_is_waited_for() -> None:
    stream = opened(BELLS)
    assert not stream.push({"Bell": [bell("p", 1, 1)], "Seen": [seen("p", 2), seen("p", 50)]}).n_results
    assert stream.watermark == 0
    found = stream.push({"Bell": [bell("p", 2, 40), bell("p", 3, 45)]})
    assert [row["lineage"] for row in found["rung"].to_pylist()] == [["p1@1", "seenp2"]]
    assert stream.watermark == 39  # event 3 is not complete: more rows of its time may come
    stream.push({"Bell": [bell("p", 4, 47)]})
    assert stream.watermark == 44


def test_what_was_lost_is_known_with_the_next_number() -> None:
    stream = opened(BELLS)
    rows = {"Bell": [bell("p", 1, 1), bell("p", 3, 9)], "Seen": [seen("p", 5), seen("p", 11)]}
    assert not stream.push({"Bell": rows["Bell"][:1], "Seen": rows["Seen"]}).n_results
    stream.push({"Bell": rows["Bell"][1:]})
    found = stream.finish()["rung"].to_pylist()
    expected = BELLS.run_local(rows, sampling=SAMPLING).tables["rung"].to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, expected))
    assert [None, "seenp5"] in [row["lineage"] for row in found]


def test_the_end_of_a_count_is_waited_for_until_its_bound() -> None:
    stream = opened(SHIFTS)
    stream.push({"Shift": [shift("p", 1, 2), shift("p", 2, 4)]})
    stream.push({"Shift": [shift("q", n, 4 + n, until=9) for n in (1, 2, 3, 4)]})
    assert stream.watermark == 3  # events 3 and 4 of p may come
    after = [shift("r", n, t, total=2, until=40) for n, t in ((1, 21), (2, 25))]
    found = stream.push({"Shift": after})["work"].to_pylist()
    assert stream.watermark == 20  # nothing of p can come any more
    lost = [(row["k"], row["s"], row["probability"]) for row in found if row["lineage"] == [None]]
    assert sorted(lost) == [("p", "close", 1.0), ("p", "open", 1.0)]


def test_what_was_lost_before_a_new_key_may_be_too_long_ago() -> None:
    stream = opened(SHIFTS)
    stream.push({"Shift": [shift("p", 1, 2, total=2), shift("p", 2, 4, total=2)]})
    stream.push({"Shift": [shift("q", 1, 10, total=2), shift("q", 2, 11, total=2)]})
    assert stream.watermark == 9
    found = stream.push({"Shift": [shift("r", 2, 12), shift("s", 2, 12, since=10), shift("q", 3, 30)]})
    told = {row["id"]: (row["time"], row["delay"]) for row in found.late.to_pylist()}
    assert told == {"r2@12": (12, 18)}
    results = [*found["work"].to_pylist(), *stream.finish()["work"].to_pylist()]
    assert {row["k"] for row in results} == {"q", "s"}


@pytest.mark.parametrize(
    ("before", "row", "reason"),
    [
        ([], bell("p", None, 5), "null number"),
        ([], bell("p", 0, 5), "bad number"),
        ([], bell("p", 2, 5), "missing bound"),
        ([bell("p", 1, 1), bell("p", 3, 4)], bell("p", 3, 5), "duplicate number"),
        ([bell("p", 1, 1), bell("p", 3, 4)], bell("p", 2, 5), "not increasing"),
        ([bell("p", 1, 5)], bell("p", 2, 5), "not increasing"),
        ([bell("p", 1, 5)], bell("p", 4, 5), "zero window with losses"),
        ([bell("p", 1, 1)], bell("p", 20_000, 5), "run too long"),
    ],
)
def test_numbers_that_do_not_fit_are_rejected(before: list[Row], row: Row, reason: str) -> None:
    stream = opened(BELLS)
    stream.push({"Seen": [seen("p", 60)]})
    for one in before:
        assert not len(stream.push({"Bell": [one]}).rejects)
    rejected = [*stream.push({"Bell": [row]}).rejects.to_pylist(), *stream.finish().rejects.to_pylist()]
    assert [(one["stream"], one["id"], one["reason"]) for one in rejected] == [("Bell", row["id"], reason)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (shift("p", 2, 5, total=1), "bad count"),
        (shift("p", 1, 5, total=3), "odd count"),
        (shift("p", 1, 5, since=7), "bad bounds"),
        (shift("p", 1, 5, until=3), "bad bounds"),
        (shift("p", 2, 5, since=None), "missing bound"),
        (shift("p", 2, 5, since=5), "zero window with losses"),
    ],
)
def test_counts_and_bounds_that_do_not_fit_are_rejected(row: Row, reason: str) -> None:
    stream = opened(SHIFTS)
    stream.push({"Shift": [row]})
    assert [one["reason"] for one in stream.finish().rejects.to_pylist()] == [reason]


def test_alternatives_that_contradict_each_other_are_rejected() -> None:
    program = inkling.parse("""
    STREAM At(id STRING, k STRING, room STRING, p DOUBLE, t INT) ID id KEY k TIME t PROBABILITY p;
    EVENT there(k) AS PATTERN At a PARTITION BY k;
    """)
    stream = opened(program)
    rows = [
        {"id": f"{k}{room}", "k": k, "room": room, "p": p, "t": 1} for k, p in (("p", 0.7), ("q", 0.5)) for room in "ab"
    ]
    stream.push({"At": rows[:1]})
    assert not len(stream.push({"At": rows[1:]}).rejects)
    found = stream.finish()
    assert [(row["id"], row["reason"]) for row in found.rejects.to_pylist()] == [
        ("pa", "probability sum"),
        ("pb", "probability sum"),
    ]
    assert [row["k"] for row in found["there"].to_pylist()] == ["q"]


BOTH = inkling.parse("""
STREAM Seen(id STRING, k STRING, lo INT, hi INT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM Door(id STRING, k STRING, t INT) ID id KEY k TIME t;
EVENT entry(k) AS PATTERN SEQ(Seen a, Door b) WITHIN 5 TICKS PARTITION BY k;
EVENT doors(k) AS PATTERN SEQ(Door a, Door b) WITHIN 5 TICKS PARTITION BY k;
""")


def test_what_certain_and_uncertain_events_read_is_reported_once() -> None:
    def door(number: int, t: int) -> Row:
        return {"id": f"d{number}", "k": "p", "t": t}

    def visit(number: int, lo: int) -> Row:
        return {"id": f"v{number}", "k": "p", "lo": lo, "hi": lo + 2}

    stream = BOTH.open(sampling=SAMPLING)
    rows = {"Door": [door(1, 3), door(1, 3), door(2, 5)], "Seen": [visit(1, 1)]}
    found = [stream.push(rows), stream.push({"Door": [door(3, 20)], "Seen": [visit(2, 18)]})]
    found += [stream.push({"Door": [door(4, 2)], "Seen": [visit(3, 2)]}), stream.finish()]
    late = [(row["stream"], row["id"], row["time"], row["delay"]) for one in found for row in one.late.to_pylist()]
    rejects = [(row["stream"], row["id"], row["reason"]) for one in found for row in one.rejects.to_pylist()]
    assert sorted(late) == [("Door", "d4", 2, 18), ("Seen", "v3", 2, 16)]
    assert rejects == [("Door", "d1", "duplicate id")]
    in_time = {"Door": [*rows["Door"], door(3, 20)], "Seen": [visit(1, 1), visit(2, 18)]}
    expected = BOTH.run_local(in_time, sampling=SAMPLING)
    assert len(expected.rejects) == 1
    for event in ("entry", "doors"):
        told = [row for one in found for row in one[event].to_pylist()]
        assert sorted(map(str, told)) == sorted(map(str, expected.tables[event].to_pylist()))


def test_results_wait_until_every_world_has_had_its_say() -> None:
    stream = IN_WORLDS.open(sampling=SAMPLING)
    early, late = ({"id": "a", "k": "p", "lo": 0, "hi": 9}, {"id": "b", "k": "p", "lo": 3, "hi": 6})
    assert not stream.push({"Seen": [early, late]}).n_results
    assert not stream.push({"Seen": [{"id": "c", "k": "q", "lo": 9, "hi": 9}]}).n_results  # a may still happen at 9
    found = stream.push({"Seen": [{"id": "d", "k": "q", "lo": 30, "hi": 30}]})["twice"].to_pylist()
    assert sorted(row["lineage"] for row in found) == [["a", "b"], ["b", "a"]]


def test_names_are_kept_as_long_as_results_wait() -> None:
    stream = IN_WORLDS.open(sampling=SAMPLING)
    stream.push({"Seen": [{"id": "a", "k": "p", "lo": 0, "hi": 0}, {"id": "b", "k": "p", "lo": 1, "hi": 60}]})
    for t in (20, 40):  # by far longer than any window after a
        assert not stream.push({"Seen": [{"id": f"q{t}", "k": "q", "lo": t, "hi": t}]}).n_results
    found = stream.push({"Seen": [{"id": "q70", "k": "q", "lo": 70, "hi": 70}]})["twice"].to_pylist()
    assert [row["lineage"] for row in found] == [["a", "b"]]


def test_times_may_be_moments() -> None:
    program = inkling.parse("""
    STREAM Seen(id STRING, k STRING, lo TIMESTAMP, hi TIMESTAMP) ID id KEY k TIME BETWEEN lo AND hi;
    STREAM Bell(id STRING, k STRING, n INT, t TIMESTAMP) ID id KEY k TIME t NUMBERED BY n;
    EVENT answered(k) AS PATTERN SEQ(Bell a, Seen b) WITHIN 10 SECONDS PARTITION BY k;
    """)
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)

    def at(seconds: float) -> datetime:
        return noon + timedelta(seconds=seconds)

    rows = {
        "Seen": [{"id": f"s{n}", "k": "p", "lo": at(4 * n), "hi": at(4 * n + 6)} for n in range(8)],
        "Bell": [{"id": f"b{n}", "k": "p", "n": n, "t": at(5 * n)} for n in (1, 2, 4, 5, 7, 8)],
    }
    stream, told = opened(program), []
    for number in range(8):
        push = {name: some[number : number + 1] for name, some in rows.items()}
        told += stream.push({name: some for name, some in push.items() if some})["answered"].to_pylist()
    assert told
    told += stream.finish()["answered"].to_pylist()
    expected = program.run_local(rows, sampling=SAMPLING).tables["answered"].to_pylist()
    assert sorted(map(str, told)) == sorted(map(str, expected))


def test_a_snapshot_belongs_to_its_worlds() -> None:
    stream = IN_WORLDS.open(sampling=SAMPLING)
    stream.push({"Seen": [{"id": "a", "k": "p", "lo": 0, "hi": 9}]})
    data = stream.snapshot()
    LocalStream.restore(IN_WORLDS, data, sampling=SAMPLING)
    with pytest.raises(InputError):
        LocalStream.restore(IN_WORLDS, data, sampling=replace(SAMPLING, seed=2))


LONG = inkling.parse("""
STREAM Seen(id STRING, k STRING, lo INT, hi INT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM Sky(id STRING, k STRING, sky STRING, before STRING, p DOUBLE, t INT) ID id KEY k TIME t
    PROBABILITY p GIVEN before;
STREAM Bell(id STRING, k STRING, n INT, t INT) ID id KEY k TIME t NUMBERED BY n;
EVENT walk(k) AS PATTERN SEQ(Sky a[sky = 'sun'], NOT Bell b, Seen c) WITHIN 6 TICKS PARTITION BY k;
EVENT long(k) AS PATTERN SEQ(walk a, Bell b) WITHIN 6 TICKS PARTITION BY k;
""")


def test_what_is_remembered_does_not_grow_with_time() -> None:
    stream = opened(LONG)
    sizes = []
    for t in range(0, 240, 2):
        skies = [
            {"id": f"{before}{sky}{t}", "k": "p", "sky": sky, "before": before, "p": 0.5, "t": t}
            for before in ((None,) if not t else ("sun", "rain"))
            for sky in ("sun", "rain")
        ]
        bells = [bell("p", t // 2 + 1, t)] if t % 3 else []
        stream.push({"Seen": [{"id": f"s{t}", "k": "p", "lo": t, "hi": t + 3}], "Sky": skies})
        if bells or not t:
            stream.push({"Bell": bells or [bell("p", 1, 0)]})
        sizes.append(len(stream.snapshot()))
    assert max(sizes[80:]) < 1.3 * max(sizes[20:80])
