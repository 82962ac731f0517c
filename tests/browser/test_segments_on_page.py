"""Relations between segments on the page: both keys on one line of time, lost ends as shaded stretches."""

import pytest

from inkling.report import ReportData
from inkling.report.data import EndRow, EventResultCount, MatchRow, SegmentsRow

pytestmark = pytest.mark.browser


def at(time: int) -> EndRow:
    return EndRow(time, time)


def lost(low: int, high: int) -> EndRow:
    return EndRow(low, high, lost=True)


NORTH = SegmentsRow("north", ((at(0), at(20)), (at(40), at(60))))
SOUTH = SegmentsRow("south", ((at(10), lost(10, 100)), (lost(10, 100), at(100))))
EMPTY = SegmentsRow("west", ())
STOPS = SegmentsRow("bus07", ((lost(0, 50), at(60)), (at(70), at(90))), ("mill", "market"))


def related() -> ReportData:
    return ReportData(
        title="segments.ink",
        program_text="EVENT share(x.k AS x, y.k AS y) AS PATTERN AT LEAST 2 P x INTERSECTS SOME P y;",
        counts=(EventResultCount("share", 4, 4, 2),),
        time_kind="ticks",
        matches=(
            MatchRow("share", "north", 0, 100, 100, 19 / 27, related=(NORTH, SOUTH)),
            MatchRow("share", "bus07", 0, 100, 100, 0.5, related=(STOPS, EMPTY)),
            MatchRow("share", "plain", 0, 100, 100, related=(NORTH, NORTH)),
            MatchRow("share", "none", 0, 100, 100),
        ),
    )


def figure_of(page, key):
    page.locator("#match-table .match-row", has_text=key).locator(".opener").click()
    return page.locator(".opened .segment-figure")


def spans(figure, name):
    """Where marks of a kind lie, as shares of the picture."""
    width = float(figure.locator("svg").get_attribute("viewBox").split()[2])
    marks = figure.locator(f".{name}").all()
    return [tuple(round(float(mark.get_attribute(side)) / width, 3) for side in ("x", "width")) for mark in marks]


def test_certain_parts_are_solid_and_lost_ends_shade_a_stretch_once(open_report):
    figure = figure_of(open_report(related()), "north")
    assert spans(figure, "sure") == [(0.0, 0.2), (0.4, 0.2)]
    assert spans(figure, "lost") == [(0.1, 0.9)]
    assert figure.locator(".lost title").text_content() == "2 ends lost in 10 – 100"
    assert figure.locator(".end").count() == 6
    assert figure.locator(".spread-ends span").all_text_contents() == ["0", "100"]
    note = "Solid: certainly inside a segment. Shaded: where 2 lost ends may lie. Strokes: recorded ends."
    assert figure.locator("p").text_content() == note


def test_a_segment_is_certain_from_its_latest_start_on(open_report):
    figure = figure_of(open_report(related()), "bus07")
    assert spans(figure, "lost") == [(0.0, 0.5)]
    assert spans(figure, "sure") == [(0.5, 0.1), (0.7, 0.2)]


def test_the_picture_is_told_in_words(open_report):
    page = open_report(related())
    figure = figure_of(page, "north")
    assert figure.get_attribute("aria-label").startswith("possible, probability 0.70")
    assert figure.locator("li").all_text_contents() == [
        "north: from 0 to 20; from 40 to 60",
        "south: from 10 to a lost moment in 10 – 100; from a lost moment in 10 – 100 to 100",
    ]
    page.locator("#match-table .match-row", has_text="north").locator(".opener").click()
    assert figure_of(page, "bus07").locator("li").all_text_contents() == [
        "bus07: mill from a lost moment in 0 – 50 to 60; market from 70 to 90",
        "west: no segments",
    ]


def test_nothing_lost_nothing_shaded(open_report):
    page = open_report(related())
    figure = figure_of(page, "plain")
    assert figure.locator(".lost").count() == 0
    assert figure.locator("p").text_content() == "All ends were recorded."


def test_other_results_have_no_such_picture(open_report):
    page = open_report(related())
    assert figure_of(page, "none").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_by_keyboard_on_the_timeline_and_on_a_narrow_page(open_report, scheme):
    page = open_report(related(), width=380, height=760, scheme=scheme)
    page.locator("#lane-scroller").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#details-body .segment-figure").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 380
