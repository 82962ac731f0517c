"""WITHIN limits how long two related segments last together: over certain segments, and where ends were lost."""

from __future__ import annotations

import pytest

import inkling
from inkling.evaluators.sampling import Sampling

EVENT = "EVENT near(x.k AS one, y.k AS other) AS PATTERN {pattern} HAVING x.k < y.k;"
CERTAIN = "STREAM S(k STRING, s BIGINT, e BIGINT) KEY k TIME FROM s TO e;"
LOSSY = "STREAM S(k STRING, n BIGINT, t BIGINT) KEY k TIME t NUMBERED BY n SEGMENTS;"

Row = dict[str, object]


def segments(**keys: list[tuple[int, int]]) -> list[Row]:
    return [{"k": k, "s": s, "e": e} for k, some in keys.items() for s, e in some]


def numbered(**keys: list[int | None]) -> list[Row]:
    return [{"k": k, "n": n, "t": t} for k, times in keys.items() for n, t in enumerate(times, 1) if t is not None]


def found(streams: str, pattern: str, rows: list[Row]) -> dict[object, float]:
    program = inkling.parse(streams + EVENT.format(pattern=pattern))
    table = program.run_local(rows, sampling=Sampling(epsilon=0.02, delta=0.001))["near"]
    return {(row["one"], row["other"]): row["probability"] for row in table.to_pylist()}


@pytest.mark.parametrize(
    ("within", "related"),
    [("", True), (" WITHIN 9 TICKS", True), (" WITHIN 10 POINTS", True), (" WITHIN 8 TICKS", False)],
)
def test_the_limit_is_from_the_first_start_to_the_last_end(within: str, related: bool) -> None:
    rows = segments(a=[(1, 3)], b=[(7, 10), (20, 90)])
    assert bool(found(CERTAIN, f"SOME S x PRECEDES SOME S y{within}", rows)) == related


def test_segments_that_are_too_far_apart_are_not_related_but_count() -> None:
    rows = segments(a=[(1, 3), (50, 52)], b=[(7, 10)])
    assert found(CERTAIN, "ALL S x {PRECEDES, PRECEDED_BY} SOME S y WITHIN 45 TICKS", rows)
    assert not found(CERTAIN, "ALL S x {PRECEDES, PRECEDED_BY} SOME S y WITHIN 44 TICKS", rows)


def test_a_lost_end_is_early_enough_with_a_probability() -> None:
    """`b` closed between 5 and 15: by 10 with probability 1/2, so that both lasted at most 10."""
    rows = numbered(a=[0, 2], b=[5, None, 15, 16])
    chance = found(LOSSY, "SOME S x PRECEDES SOME S y WITHIN 10 TICKS", rows)
    assert chance == {("a", "b"): pytest.approx(1 / 2, abs=0.02)}
    assert found(LOSSY, "SOME S x PRECEDES SOME S y WITHIN 16 TICKS", rows) == {("a", "b"): pytest.approx(1)}


def test_two_ends_lost_in_one_gap_are_ordered() -> None:
    """Both ends of the only segment of `b` lie in (0, 10); the later one is before 6 with probability 36/100."""
    streams = LOSSY.replace("n BIGINT", "n BIGINT, what STRING").replace("SEGMENTS", "SEGMENTS ROLE what")
    marks: list[Row] = [{"k": "b", "n": n, "what": "mark", "t": t} for n, t in ((0, 0), (2, 10))]
    rows = [{**row, "what": None} for row in numbered(a=[0, 1])] + marks
    chance = found(streams, "SOME S x STARTS_BEFORE SOME S y WITHIN 6 TICKS", rows)
    assert chance == {("a", "b"): pytest.approx(0.36, abs=0.02)}


def test_worlds_answer_where_lengths_matter() -> None:
    said = inkling.parse(LOSSY + EVENT.format(pattern="SOME S x PRECEDES SOME S y WITHIN 10 TICKS")).explain("verdicts")
    assert "in worlds  WITHIN compares lengths of time, not only the order of events" in said
