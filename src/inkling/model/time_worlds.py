"""Worlds of a stream with imprecise times: every event happened at one tick of its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from inkling.model.schema import StreamSchema
from inkling.model.time import Span
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime
from inkling.model.weights import Row, Rows, Weighted, exact, normalized


def imprecise_worlds(rows: Rows, doubt: ImpreciseTime, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    """One tick per row, independently; both bounds of the row become that tick."""
    for choice in product(*(_placements(row, doubt, schema) for row in rows)):
        yield prod((prob for prob, _ in choice), start=Fraction(1)), [row for _, row in choice]


def _placements(row: Row, doubt: ImpreciseTime, schema: StreamSchema) -> list[Weighted[Row]]:
    error = _error(row, doubt, schema)
    if error < 0:
        raise ValueError(f"an error is not negative, got {error}")
    lo, hi = int(exact(row[doubt.lo])) - error, int(exact(row[doubt.hi])) + error
    lo, hi = lo - lo % doubt.step, hi - hi % doubt.step
    if hi < lo:
        raise ValueError(f"an interval ends before it starts: [{lo}, {hi}]")
    if doubt.widest is not None and hi - lo > schema.units(doubt.widest):
        raise ValueError(f"[{lo}, {hi}] is wider than {doubt.widest}")
    ticks = range(lo, hi + 1, doubt.step)
    written = row.get(doubt.weights) if doubt.weights is not None else None
    weights = [1] * len(ticks) if written is None else written
    if not isinstance(weights, Sequence) or len(weights) != len(ticks):
        raise ValueError(f"[{lo}, {hi}] has {len(ticks)} ticks and other than that many weights")
    return [
        (prob, {**row, doubt.lo: tick, doubt.hi: tick})
        for tick, prob in zip(ticks, normalized(weights), strict=True)
        if prob > 0
    ]


def _error(row: Row, doubt: ImpreciseTime, schema: StreamSchema) -> int:
    """How far from its reading the event may lie, in units of the clock."""
    match doubt.error:
        case None:
            return 0
        case Span() as error:
            return schema.units(error)
        case ErrorColumn(name=name):
            return int(exact(row[name])) * doubt.step
        case ClockErrors(column=column, usual=usual, others=others):
            return schema.units(dict(others).get(str(row[column]), usual))
