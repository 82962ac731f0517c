"""Alarms beside what happened: what counts as right, and what as found."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inkling.errors import InputError
from inkling.forecasting.calibration import Quality, quality

SAID = [
    {"who": "ada", "end": 10, "probability": 0.5},
    {"who": "ada", "end": 12, "probability": 0.2},
    {"who": "ada", "end": 50, "probability": 0.3},
    {"who": "bob", "end": 12, "probability": 0.4},
]
HAPPENED = [{"who": "ada", "end": 11}, {"who": "ada", "end": 49}, {"who": "ada", "end": 90}]


def counts(one: Quality) -> tuple[int, int, int]:
    return one.n_alarms, one.n_right, one.n_found


def test_an_alarm_is_right_near_the_truth_of_its_key() -> None:
    (one,) = quality(SAID, HAPPENED, within=1, on=["who"], thresholds=[0.1])
    assert counts(one) == (4, 3, 2)
    assert (one.precision, one.recall) == (0.75, 2 / 3)
    assert one.f1 == pytest.approx(2 * 0.75 * (2 / 3) / (0.75 + 2 / 3))


def test_the_threshold_is_strict_and_the_distance_is_not() -> None:
    at_it, below = quality(SAID, HAPPENED, within=1, on=["who"], thresholds=[0.3, 0.29])
    assert counts(at_it) == (2, 1, 1)
    assert counts(below) == (3, 2, 2)
    assert counts(quality(SAID, HAPPENED, within=0, on=["who"], thresholds=[0.0])[0]) == (4, 0, 0)


def test_without_keys_all_are_together() -> None:
    assert counts(quality(SAID, HAPPENED, within=1, thresholds=[0.1])[0]) == (4, 4, 2)


def test_one_to_one_uses_up_the_truth() -> None:
    assert counts(quality(SAID, HAPPENED, within=1, on=["who"], thresholds=[0.1], matching="one")[0]) == (4, 2, 2)


def test_adjacent_alarms_are_one_at_the_most_probable() -> None:
    (one,) = quality(SAID, [{"who": "ada", "end": 10}], within=0, on=["who"], thresholds=[0.1], merge=2)
    assert counts(one) == (3, 1, 1)


def test_nothing_said_has_no_precision() -> None:
    (one,) = quality(SAID, HAPPENED, within=1, on=["who"], thresholds=[0.9])
    assert (one.precision, one.recall, one.f1) == (None, 0.0, 0.0)


def test_times_may_be_timestamps() -> None:
    def at(minute: int) -> datetime:
        return datetime(2026, 1, 1, 8, minute, tzinfo=UTC)

    said = [{"end": at(1), "probability": 1.0}, {"end": at(9), "probability": 1.0}]
    (one,) = quality(said, [{"end": at(3)}], within=timedelta(minutes=2), thresholds=[0.5])
    assert counts(one) == (2, 1, 1)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([{"end": 1}], "no column `probability`"),
        ([{"at": 1, "probability": 0.5}], "no column `end`"),
        ([{"end": "now", "probability": 0.5}], "expected times"),
    ],
)
def test_what_is_missing_is_named(results: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        quality(results, [{"end": 1}], within=1)


rows = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.sampled_from([0.1, 0.4, 0.8])), max_size=12)


@settings(max_examples=40, deadline=None)
@given(said=rows, happened=rows, distance=st.integers(0, 5), threshold=st.sampled_from([0.0, 0.1, 0.5]))
def test_many_to_many_is_as_defined(said, happened, distance, threshold) -> None:
    if not said or not happened:
        return
    alarms = [(key, time) for key, time, chance in said if chance > threshold]
    truths = [(key, time) for key, time, _ in happened]

    def near(one: tuple[str, int], others: list[tuple[str, int]]) -> bool:
        return any(one[0] == key and abs(one[1] - time) <= distance for key, time in others)

    (found,) = quality(
        [{"key": key, "end": time, "probability": chance} for key, time, chance in said],
        [{"key": key, "end": time} for key, time in truths],
        within=distance,
        on=["key"],
        thresholds=[threshold],
    )
    expected = len(alarms), sum(near(one, truths) for one in alarms), sum(near(one, alarms) for one in truths)
    assert counts(found) == expected
    assert np.isfinite(found.f1)
