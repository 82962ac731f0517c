"""The tsunami example on a flat sea: its weights add up to one, so that only what leaves the level is an alarm."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inkling import parse

TEXT = (Path(__file__).parents[2] / "examples" / "tsunami" / "tsunami.ink").read_text()
MIDNIGHT = datetime(2010, 3, 23, tzinfo=UTC)
LEVEL = 4000.0


def alarms(heights: list[float]) -> list[tuple[int, float]]:
    """The number of the reading and by how much it is off."""
    rows = [
        {"id": number, "buoy": "46073", "height": height, "t": MIDNIGHT + timedelta(seconds=45 * number)}
        for number, height in enumerate(heights)
    ]
    found = parse(TEXT).run_local({"Level": rows}).tables["alarm"].to_pylist()
    return [(row["lineage"][-1], round(row["deviation"], 6)) for row in found]


def test_o46_weights_add_up_to_one() -> None:
    signs_and_weights = re.findall(r"([-+(]) *(\d\.\d{14})", TEXT)
    assert len(signs_and_weights) == 4
    assert sum(float(weight) * (-1 if sign == "-" else 1) for sign, weight in signs_and_weights) == 1.0


@pytest.mark.parametrize(("rise", "found"), [(31.0, [(330, 31.0)]), (-31.0, [(330, -31.0)]), (30.0, []), (-30.0, [])])
def test_more_than_thirty_millimeters_off_a_flat_sea(rise: float, found: list[tuple[int, float]]) -> None:
    heights = [LEVEL] * 400
    heights[330] += rise
    assert alarms(heights) == found


def test_four_hours_and_five_minutes_must_have_passed() -> None:
    first = 4 * 80 + 7
    for place, found in ((first - 1, []), (first, [(first, 50.0)])):
        heights = [LEVEL] * 400
        heights[place] += 50
        assert alarms(heights) == found
