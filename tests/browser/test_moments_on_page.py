"""Imprecise times on the page: error bars for the events of a match, and certain matches told from possible ones."""

import pytest
from playwright.sync_api import expect

from inkling.report import ReportData
from inkling.report.data import EventResultCount, MatchRow, MemberRow

pytestmark = pytest.mark.browser


def imprecise(n_many: int = 30) -> ReportData:
    """`ada` depends on an exact event and two imprecise ones, over ticks 0 to 100; `bob` on many."""
    ada = (
        MemberRow("a1", "Start", 20, 20),
        MemberRow("b1", "Load", 0, 100, {"value": 97}, imprecise=True),
        MemberRow("c1", "Load", 50, 100, imprecise=True, weights=(0.1, 0.4)),
    )
    bob = tuple(MemberRow(f"m{n}", "Load", 10 * n, 10 * n + 15, imprecise=True) for n in range(n_many))
    return ReportData(
        title="moments.ink",
        program_text="EVENT busy AS PATTERN SEQ(Start a, Load b, Load c);",
        counts=(EventResultCount("busy", 3, 3, 1),),
        time_kind="ticks",
        matches=(
            MatchRow("busy", "ada", 20, 100, 100, 0.25, members=ada),
            MatchRow("busy", "bob", 0, 305, 305, 0.5, members=bob),
            MatchRow("busy", "cyd", 40, 50, 50, members=(MemberRow("d1", "Start", 40, 50),)),
        ),
    )


def row(page, key):
    return page.locator("#match-table .match-row", has_text=key)


def test_each_event_has_a_line_with_its_possible_moments(open_report):
    page = open_report(imprecise())
    row(page, "ada").locator(".opener").click()
    figure = page.locator(".opened .moment-figure")
    picture = figure.locator("svg")
    width = float(picture.get_attribute("viewBox").split()[2])
    outlines = picture.locator(".outline")
    places = [[float(outlines.nth(n).get_attribute(side)) / width for side in ("x", "width")] for n in range(2)]
    assert places == [[0.0, 1.0], [0.5, 0.5]]
    assert picture.locator(".exact").count() == 1
    assert float(picture.locator(".range").get_attribute("x")) / width == pytest.approx(0.2)
    shades = [float(shade.get_attribute("fill-opacity")) for shade in picture.locator(".moment").all()]
    assert shades[0] == shades[2] > shades[1]
    assert figure.locator(".spread-ends span").all_text_contents() == ["0", "100"]


def test_the_picture_is_told_in_words(open_report):
    page = open_report(imprecise())
    row(page, "ada").locator(".opener").click()
    figure = page.locator(".opened .moment-figure")
    assert figure.get_attribute("aria-label") == "possible, probability 0.25, between 20 – 100"
    assert figure.locator("li").all_text_contents() == [
        "the match",
        "Start a1, at 20",
        "Load b1, some time in 0 – 100, all moments equally likely",
        "Load c1, some time in 50 – 100",
    ]
    times = page.locator(".opened .members tbody td:nth-child(2)").all_text_contents()
    assert times == ["+0", "−20 ticks to +80 ticks", "+30 ticks to +80 ticks"]


def test_few_lines_are_drawn_of_many_and_the_page_says_so(open_report):
    page = open_report(imprecise())
    row(page, "bob").locator(".opener").click()
    assert page.locator(".opened .moments .outline").count() == 24
    assert page.locator(".opened").get_by_text("The first 24 are drawn, 6 more are in the table.").is_visible()
    assert page.locator(".opened .members tbody tr").count() == 30


def test_an_event_that_lasts_is_no_error_bar(open_report):
    page = open_report(imprecise())
    row(page, "cyd").locator(".opener").click()
    assert page.locator(".opened .moment-figure").count() == 0
    assert page.locator(".opened .members tbody td:nth-child(2)").all_text_contents() == ["+0, 10 ticks long"]


def test_certain_and_possible_are_words_and_a_filter(open_report):
    page = open_report(imprecise())
    keys = page.locator("#match-table .match-row td:nth-child(2)")
    words = {key: row(page, key).locator(".certainty").text_content() for key in ("ada", "bob", "cyd")}
    assert words == {"ada": "possible", "bob": "possible", "cyd": "certain"}
    assert page.locator("#counts tbody td.number").all_text_contents() == ["3", "1", "2", "3"]
    page.get_by_label("Certainty").focus()
    page.keyboard.press("ArrowDown")
    expect(keys).to_have_count(1)
    assert keys.all_text_contents() == ["cyd"]
    assert page.locator("#lane-count").text_content() == "1 of 3 keys"
    page.keyboard.press("ArrowDown")
    expect(keys).to_have_count(2)
    page.get_by_placeholder("Filter by any word").fill("certain")
    expect(keys).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_by_keyboard_on_the_timeline_and_on_a_narrow_page(open_report, scheme):
    page = open_report(imprecise(), width=380, height=760, scheme=scheme)
    page.locator("#lane-scroller").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#details-body .moment-figure").is_visible()
    assert page.locator("#announcer").text_content().startswith("busy, ")
    assert "possible, probability" in page.locator("#announcer").text_content()
    assert page.evaluate("document.documentElement.scrollWidth") == 380
