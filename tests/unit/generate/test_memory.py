"""Memory is bounded by the chunk, not by the length of the data."""

import tracemalloc

import pyarrow as pa
import pytest

from inkling.generate import SCENARIOS, generate

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


WHOLE_SERIES = {"tsunami"}
"""What the truth of these rests on is the whole series of one buoy, which stays small at any size people try."""


@pytest.mark.parametrize("name", sorted(set(SCENARIOS) - WHOLE_SERIES))
def test_two_million_events_fit_where_half_a_million_fit(name: str) -> None:
    short, long = peak_bytes(name, 500_000), peak_bytes(name, 2_000_000)
    assert long < 1.25 * short + MEGABYTE
    assert long < 120 * MEGABYTE
