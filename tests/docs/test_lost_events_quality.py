"""The page on the quality of answers with lost events shows what is measured now, for every method."""

from pathlib import Path

import pytest
from tests.kit.lost_quality import DISCRETE, IGNORED, LOSSES, STATIC, WORLDS, judged, swept, synthetic

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "lost-events-quality.md").read_text()
METHODS = (WORLDS, STATIC, IGNORED, *DISCRETE)


def cells(section: str, name: str) -> list[str]:
    """A row of the first table with that name in a section."""
    text = PAGE[PAGE.index(f"## {section}\n") :]
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def rounded(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")


def test_accuracy_and_thresholds_are_what_they_are_now() -> None:
    levels = [judged(synthetic(500, n_segments=10, start="aligned"), loss) for loss in LOSSES]
    for method in (WORLDS, STATIC, IGNORED):
        expected = [rounded(one.right[method]) for one in levels[1:]]
        assert cells("Accuracy over losses", f"10 segments, aligned: {method}") == expected
    assert cells("Thresholds", "10 segments, aligned") == [rounded(number) for number in swept(levels)]


@pytest.mark.parametrize("method", METHODS)
def test_events_per_second_are_told_for_every_method_and_share_of_losses(method: str) -> None:
    rates = cells("Speed", method)
    assert len(rates) == len(LOSSES)
    assert all(float(rate.split()[0]) > 0 and rate.split()[1] in ("k", "M", "G") for rate in rates)


@pytest.mark.parametrize("data", ["sectors (15)", "sectors (20)"])
def test_both_denominators_are_told(data: str) -> None:
    some, all_ = (
        [float(cell) for cell in cells("How often segments meet", f"{data}, of {whom}")]
        for whom in ("pairs of congested sectors", "all pairs")
    )
    n_congested = {"sectors (15)": 465, "sectors (20)": 1_891}[data]
    assert all_ == pytest.approx([percent * n_congested / 19_900 for percent in some], abs=0.06)
