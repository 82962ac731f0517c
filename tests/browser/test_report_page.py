"""The report in a real browser: it opens from disk, fetches nothing, zooms, selects, filters and sorts."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.kit.reports import fleet_report

import inkling.report
from inkling.report import ReportData
from inkling.report.data import EventResultCount, MatchRow, MemberRow

pytestmark = pytest.mark.browser

ASSETS = Path(inkling.report.__file__).with_name("assets")
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


def two_keys() -> ReportData:
    """On `left`, one match over the whole run, ticks 0 to 1000; on `right`, one point at 500."""
    members = (
        MemberRow("a1", "A", 0, 0, {"v": 1}),
        MemberRow("b2", "B", 250, 250, {"v": 2.5}),
        MemberRow("c3", "C", 1000, 1000, {"v": None}),
    )
    return ReportData(
        title="two.ink",
        program_text="EVENT long AS PATTERN SEQ(A a, B b, C c);",
        counts=(EventResultCount("long", 1, 1), EventResultCount("short", 1, 1)),
        time_kind="ticks",
        matches=(
            MatchRow("long", "left", 0, 1000, 1000, 0.75, "sampled", 0.05, values={"total": 3.5}, members=members),
            MatchRow("short", "right", 500, 500, 500, members=(MemberRow("a9", "A", 500, 500),)),
        ),
    )


def axis_labels(page: Page) -> list[str]:
    settle(page)
    return page.locator("#axis text").all_text_contents()


def settle(page: Page) -> None:
    """Wait until the frame that follows an input has been drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def lanes_middle(page: Page) -> tuple[float, float]:
    box = page.locator("#lanes").bounding_box()
    return box["x"] + box["width"] * 0.6, box["y"] + 12


def test_opens_from_disk_in_silence(open_report):
    page = open_report(fleet_report())
    assert page.locator("h1").text_content() == "fleet.ink on 2 September"
    assert page.locator("#lane-count").text_content() == "48 keys"
    assert page.locator("#match-count").text_content() == "640 matches"


def test_names_keep_their_beginning_and_iris_their_end(open_report):
    page = open_report(two_keys())
    measured = "return fittedText({measureText: one => ({width: 10 * one.length})}, text, 80)"
    shown = f"text => {{ {(ASSETS / 'paint.js').read_text()} {measured} }}"
    assert page.evaluate(shown, "a long name") == "a long …"
    assert page.evaluate(shown, "<http://example.org/A7>") == "…org/A7>"
    assert page.evaluate(shown, "<a:b>") == "<a:b>"


def test_empty_report_opens_in_silence(open_report):
    page = open_report(ReportData(title="quiet.ink", program_text="-- nothing", time_kind="ticks"))
    assert page.get_by_text("No matches.").is_visible()


@pytest.mark.parametrize("gesture", ["button", "key", "wheel on axis", "ctrl and wheel", "drag on axis", "overview"])
def test_zoom_changes_the_axis(open_report, gesture):
    page = open_report(two_keys())
    before = axis_labels(page)
    assert "0" in before
    assert "1,000" in before
    x, y = lanes_middle(page)
    axis, overview = page.locator("#axis").bounding_box(), page.locator("#overview").bounding_box()
    match gesture:
        case "button":
            for _ in range(3):
                page.get_by_role("button", name="Zoom in").click()
        case "key":
            page.locator("#lane-scroller").focus()
            page.keyboard.type("+++")
        case "wheel on axis":
            page.mouse.move(x, axis["y"] + 10)
            page.mouse.wheel(0, -600)
        case "ctrl and wheel":
            page.mouse.move(x, y)
            page.keyboard.down("Control")
            page.mouse.wheel(0, -600)
            page.keyboard.up("Control")
        case "drag on axis":
            page.mouse.move(x - 60, axis["y"] + 10)
            page.mouse.down()
            page.mouse.move(x + 60, axis["y"] + 10, steps=4)
            page.mouse.up()
        case "overview":
            page.mouse.move(x - 60, overview["y"] + 10)
            page.mouse.down()
            page.mouse.move(x + 60, overview["y"] + 10, steps=4)
            page.mouse.up()
    after = axis_labels(page)
    assert after
    assert not {"0", "1,000"} & set(after)
    page.get_by_role("button", name="Fit").click()
    assert axis_labels(page) == before


def test_plain_wheel_over_the_lanes_leaves_the_axis_alone(open_report):
    page = open_report(two_keys())
    before = axis_labels(page)
    page.mouse.move(*lanes_middle(page))
    page.mouse.wheel(0, -600)
    assert axis_labels(page) == before


def test_drag_pans(open_report):
    page = open_report(two_keys())
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    span = page.locator("#view-range")
    settle(page)
    before = span.text_content()
    x, y = lanes_middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 200, y, steps=4)
    page.mouse.up()
    settle(page)
    assert span.text_content() != before
    assert span.text_content().split(" · ")[1] == before.split(" · ")[1]
    assert not page.locator("#details-body").is_visible()


def test_click_on_a_match_shows_it(open_report):
    page = open_report(two_keys())
    page.mouse.click(*lanes_middle(page))
    details = page.locator("#details-body")
    assert details.locator("h3").text_content() == "long"
    assert details.locator(".probability-text").text_content() == "possible: 0.75 ± 0.05, sampled"
    assert details.locator(".values dt").all_text_contents() == ["total"]
    assert details.locator(".values dd").all_text_contents() == ["3.5"]
    assert details.locator(".member-id").all_text_contents() == ["a1", "b2", "c3"]
    assert details.locator(".members td:nth-child(2)").all_text_contents() == ["+0", "+250 ticks", "+1,000 ticks"]
    level, bar = details.locator(".level").bounding_box(), details.locator(".probability-bar").bounding_box()
    assert level["width"] / bar["width"] == pytest.approx(0.75, abs=0.01)
    whisker = details.locator(".error").bounding_box()
    assert (whisker["x"] - bar["x"]) / bar["width"] == pytest.approx(0.70, abs=0.01)
    assert whisker["width"] / bar["width"] == pytest.approx(0.10, abs=0.01)


def test_selected_match_marks_its_events_on_the_lane(open_report):
    page = open_report(two_keys())
    x, y = lanes_middle(page)
    ink_at_second_member = """() => {
        const canvas = document.getElementById("lanes");
        const surface = new OffscreenCanvas(canvas.width, canvas.height);
        const copy = surface.getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const [left, ratio] = [132, window.devicePixelRatio];
        const plot = canvas.width / ratio - left;
        const at = left + plot * (0.02 + 0.25) / 1.04;
        return [...copy.getImageData(Math.round(at * ratio), 12 * ratio, 1, 1).data];
    }"""
    settle(page)
    before = page.evaluate(ink_at_second_member)
    page.mouse.click(x, y)
    settle(page)
    after = page.evaluate(ink_at_second_member)
    ink = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink')").strip()
    assert before != after
    assert after[:3] == list(bytes.fromhex(ink.removeprefix("#")))


def test_keys_select_zoom_to_and_release(open_report):
    page = open_report(two_keys())
    heading = page.locator("#details-body h3")
    page.locator("#lane-scroller").focus()
    page.keyboard.press("ArrowRight")
    assert heading.text_content() == "long"
    page.keyboard.press("ArrowDown")
    assert heading.text_content() == "short"
    assert "short, right" in page.locator("#announcer").text_content()
    before = axis_labels(page)
    page.keyboard.press("Enter")
    assert axis_labels(page) != before
    page.keyboard.press("Escape")
    assert page.locator("#details-hint").is_visible()


def test_legend_and_search_filter_timeline_and_table(open_report):
    page = open_report(two_keys())
    rows = page.locator("#match-table .match-row")
    page.locator(".legend-item", has_text="short").click()
    assert page.locator("#lane-count").text_content() == "1 of 2 keys"
    assert rows.count() == 1
    page.locator(".legend-item", has_text="short").click()
    page.locator("#key-search").fill("RIGHT")
    settle(page)
    assert rows.locator(".opener").all_text_contents() == ["short"]
    page.locator("#key-search").fill("nobody")
    settle(page)
    assert page.locator("#no-lanes").is_visible()
    assert page.locator("#match-count").text_content() == "0 of 2 matches"


def test_table_sorts_pages_filters_and_opens(open_report):
    data = fleet_report(n_matches=90, n_vehicles=9)
    page = open_report(data)
    keys = page.locator("#match-table .match-row td:nth-child(2)")
    page.get_by_role("button", name="Key", exact=True).click()
    assert keys.all_text_contents() == sorted(match.key for match in data.matches)[:25]
    page.get_by_role("button", name="Key", exact=True).click()
    assert keys.all_text_contents() == sorted((match.key for match in data.matches), reverse=True)[:25]
    assert page.locator("th[aria-sort=descending]").text_content().startswith("Key")
    page.get_by_role("button", name="Next").click()
    assert page.locator("#page-place").text_content() == "26–50 of 90"

    wanted = data.matches[17]
    page.locator("#match-filter").fill(f"{wanted.event} {wanted.members[0].id.lower()}")
    assert page.locator("#match-table .match-row").count() == 1
    page.locator("#match-table .opener").click()
    assert page.locator("#match-table .member-id").all_text_contents() == [member.id for member in wanted.members]
    page.get_by_role("button", name="Show on timeline").click()
    assert page.locator("#details-body .member-id").all_text_contents() == [member.id for member in wanted.members]


def test_hostile_text_stays_text(open_report):
    data = ReportData(
        title="safe",
        program_text=f"-- {HOSTILE}",
        counts=(EventResultCount(HOSTILE, 1, 1),),
        matches=(
            MatchRow(
                HOSTILE,
                HOSTILE,
                0,
                9,
                values={HOSTILE: HOSTILE},
                members=(MemberRow(HOSTILE, HOSTILE, 0, 9, {"v": HOSTILE}),),
            ),
        ),
    )
    page = open_report(data)
    page.mouse.move(*lanes_middle(page))
    page.mouse.click(*lanes_middle(page))
    assert page.locator("#details-body h3").text_content() == HOSTILE
    assert page.locator("#details-body .values dd").text_content() == HOSTILE
    assert page.locator("img").count() == 0
    assert page.title() == "safe · inkling report"


def test_ticks_beyond_floats_are_exact(open_report):
    start = 2**62 + 1
    data = ReportData(title="big", program_text="", time_kind="ticks", matches=(MatchRow("e", "k", start, start + 7),))
    page = open_report(data)
    page.mouse.click(*lanes_middle(page))
    facts = page.locator("#details-body .facts dd").all_text_contents()
    assert facts[:3] == [f"{start:,}", f"{start + 7:,}", "7 ticks"]
    assert f"{start + 1:,}" in axis_labels(page)


def test_timestamps_read_in_utc(open_report):
    noon_us = 1_709_208_000_000_000  # 2024-02-29 12:00 UTC
    data = ReportData(title="leap", program_text="", matches=(MatchRow("e", "", noon_us, noon_us + 90_250_000),))
    page = open_report(data)
    page.mouse.click(*lanes_middle(page))
    facts = page.locator("#details-body .facts dd").all_text_contents()
    assert facts == ["29 Feb 2024 12:00:00", "29 Feb 2024 12:01:30.25", "1 min 30 s"]
    assert page.locator("#details-body .details-key").text_content() == "all events"
    assert "Thu 29 Feb 2024" in axis_labels(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colors_follow_the_reader(open_report, scheme):
    page = open_report(fleet_report(n_matches=30, n_vehicles=3), scheme=scheme)
    red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(red) > 128) == (scheme == "light")


def test_narrow_page_does_not_scroll_sideways(open_report):
    long_name = "a_very_long_name_without_any_space_" * 8
    data = fleet_report(n_matches=60, n_vehicles=6)
    data = ReportData(
        title=long_name,
        program_text=data.program_text,
        counts=(EventResultCount(long_name, 1, 1),),
        matches=(
            *data.matches,
            MatchRow(long_name, long_name, data.matches[0].start, data.matches[0].end, values={"v": long_name}),
        ),
        rejects=data.rejects,
        notes=(long_name,),
    )
    page = open_report(data, width=380, height=760)
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    page.locator("#lane-scroller").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.documentElement.scrollWidth") == 380


def test_five_thousand_matches_of_five_hundred_keys_stay_smooth(open_report):
    page = open_report(fleet_report(n_matches=5_000, n_vehicles=500))
    assert page.locator("#lane-count").text_content() == "500 keys"
    frame_ms = page.evaluate(
        """async () => {
            const nextFrame = () => new Promise(requestAnimationFrame);
            const zoom = document.getElementById("zoom-in");
            const scroller = document.getElementById("lane-scroller");
            const began = performance.now();
            for (let frame = 0; frame < 20; frame += 1) {
                if (frame % 2) zoom.click();
                else scroller.scrollTop += 900;
                await nextFrame();
            }
            return (performance.now() - began) / 20;
        }"""
    )
    # a drawn frame takes a few milliseconds; the bound leaves room for a busy machine
    assert frame_ms < 100


def test_ticks_have_their_declared_unit(open_report):
    matches = (MatchRow("e", "k", 0, 90, 90, members=(MemberRow("a1", "A", 30, 30),)),)
    data = ReportData(title="seconds", program_text="", time_kind="ticks", tick_us=1e6, matches=matches)
    page = open_report(data)
    assert page.locator("#time-span").text_content() == ", matches from 0 s – 90 s; a tick is 1 s"
    page.mouse.click(*lanes_middle(page))
    assert page.locator("#details-body .facts dd").all_text_contents() == ["0 s", "90 s", "1 min 30 s", "at its end"]
    assert page.locator("#details-body .members td:nth-child(2)").text_content() == "+30 s"
    assert "20 s" in axis_labels(page)
    page = open_report(replace(data, tick_us=300e6))
    assert page.locator("#match-table .time").all_text_contents() == ["0 × 5 min", "90 × 5 min"]
    assert page.locator("#match-table .number").all_text_contents() == ["Length", "7 h 30 min"]


def test_many_events_have_colors_of_their_own_and_a_legend_that_unfolds(open_report):
    names = [f"event{number}" for number in range(19)]
    matches = tuple(MatchRow(name, "k", 2 * at, 2 * at + 1) for at, name in enumerate([*names, "event18"]))
    data = ReportData(title="many", program_text="", time_kind="ticks", matches=matches)
    for scheme in ("light", "dark"):
        page = open_report(data, scheme=scheme)
        shown = page.locator(".legend-item:visible .name")
        assert shown.all_text_contents() == [*names[:7], "event18"]
        page.get_by_role("button", name="11 more events").click()
        assert shown.count() == 19
        assert page.evaluate(LEAST_DIFFERENCE) > 0.065
        page.get_by_role("button", name="fewer events").click()
        assert shown.count() == 8


LEAST_DIFFERENCE = """() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const oklab = (color) => {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const linear = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        const times = (rows, vector) => rows.map((row) => row.reduce((sum, one, at) => sum + one * vector[at], 0));
        const [toCones, toLab] = [
            [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]],
            [[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]],
        ];
        return times(toLab, times(toCones, linear).map(Math.cbrt));
    };
    const swatches = [...document.querySelectorAll(".legend-item .swatch")];
    const found = swatches.map((one) => oklab(getComputedStyle(one).backgroundColor));
    const apart = found.flatMap((one, at) => found.slice(0, at).map((other) =>
        Math.hypot(...one.map((part, axis) => part - other[axis]))));
    return Math.min(...apart);
}"""
"""The least distance of two colors of the legend in the Oklab space, where 0.02 is a just noticeable difference."""


def test_a_certain_program_has_no_probabilities_and_a_closed_plan(open_report):
    matches = (MatchRow("e", "k", 0, 1),)
    plan = (("logical", "r0"), ("physical", "p0"))
    data = ReportData(title="sure", program_text="", plan_sections=plan, time_kind="ticks", matches=matches)
    page = open_report(data)
    titles = [title.strip(" ▲") for title in page.locator("#match-table th").all_text_contents()]
    assert titles == ["Event", "Key", "Start", "End", "Length", "Values"]
    page.mouse.click(*lanes_middle(page))
    assert page.locator("#details-body .probability").count() == 0
    assert page.locator("#plan details[open]").count() == 0
