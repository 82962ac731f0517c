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
    match schema.doubt:
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
    share = sorted(rng.random() for _ in range(n_pieces - 1))
    times = [
        time for stream in plan.streams for time in given[stream.schema.name][coming_by(stream.schema)].to_pylist()
    ]
    last = max((time for time in times if time is not None), default=0)
    for stream in plan.streams:
        rows = given[stream.schema.name]
        ends = rows[coming_by(stream.schema)].to_pylist()
        order = permitted_order(rng, ends, lateness) if len(rows) else []
        if in_step:
            cuts = [
                next((n for n, at in enumerate(order) if (ends[at] or 0) > last * part), len(order)) for part in share
            ]
        else:
            cuts = sorted(rng.randint(0, len(order)) for _ in range(n_pieces - 1))
        pieces = [order[first:last] for first, last in zip([0, *cuts], [*cuts, len(order)], strict=True)]
        found[stream.schema.name] = [rows.take(pa.array(piece, pa.int64())) for piece in pieces]
    return found
