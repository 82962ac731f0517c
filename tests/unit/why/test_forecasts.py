"""The state, the context, the counts and the waiting times behind a forecast are those that were counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import inkling
from inkling.cli import app
from inkling.why.forecasts import ForecastWhy

PAIR = """
STREAM A(k STRING, v INT, t BIGINT) TIME t ORDER BY t;
EVENT x AS PATTERN SEQ STRICT(A[v = 1], A[v = 2]) PER END;
"""
VALUES = (1, 2, 1, 2, 1, 1, 2)
ROWS = {"A": [{"k": "ab"[t % 2], "v": v, "t": t} for t, v in enumerate(VALUES, 1)]}


def why(forecast: str, settings: inkling.FitSettings) -> ForecastWhy:
    program = inkling.parse(f"{PAIR} FORECAST x {forecast};")
    found = program.why("x_forecast", ROWS, program.fit(ROWS, settings=settings))
    assert isinstance(found, ForecastWhy)
    return found


def test_a_full_order_model_counts_by_state() -> None:
    """After a 1 came a 2 three times and a 1 once."""
    found = why("WITHIN 3 EVENTS", inkling.FitSettings(order=0, kind="full"))
    assert found.results["end"].to_pylist() == [1, 3, 5, 6]
    assert found.results["chance"].to_pylist() == pytest.approx([63 / 64] * 4)
    for number in range(1, 5):
        reasons = found.reasons(number)
        assert (reasons.event, reasons.state, reasons.distance, reasons.group) == ("x", 1, 1, None)
        assert reasons.context == ()
        counted = {one.kind: (one.count, one.probability) for one in reasons.next}
        assert counted == {"v = 2": (3, 0.75), "v = 1": (1, 0.25), "any other event": (0, 0.0)}
        assert reasons.next[0].kind == "v = 2"
        assert reasons.waiting == pytest.approx((3 / 4, 3 / 16, 3 / 64))


def test_a_tree_looks_at_the_last_event() -> None:
    """Smoothed with the least probability of 0.001 for each of three kinds of events."""
    found = why("WITHIN 1 EVENTS", inkling.FitSettings(order=1))
    reasons = found.reasons(1)
    assert reasons.context == ("v = 1",)
    assert {one.kind: one.count for one in reasons.next} == {"v = 2": 3, "v = 1": 1, "any other event": 0}
    assert reasons.next[0].probability == pytest.approx(0.75 * 0.997 + 0.001)
    assert reasons.waiting == pytest.approx((0.75 * 0.997 + 0.001,))


def test_a_group_with_a_model_of_its_own() -> None:
    found = why("WITHIN 1 EVENTS MODEL m BY k", inkling.FitSettings(order=0, kind="full", shrinkage=1e-9))
    assert {found.reasons(number).group for number in range(1, len(found.results) + 1)} == {"a", "b"}


def test_how_far_the_event_itself_got() -> None:
    found = why("WITHIN 3 EVENTS", inkling.FitSettings(order=0, kind="full"))
    assert (found.progress.event, found.progress.n_results) == ("x", 3)
    tree = found.tree(2)
    assert (tree.source, tree.end, tree.ids) == ("x_forecast", 3, (3,))
    with pytest.raises(IndexError, match="expected a result from 1 to 4, found 5"):
        found.reasons(5)


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.ink").write_text(f"{PAIR} FORECAST x WITHIN 3 EVENTS;")
    Path("A.csv").write_text("k,v,t\n" + "".join(f"{row['k']},{row['v']},{row['t']}\n" for row in ROWS["A"]))
    fit = ["fit", "x.ink", "-i", "A=A.csv", "--order", "0", "--kind", "full", "--runner", "local"]
    assert CliRunner().invoke(app, fit).exit_code == 0
    said = CliRunner().invoke(app, ["why", "x.ink", "x_forecast", "-i", "A=A.csv", "--result-number", "2", "--quiet"])
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert lines[0].startswith("x_forecast(event_number=3, ")
    assert lines[1:] == [
        "  `x` is in state 1, at least 1 event from a detection",
        "  the model looks at: any events",
        "  next event, with its number in the training data and its probability:",
        "    v = 2         3  0.7500",
        "    v = 1         1  0.2500",
        "  probability of the next detection with the first event from now, the second, …: 0.7500, 0.1875, 0.0469",
    ]
    told = CliRunner().invoke(app, ["why", "x.ink", "x_forecast", "-i", "A=A.csv", "--quiet"])
    assert "x: 3 results" in told.stdout
