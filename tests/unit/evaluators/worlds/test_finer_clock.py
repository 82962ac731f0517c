"""Where events were lost, worlds have a sub-tick clock; programs do not see it.

A gate was lost between 0 and 10, all times alike; the horn is at 4.
"""

import pytest

import inkling

STREAMS = """
STREAM Gate(car STRING, n BIGINT, t BIGINT) KEY car TIME t NUMBERED BY n;
STREAM Horn(id STRING, car STRING, t BIGINT) ID id KEY car TIME t;
"""
INPUTS = {
    "Gate": [{"car": "k", "n": 1, "t": 0}, {"car": "k", "n": 3, "t": 10}],
    "Horn": [{"id": "h", "car": "k", "t": 4}],
}


def found(events: str) -> list[dict[str, object]]:
    program = inkling.parse(STREAMS + events)
    *_, table = program.run_local(INPUTS, sampling=inkling.Sampling(epsilon=0.02)).tables.values()
    return table.to_pylist()  # type: ignore[no-any-return]


def chance_of_lost(events: str) -> float:
    """The probability of the result that depends on the lost gate."""
    return sum(row["probability"] for row in found(events) if None in row["lineage"])  # type: ignore[misc, operator]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("END(h) - END(g) > 3", 0.1),
        ("END(h) - END(g) > 3 TICKS", 0.1),
        ("END(h) - 3 > END(g)", 0.1),
        ("END(g) + 3 < END(h)", 0.1),
        ("(END(h) - END(g)) * 2 > 6", 0.1),
        ("END(g) > 1", 0.3),
        ("END(h) > 3", 0.4),
        ("END(h) = h.t", 0.4),
        ("END(h) IN (4, 5)", 0.4),
        ("END(h) IN (3, 5)", 0.0),
        ("(END(h) - END(g)) / (4 TICKS) > 0.75", 0.1),
    ],
)
@pytest.mark.parametrize("clause", ["HAVING", "WHERE"])
def test_conditions_count_ticks(clause: str, condition: str, expected: float) -> None:
    event = f"EVENT e(car) AS PATTERN SEQ(Gate g, Horn h) {clause} {condition} PARTITION BY car;"
    assert chance_of_lost(event) == pytest.approx(expected, abs=0.02)


def test_values_count_ticks() -> None:
    event = """
    EVENT e(car, END(h) AS at) AS
      PATTERN SEQ(Gate g, Horn h)
      PARTITION BY car
      RETURN END(g) AS passed, END(h) - END(g) AS later, END(h) - END(g) > 3 AS long;
    """
    recorded = next(row for row in found(event) if None not in row["lineage"])  # type: ignore[operator]
    assert (recorded["at"], recorded["passed"], recorded["later"], recorded["long"]) == (4, 0, 4, True)
    assert (recorded["start"], recorded["end"]) == (0, 4)
    lost = next(row for row in found(event) if None in row["lineage"])  # type: ignore[operator]
    assert 0 <= lost["passed"] <= 3  # type: ignore[operator]


def test_values_that_other_events_read_count_ticks() -> None:
    events = """
    EVENT e(car) AS PATTERN SEQ(Gate g, Horn h) PARTITION BY car RETURN END(h) - END(g) AS later, END(g) AS passed;
    EVENT f(car) AS PATTERN e x[later > 3 AND passed < 1 AND END(x) = 4] PARTITION BY car;
    """
    assert chance_of_lost(events) == pytest.approx(0.1, abs=0.02)
