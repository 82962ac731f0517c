"""The page is one file: escaped, self-contained, small, and sensible with nothing to show."""

import json
import re
from html.parser import HTMLParser

import pytest
from tests.kit.reports import fleet_report

from inkling.report import ReportData, build_report, write_report
from inkling.report.data import EventResultCount, InputCount, MatchRow, MemberRow, RejectRow

HOSTILE = "</script></style><img src=x onerror=alert(1)><!-- \"'`& ünïcödé 漢字 🖋 \u202e"


class PageReader(HTMLParser):
    """Every tag with its attributes, and the text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag if tag in self.raw else ""

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        (self.raw[self._inside] if self._inside else self.texts).append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def payload(self) -> dict[str, object]:
        return json.loads(self.raw["script"][0])


def hostile_report() -> ReportData:
    member = MemberRow(HOSTILE, HOSTILE, 0, 0, {HOSTILE: HOSTILE})
    return ReportData(
        title=HOSTILE,
        program_text=f"EVENT e AS -- {HOSTILE}",
        plan_sections=((HOSTILE, HOSTILE),),
        runner=HOSTILE,
        inputs=(InputCount(HOSTILE, 1, 1),),
        counts=(EventResultCount(HOSTILE, 1, 1),),
        matches=(
            MatchRow(
                HOSTILE, HOSTILE, 0, 1, method=HOSTILE, values={HOSTILE: HOSTILE}, lineage=(HOSTILE,), members=(member,)
            ),
        ),
        rejects=(RejectRow(HOSTILE, HOSTILE, 1, HOSTILE),),
        notes=(HOSTILE, f"`{HOSTILE.replace('`', '')}`"),
    )


def test_hostile_text_adds_no_tags():
    tame = PageReader(build_report(hostile_report()))
    assert "img" not in {tag for tag, _ in tame.tags}
    assert len(tame.raw["script"]) == 2
    assert not [name for _, attributes in tame.tags for name in attributes if name.startswith("on")]


def test_hostile_text_arrives_unchanged():
    page = PageReader(build_report(hostile_report()))
    # title, heading, runner, program, plan twice, counts, inputs, rejects thrice, note
    assert page.text.count(HOSTILE) == 12
    assert page.payload()["keys"] == [HOSTILE]
    assert page.payload()["members"][0][1] == HOSTILE


def test_half_a_surrogate_pair_does_not_stop_the_page(tmp_path):
    path = write_report(ReportData(title="a\ud800b", program_text="\udfff"), tmp_path / "report.html")
    assert "<h1>a?b</h1>" in path.read_text(encoding="utf-8")


def test_nothing_is_fetched():
    page = PageReader(build_report(fleet_report(n_matches=20, n_vehicles=4)))
    links = [attributes[name] for _, attributes in page.tags for name in ("src", "href") if name in attributes]
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"@import|url\(", page.raw["style"][0])
    policy = next(attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_empty_report_says_so():
    page = PageReader(build_report(ReportData(title="six.ink", program_text="-- nothing", runner="local")))
    assert "No matches." in page.text
    assert "nothing in its input matched" in page.text
    assert page.payload()["matches"] == []
    assert "match-table" not in {attributes.get("id") for _, attributes in page.tags}


def test_results_that_were_not_kept_are_not_called_none():
    data = ReportData(title="", program_text="", counts=(EventResultCount("e", 9, 0),))
    text = PageReader(build_report(data)).text
    assert "does not include the results of the run" in text
    assert "shows 0 of 9 results" in text


def test_one_match_has_singular_words():
    data = ReportData(
        title="one.ink",
        program_text="",
        counts=(EventResultCount("e", 1, 1),),
        matches=(MatchRow("e", "k", 0, 1),),
        seconds=0.25,
    )
    words = PageReader(build_report(data)).text.split()
    assert {"result", "event", "key", "250"} <= set(words)
    assert not {"results", "events", "keys"} & set(words[: words.index("Timeline")])


def test_program_text_reads_as_written():
    program = "STREAM A(v INT) TIME t;\n\nEVENT e AS\n  PATTERN SEQ(A a, A b);"
    page = build_report(ReportData(title="", program_text=program))
    code = re.search(r'<pre class="program" tabindex="0"><code>(.*?)</code></pre>', page, re.DOTALL)
    assert code is not None
    assert PageReader(code.group(1)).text.rstrip("\n") == program


def test_backticks_become_code_and_stay_escaped():
    page = build_report(ReportData(title="", program_text="", notes=("`<b>` is odd", "a lone ` stays")))
    assert "<li><code>&lt;b&gt;</code> is odd</li>" in page
    assert "<li>a lone ` stays</li>" in page


def test_write_report_makes_the_folder(tmp_path):
    path = write_report(ReportData(title="", program_text=""), tmp_path / "out" / "report.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("n_matches", [5_000])
def test_five_thousand_matches_stay_small(n_matches):
    data = fleet_report(n_matches=n_matches, n_vehicles=500)
    page = build_report(data)
    assert sum(len(match.members) for match in data.matches) > 15_000
    assert len(page.encode()) < 3_000_000
    assert len(PageReader(page).payload()["matches"]) == n_matches
