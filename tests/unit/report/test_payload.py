"""The payload keeps every value a browser can hold, names the rest in text, and stores shared events once."""

import json
import math

import numpy as np
import pytest

from inkling.report import ReportData
from inkling.report.data import EndRow, MatchRow, MemberRow, SegmentsRow
from inkling.report.payload import LONGEST_TEXT, json_scalar, page_payload, payload_json


def report_of(*matches: MatchRow) -> ReportData:
    return ReportData(title="t", program_text="", time_kind="ticks", matches=matches)


def test_times_are_offsets_from_an_exact_origin():
    start = 2**62 + 1
    payload = page_payload(
        report_of(MatchRow("e", "k", start, start + 7, start + 9), MatchRow("e", "k", start + 3, start + 3))
    )
    assert payload["origin"] == "4611686018427387905"
    assert [row[2:5] for row in payload["matches"]] == [[0, 7, 9], [3, 3, None]]


def test_matches_point_to_names():
    payload = page_payload(report_of(MatchRow("e", "k1", 0, 0), MatchRow("f", "k2", 0, 0), MatchRow("e", "k2", 0, 0)))
    named = [(payload["events"][row[0]], payload["keys"][row[1]]) for row in payload["matches"]]
    assert named == [("e", "k1"), ("f", "k2"), ("e", "k2")]


def test_an_event_shared_by_two_matches_is_stored_once():
    shared = MemberRow("a1", "A", 0, 0, {"v": 1})
    other = MemberRow("a2", "A", 0, 0, {"v": True})
    payload = page_payload(
        report_of(MatchRow("e", "k", 0, 1, members=(shared,)), MatchRow("e", "k", 0, 2, members=(shared, other)))
    )
    assert len(payload["members"]) == 2
    assert [row[10] for row in payload["matches"]] == [[0], [0, 1]]
    assert payload["shapes"][payload["members"][0][5]] == ["v"]
    assert payload["members"][1][6] is True


def test_imprecise_times_and_their_weights_travel_along():
    members = (
        MemberRow("a1", "A", 3, 3),
        MemberRow("a2", "A", 0, 4, imprecise=True),
        MemberRow("a3", "A", 0, 2, imprecise=True, weights=(0.1, 0.4, 0.5)),
    )
    payload = page_payload(report_of(MatchRow("e", "k", 0, 4, members=members)))
    assert [row[4] for row in payload["members"]] == [0, 1, [0.2, 0.8, 1.0]]


def test_a_key_of_several_relations_is_stored_once():
    north = SegmentsRow("north", ((EndRow(10, 10), EndRow(10, 40, True, (0.0, 0.5, 1.0))),), ("mill",))
    south, empty = SegmentsRow("south", ((EndRow(5, 5), EndRow(7, 7)),)), SegmentsRow("west", ())
    payload = page_payload(
        report_of(
            MatchRow("e", "k", 5, 40, related=(north, south)),
            MatchRow("e", "k", 5, 40),
            MatchRow("e", "k", 5, 40, related=(south, empty)),
        )
    )
    assert payload["lines"] == [
        ["north", [[5, 5, 0], [5, 35, 1, (0.0, 0.5, 1.0)]], ["mill"]],
        ["south", [[0, 0, 0], [2, 2, 0]], []],
        ["west", [], []],
    ]
    assert payload["related"] == {0: [0, 1], 2: [1, 2]}


def test_lineage_is_left_out_when_the_members_say_it():
    member = MemberRow("a1", "A", 0, 0)
    said, different = page_payload(
        report_of(
            MatchRow("e", "k", 0, 0, lineage=("a1",), members=(member,)),
            MatchRow("e", "k", 0, 0, lineage=("a1", "b2"), members=(member,)),
        )
    )["matches"]
    assert said[9] is None
    assert different[9] == ["a1", "b2"]


def test_returned_values_keep_order_and_null():
    row = page_payload(report_of(MatchRow("e", "k", 0, 0, values={"z": None, "a": 0.5})))
    assert row["shapes"][row["matches"][0][11]] == ["z", "a"]
    assert row["matches"][0][12:] == [None, 0.5]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (False, False),
        (2**53 - 1, 9007199254740991),
        (2**53, "9007199254740992"),
        (-(2**63), "-9223372036854775808"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        ([1, 2], "[1, 2]"),
    ],
)
def test_scalars(value, expected):
    encoded = json_scalar(value)
    assert encoded == expected
    assert type(encoded) is type(expected)


def test_long_text_is_cut_and_says_so():
    encoded = json_scalar("x" * 1_000_000)
    assert encoded == "x" * LONGEST_TEXT + "… (1,000,000 characters)"


def test_payload_cannot_close_its_script_tag():
    hostile = "</script><!--<script>&\u2028"
    text = payload_json(report_of(MatchRow(hostile, hostile, 0, 0, values={hostile: hostile})))
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text)["events"] == [hostile]
