"""Sliding aggregates of the ETALIS thesis, by the ids of its table: windows of events, of time, and since a start."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle

import inkling

TEMP = "STREAM Temp(v INT, t INT) TIME t;"
SEVEN = (5, 1, 4, 9, 2, 2, 7)
STARTED = "STREAM Begin(v INT, t INT) TIME t; STREAM Temp(v INT, t INT) TIME t;"


def found(text: str, rows: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    """The results of `x`, which the definition gives as well."""
    program = inkling.parse(text)
    results = program.run_local(rows).tables["x"].to_pylist()
    said = oracle(program.plan, rows)["x"]
    assert [one.values for one in said] == [tuple(row[name] for name in _columns(program)) for row in results]
    stream = program.open(unbounded=True)
    pushed = [row for name in rows for row in stream.push({name: rows[name]}).tables["x"].to_pylist()]
    pushed += stream.finish().tables["x"].to_pylist()
    assert pushed == results
    return results


def _columns(program: inkling.Program) -> list[str]:
    event = program.plan.event("x")
    assert event is not None
    return [output.name for output in (*event.head, *event.returns)]


def numbered(values: tuple[int, ...] | range) -> dict[str, list[dict[str, object]]]:
    return {"Temp": [{"v": value, "t": time} for time, value in enumerate(values, start=1)]}


CASES = {
    "A01": ("SUM", 5, range(1, 13), [1, 3, 6, 10, 15, 20, 25, 30, 35, 40, 45, 50]),
    "A02": ("SUM", 3, SEVEN, [5, 6, 10, 14, 15, 13, 11]),
    "A03": ("MAX", 3, SEVEN, [5, 5, 5, 9, 9, 9, 7]),
    "A04": ("MIN", 3, SEVEN, [5, 1, 1, 1, 2, 2, 2]),
    "A05": ("AVG", 3, SEVEN, [5.0, 3.0, 10 / 3, 14 / 3, 5.0, 13 / 3, 11 / 3]),
}


@pytest.mark.parametrize("case", CASES)
def test_window_of_events(case: str) -> None:
    function, size, values, expected = CASES[case]
    text = f"{TEMP} EVENT x(r) AS PATTERN WINDOW Temp w LAST {size} EVENTS WHERE r = {function}(w.v);"
    assert [row["r"] for row in found(text, numbered(values))] == expected


def test_several_aggregates_in_one_pass() -> None:
    text = f"{TEMP} EVENT x AS PATTERN WINDOW Temp w LAST 3 EVENTS RETURN SUM(w.v) AS s, MAX(w.v) AS h, MIN(w.v) AS l;"
    rows = found(text, numbered(SEVEN))
    assert [(row["s"], row["h"], row["l"]) for row in rows] == list(
        zip(*(CASES[case][3] for case in ("A02", "A03", "A04")), strict=True)
    )


TIMES = {"Temp": [{"v": 1, "t": time} for time in (0, 1, 3, 4, 7)]}


def test_a06_window_of_time_is_closed() -> None:
    text = f"{TEMP} EVENT x(n) AS PATTERN WINDOW Temp w LAST 3 TICKS WHERE n = COUNT(w);"
    rows = found(text, TIMES)
    assert [row["n"] for row in rows] == [1, 2, 3, 3, 2]
    assert [(row["start"], row["end"]) for row in rows] == [(0, 0), (0, 1), (0, 3), (1, 4), (4, 7)]


def test_a07_half_open_window_is_one_tick_shorter() -> None:
    text = f"{TEMP} EVENT x(n) AS PATTERN WINDOW Temp w LAST 2 TICKS WHERE n = COUNT(w);"
    assert [row["n"] for row in found(text, TIMES)] == [1, 2, 2, 2, 1]


@pytest.mark.parametrize(
    ("function", "expected"), [("COUNT", [1, 2, 3]), ("SUM", [1, 3, 6]), ("MAX", [1, 2, 3]), ("MIN", [1, 1, 1])]
)
def test_a08_aggregates_since_a_start(function: str, expected: list[int]) -> None:
    """The start itself is no member; that the aggregate is 0 there is for another event to say."""
    text = f"""{STARTED}
EVENT x(r) AS PATTERN SEQ(Begin a, WINDOW Temp w LAST 100 TICKS SINCE a) WHERE r = {function}(w.v);"""
    rows = found(text, {"Begin": [{"v": 7, "t": 0}], **numbered((1, 2, 3))})
    assert [row["r"] for row in rows] == expected
    assert [(row["start"], row["end"]) for row in rows] == [(0, 1), (0, 2), (0, 3)]
    assert [row["lineage"] for row in rows] == [[1, 1], [1, 2], [1, 3]]


def test_a08_with_the_start_as_a_result_of_its_own() -> None:
    """The state events of the thesis: the aggregate at the start, united with those since."""
    text = f"""{STARTED}
EVENT later(n) AS PATTERN SEQ(Begin a, WINDOW Temp w LAST 100 TICKS SINCE a) WHERE n = COUNT(w);
EVENT x(n) AS PATTERN Begin a WHERE n = 0;
EVENT x(n) AS PATTERN later l WHERE n = l.n;"""
    rows = inkling.parse(text).run_local({"Begin": [{"v": 7, "t": 0}], **numbered((1, 2, 3))}).tables["x"].to_pylist()
    assert [(row["n"], row["start"], row["end"]) for row in rows] == [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)]
