"""One key as the list of its points in order, some of them lost: exact, for one pair of keys at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Flat:
    """Points that open and close segments in turn; None is a lost one.

    What was lost before the first or after the last recorded point lies behind `lo` and before `hi`, or comes at a
    `rate` of events per unit of time. Gaps between events are Erlang with the `shape`: 1 is a Poisson process.
    """

    times: tuple[Fraction | None, ...]
    lo: Fraction | None = None
    hi: Fraction | None = None
    labels: tuple[object, ...] = ()  # of its segments; without them, none has a label
    rate: float | None = None
    shape: int = 1

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != self.n_segments:
            raise ValueError(f"{len(self.labels)} labels of {self.n_segments} segments")

    @property
    def n_segments(self) -> int:
        return len(self.times) // 2

    @property
    def label_of_each(self) -> tuple[object, ...]:
        return self.labels or (None,) * self.n_segments

    @property
    def recorded(self) -> list[Fraction]:
        return [time for time in self.times if time is not None]

    @property
    def loses_its_head(self) -> bool:
        return bool(self.times) and self.times[0] is None

    @property
    def loses_its_tail(self) -> bool:
        return bool(self.times) and self.times[-1] is None


Segments = Sequence[tuple[Fraction | None, Fraction | None]]


def of_segments(segments: Segments) -> Flat:
    return Flat(tuple(end for segment in segments for end in segment))


def segments_of(flat: Flat) -> Segments:
    return list(zip(flat.times[::2], flat.times[1::2], strict=True))


def require_segments(*flats: Flat) -> None:
    """Raises `ValueError` with the fault of the first list that has one."""
    for flat in flats:
        if (fault := fault_of(flat)) is not None:
            raise ValueError(fault)


def fault_of(flat: Flat) -> str | None:
    """Why the list is not that of segments one after the other, or None."""
    if len(flat.times) % 2:
        return "odd_count"
    lacks_bound = (flat.loses_its_head and flat.lo is None) or (flat.loses_its_tail and flat.hi is None)
    if lacks_bound and (flat.rate is None or not flat.recorded):
        return "missing_bound"
    return _fault_of_times(flat)


def _fault_of_times(flat: Flat) -> str | None:
    bordered = [
        *([(-1, flat.lo)] if flat.loses_its_head and flat.lo is not None else []),
        *((place, time) for place, time in enumerate(flat.times) if time is not None),
        *([(len(flat.times), flat.hi)] if flat.loses_its_tail and flat.hi is not None else []),
    ]
    for (place, time), (next_place, next_time) in pairwise(bordered):
        if time < next_time:
            continue
        if next_place - place > 1:
            return "zero_window_with_losses" if time == next_time else "not_increasing"
        return "zero_length_segment" if time == next_time and place % 2 == 0 else "not_increasing"
    return None
