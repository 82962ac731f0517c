"""Windows of pings: one after the other, as many stops in all as the line has, whatever positions jump."""

import numpy as np
import pyarrow as pa
import pytest
from inkling.examples.buses.scenario import windows_of


def test_a_window_reaches_to_the_first_ping_near_another_stop() -> None:
    found = windows_of(np.zeros(7, int), np.array([1, 1, 2, 2, 2, 3, 4]), 20 * np.arange(7))
    assert list(zip(found.start.tolist(), found.end.tolist(), found.n_stops.tolist(), strict=True)) == [
        (0, 40, 1),
        (40, 100, 1),
        (100, 120, 1),
    ]


def test_stops_that_no_ping_was_near_to_belong_to_the_window_before() -> None:
    found = windows_of(np.zeros(4, int), np.array([1, 4, 4, 6]), np.array([0, 20, 40, 60]))
    assert found.stop.tolist() == [1, 4]
    assert found.n_stops.tolist() == [3, 2]


def test_a_ping_that_jumps_back_extends_the_window() -> None:
    steady = windows_of(np.zeros(6, int), np.array([1, 2, 2, 2, 2, 3]), np.arange(6))
    jumping = windows_of(np.zeros(6, int), np.array([1, 2, 1, 2, 1, 3]), np.arange(6))
    for one, other in zip(steady, jumping, strict=True):
        assert one.tolist() == other.tolist()


def test_journeys_do_not_reach_into_each_other() -> None:
    journey, stop = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 1, 3, 1])
    found = windows_of(journey, stop, np.array([0, 5, 9, 2, 7, 4]))
    assert found.journey.tolist() == [0, 0, 1]
    assert found.end.tolist() == [5, 9, 7]
    assert windows_of(np.empty(0, int), np.empty(0, int), np.empty(0, int)).start.size == 0


@pytest.mark.parametrize("seed", range(10))
def test_windows_are_contiguous_and_hold_every_stop(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_stops, rows = 9, []
    for journey in range(6):
        furthest = 1
        rows.append((journey, 1))
        while furthest <= n_stops:
            furthest += int(random.integers(0, 3))
            stop = min(furthest, n_stops + 1)
            rows.append((journey, max(1, stop - int(stop <= n_stops and random.random() < 0.3))))
    journey, stop = np.array(rows).T
    found = windows_of(journey, stop, np.arange(len(rows)) * 20)
    table = pa.table(found._asdict()).to_pandas()
    assert table.groupby("journey")["n_stops"].sum().tolist() == [n_stops] * 6
    for _, one in table.groupby("journey"):
        assert one["start"].tolist()[1:] == one["end"].tolist()[:-1]
        assert (one["end"] > one["start"]).all()
