"""Uncertainty on the report page: error bars, badges, a least probability, histograms, dependencies of a result."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from inkling.report import ReportData
from inkling.report.data import EventResultCount, InfluenceRow, MatchRow, ReportTable, TimeShare

pytestmark = pytest.mark.browser


def uncertain() -> ReportData:
    return ReportData(
        title="uncertainty.ink",
        program_text="EVENT seen AS PATTERN At a;",
        counts=(EventResultCount("seen", 4, 4),),
        time_kind="ticks",
        matches=(
            MatchRow("seen", "ada", 10, 30, 30, 0.75, "sampled", 0.05),
            MatchRow("seen", "bob", 20, 20, 20, 0.25, "exact", lineage=(None, "b1")),
            MatchRow("seen", "cyd", 5, 40, 40, 0.5, "undecided", 0.1),
            MatchRow(
                *("seen", "dan", 0, 50, 50, 0.9, "exact"),
                starts=(TimeShare(0, 0, 0.75), TimeShare(4, 4, 0.25)),
                ends=(TimeShare(50, 50, 1.0),),
                influences=(InfluenceRow("At", "a7", 0, 4, 0.0, 1.0), InfluenceRow("Gate", None, 20, 30, 0.99, -0.1)),
            ),
        ),
        worlds="3 parts enumerated (12 worlds)",
        tables=(ReportTable("Two ways", ("way", "share"), (("one", 0.5), ("other", None)), "of counting"),),
    )


def row(page, key):
    return page.locator("#match-table .match-row", has_text=key)


def test_bars_show_probability_and_error(open_report):
    page = open_report(uncertain())
    bar = row(page, "ada").locator(".probability-bar")
    box, level, whisker = (bar.bounding_box(), *(bar.locator(part).bounding_box() for part in (".level", ".error")))
    assert level["width"] / box["width"] == pytest.approx(0.75, abs=0.02)
    assert (whisker["x"] - box["x"]) / box["width"] == pytest.approx(0.70, abs=0.02)
    assert row(page, "bob").locator(".error").count() == 0
    assert row(page, "ada").locator(".chance").text_content() == "possible 0.75 ± 0.05sampled"


def test_badges_name_the_method(open_report):
    page = open_report(uncertain())
    badges = {key: row(page, key).locator(".badge").text_content() for key in ("ada", "bob", "cyd")}
    assert badges == {"ada": "sampled", "bob": "exact", "cyd": "undecided"}
    title = row(page, "cyd").locator(".badge").get_attribute("title")
    assert "CONFIDENCE" in title


def test_sorting_and_a_least_probability(open_report):
    page = open_report(uncertain())
    keys = page.locator("#match-table .match-row td:nth-child(2)")
    page.get_by_role("button", name="Probability", exact=True).click()
    assert keys.all_text_contents() == ["bob", "cyd", "ada", "dan"]
    page.get_by_label("Probability at least").fill("0.6")
    expect(keys).to_have_count(2)
    assert keys.all_text_contents() == ["ada", "dan"]
    assert page.locator("#lane-count").text_content() == "2 of 4 keys"
    page.get_by_label("Probability at least").fill("")
    expect(keys).to_have_count(4)


def test_times_are_histograms_where_they_differ(open_report):
    page = open_report(uncertain())
    row(page, "dan").locator(".opener").click()
    opened = page.locator(".opened")
    assert opened.locator("h4").all_text_contents() == ["Start over the worlds that have it", "Depends on"]
    bars = opened.locator(".histogram rect")
    heights = [float(bars.nth(place).get_attribute("height")) for place in range(2)]
    assert heights[1] / heights[0] == pytest.approx(1 / 3)
    assert bars.nth(0).locator("title").text_content() == "0: 75 %"
    assert opened.locator(".spread-ends span").all_text_contents() == ["0", "4"]
    assert "most often 0 (75 %)" in opened.locator(".histogram").get_attribute("aria-label")


def test_what_a_result_depends_on(open_report):
    page = open_report(uncertain())
    row(page, "dan").locator(".opener").click()
    rows = page.locator(".influences tbody tr")
    assert rows.nth(0).locator("td").all_text_contents() == ["0", "100 %"]
    assert rows.nth(0).locator(".member-id").text_content() == "a7, +0 to +4 ticks"
    assert rows.nth(1).locator(".member-id").text_content() == "(lost), +20 ticks to +30 ticks"
    assert rows.nth(1).locator("td").all_text_contents() == ["0.99", "10 % more: it speaks against the result"]
    row(page, "bob").locator(".opener").click()
    assert page.locator(".opened .lineage").text_content() == "(lost), b1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_uncertainty_is_told_in_words_and_tables_in_both_colors(open_report, scheme):
    page = open_report(uncertain(), scheme=scheme)
    assert page.locator("#worlds").text_content() == "Probabilities: 3 parts enumerated (12 worlds)"
    table = page.locator("#table-1")
    assert table.locator("h2").text_content() == "Two ways"
    assert table.locator("tbody td").all_text_contents() == ["one", "0.5", "other", "–"]
    assert page.locator(".page-nav").get_by_text("Two ways").get_attribute("href") == "#table-1"
    color, paper = (
        page.evaluate(f"getComputedStyle(document.querySelector('{part}')).{what}")
        for part, what in ((".badge.method-undecided", "color"), ("body", "backgroundColor"))
    )
    assert color != paper


def test_a_page_without_uncertainty_does_not_speak_of_it(open_report):
    matches = (MatchRow("seen", "ada", 0, 1),)
    page = open_report(ReportData(title="sure.ink", program_text="", time_kind="ticks", matches=matches))
    assert page.locator("#least-probability").count() == 0
    assert page.locator("#match-table .badge").count() == 0
    assert page.locator("#match-table .probability-bar").count() == 0


def test_a_narrow_page_does_not_scroll_sideways(open_report):
    page = open_report(uncertain(), width=380, height=760)
    row(page, "dan").locator(".opener").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 380


def test_the_most_probable_come_first_above_a_floor_that_can_be_lowered(open_report):
    data = uncertain()
    hardly = replace(data.matches[0], key="eve", probability=0.001, error=0.0)
    page = open_report(replace(data, matches=(*data.matches, hardly)))
    keys = page.locator("#match-table .match-row td:nth-child(2)")
    assert keys.all_text_contents() == ["dan", "ada", "cyd", "bob"]
    page.get_by_label("Probability at least").fill("0")
    expect(keys).to_have_count(5)
    assert keys.all_text_contents()[-1] == "eve"
