"""How rows arrive: in some order that a stream's lateness permits, cut into pieces anywhere."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import pyarrow as pa

from inkling.logical.plan import ProgramPlan


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


def arrivals(
    rng: random.Random, plan: ProgramPlan, given: Mapping[str, pa.Table], n_pieces: int, *, lateness: int
) -> dict[str, list[pa.Table]]:
    """The rows of every stream in a permitted order, in about `n_pieces` pieces; pieces may be empty."""
    found = {}
    for stream in plan.streams:
        rows = given[stream.schema.name]
        order = permitted_order(rng, rows[stream.schema.end].to_pylist(), lateness) if len(rows) else []
        cuts = sorted(rng.randint(0, len(order)) for _ in range(n_pieces - 1))
        pieces = [order[first:last] for first, last in zip([0, *cuts], [*cuts, len(order)], strict=True)]
        found[stream.schema.name] = [rows.take(pa.array(piece, pa.int64())) for piece in pieces]
    return found
