"""How rows arrive: in some order that a stream's lateness permits, cut into pieces anywhere."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import pyarrow as pa

from inkling.logical.plan import ProgramPlan
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, ProbableValue


def with_lateness(declarations: str, ticks: int) -> str:
    """The same streams, whose rows may come late by so many ticks."""
    if not ticks:
        return declarations
    return re.sub(r"(STREAM [^;]*);", rf"\1 LATENESS {ticks} TICKS;", declarations)


def permitted_order(rng: random.Random, ends: list[int | None], lateness: int) -> list[int]:
    """Places of rows in an order in which none comes more than `lateness` after a later one."""
    places = list(range(len(ends)))
    rng.shuffle(places)
    return sorted(places, key=lambda place: (ends[place] or 0) + rng.randint(0, lateness))


def coming_by(schema: StreamSchema) -> str:
    """The column by which rows of a stream come in order: uncertain ones by the first time at which they may matter."""
    match schema.uncertainty:
        case ImpreciseTime(lo=lo):
            return lo
        case ProbableValue():
            return schema.start
        case _:
            return schema.end


def arrivals(
    rng: random.Random,
    plan: ProgramPlan,
    given: Mapping[str, pa.Table],
    n_pieces: int,
    *,
    lateness: int,
    in_step: bool = False,
) -> dict[str, list[pa.Table]]:
    """The rows of every stream in a permitted order, in about `n_pieces` pieces; pieces may be empty.

    Streams that are `in_step` have come equally far in time with every piece.
    """
    found = {}
    columns = {one.schema.name: given[one.schema.name][coming_by(one.schema)].to_pylist() for one in plan.streams}
    last = max((time for times in columns.values() for time in times if time is not None), default=0)
    reached = sorted(rng.uniform(0, last) for _ in range(n_pieces - 1))
    for stream in plan.streams:
        rows, ends = given[stream.schema.name], columns[stream.schema.name]
        order = permitted_order(rng, ends, lateness) if len(rows) else []
        if in_step:
            cuts = [_first_after(time, [ends[place] or 0 for place in order]) for time in reached]
        else:
            cuts = sorted(rng.randint(0, len(order)) for _ in range(n_pieces - 1))
        pieces = [order[first:last] for first, last in zip([0, *cuts], [*cuts, len(order)], strict=True)]
        found[stream.schema.name] = [rows.take(pa.array(piece, pa.int64())) for piece in pieces]
    return found


def _first_after(time: float, times: list[int]) -> int:
    """The place of the first row later than a time."""
    return next((place for place, one in enumerate(times) if one > time), len(times))
