"""Worlds of a stream with imprecise times: every event happened at one tick of its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from inkling.model.uncertainty import ImpreciseTime
from inkling.model.weights import Row, Rows, Weighted, exact, normalized


def imprecise_worlds(rows: Rows, doubt: ImpreciseTime) -> Iterator[Weighted[Rows]]:
    """One tick per row, independently; both bounds of the row become that tick."""
    for choice in product(*(_placements(row, doubt) for row in rows)):
        yield prod((prob for prob, _ in choice), start=Fraction(1)), [row for _, row in choice]


def _placements(row: Row, doubt: ImpreciseTime) -> list[Weighted[Row]]:
    lo, hi = int(exact(row[doubt.lo])), int(exact(row[doubt.hi]))
    if hi < lo:
        raise ValueError(f"an interval ends before it starts: [{lo}, {hi}]")
    ticks = range(lo, hi + 1)
    written = row.get(doubt.weights) if doubt.weights is not None else None
    weights = [1] * len(ticks) if written is None else written
    if not isinstance(weights, Sequence) or len(weights) != len(ticks):
        raise ValueError(f"[{lo}, {hi}] has {len(ticks)} ticks and other than that many weights")
    return [
        (prob, {**row, doubt.lo: tick, doubt.hi: tick})
        for tick, prob in zip(ticks, normalized(weights), strict=True)
        if prob > 0
    ]
