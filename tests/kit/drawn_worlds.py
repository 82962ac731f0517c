"""Worlds drawn at random, the plain way: for questions about lengths of time, whose worlds cannot be counted."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from inkling.logical import plan as p
from inkling.meaning.streams import RawRow
from inkling.meaning.worlds import worlds
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents, exact

Rows = Mapping[str, Sequence[RawRow]]


def drawn_worlds(plan: p.ProgramPlan, rows: Rows, rng: random.Random, n: int) -> Iterator[tuple[Fraction, Rows]]:
    """So many worlds, each of which counts for one."""
    listed = {
        stream.schema.name: list(worlds(rows[stream.schema.name], stream.schema))
        for stream in plan.streams
        if not isinstance(stream.schema.uncertainty, LostEvents)
    }
    for _ in range(n):
        world: dict[str, Sequence[RawRow]] = {}
        for stream in plan.streams:
            name = stream.schema.name
            if name in listed:
                chances = [float(prob) for prob, _ in listed[name]]
                world[name] = rng.choices([some for _, some in listed[name]], chances)[0]
            else:
                world[name] = [*rows[name], *_lost_rows(stream.schema, rows[name], rng)]
        yield Fraction(1), world


def _lost_rows(schema: StreamSchema, rows: Sequence[RawRow], rng: random.Random) -> Iterator[RawRow]:
    """What was lost, at times drawn evenly between those of its neighbors and put into order."""
    uncertainty = schema.uncertainty
    assert isinstance(uncertainty, LostEvents)
    by_key: dict[tuple[object, ...], list[RawRow]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[name] for name in schema.key), []).append(row)
    for some in by_key.values():
        known = {int(exact(row[uncertainty.number])): float(exact(row[schema.start])) for row in some}
        if uncertainty.bounds is not None and uncertainty.count is not None:
            known[0], last = (float(exact(some[0][name])) for name in uncertainty.bounds)
            known[int(exact(some[0][uncertainty.count])) + 1] = last
        for before, after in pairwise(sorted(known)):
            numbers = range(before + 1, after)
            times = sorted(rng.uniform(known[before], known[after]) for _ in numbers)
            for number, time in zip(numbers, times, strict=True):
                key = {name: some[0][name] for name in schema.key}
                yield {
                    **key,
                    uncertainty.number: number,
                    **_role(uncertainty, rows, number),
                    schema.start: Fraction(time),
                }


def _role(uncertainty: LostEvents, rows: Sequence[RawRow], number: int) -> RawRow:
    if uncertainty.role is None:
        return {}
    said = {row[uncertainty.role] for row in rows if (int(exact(row[uncertainty.number])) - number) % 2 == 0}
    return {uncertainty.role: next(iter(said - {None}), None)}
