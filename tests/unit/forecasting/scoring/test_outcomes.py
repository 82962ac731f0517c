"""What comes after each event is found in one pass, whatever the keys look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inkling.errors import InputError
from inkling.forecasting.scoring import joined_outcomes, tallied
from inkling.forecasting.scoring.baselines import last_interval, mean_interval, mean_waiting_time, share_of_positives
from inkling.forecasting.scoring.intervals import interval_scores
from inkling.forecasting.scoring.outcomes import Outcomes, watched_outcomes

Row: TypeAlias = dict[str, Any]


@st.composite
def streams(draw: st.DrawFn) -> list[Row]:
    """Rows of a few keys, some of which were reset, with any forecast or none."""
    rows: list[Row] = []
    for key in range(draw(st.integers(0, 3))):
        for life in range(draw(st.integers(1, 2))):
            for number in range(1, draw(st.integers(0, 8)) + 1):
                first = draw(st.integers(1, 3))
                said = draw(st.booleans())
                rows.append(
                    {
                        "key": f"k{key}",
                        "life": life,
                        "event_number": number,
                        "end": 100 * life + 2 * number,
                        "detected": draw(st.booleans()),
                        "first": first if said else None,
                        "last": first + draw(st.integers(0, 3)) if said else None,
                        "chance": draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])) if said else None,
                    }
                )
    return draw(st.permutations(rows))


SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("life", pa.int64()),
        ("event_number", pa.int64()),
        ("end", pa.int64()),
        ("detected", pa.bool_()),
        ("first", pa.int64()),
        ("last", pa.int64()),
        ("chance", pa.float64()),
    ]
)


def outcomes(rows: list[Row], after: int | None = None) -> Outcomes:
    return watched_outcomes(pa.Table.from_pylist(rows, SCHEMA), ["key"], after=after)


@given(streams(), st.sampled_from([None, 6, 104]), st.booleans())
def test_labels_by_definition(rows: list[Row], after: int | None, censored: bool) -> None:
    """A forecast comes true if the first detection after it in its run lies where it says."""
    expected: dict[float, list[int]] = {}
    for row in rows:
        if row["chance"] is None or (after is not None and row["end"] <= after):
            continue
        run = [one for one in rows if (one["key"], one["life"]) == (row["key"], row["life"])]
        number = row["event_number"]
        if censored and number + row["last"] > max(one["event_number"] for one in run):
            continue
        later = [one["event_number"] for one in run if one["detected"] and one["event_number"] > number]
        came_true = bool(later) and row["first"] <= min(later) - number <= row["last"]
        expected.setdefault(row["chance"], []).append(came_true)
    found = tallied(outcomes(rows, after), censored=censored)
    assert found.chance.tolist() == sorted(expected)
    assert found.n.tolist() == [len(expected[chance]) for chance in sorted(expected)]
    assert found.n_true.tolist() == [sum(expected[chance]) for chance in sorted(expected)]


@given(streams())
def test_intervals_by_definition(rows: list[Row]) -> None:
    """The engine's way: forecasts wait in a list until the next detection, which judges and drops all of them."""
    n = n_correct = met = expected = off = 0
    n_detections = sum(bool(row["detected"]) for row in rows)
    runs: dict[object, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["event_number"]):
        runs.setdefault((row["key"], row["life"]), []).append(row)
    for run in runs.values():
        waiting: list[tuple[int, int]] = []
        for row in run:
            number = row["event_number"]
            if row["detected"]:
                deviations = [max(0, lo - number, number - hi) for lo, hi in waiting]
                n, off = n + len(waiting), off + sum(deviations)
                n_correct += deviations.count(0)
                expected, met = expected + bool(waiting), met + (0 in deviations)
                waiting = []
            if row["chance"] is not None:
                waiting.append((number + row["first"], number + row["last"]))
    found = interval_scores(outcomes(rows))
    assert (found.n, found.n_correct, found.total_deviation) == (n, n_correct, off)
    assert (found.n_detections, found.n_expected, found.n_met) == (n_detections, expected, met)
    assert found.n_missed == n_detections - expected


@given(streams())
def test_forecasts_that_are_apart_do_not_share_events(rows: list[Row]) -> None:
    given_rows = [{**row, "first": row["first"] and 1, "last": row["last"] and 3} for row in rows]
    apart = tallied(outcomes(given_rows), apart=True)
    expected = sum(row["chance"] is not None and row["event_number"] % 3 == 0 for row in rows)
    assert apart.n_forecasts == expected


def forecast(number: int, *, at: int | None = None, key: str = "a", chance: float = 0.5) -> Row:
    return {
        "key": key,
        "event_number": number,
        "end": number if at is None else at,
        "first": 1,
        "last": 2,
        "chance": chance,
        "lineage": [f"{key}{number if at is None else at}"],
    }


def test_results_are_joined_by_lineage() -> None:
    forecasts = pa.Table.from_pylist([forecast(number, key=key) for key in "ab" for number in range(1, 6)])
    detections = pa.Table.from_pylist([{"end": 4, "lineage": ["a2", "a4"]}, {"end": 3, "lineage": ["b3"]}])
    found = joined_outcomes(forecasts, detections, ["key"])
    assert found.detected.tolist() == [False, False, False, True, False, False, False, True, False, False]
    assert tallied(found).n_true.tolist() == [4]


def test_joined_results_start_anew_where_numbers_fall() -> None:
    forecasts = pa.Table.from_pylist([forecast(1, at=1), forecast(2, at=2), forecast(1, at=7), forecast(2, at=8)])
    found = joined_outcomes(forecasts, pa.Table.from_pylist([{"end": 7, "lineage": ["a7"]}]), ["key"])
    assert found.end.tolist() == [2, 2, 2, 2]
    assert tallied(found).n_true.tolist() == [0], "the detection belongs to the second life"


def test_a_detection_that_nothing_was_said_after_is_rejected() -> None:
    forecasts = pa.Table.from_pylist([forecast(1), forecast(2)])
    detections = pa.Table.from_pylist([{"end": 3, "lineage": ["a2", "a3"]}])
    with pytest.raises(InputError, match="1 of 1 detections"):
        joined_outcomes(forecasts, detections, ["key"])


def steady(period: int, n: int, judged_from: int) -> Outcomes:
    """A detection every so many events; forecasts of the next two."""
    number = np.arange(1, n + 1)
    return Outcomes(
        run=np.zeros(n, np.int64),
        number=number,
        time=number,
        detected=number % period == 0,
        first=np.ones(n, np.int64),
        last=np.full(n, 2),
        chance=np.full(n, 0.5),
        judged=number >= judged_from,
    )


@pytest.mark.parametrize("rule", [mean_waiting_time, last_interval])
def test_rules_are_right_where_detections_are_regular(rule: Callable[..., Outcomes]) -> None:
    found = tallied(rule(steady(5, 2000, judged_from=1001), given=True))
    assert found.n_forecasts == 1000
    assert found.at(0.5).mcc == pytest.approx(1, abs=0.01)  # the end of the stream is not regular
    points = rule(steady(5, 2000, judged_from=1001), given=False)
    assert interval_scores(points).coverage == 1


def test_the_share_of_positives_is_that_of_the_past() -> None:
    regular = steady(5, 2000, judged_from=1001)
    ruled = share_of_positives(regular)
    (chance,) = tallied(ruled).chance
    assert chance == pytest.approx(0.4, abs=0.001)
    assert mean_interval(regular) == 5


def test_rules_do_not_look_into_what_is_judged() -> None:
    """The past says never; a future full of detections changes nothing about that."""
    number = np.arange(1, 201)
    late = Outcomes(
        run=np.zeros(200, np.int64),
        number=number,
        time=number,
        detected=number > 100,
        first=np.ones(200, np.int64),
        last=np.full(200, 2),
        chance=np.full(200, 0.5),
        judged=number > 100,
    )
    assert tallied(share_of_positives(late)).chance[0] < 0.01
