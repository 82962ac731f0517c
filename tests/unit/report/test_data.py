"""Report data rejects nonsense and converts to JSON."""

import json
from dataclasses import asdict

import pytest

from inkling.report import ReportData
from inkling.report.data import EventResultCount, MatchRow, MemberRow


def test_data_converts_to_json_and_back():
    member = MemberRow("b2", "B", 2, 2, {"v": 1.5})
    match = MatchRow("ab", "k", 1, 2, 2, values={"n": None}, lineage=("a1", "b2"), members=(member,))
    data = ReportData(title="ab.ink", program_text="", time_kind="ticks", matches=(match,))
    read = json.loads(json.dumps(asdict(data)))
    (found,) = read["matches"][0]["members"]
    exact = {"imprecise": False, "weights": []}
    assert found == {"id": "b2", "stream": "B", "start": 2, "end": 2, "values": {"v": 1.5}, **exact}
    assert read["time_kind"] == "ticks"


def test_counted_events_come_before_others():
    data = ReportData(
        title="",
        program_text="",
        counts=(EventResultCount("b", 0, 0), EventResultCount("a", 1, 1)),
        matches=(MatchRow("z", "", 0, 0), MatchRow("a", "", 0, 0)),
    )
    assert data.event_names == ("b", "a", "z")


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: MatchRow("e", "k", 5, 4), "ends at 4, before its start 5"),
        (lambda: MatchRow("e", "k", 1, 2, probability=1.07), r"probability 1\.07"),
        (lambda: MatchRow("e", "k", 1, 2, probability=float("nan")), "probability nan"),
        (lambda: MatchRow("e", "k", 1, 2, error=-0.1), r"error -0\.1"),
        (lambda: MatchRow("e", "k", 1, 2, op="?"), r"op '\?'"),
        (lambda: MemberRow(1, "S", 5, 4), "ends at 4, before its start 5"),
        (lambda: EventResultCount("e", 3, 4), "shows 4 of 3"),
        (lambda: EventResultCount("e", 3, 3, 4), "certain of 4 of 3"),
        (lambda: MemberRow(1, "S", 4, 5, weights=(0.5, 0.5)), "has weights, but its time is exact"),
        (lambda: ReportData(title="", program_text="", time_kind="hours"), "'hours'"),
    ],
)
def test_nonsense_is_rejected(build, complaint):
    with pytest.raises(ValueError, match=complaint):
        build()
