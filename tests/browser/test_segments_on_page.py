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
EARLIER, LATER = (0.0, 0.75, 1.0), (0.0, 0.25, 1.0)
"""The earlier and the later of two uniform draws, at the beginning, in the middle and at the end of their range."""

SHAPED = SegmentsRow(
    "south",
    (
        (at(0), EndRow(0, 80, lost=True, passed=EARLIER)),
        (EndRow(0, 80, lost=True, passed=LATER), at(80)),
        (at(90), EndRow(90, 100, lost=True, passed=(0.0, 0.9, 0.99))),
    ),
)
EMPTY = SegmentsRow("west", ())
STOPS = SegmentsRow("bus07", ((lost(0, 50), at(60)), (at(70), at(90))), ("mill", "market"))


def related() -> ReportData:
    return ReportData(
        title="segments.ink",
        program_text="EVENT share(x.k AS x, y.k AS y) AS PATTERN AT LEAST 2 P x INTERSECTS SOME P y;",
        counts=(EventResultCount("share", 5, 5, 2),),
        time_kind="ticks",
        matches=(
            MatchRow("share", "north", 0, 100, 100, 19 / 27, related=(NORTH, SOUTH)),
            MatchRow("share", "bus07", 0, 100, 100, 0.5, related=(STOPS, EMPTY)),
            MatchRow("share", "plain", 0, 100, 100, related=(NORTH, NORTH)),
            MatchRow("share", "none", 0, 100, 100),
            MatchRow("share", "shaped", 0, 100, 100, 0.5, related=(NORTH, SHAPED)),
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
    note = "Solid: certainly inside a segment. Strokes: recorded ends. Shaded: where 2 lost ends may lie."
    assert figure.locator("p").text_content() == note


def test_a_segment_is_certain_from_its_latest_start_on(open_report):
    figure = figure_of(open_report(related()), "bus07")
    assert spans(figure, "lost") == [(0.0, 0.5)]
    assert spans(figure, "sure") == [(0.5, 0.1), (0.7, 0.2)]


def corners(area):
    """The corners of an area, as shares of the width of the picture and of the height of a bar above the lowest one."""
    points = [tuple(map(float, corner.split(","))) for corner in area.get_attribute("points").split()]
    floor = max(y for _, y in points)
    return [(x / 640, round((floor - y) / 20, 3)) for x, y in points]


def test_the_height_is_the_probability_of_being_inside_a_segment(open_report):
    """In the middle, the first segment lasts with 1/4 and the second has begun with 1/4; the third falls to 1/100."""
    figure = figure_of(open_report(related()), "shaped")
    first, second = figure.locator(".inside").all()
    assert corners(first) == [(0, 0), (0, 1), (0.4, 0.5), (0.8, 1), (0.8, 0)]
    assert corners(second) == [(0.9, 0), (0.9, 1), (0.95, 0.1), (1, 0.01), (1, 0)]
    dots = [round(float(dot.get_attribute("x1")) / 640, 3) for dot in figure.locator(".median").all()]
    assert dots == [round(0.8 / 3, 3), round(0.4 + 0.4 / 3, 3), round(0.9 + 0.05 / 1.8, 3)]
    assert "Height: the probability of being inside a segment. Dots: medians" in figure.locator("p").text_content()
    assert figure.locator("li").all_text_contents()[1] == (
        "south: from 0 to a lost moment in 0 – 80, with 50 % in 13 – 40; from a lost moment in 0 – 80, with 50 % in"
        " 40 – 67 to 80; from 90 to a lost moment, almost certainly in 90 – 100, with 50 % in 91 – 94"
    )


@pytest.mark.parametrize("width", [1300, 380])
def test_a_range_is_as_wide_as_its_area(open_report, width):
    figure = figure_of(open_report(related(), width=width, height=760), "shaped")
    shade, area = (figure.locator(name).first.bounding_box() for name in (".lost", ".inside"))
    assert shade["x"] == pytest.approx(area["x"], abs=1.5)
    assert shade["width"] == pytest.approx(area["width"], abs=3)
    assert shade["y"] <= area["y"] + 1.5
    assert area["x"] + area["width"] <= width


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


def test_relations_are_drawn_without_a_click(open_report):
    page = open_report(related())
    shown = page.locator("#relation-list li:has(.segment-figure)")
    assert shown.locator("h3 .quiet").all_text_contents() == [
        " certain 1",
        " possible 0.7037",
        " possible 0.5",
        " possible 0.5",
    ]
    assert spans(shown.nth(1), "sure") == [(0.0, 0.2), (0.4, 0.2)]
    shown.nth(1).get_by_role("button", name="Show on timeline").click()
    assert page.locator("#details-body .details-key").text_content() == "north"
