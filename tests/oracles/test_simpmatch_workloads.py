"""SimpMatch on its workloads: accuracy beside simpler methods, thresholds, and whether probabilities are right."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.kit.lost_quality import (
    DISCRETE,
    IGNORED,
    LOSSES,
    STATIC,
    THRESHOLDS,
    WORLDS,
    Judged,
    Recorded,
    answers,
    calibrated,
    congested_pairs,
    in_worlds,
    judged,
    recorded,
    swept,
    synthetic,
)
from tests.kit.lost_workloads import BELOW_15, BELOW_20, Congestion, Start, lists_of, lost

from inkling.evaluators.relation.regularity import regularity, regularity_note

DATA: tuple[tuple[int, Start], ...] = ((10, "aligned"), (10, "zero"), (20, "zero"))
EVERY_DATA = pytest.mark.parametrize(("n_segments", "start"), DATA)


@cache
def levels(n_segments: int, start: Start, seed: int = 0) -> tuple[Judged, ...]:
    workload = synthetic(500, n_segments=n_segments, start=start, seed=seed)
    return tuple(judged(workload, share, seed=seed) for share in LOSSES)


@EVERY_DATA
def test_accuracy_at_the_worst_k_lies_in_its_bands(n_segments: int, start: Start) -> None:
    by_share = {one.share: one.right[WORLDS] for one in levels(n_segments, start)}
    assert 0.83 <= by_share[0.1] <= 0.95
    assert 0.65 <= by_share[0.4] <= 0.85


@EVERY_DATA
def test_possible_worlds_decide_better_than_simpler_methods(n_segments: int, start: Start) -> None:
    for one in levels(n_segments, start):
        assert one.share < 0.05 or one.right[WORLDS] > one.right[IGNORED], one.share
        assert one.share < 0.15 or one.right[WORLDS] > one.right[STATIC], one.share


@EVERY_DATA
def test_the_best_threshold_lies_in_the_middle(n_segments: int, start: Start) -> None:
    assert 0.4 <= THRESHOLDS[int(np.argmax(swept(levels(n_segments, start))))] <= 0.6


@EVERY_DATA
def test_probabilities_have_the_smaller_squared_error(n_segments: int, start: Start) -> None:
    for one in levels(n_segments, start)[1:]:
        assert one.brier[WORLDS] < min(one.brier[STATIC], one.brier[IGNORED]), one.share


@pytest.mark.parametrize("share", [0.1, 0.2, 0.4])
def test_O28_calibration_on_Poisson_data(share: float) -> None:
    found = calibrated(synthetic(4_000, n_segments=10, start="zero", seed=3), share, seed=3)
    assert abs(found.z) < 3
    assert len(found.bins) == 5
    assert min(one.n for one in found.bins) > 50
    assert all(abs(one.z) < 3 for one in found.bins), found.bins


def test_calibration_notices_arrivals_that_are_not_by_chance() -> None:
    found = calibrated(synthetic(1_000, gaps="near periodic", start="zero", seed=1), 0.4)
    assert found.z < -10
    assert not found.is_calibrated


def test_Erlang_gaps_make_regular_arrivals_right_again() -> None:
    """Gaps of shape 4 are a sum of four exponential ones; the note about them says what to declare."""
    workload = synthetic(500, gaps="gamma 4", start="zero", seed=2)
    losses = [lost(side, 0.3, seed=place) for place, side in enumerate((workload.left, workload.right))]
    kept = ~losses[0]
    found = regularity(workload.left.key[kept], workload.left.number[kept], workload.left.time[kept])
    note = regularity_note("Congestion", found, int(losses[0].sum()))
    assert note is not None
    assert "`GAPS ERLANG 4`" in note
    off = {}
    for shape in (1, 4):
        sides = (lists_of(workload.left, losses[0], shape=shape), lists_of(workload.right, losses[1], shape=shape))
        difference = in_worlds(Recorded(workload, *sides))[:, 1:].sum(axis=1) - workload.counts
        off[shape] = difference.mean() / (difference.std() / np.sqrt(len(difference)))
    assert off[1] < -5
    assert abs(off[4]) < 3


@pytest.mark.parametrize("given", [BELOW_15, BELOW_20])
def test_sectors_that_lose_a_tenth_are_told_apart_well(given: Congestion) -> None:
    one = judged(congested_pairs(given), 0.1)
    assert one.right[WORLDS] > max(0.8, one.right[IGNORED])
    assert all(accuracy[0] > 0.9 for name, accuracy in one.every_k.items() if name == WORLDS)


@EVERY_DATA
def test_every_method_knows_the_truth_where_nothing_is_lost(n_segments: int, start: Start) -> None:
    workload = synthetic(100, n_segments=n_segments, start=start, seed=7)
    for name, said in answers(recorded(workload, 0.0), discrete=True).items():
        assert (said == workload.truth).all(), name


def test_discrete_time_leaks_no_more_than_it_says() -> None:
    """Masses are at most 1, normalized ones are probabilities, and both agree where there is one way only."""
    workload = synthetic(12, n_segments=5, start="zero", seed=5)
    found = answers(recorded(workload, 0.15, seed=5), discrete=True)
    for name in DISCRETE:
        raw, normalized = found[f"{name}, raw"], found[name]
        assert (raw <= 1 + 1e-9).all()
        assert (np.diff(normalized, axis=1) <= 1e-9).all()
        assert ((normalized[:, 0] == pytest.approx(1)) | (normalized[:, 0] == 0)).all()
        assert (raw <= normalized + 1e-9).all()
