"""Probability over time on the page: bars, a threshold, what happened and the results of a deterministic baseline."""

import pytest
from playwright.sync_api import expect

from inkling.report import ReportData
from inkling.report.data import CurveRow, EventResultCount, MatchRow

pytestmark = pytest.mark.browser


def probable() -> ReportData:
    curves = (
        CurveRow("coffee", "ada", ((10, 0.05), (20, 0.4), (90, 0.3)), (22,), (95,), 3, True, True),
        CurveRow("coffee", "bob", ((50, 0.2),), (60,), (), 3, True, True),
        CurveRow("stays", "ada", ((12, 0.9),), (), (), 1, True, True),
    )
    matches = tuple(MatchRow("coffee", "ada", 8, time, probability=chance) for time, chance in curves[0].points)
    counts = (EventResultCount("coffee", 4, 3, 0), EventResultCount("stays", 1, 0, 0))
    return ReportData("building.ink", "", counts=counts, time_kind="ticks", matches=matches, curves=curves)


def test_a_threshold_moved_by_keyboard_decides_what_is_an_alarm(open_report):
    page = open_report(probable())
    lines, told = page.locator("#chance-lines li"), page.locator("#chance-count")
    expect(lines).to_have_count(2)
    expect(told).to_have_text("3 alarms, 2 right (67 %); 2 of 2 found (100 %)")
    page.get_by_label("Correct within").fill("5")
    expect(told).to_have_text("3 alarms, 1 right (33 %); 1 of 2 found (50 %)")
    page.get_by_label("Alarm above").focus()
    for _ in range(25):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#chance-level")).to_have_text("0.35")
    expect(told).to_have_text("1 alarm, 1 right (100 %); 1 of 2 found (50 %)")
    marks = {name: lines.first.locator(f"path.{name}").get_attribute("d").count("M") for name in ("above", "below")}
    assert marks == {"above": 1, "below": 2}
    assert lines.first.locator("path.happened").get_attribute("d").startswith(f"M{600 * 12 / 85:.2f} 0")
    spoken = lines.first.locator(".hidden-label").text_content()
    assert spoken == "above the threshold: 20; happened: 22; deterministic baseline: 95"
    assert "2 of 3 keys are drawn" in page.locator("#chance-note").text_content()


def test_events_are_chosen_and_the_page_stays_narrow(open_report):
    page = open_report(probable(), width=380, height=760, scheme="dark")
    page.locator("#chance-event").select_option(label="stays")
    expect(page.locator("#chance-lines li")).to_have_count(1)
    expect(page.locator("#chance-count")).to_have_text("1 alarm, 0 right (0 %); 0 of 0 found")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
