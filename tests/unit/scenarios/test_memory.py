"""Memory is bounded by the chunk, not by the length of the data."""

import tracemalloc

import pyarrow as pa
import pytest

from inkling.scenarios import SCENARIOS, generate

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 20


def peak_bytes(name: str, events: int) -> int:
    """The most that NumPy and Arrow hold at once while a scenario is drawn."""
    arrow_before = pa.total_allocated_bytes()
    arrow_peak = 0
    tracemalloc.start()
    try:
        for _chunk in generate(name, events=events, keys=400, seed=1):
            arrow_peak = max(arrow_peak, pa.total_allocated_bytes() - arrow_before)
        return tracemalloc.get_traced_memory()[1] + arrow_peak
    finally:
        tracemalloc.stop()


FILLS_NO_BLOCK = {"tsunami"}
"""A block is a day of all buoys, which is more than half a million rows here: they say nothing about a full one."""


SLOW = ("flower", "mixed")


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in SCENARIOS]
)
def test_two_million_events_fit_where_half_a_million_fit(name: str) -> None:
    short, long = peak_bytes(name, 500_000), peak_bytes(name, 2_000_000)
    assert long < 1.25 * short + MEGABYTE or name in FILLS_NO_BLOCK
    assert long < 120 * MEGABYTE
