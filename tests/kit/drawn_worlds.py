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
from inkling.model.uncertainty import LostEvents
from inkling.model.weights import exact

Rows = Mapping[str, Sequence[RawRow]]


def drawn_worlds(plan: p.ProgramPlan, rows: Rows, rng: random.Random, n: int) -> Iterator[tuple[Fraction, Rows]]:
    """So many worlds, each of which counts for one."""
    listed = {
        stream.schema.name: list(worlds(rows[stream.schema.name], stream.schema))
        for stream in plan.streams
        if not isinstance(stream.schema.doubt, LostEvents)
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
    doubt = schema.doubt
    assert isinstance(doubt, LostEvents)
    by_key: dict[tuple[object, ...], list[RawRow]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[name] for name in schema.key), []).append(row)
    for some in by_key.values():
        known = {int(exact(row[doubt.number])): float(exact(row[schema.start])) for row in some}
        if doubt.bounds is not None and doubt.count is not None:
            known[0], last = (float(exact(some[0][name])) for name in doubt.bounds)
            known[int(exact(some[0][doubt.count])) + 1] = last
        for before, after in pairwise(sorted(known)):
            numbers = range(before + 1, after)
            times = sorted(rng.uniform(known[before], known[after]) for _ in numbers)
            for number, time in zip(numbers, times, strict=True):
                key = {name: some[0][name] for name in schema.key}
                yield {**key, doubt.number: number, **_role(doubt, rows, number), schema.start: Fraction(time)}


def _role(doubt: LostEvents, rows: Sequence[RawRow], number: int) -> RawRow:
    if doubt.role is None:
        return {}
    said = {row[doubt.role] for row in rows if (int(exact(row[doubt.number])) - number) % 2 == 0}
    return {doubt.role: next(iter(said - {None}), None)}
