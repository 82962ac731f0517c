"""All pages on a phone and on a desk, light and dark: nothing is cut, and axe-core finds no violation."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from tests.kit.reports import fleet_report

from inkling.forecasting.calibration import calibrate, compare
from inkling.forecasting.scoring.scorecard import Scorecard, Scores, write_scores
from inkling.forecasting.scoring.tally import Tally
from inkling.report import ReportTable, write_report
from inkling.report.data import CurveRow, EventResultCount

pytestmark = pytest.mark.browser

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
PHONE, DESK = 390, 1280
SCREENS = [(width, scheme) for width in (PHONE, DESK) for scheme in ("light", "dark")]

# What is wider than its box, unless it is program text on a wide screen; and text outside of its picture or the window.
CUT = """() => {
    const found = [];
    const isSeen = (one) => !one.closest(".hidden-label, .skip, [hidden]") && one.getClientRects().length > 0;
    for (const one of [...document.querySelectorAll("body *")].filter(isSeen)) {
        const name = `${one.tagName} ${one.id || one.className?.baseVal || one.className}: ${one.textContent}`;
        const isText = one.tagName === "PRE" && innerWidth > 1000;
        const hides = getComputedStyle(one).overflowX !== "visible" && one.clientWidth > 0;
        if (hides && !isText && one.scrollWidth > one.clientWidth + 1) found.push(`wider inside: ${name}`);
        const box = one.getBoundingClientRect();
        const picture = one.tagName === "text" ? one.closest("svg").getBoundingClientRect() : null;
        const [left, right] = picture === null ? [0, innerWidth] : [picture.left, picture.right];
        if (!one.closest("pre") && (box.left < left - 1 || box.right > right + 1)) found.push(`sticks out: ${name}`);
    }
    return found;
}"""


def report(path: Path) -> Path:
    data = fleet_report(n_matches=120, n_vehicles=6)
    curves = tuple(
        CurveRow("fuel_theft", key, ((10**9, 0.05), (2 * 10**9, 0.4)), (10**9,), n_keys=3, has_truth=True)
        for key in ("truck-001", "truck-002")
    )
    columns = ("event", "true", "claimed", "wrong", "missed", "certain", "possible", "expected", "Brier claimed")
    table = ReportTable("Compared with the truth", columns, (("fuel_theft", *range(8)),), "`expected` is a sum")
    counts = tuple(EventResultCount(one.event, one.results, one.shown, one.results // 2) for one in data.counts)
    return write_report(replace(data, curves=curves, tables=(table,), counts=counts), path)


def scores(path: Path) -> Path:
    tally = Tally(np.array([0.1, 0.5, 0.9]), np.array([50, 20, 30]), np.array([6, 9, 26]))
    cards = tuple(Scorecard(f"order {order}", tally, tally, order) for order in range(3))
    return write_scores({"soon": Scores("soon", "x within 2 events", 0.5, cards, "rows until 7")}, path)


def calibration(path: Path) -> Path:
    found = calibrate([{"probability": chance / 10, "happened": chance > 5} for chance in range(11)], "happened")
    return compare({"probabilistic": found, "deterministic": found}).to_html(path, title="Calibration of soon")


@pytest.mark.parametrize("write", [report, scores, calibration])
def test_nothing_is_cut_and_everyone_can_read(browser: Browser, tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path / "page.html")
    for width, scheme in SCREENS:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(CUT) == [], (width, scheme)
        assert violations(page) == [], (width, scheme)
        context.close()


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """The rules of axe-core that the page violates, with the elements."""
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
