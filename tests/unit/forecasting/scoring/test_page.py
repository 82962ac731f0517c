"""The page stands alone and draws what the numbers say."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from inkling.forecasting.scoring import plots
from inkling.forecasting.scoring.intervals import IntervalScores
from inkling.forecasting.scoring.page import build_page
from inkling.forecasting.scoring.scorecard import Scorecard, Scores, write_scores
from inkling.forecasting.scoring.tally import Tally

HALF = Tally(np.array([0.25, 0.75]), np.array([40, 40]), np.array([10, 30]))
INTERVALS = IntervalScores(10, 8, 20, 30.0, 4, 2, 4, 0.5, 5, 4, 3, 0.75)


def scores(*, has_intervals: bool = False) -> Scores:
    cards = (
        Scorecard("order 0", HALF, HALF, 0, INTERVALS if has_intervals else None),
        Scorecard("order 1", HALF, HALF, 1, INTERVALS if has_intervals else None),
        Scorecard("never <said>", HALF, HALF),
    )
    return Scores("soon", "x within 2 events", 0.5, cards, "rows until 7", has_intervals=has_intervals)


def pictures(page: str) -> dict[str, ElementTree.Element]:
    found = [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    return {svg.attrib["aria-label"]: svg for svg in found}


def test_a_page_has_the_curves_of_chances() -> None:
    found = pictures(build_page({"soon": scores()}))
    titles = ["Reliability", "F1 by threshold", "MCC by threshold", "ROC", "Brier score by order", "log loss by order"]
    assert list(found) == titles
    points = [element for element in found["Reliability"].iter() if element.get("class") == "point"]
    at = {(round(float(one.attrib["cx"]), 1), round(float(one.attrib["cy"]), 1)) for one in points}
    left, top = plots.LEFT, plots.TOP
    assert at == {
        (left + plots.ACROSS * 0.25, round(top + plots.UP * 0.75, 1)),
        (left + plots.ACROSS * 0.75, round(top + plots.UP * 0.25, 1)),
    }


def test_a_curve_over_thresholds_holds_between_two_chances() -> None:
    """From 0.25 to 0.75 only the larger chance is a yes: F1 is 0.75; below, everything is: 2/3."""
    (plot,) = [plot for plot in plots.plots_of(scores()) if plot.title == "F1 by threshold"]
    corners = [tuple(map(float, corner.split(","))) for corner in plot.lines[0].path.split()]
    expected = [(0.75, 0.75), (0.25, 0.75), (0.25, 2 / 3), (0.0, 2 / 3)]
    for (x, y), (threshold, value) in zip(corners, expected, strict=True):
        assert (x, y) == pytest.approx((plot.across(threshold), plot.up(value)), abs=0.06)


def test_a_page_has_the_curves_of_intervals() -> None:
    page = build_page({"arrival": scores(has_intervals=True)})
    assert list(pictures(page)) == ["Reliability", "Coverage by order", "Spread by order"]
    assert "0.8000" in page, "coverage"


def test_names_are_text_and_nothing_is_loaded(tmp_path: Path) -> None:
    page = write_scores({"soon": scores()}, tmp_path / "deep" / "page.html", title="A < B").read_text()
    assert "A &lt; B" in page
    assert "never &lt;said&gt;" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_way_that_says_nothing_has_no_curve() -> None:
    nothing = Tally(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    silent = Scores("soon", "x", 0.5, (Scorecard("order 0", nothing, nothing, 0), *scores().cards[1:]))
    (row, *_) = silent.to_table().to_pylist()
    assert (row["forecasts"], row["base_rate"], row["brier_score"], row["auc"]) == (0, None, None, None)
    assert "order 1" in build_page({"soon": silent})
