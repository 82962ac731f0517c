"""Probability over time in a report: which events have it, and how much of it a page carries."""

import pyarrow as pa
import pytest

from inkling import parse
from inkling.report.chances import MOST_KEYS, MOST_POINTS
from inkling.report.data import CurveRow
from inkling.report.from_results import report_data

PROGRAM = parse("""
    STREAM At(person STRING, room STRING, t BIGINT) KEY person TIME t PROBABILITY p;
    EVENT back(person) AS PATTERN SEQ NEXT(At a, At b) HAVING a.room = 'hall' AND b.room = 'desk'
      PARTITION BY person PER END;
    EVENT ever(person) AS PATTERN SEQ NEXT(At a, At b) HAVING a.room = 'hall' AND b.room = 'desk'
      PARTITION BY person PER VALUES;
""")


def places(n_people: int, n_times: int) -> pa.Table:
    """In the hall or at the desk, evenly: each time but the first ends `back` with probability 1/4."""
    rows = [
        {"person": f"p{person:02}", "room": room, "t": time, "p": 0.5}
        for person in range(n_people)
        for time in range(1, n_times + 1)
        for room in ("hall", "desk")
    ]
    return pa.Table.from_pylist(rows)


def curves(rows: pa.Table, **beside: dict[str, pa.Table]) -> tuple[CurveRow, ...]:
    inputs = {"At": rows}
    return report_data(PROGRAM, PROGRAM.run_local(inputs), inputs, **beside).curves


def test_each_key_has_its_probabilities_in_time() -> None:
    found = curves(places(2, 4))
    assert [(one.event, one.key) for one in found] == [("back", "p00"), ("back", "p01")]
    assert found[0].points == tuple((time, pytest.approx(0.25)) for time in (2, 3, 4))
    assert not found[0].has_truth


def test_truth_and_decisions_stand_beside_their_key() -> None:
    happened = pa.table({"person": ["p01", "new"], "end": [3, 2], "probability": [1.0, 1.0]})
    found = {one.key: one for one in curves(places(2, 4), truth={"back": happened}, decided={"back": happened[:1]})}
    assert {key: one.happened for key, one in found.items()} == {"p00": (), "p01": (3,), "new": (2,)}
    assert found["p01"].decided == (3,)
    assert found["new"].points == ()
    assert all(one.has_truth and one.has_decisions for one in found.values())


def test_a_page_carries_no_more_than_can_be_looked_at() -> None:
    found = curves(places(MOST_KEYS + 3, 3))
    assert len(found) == MOST_KEYS
    assert {one.n_keys for one in found} == {MOST_KEYS + 3}
    (long,) = curves(places(1, 2 * MOST_POINTS))
    assert MOST_POINTS // 2 <= len(long.points) <= MOST_POINTS


def test_certain_results_are_no_curve() -> None:
    rows = places(1, 4)
    certain = rows.set_column(3, "p", pa.array([1.0, 0.0, 0.0, 1.0] * 2))
    assert curves(certain) == ()
