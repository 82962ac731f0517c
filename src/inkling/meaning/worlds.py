"""An uncertain stream is weighted certain streams: the definition of doubt, in exact fractions.

Each kind of doubt lists its possible worlds as rows of a certain stream with the probability of each. The
probability of anything is the sum over the worlds in which it happens. Nothing here is optimized.

>>> from inkling.model.schema import StreamSchema, certain
>>> when = StreamSchema("A", (), None, (), "lo", "hi", doubt=ImpreciseTime("lo", "hi"))
>>> [(str(prob), rows[0]["lo"]) for prob, rows in worlds([{"lo": 1, "hi": 2}], when)]
[('1/2', 1), ('1/2', 2)]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from types import MappingProxyType
from typing import TypeVar

from inkling.meaning.lost_worlds import LosingStream, known_times, lost_worlds
from inkling.meaning.value_worlds import independent_worlds, markov_worlds
from inkling.model.schema import StreamSchema, certain
from inkling.model.time import Span
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime, LostEvents, ProbableValue
from inkling.model.weights import Row, Rows, Weighted, exact, normalized

Result = TypeVar("Result", bound=Hashable)
RowsByStream = Mapping[str, Rows]


NO_TABLES: Mapping[str, Rows] = MappingProxyType({})


def worlds(rows: Rows, schema: StreamSchema, tables: Mapping[str, Rows] = NO_TABLES) -> Iterator[Weighted[Rows]]:
    """The possible worlds of one stream, each with its positive probability; these sum to 1.

    `tables` are those that declarations of streams name.
    """
    match schema.doubt:
        case None:
            yield Fraction(1), list(rows)
        case ImpreciseTime():
            yield from _imprecise_worlds(rows, schema.doubt, schema)
        case ProbableValue(given=()):
            yield from independent_worlds(rows, schema.doubt, schema)
        case ProbableValue():
            yield from markov_worlds(rows, schema.doubt, schema)
        case LostEvents():
            yield from ((prob, one) for prob, (one,) in lost_worlds([LosingStream(rows, schema, tables)], ()))


def joint_worlds(
    rows: RowsByStream, schemas: Iterable[StreamSchema], tables: Mapping[str, Rows] = NO_TABLES
) -> Iterator[Weighted[dict[str, Rows]]]:
    """The possible worlds of several streams, which are independent of each other.

    Lost events of all streams are placed together, among the times that the other streams have in a world.
    """
    declared = list(schemas)
    losing = [schema for schema in declared if isinstance(schema.doubt, LostEvents)]
    keeping = [schema for schema in declared if schema not in losing]
    streams = [LosingStream(rows[schema.name], schema, tables) for schema in losing]
    for choice in product(*(list(worlds(rows[schema.name], schema)) for schema in keeping)):
        kept = {schema.name: one for schema, (_, one) in zip(keeping, choice, strict=True)}
        times = [time for schema in keeping for time in known_times(kept[schema.name], certain(schema))]
        prob = prod((prob for prob, _ in choice), start=Fraction(1))
        for share, completed in lost_worlds(streams, times):
            found = {schema.name: one for schema, one in zip(losing, completed, strict=True)}
            yield prob * share, {**kept, **found}


def probabilities(
    possible: Iterable[Weighted[Rows]], results: Callable[[Rows], Iterable[Result]]
) -> dict[Result, Fraction]:
    """`P(r)`, the sum over the worlds in which r is a result, for every r that is one somewhere."""
    total: dict[Result, Fraction] = {}
    for prob, rows in possible:
        for result in set(results(rows)):
            total[result] = total.get(result, Fraction(0)) + prob
    return total


def _imprecise_worlds(rows: Rows, doubt: ImpreciseTime, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
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
