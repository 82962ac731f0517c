"""Models with the approximations of the public Wayeb engine have the waiting times that follow from them by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import inkling
from inkling import parse
from inkling.cli import app
from inkling.forecasting.learning import load_model
from inkling.forecasting.models.model import ForecastModel, Learner

PROGRAM = """
STREAM V(s STRING, t BIGINT) TIME t ORDER BY t;
EVENT hit AS PATTERN SEQ STRICT(V[s = 'b']) PER END;
FORECAST soon OF hit WITHIN 12 EVENTS MODEL m INCLUDING FINAL RETURN DISTRIBUTION;
"""
ROWS = {"V": [{"s": "ab"[t % 2], "t": t} for t in range(20)]}


def distribution(model: ForecastModel) -> list[float]:
    found = parse(PROGRAM).run_local(ROWS, {"m": model}).tables["soon"]["distribution"].to_pylist()
    assert all(one == found[0] for one in found)
    return list(found[0])


def fitted(kind: Learner, symbols: int | None = None) -> ForecastModel:
    return parse(PROGRAM).fit(ROWS, settings=inkling.FitSettings(order=0, kind=kind, symbols=symbols))["m"]


def test_what_follows_with_at_most_a_thousandth_is_lost() -> None:
    """Half of the events are detections: after ten events without one, 1/1024 is left."""
    halves = [0.5**n for n in range(1, 13)]
    assert distribution(fitted("tree")) == pytest.approx(halves)
    assert distribution(fitted("wayeb")) == pytest.approx([*halves[:10], 0, 0])


def test_kinds_of_events_that_never_occur_take_a_share() -> None:
    """Twelve of fourteen kinds never occur: each has a thousandth, and half of the rest is 0.494."""
    found = distribution(fitted("wayeb", symbols=14))
    assert found[:3] == pytest.approx([0.494, 0.494**2, 0.494**3])


def test_the_context_is_the_label_of_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.ink").write_text(PROGRAM)
    Path("V.csv").write_text("s,t\n" + "".join(f"{row['s']},{row['t']}\n" for row in ROWS["V"]))
    told = ("fit", "x.ink", "-i", "V=V.csv", "--runner", "local", "--kind", "wayeb", "--order", "2", "--symbols", "5")
    assert CliRunner().invoke(app, told).exit_code == 0
    model = load_model("m.parquet")
    assert (model.learning.kind, model.learning.symbols) == ("wayeb", 5)
    contexts, tree = model.contexts(), model.tree()
    assert sorted(contexts.words()) == sorted(tree.words())
    assert contexts.gamma[0].sum(axis=1).max() == pytest.approx(1 - 3 * 0.001)


def test_nonsense_is_rejected() -> None:
    with pytest.raises(ValueError, match="must be at least 1, found 0"):
        inkling.FitSettings(symbols=0)
    with pytest.raises(inkling.InputError, match="cannot be learned with a gamma_min"):
        fitted("wayeb", symbols=2000)
