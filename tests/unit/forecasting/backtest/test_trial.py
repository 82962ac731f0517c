"""Forecasts beside the truth: what is watched is what the program detects and says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles.wayeb_numbers import DEMO

import inkling
from inkling import local, parse
from inkling.forecasting.backtest.program import WatchingProgram, subjects_of
from inkling.forecasting.scoring import joined_outcomes, tallied
from inkling.forecasting.scoring.intervals import interval_scores
from inkling.forecasting.scoring.outcomes import Outcomes, watched_outcomes
from inkling.query import Program

STREAM = "STREAM V(key STRING, s STRING, t BIGINT) KEY key TIME t ORDER BY t{};\n"
EVENT = "EVENT ab AS PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B' OR s = 'C']) PARTITION BY key PER END CONSUME RESTART;\n"
ROWS = [{"key": "x", "s": letter, "t": 10 * number} for number, letter in enumerate(DEMO, 1)]


def program(forecast: str, reset: str = "") -> Program:
    return parse(f"{STREAM.format(reset)}{EVENT}FORECAST said OF ab {forecast};")


def watched(program: Program, rows: list[dict[str, object]], order: int = 0) -> pa.Table:
    models = program.fit({"V": rows}, settings=inkling.FitSettings(order=order, kind="full"))
    watching = WatchingProgram.of(program, subjects_of(program), [order])
    tables = {name: model.to_arrow() for name, model in models.items()}
    return local.run(watching, {"V": rows}, tables).tables[f"said@{order}"]


@pytest.mark.parametrize(
    ("n", "expected"),
    [(1, (20, 46, 14, 0)), (2, (29, 37, 5, 9)), (10, (74, 0, 6, 0))],
    ids=["O25-1", "O25-2", "O25-10"],
)
def test_the_demo_stream_through_a_program(n: int, expected: tuple[int, ...]) -> None:
    """O25: learned from and judged by the same hundred events, as the engine does."""
    found = tallied(watched_outcomes(watched(program(f"WITHIN {n} EVENTS"), ROWS), ["@key"])).at(0.5)
    assert (found.tp, found.tn, found.fp, found.fn) == expected


def test_intervals_through_a_program() -> None:
    """O25, with a confidence of nine tenths."""
    said = program("INTERVAL SHORTEST CONFIDENCE >= 0.9 SPREAD <= 19 HORIZON 20")
    found = interval_scores(watched_outcomes(watched(said, ROWS), ["@key"]))
    assert (found.n_correct, found.n, found.total_spread) == (69, 78, 336)
    assert found.total_score == pytest.approx(961.46882025, abs=1e-7)


def some_rows(n: int, seed: int, letters: str = "ABCR") -> list[dict[str, object]]:
    random = np.random.default_rng(seed)
    rows = []
    for number, letter in enumerate(random.choice(list(letters), n), 1):
        rows.append({"key": str(random.choice(["x", "y", "z"])), "s": str(letter), "t": number})
    return rows


@pytest.mark.parametrize("reset", ["", " RESET WHEN s = 'R'"], ids=["without resets", "with resets"])
def test_what_is_watched_is_what_is_detected_and_said(reset: str) -> None:
    rows = some_rows(300, seed=5)
    asked = program("WITHIN 3 EVENTS", reset)
    table = watched(asked, rows, order=1)
    models = asked.fit({"V": rows}, settings=inkling.FitSettings(order=1, kind="full"))
    results = asked.run_local({"V": rows}, models).tables
    assert set(results["ab"]["end"].to_pylist()) == {row["t"] for row in rows if row["t"] in ends(table)}
    spoken = {(row["end"], row["chance"]) for row in table.to_pylist() if row["chance"]}  # no chance: not worth a word
    assert spoken == set(zip(*(results["said"][name].to_pylist() for name in ("end", "chance")), strict=True))
    counted = sum(not (reset and row["s"] == "R") for row in rows)
    assert table.num_rows == counted, "every event is there, with or without a forecast"


def ends(table: pa.Table) -> set[int]:
    return {row["end"] for row in table.to_pylist() if row["detected"]}


def test_lives_end_at_a_reset() -> None:
    rows = [{"key": "x", "s": letter, "t": number} for number, letter in enumerate("ABRCABAR", 1)]
    table = watched(program("WITHIN 3 EVENTS", " RESET WHEN s = 'R'"), rows).sort_by("end")
    assert table["life"].to_pylist() == [0, 0, 1, 1, 1, 1]
    assert table["event_number"].to_pylist() == [1, 2, 1, 2, 3, 4]
    assert table["detected"].to_pylist() == [False, True, False, False, True, False]


def test_joined_results_are_what_is_watched() -> None:
    rows = some_rows(300, seed=9, letters="ABC")
    asked = program("WITHIN 3 EVENTS INCLUDING FINAL")
    models = asked.fit({"V": rows}, settings=inkling.FitSettings(order=0, kind="full"))
    results = asked.run_local({"V": rows}, models).tables
    joined = joined_outcomes(results["said"], results["ab"], ["key"])
    beside = watched_outcomes(watched(asked, rows), ["@key"])
    assert all((getattr(joined, name) == getattr(beside, name)).all() for name in Outcomes.__dataclass_fields__)
    assert beside.detected.sum() > 20


def test_a_duration_is_judged_by_time() -> None:
    """One event every ten ticks: within twenty ticks is within two events."""
    by_time = (
        program("WITHIN 20 TICKS")
        .score({"V": ROWS}, settings=inkling.ScoreSettings(order=[0], train_until=500))["said"]
        .card("order 0")
    )
    by_count = (
        program("WITHIN 2 EVENTS")
        .score({"V": ROWS}, settings=inkling.ScoreSettings(order=[0], train_until=500))["said"]
        .card("order 0")
    )
    assert by_time.tally.n.sum() == by_count.tally.n.sum() > 30
    assert by_time.tally.n_true.sum() == by_count.tally.n_true.sum() > 10


def test_only_later_forecasts_count() -> None:
    scores = program("WITHIN 2 EVENTS CONFIDENCE >= 0.7").score(
        {"V": ROWS}, settings=inkling.ScoreSettings(order=[0, 1], train_share=0.6)
    )["said"]
    waiting = sum(1 for number in range(61, 101) if not detected(number))
    assert scores.threshold == 0.7, "that of the program"
    assert {card.tally.n_forecasts for card in scores.cards} == {waiting}
    assert scores.learned_from == "rows until 600"


def detected(number: int) -> bool:
    return DEMO[number - 2] == "A" and DEMO[number - 1] in "BC"
