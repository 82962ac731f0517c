"""Scores of forecasts on the demo stream of the Wayeb engine (O25), from the waiting times that it learns.

The pattern is A, then B or C, started anew after each detection; the model looks at the state of the automaton alone.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.oracles.wayeb_numbers import DEMO

from inkling.forecasting.scoring import tallied
from inkling.forecasting.scoring.classification import Confusion
from inkling.forecasting.scoring.intervals import interval_scores
from inkling.forecasting.scoring.outcomes import Outcomes

WAITING, BEGUN, DONE = range(3)
TO_A = {WAITING: Fraction(17, 47), BEGUN: Fraction(13, 33)}
"""The share of A among the events that follow each state; all others complete what is begun."""


def states() -> list[int]:
    found, state = [], WAITING
    for symbol in DEMO:
        state = BEGUN if symbol == "A" else DONE if state == BEGUN else WAITING
        found.append(state)
    return found


def test_O25_counts_of_what_follows_each_state() -> None:
    follows = [
        (WAITING if before == DONE else before, symbol)
        for before, symbol in zip([WAITING, *states()[:-1]], DEMO, strict=True)
    ]
    after_done = [symbol for before, symbol in zip(states()[:-1], DEMO[1:], strict=True) if before == DONE]
    known = {state: [symbol for before, symbol in follows if before == state] for state in (WAITING, BEGUN)}
    assert [known[BEGUN].count(symbol) for symbol in "ABC"] == [13, 10, 10]
    assert [after_done.count(symbol) for symbol in "ABC"] == [4, 7, 9]
    apart = [known[WAITING].count(symbol) - after_done.count(symbol) for symbol in "ABC"]
    assert apart == [17, 13, 17]


def waiting_times(horizon: int) -> dict[int, list[Fraction]]:
    """The probability of waiting 1, 2, … events from each state."""
    begun = [(1 - TO_A[BEGUN]) * TO_A[BEGUN] ** n for n in range(horizon)]
    waiting = [Fraction(0)]
    for n in range(1, horizon):
        waiting.append((1 - TO_A[WAITING]) * waiting[n - 1] + TO_A[WAITING] * begun[n - 1])
    return {WAITING: waiting, BEGUN: begun}


def test_O25_waiting_times_as_printed() -> None:
    law = waiting_times(4)
    assert law[WAITING] == [0, Fraction(340, 1551), Fraction(544340, 2405601), Fraction(665825740, 3731087151)]
    assert law[BEGUN] == [Fraction(20, 33), Fraction(260, 1089), Fraction(3380, 35937), Fraction(43940, 1185921)]


def outcomes(said: dict[int, tuple[int, int, Fraction]]) -> Outcomes:
    """The demo stream with what is said in each state: first, last and chance."""
    at = states()
    first, last, chance = (
        np.array([float(said[state][part]) if state in said else missing for state in at])
        for part, missing in ((0, 0.0), (1, 0.0), (2, np.nan))
    )
    numbers = np.arange(1, len(at) + 1)
    return Outcomes(
        run=np.zeros(len(at), np.int64),
        number=numbers,
        time=numbers * 10,
        detected=np.array([state == DONE for state in at]),
        first=first.astype(np.int64),
        last=last.astype(np.int64),
        chance=chance,
        judged=np.ones(len(at), np.bool_),
    )


def within(n: int) -> Outcomes:
    law = waiting_times(n)
    return outcomes({state: (1, n, sum(law[state], Fraction(0))) for state in law})


@pytest.mark.parametrize(
    ("n", "expected", "expected_censored"),
    [(1, (20, 46, 14, 0), (20, 46, 13, 0)), (2, (29, 37, 5, 9), (29, 36, 4, 9)), (10, (74, 0, 6, 0), (68, 0, 4, 0))],
)
def test_O25_classification_of_the_next_events(
    n: int, expected: tuple[int, ...], expected_censored: tuple[int, ...]
) -> None:
    assert counts(tallied(within(n)).at(0.5)) == expected
    assert counts(tallied(within(n), censored=True).at(0.5)) == expected_censored
    span = 10 * n  # ten ticks from each event to the next: a duration says the same
    assert counts(tallied(within(n), span=span).at(0.5)) == expected
    assert counts(tallied(within(n), span=span, censored=True).at(0.5)) == expected_censored


def counts(found: Confusion) -> tuple[int, ...]:
    return found.tp, found.tn, found.fp, found.fn


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Confusion(20, 46, 14, 0), (0.5882, 1, 0.7667, 0.7407, 0.825, 1, 0.7667, 0.6716)),
        (Confusion(29, 37, 5, 9), (0.8529, 0.7632, 0.8810, 0.8056, 0.825, 0.8043, 0.6441, 0.6507)),
    ],
)
def test_O25_ratios(found: Confusion, expected: tuple[float, ...]) -> None:
    ratios = (
        found.precision,
        found.recall,
        found.specificity,
        found.f1,
        found.accuracy,
        found.negative_predictive_value,
        found.informedness,
        found.mcc,
    )
    assert ratios == pytest.approx(expected, abs=5e-5)


def shortest(confidence: Fraction, horizon: int = 20) -> dict[int, tuple[int, int, Fraction]]:
    """By trying all intervals: the least spread, then the larger mass, then the earlier one."""
    found = {}
    for state, law in waiting_times(horizon).items():
        tried = [
            (last - first, -sum(law[first - 1 : last], Fraction(0)), first, last)
            for first in range(1, horizon + 1)
            for last in range(first, horizon + 1)
            if sum(law[first - 1 : last], Fraction(0)) >= confidence
        ]
        _, mass, first, last = min(tried)
        found[state] = (first, last, -mass)
    return found


def test_O25_shortest_intervals_of_half_the_mass() -> None:
    said = shortest(Fraction(1, 2))
    assert said[WAITING][:2] == (2, 4)
    assert float(said[WAITING][2]) == pytest.approx(0.623947210500, abs=1e-12)
    assert said[BEGUN][:2] == (1, 1)
    assert float(said[BEGUN][2]) == pytest.approx(0.606060606, abs=1e-9)
    law = waiting_times(20)[WAITING]
    middle = sum(n * law[n - 1] for n in range(2, 5)) / sum(law[1:4])
    assert float(middle) == pytest.approx(2.934674180740, abs=1e-12)


def test_O25_scores_of_intervals_of_half_the_mass() -> None:
    found = interval_scores(outcomes(shortest(Fraction(1, 2))))
    assert (found.n_correct, found.n) == (45, 78)
    assert (found.n_missed, found.n_detections) == (0, 20)
    assert found.total_spread == 90
    assert found.total_score == pytest.approx(596.2199905125, abs=1e-9)
    assert found.interval_score == pytest.approx(7.643846, abs=5e-7)
    assert found.total_distance / found.n_correct == pytest.approx(4 / 9)
    assert found.rmse == pytest.approx(2.396579, abs=5e-7)
    assert found.mae == pytest.approx(1.230769, abs=5e-7)
    assert found.mare == pytest.approx(0.045707, abs=5e-7)


def test_O25_scores_of_intervals_of_nine_tenths_of_the_mass() -> None:
    said = shortest(Fraction(9, 10))
    assert [said[state][:2] for state in (WAITING, BEGUN)] == [(2, 8), (1, 3)]
    assert [float(said[state][2]) for state in (WAITING, BEGUN)] == pytest.approx([0.932518404, 0.938865236], abs=1e-9)
    found = interval_scores(outcomes(said))
    assert (found.n_correct, found.n, found.total_spread) == (69, 78, 336)
    assert found.total_score == pytest.approx(961.46882025, abs=1e-7)
    assert found.rmse == pytest.approx(0.884337, abs=5e-7)
    assert found.mae == pytest.approx(0.269231, abs=5e-7)


def test_O25_a_detection_is_lost_if_no_interval_holds_it() -> None:
    """Only forecasts of the very next event, made in the state before a detection: runs of A have several."""
    found = interval_scores(outcomes({BEGUN: (2, 2, Fraction(1, 2))}))
    ends = [number for number, state in enumerate(states(), 1) if state == DONE]
    lost = sum(1 for before, end in pairwise([0, *ends]) if "AA" not in DEMO[before:end])
    assert found.loss == pytest.approx(lost / 20)
    assert lost > 0
