"""Programs that learn and forecast give the numbers of the public Wayeb engine on its demo stream (`A;(B|C)`)."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import pytest
from tests.oracles.wayeb_models import by_state
from tests.oracles.wayeb_numbers import DEMO, DEMO_PAIRS

import inkling
from inkling import parse
from inkling.forecasting.models.full_order import full_contexts
from inkling.forecasting.models.model import ForecastModel

STREAM = "STREAM V(s STRING, t BIGINT) TIME t ORDER BY t;"
PAIR = "EVENT ab AS PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B'] OR V[s = 'C']) PER END CONSUME RESTART;"
ROWS = {"V": [{"s": letter, "t": number} for number, letter in enumerate(DEMO, start=1)]}
OTHER, A, B, C = range(4)
Counted = tuple[int, int, int, int]


def fitted(order: int, kind: str) -> ForecastModel:
    program = parse(f"{STREAM}{PAIR} FORECAST ab WITHIN 1 EVENTS;")
    return program.fit(ROWS, settings=inkling.FitSettings(order=order, kind=kind))["ab_model"]  # type: ignore[arg-type]


def forecasts(model: ForecastModel, asked: str) -> list[dict[str, float]]:
    program = parse(f"{STREAM}{PAIR} FORECAST ab {asked};")
    found = program.run_local(ROWS, {"ab_model": model}).tables["ab_forecast"]
    assert found["method"].unique().to_pylist() == ["forecast"]
    return [{**row, "wait": row.get("distribution")} for row in found.to_pylist()]


def judged(model: ForecastModel, window: int, unready: Collection[int] = (), *, censored: bool = False) -> Counted:
    """Right and wrong among all that was said or, by silence, denied: TP, TN, FP, FN."""
    said = {int(row["event_number"]) for row in forecasts(model, f"WITHIN {window} EVENTS CONFIDENCE >= 0.5")}
    asked = [n for n in range(1, len(DEMO) + 1) if n not in DEMO_PAIRS and n not in unready]
    if censored:
        asked = [n for n in asked if n + window <= len(DEMO)]
    comes = {n for n in asked if any(n < end <= n + window for end in DEMO_PAIRS)}
    right, wrong = said & set(asked), set(asked) - said
    return len(right & comes), len(wrong - comes), len(right - comes), len(wrong & comes)


def test_O25_counts_by_state() -> None:
    model = fitted(0, "full")
    assert model.alphabet == ("any other event", "s = 'A'", "s = 'B'", "s = 'C'")
    counts = {state: row.tolist() for state, row in by_state(model.counts, model.n_states).items()}
    assert counts == {0: [0, 17, 13, 17], 1: [0, 13, 10, 10], 2: [0, 4, 7, 9]}


def test_O25_waiting_times() -> None:
    said = forecasts(fitted(0, "full"), "WITHIN 4 EVENTS RETURN DISTRIBUTION")
    waits = {tuple(round(share, 12) for share in row["wait"]) for row in said}  # type: ignore[attr-defined]
    start = [Fraction(0), Fraction(340, 1551), Fraction(544340, 2405601), Fraction(665825740, 3731087151)]
    begun = [Fraction(20, 33), Fraction(260, 1089), Fraction(3380, 35937), Fraction(43940, 1185921)]
    assert waits == {tuple(round(float(share), 12) for share in wait) for wait in (start, begun)}


@pytest.mark.parametrize(
    ("window", "counted", "without_end"),
    [(1, (20, 46, 14, 0), (20, 46, 13, 0)), (2, (29, 37, 5, 9), (29, 36, 4, 9)), (10, (74, 0, 6, 0), (68, 0, 4, 0))],
)
def test_O25_next_events_classified(window: int, counted: Counted, without_end: Counted) -> None:
    model = fitted(0, "full")
    assert judged(model, window) == counted
    assert judged(model, window, censored=True) == without_end


@pytest.mark.parametrize(
    ("asked", "start", "begun"),
    [
        ("CONFIDENCE >= 0.5", (2, 4, 0.623947210500), (1, 1, 0.606060606)),
        ("CONFIDENCE >= 0.9 SPREAD <= 19", (2, 8, 0.932518404), (1, 3, 0.938865236)),
    ],
)
def test_O25_shortest_intervals(asked: str, start: tuple[float, ...], begun: tuple[float, ...]) -> None:
    said = forecasts(fitted(0, "full"), f"INTERVAL SHORTEST HORIZON 20 {asked}")
    assert len(said) == 80
    for row in said:
        after_a = DEMO[int(row["event_number"]) - 1] == "A"
        first, last, chance = begun if after_a else start
        assert (row["first"], row["last"]) == (first, last)
        assert row["chance"] == pytest.approx(chance, abs=1e-9)
        if asked == "CONFIDENCE >= 0.5" and not after_a:
            assert row["expected"] == pytest.approx(2.934674180740, abs=1e-11)


def test_O26_order_2() -> None:
    model = fitted(2, "full")
    contexts = full_contexts(model.counts, model.n_states)
    for word, share in {(B, B): (1, 4), (B, C): (5, 11), (C, B): (1, 4), (C, C): (2, 5)}.items():
        assert contexts.law(0, contexts.words().index(word))[A] == pytest.approx(float(Fraction(*share)))
    said = {int(row["event_number"]): row["chance"] for row in forecasts(model, "WITHIN 1 EVENTS")}
    begun = {"AA": Fraction(9, 13), "BA": Fraction(1, 2), "CA": Fraction(8, 13)}
    waiting = [n for n in range(2, len(DEMO) + 1) if DEMO[n - 1] == "A"]
    assert sorted(said) == waiting
    assert all(said[n] == pytest.approx(float(begun[DEMO[n - 2 : n]])) for n in waiting)


def test_O27_trees() -> None:
    one, two = fitted(1, "tree").tree(), fitted(2, "tree").tree()
    assert (len(one), len(two)) == (4, 12)
    assert (C, A) not in two.words()
    law = [Fraction(1, 1000), Fraction(4327, 11000), Fraction(3331, 11000), Fraction(3331, 11000)]
    assert one.law((A,)) == pytest.approx([float(share) for share in law])


@pytest.mark.parametrize(
    ("order", "window", "counted"),
    [
        (1, 1, (20, 46, 14, 0)),
        (1, 2, (29, 37, 5, 9)),
        (1, 3, (32, 25, 2, 21)),
        (1, 5, (62, 0, 18, 0)),
        (2, 1, (20, 46, 13, 0)),
        (2, 2, (28, 37, 5, 9)),
        (2, 3, (37, 20, 7, 15)),
        (2, 5, (61, 0, 18, 0)),
    ],
)
@pytest.mark.parametrize("kind", ["tree", "wayeb"])
def test_O27_next_events_classified(order: int, window: int, counted: Counted, kind: str) -> None:
    """The approximations of the engine change probabilities, but no decision."""
    assert judged(fitted(order, kind), window, unready=(1,) if order == 2 else ()) == counted
