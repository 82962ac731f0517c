"""Both keys of a relation, as a report draws them: recorded ends, and where lost ones may lie."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import inkling
from inkling.report import segments as related_segments
from inkling.report.data import EndRow, MatchRow, SegmentsRow
from inkling.report.from_results import report_data

LOSSY = """
STREAM S(k STRING, n BIGINT, role STRING, t BIGINT) KEY k TIME t NUMBERED BY n SEGMENTS ROLE role;
EVENT share(x.k AS one, y.k AS other) AS PATTERN AT LEAST 2 S x INTERSECTS SOME S y HAVING x.k < y.k;
"""
O1 = [
    *({"k": "a", "n": n, "role": "close" if n % 2 == 0 else "open", "t": t} for n, t in enumerate((0, 2, 4, 6), 1)),
    {"k": "b", "n": 1, "role": "open", "t": 1},
    {"k": "b", "n": 4, "role": "close", "t": 10},
]


def matches(
    text: str, tables: dict[str, pa.Table] | None = None, **rows: list[dict[str, object]]
) -> tuple[MatchRow, ...]:
    program = inkling.parse(text)
    return report_data(program, program.run_local(rows, tables), rows, tables).matches


def at(time: int) -> EndRow:
    return EndRow(time, time)


def lost(low: int, high: int) -> EndRow:
    return EndRow(low, high, lost=True)


def without_shapes(line: SegmentsRow) -> tuple[tuple[EndRow, EndRow], ...]:
    return tuple((replace(opens, passed=()), replace(closes, passed=())) for opens, closes in line.segments)


def shares(end: EndRow, *times: float) -> list[float]:
    """The probability that a lost end was before some times, between the times at which it was computed."""
    grid = np.linspace(end.low, end.high, len(end.passed))
    return [pytest.approx(share, abs=2e-3) for share in np.interp(times, grid, end.passed).tolist()]


def test_lost_ends_lie_between_their_neighbors() -> None:
    (match,) = matches(LOSSY, S=O1)
    one, other = match.related
    assert (one.key, other.key) == ("a", "b")
    assert one.segments == ((at(0), at(2)), (at(4), at(6)))
    assert without_shapes(other) == ((at(1), lost(1, 10)), (lost(1, 10), at(10)))
    assert match.probability == pytest.approx(19 / 27)


def test_marks_limit_what_was_lost_at_the_ends() -> None:
    marks = [{"k": "b", "n": n, "role": "mark", "t": t} for n, t in ((0, 0), (2, 9))]
    (match,) = matches(LOSSY.replace("AT LEAST 2", "SOME"), S=[*O1[:4], *marks])
    assert without_shapes(match.related[1]) == ((lost(0, 9), lost(0, 9)),)


def test_two_ends_lost_in_one_gap_are_the_earlier_and_the_later_of_two_draws() -> None:
    """At a third of the gap, the earlier one was before with 1 - (2/3)², the later one with (1/3)²."""
    (match,) = matches(LOSSY, S=O1)
    (_, closes), (opens, _) = match.related[1].segments
    assert shares(closes, 1, 4, 10) == [0, 5 / 9, 1]
    assert shares(opens, 1, 4, 10) == [0, 1 / 9, 1]


def test_erlang_gaps_bring_a_lost_end_to_the_middle() -> None:
    """The second of three points: before a quarter of the gap with 10/64, before the middle with 1/2."""
    text = LOSSY.replace("NUMBERED BY n", "NUMBERED BY n GAPS ERLANG 2").replace("AT LEAST 2", "SOME")
    rows = [*O1[:4], *({"k": "b", "n": n, "role": None, "t": t} for n, t in ((1, 0), (3, 8), (4, 9)))]
    (match,) = matches(text, S=rows)
    assert shares(match.related[1].segments[0][1], 2, 4) == [10 / 64, 1 / 2]


def test_an_intensity_moves_a_lost_end_to_busy_times() -> None:
    """Three of four events come in the second half."""
    text = LOSSY.replace("NUMBERED BY n", "NUMBERED BY n INTENSITY busy").replace("AT LEAST 2", "SOME")
    text += "TABLE busy(since BIGINT, rate DOUBLE) FROM 'busy.csv';"
    rows = [*O1[:4], *({"k": "b", "n": n, "role": None, "t": t} for n, t in ((1, 0), (3, 8), (4, 9)))]
    (match,) = matches(text, {"busy": pa.table({"since": [0, 4], "rate": [1.0, 3.0]})}, S=rows)
    assert shares(match.related[1].segments[0][1], 4, 6) == [1 / 4, 5 / 8]


def test_a_rate_alone_gives_a_range_without_a_border() -> None:
    """A lost last end follows after an exponential gap: in half of all cases within ln 2, in 99 % within ln 100."""
    text = LOSSY.replace("role STRING", "role STRING, total BIGINT").replace("ROLE role", "ROLE role COUNT total")
    text = text.replace("COUNT total", "COUNT total RATE 0.1 PER TICK").replace("AT LEAST 2", "SOME")
    rows = [*O1[:4], {"k": "b", "n": 1, "role": "open", "t": 1}]
    (match,) = matches(text, S=[{**row, "total": 2 if row["k"] == "b" else 4} for row in rows])
    (_, closes), *_ = match.related[1].segments
    assert (closes.low, closes.high) == (1, 1 + math.ceil(10 * math.log(100)))
    assert shares(closes, 1 + 10 * math.log(2), closes.high) == [0.5, 0.99]


def test_certain_segments_are_drawn_too() -> None:
    text = """
    STREAM P(k STRING, start BIGINT, stop BIGINT) KEY k TIME FROM start TO stop;
    EVENT meet(x.k AS one, y.k AS other) AS PATTERN SOME P x INTERSECTS SOME P y HAVING x.k < y.k;
    """
    rows = [{"k": k, "start": start, "stop": stop} for k, start, stop in (("a", 0, 4), ("b", 3, 9), ("b", 11, 12))]
    (match,) = matches(text, P=rows)
    assert [line.segments for line in match.related] == [((at(0), at(4)),), ((at(3), at(9)), (at(11), at(12)))]


def test_segments_of_a_partition_are_named_by_what_tells_keys_apart() -> None:
    text = LOSSY.replace("S(k STRING", "S(day STRING, k STRING").replace("KEY k", "KEY day, k")
    text = text.replace("share(", "share(day, ").replace("x.k < y.k;", "x.k < y.k PARTITION BY day;")
    (match,) = matches(text, S=[{"day": "monday", **row} for row in O1])
    assert [line.key for line in match.related] == ["a", "b"]


def test_labels_of_lost_segments_are_those_of_the_table() -> None:
    text = """
    TABLE plan(n BIGINT, stop STRING) FROM 'plan.csv';
    STREAM S(k STRING, n BIGINT, role STRING, stop STRING, t BIGINT) KEY k TIME t
      NUMBERED BY n KNOWN FROM plan SEGMENTS ROLE role;
    EVENT share(x.k AS one, y.k AS other) AS
      PATTERN SOME S x INTERSECTS SOME S y ON SAME stop HAVING x.k < y.k;
    """
    plan = pa.table({"n": [1, 2, 3, 4], "stop": ["mill", "mill", "dock", "dock"]})
    stops = {1: "mill", 2: "mill", 3: "dock", 4: "dock"}
    (match,) = matches(text, {"plan": plan}, S=[{**row, "stop": stops[row["n"]]} for row in O1])
    assert [line.labels for line in match.related] == [("mill", "dock")] * 2


def test_situations_are_drawn_as_what_they_are_made_of() -> None:
    """An event that lasts from what opens a segment to what closes it is that segment."""
    text = """
    STREAM S(k STRING, n BIGINT, role STRING, t BIGINT) KEY k TIME t NUMBERED BY n SEGMENTS ROLE role;
    EVENT busy(k) AS PATTERN SEQ STRICT(S a[role = 'open'], S b[role = 'close']) PARTITION BY k;
    EVENT share(x.k AS one, y.k AS other) AS PATTERN AT LEAST 2 busy x INTERSECTS SOME busy y HAVING x.k < y.k;
    """
    shared = [match for match in matches(text, S=O1) if match.event == "share"]
    assert [match.probability for match in shared] == [pytest.approx(19 / 27)]
    assert [without_shapes(line) for line in shared[0].related] == [
        ((at(0), at(2)), (at(4), at(6))),
        ((at(1), lost(1, 10)), (lost(1, 10), at(10))),
    ]


def test_a_head_that_hides_a_key_leaves_nothing_to_draw() -> None:
    found = matches(LOSSY.replace("y.k AS other", "1 AS other"), S=O1)
    assert found
    assert all(match.related == () for match in found)


def test_too_many_segments_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(related_segments, "MOST_SEGMENTS", 1)
    (match,) = matches(LOSSY, S=O1)
    assert match.related == ()


def test_an_end_is_one_moment_unless_it_was_lost() -> None:
    with pytest.raises(ValueError, match="expected one moment unless it was lost"):
        EndRow(1, 2)
    with pytest.raises(ValueError, match="between 2 and 1"):
        EndRow(2, 1, lost=True)
