"""Rows far in the future are rejects on a running stream, and do not make later rows late."""

from typing import Any

import numpy as np
import pytest

import inkling
from inkling.errors import InputError
from inkling.local_stream import Found, LocalStream
from inkling.model.time import Clock
from inkling.runtime.ahead import FutureGuard

STAMPED = "STREAM S(a BIGINT, t TIMESTAMP) TIME t{}; EVENT f(s.a AS a) AS PATTERN S s;"
TICKING = "STREAM S(a BIGINT, t BIGINT) TIME t{}; EVENT f(s.a AS a) AS PATTERN S s;"
DAYS = [{"a": n, "t": f"2024-01-{n:02}T00:00:00"} for n in range(1, 10)]
ODD = {"a": 99, "t": "9999-01-01T00:00:00"}
TICKS = [{"a": n, "t": 5 * n} for n in range(1, 10)]
FAR = {"a": 99, "t": 10**15}


def outcome(steps: list[Found]) -> tuple[list[int], list[str], int]:
    """The results, the reasons of rejects, and the number of late rows."""
    found = sorted(a for step in steps for a in step["f"]["a"].to_pylist())
    return found, [one for step in steps for one in step.rejects["reason"].to_pylist()], sum(len(s.late) for s in steps)


def cut(rows: list[dict[str, Any]], size: int, stream: LocalStream) -> tuple[list[int], list[str], int]:
    steps = [stream.push(rows[at : at + size]) for at in range(0, len(rows), size)]
    return outcome([*steps, stream.finish()])


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("place", [0, 4, 9])
def test_every_cut_has_the_same_outcome(size: int, place: int) -> None:
    rows = [*DAYS[:place], ODD, *DAYS[place:]]
    assert cut(rows, size, inkling.parse(STAMPED.format("")).open()) == (list(range(1, 10)), ["too far ahead"], 0)
    if place:  # the first row of a stream of integers is credible
        ticks = [*TICKS[:place], FAR, *TICKS[place:]]
        stream = inkling.parse(TICKING.format(" AHEAD 5 TICKS")).open()
        assert cut(ticks, size, stream) == (list(range(1, 10)), ["too far ahead"], 0)


def test_the_detail_names_the_length() -> None:
    stream = inkling.parse(STAMPED.format(" AHEAD 2 HOURS")).open()
    (reject,) = stream.push([ODD]).rejects.to_pylist()
    assert reject["detail"] == "`t` is '9999-01-01T00:00:00', more than 2 HOURS after its arrival"
    stream = inkling.parse(TICKING.format(" AHEAD 7 TICKS")).open()
    (reject,) = stream.push([*TICKS, FAR]).rejects.to_pylist()
    assert reject["detail"] == "`t` is 1000000000000000, more than 7 TICKS after the newest time of `S`"


def test_without_a_guard_later_rows_are_late() -> None:
    unguarded = ([1, 2, 3, 4, 99], [], 5)
    stamped, ticking = inkling.parse(STAMPED.format("")), inkling.parse(TICKING.format(""))
    assert cut([*DAYS[:4], ODD, *DAYS[4:]], 1, stamped.open(ahead="none")) == unguarded
    assert cut([*TICKS[:4], FAR, *TICKS[4:]], 1, ticking.open()) == unguarded


def test_integers_are_guarded_by_an_option_too() -> None:
    stream = inkling.parse(TICKING.format("")).open(ahead="10 TICKS")
    assert cut([*TICKS[:4], FAR, *TICKS[4:]], 1, stream) == (list(range(1, 10)), ["too far ahead"], 0)


def test_the_newest_time_is_part_of_a_snapshot() -> None:
    program = inkling.parse(TICKING.format(" AHEAD 10 TICKS"))
    stream = program.open()
    first = stream.push(TICKS[:4])
    again = LocalStream.restore(program, stream.snapshot())
    steps = [first, again.push([FAR]), again.push(TICKS[4:]), again.finish()]
    assert outcome(steps) == (list(range(1, 10)), ["too far ahead"], 0)


def test_withdrawals_and_imprecise_times() -> None:
    text = "STREAM S(id BIGINT, a BIGINT, t TIMESTAMP) ID id TIME t OP op FOR 9 DAYS; EVENT f(s.a AS a) AS PATTERN S s;"
    stream = inkling.parse(text).open()
    rows = [{"id": n, "op": "+", **row} for n, row in enumerate([*DAYS, ODD])]
    steps = [stream.push(rows), stream.push([{"id": 3, "op": "-", "a": None, "t": None}]), stream.finish()]
    assert [reason for step in steps for reason in step.rejects["reason"].to_pylist()] == ["too far ahead"]
    text = "STREAM S(a BIGINT, t TIMESTAMP) TIME t ± 1 HOURS; EVENT f(s.a AS a) AS PATTERN S s;"
    found, rejects, n_late = cut([*DAYS[:4], ODD, *DAYS[4:]], 1, inkling.parse(text).open())
    assert (sorted(set(found)), rejects, n_late) == (list(range(1, 10)), ["too far ahead"], 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_rows_that_arrive_together_does_not_matter(seed: int) -> None:
    draw = np.random.default_rng(seed)
    times, newest = draw.integers(0, 200, 12), None if seed % 2 else int(draw.integers(0, 200))
    guard = FutureGuard("S", "@end", 10, "10 TICKS", Clock.TICKS)
    limits = {repr(guard.limit(draw.permutation(times), newest, 0)) for _ in range(5)}
    assert len(limits) == 1
    # the definition: times that a chain of steps of at most 10 reaches
    credible = {int(np.sort(times)[5])} if newest is None else {newest}
    while more := {int(t) for t in times if int(t) not in credible and int(t) <= max(credible) + 10}:
        credible |= more
    limit = guard.limit(times, newest, 0)
    rejected = {int(t) for t in times} - credible
    assert ({int(t) for t in times if limit is not None and t > limit.latest}) == rejected


@pytest.mark.parametrize("text", ["soon", "3 parsecs", ""])
def test_an_option_that_is_no_length_of_time(text: str) -> None:
    with pytest.raises(InputError, match=r"`ahead`: .* is not a length of time"):
        inkling.parse(TICKING.format("")).open(ahead=text)
