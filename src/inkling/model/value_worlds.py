"""Worlds of a stream of alternatives: one value per key and time, or none.

Keys are independent of each other. Without `GIVEN`, so are the times of one key. With `GIVEN`, the value
depends on the value at the previous time of that key:

- a row with a previous value is an alternative after that value;
- a row without one is an alternative at the start of a chain, and after "no event"; a time all of whose rows
  are without one starts a new chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ProbableValue
from inkling.model.weights import Row, Rows, Weighted, probability, with_nothing

Path = tuple[Row, ...]


def independent_worlds(rows: Rows, doubt: ProbableValue, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    steps = [
        _alternatives(together, doubt)
        for by_time in _by_key_and_time(rows, schema).values()
        for together in by_time.values()
    ]
    for choice in product(*steps):
        yield (
            prod((prob for prob, _ in choice), start=Fraction(1)),
            [row for _, row in choice if row is not None],
        )


def markov_worlds(rows: Rows, doubt: ProbableValue, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    values = _value_columns(doubt, schema)
    if len(values) != len(doubt.given):
        raise ValueError(f"GIVEN needs one column for each of {', '.join(values)}")
    chains = [list(_paths(by_time, doubt, values)) for by_time in _by_key_and_time(rows, schema).values()]
    for choice in product(*chains):
        yield (
            prod((prob for prob, _ in choice), start=Fraction(1)),
            [row for _, path in choice for row in path],
        )


def _value_columns(doubt: ProbableValue, schema: StreamSchema) -> list[str]:
    """The columns whose values are in doubt, in the order in which GIVEN names their predecessors."""
    roles = {schema.id, schema.start, schema.end, schema.order_by, schema.op, doubt.probability}
    known = {*schema.key, *doubt.given, *roles}
    return [column.name for column in schema.columns if column.name not in known]


def _by_key_and_time(rows: Rows, schema: StreamSchema) -> dict[tuple[object, ...], dict[object, list[Row]]]:
    """Rows per key, and within a key per time, in order of time."""
    in_order = sorted(rows, key=lambda row: row[schema.start])  # type: ignore[arg-type, return-value]
    grouped: dict[tuple[object, ...], dict[object, list[Row]]] = {}
    for row in in_order:
        by_time = grouped.setdefault(tuple(row[name] for name in schema.key), {})
        by_time.setdefault(row[schema.start], []).append(row)
    return grouped


def _alternatives(rows: Rows, doubt: ProbableValue) -> list[Weighted[Row | None]]:
    return with_nothing((probability(row[doubt.probability]), row) for row in rows)


def _paths(by_time: dict[object, list[Row]], doubt: ProbableValue, values: list[str]) -> Iterator[Weighted[Path]]:
    """What may happen to one key from first to last, with the probability of the whole path."""
    nothing: tuple[object, ...] = tuple(None for _ in values)
    paths: list[tuple[Fraction, Path, tuple[object, ...]]] = [(Fraction(1), (), nothing)]
    for rows in by_time.values():
        given = {id(row): tuple(row.get(name) for name in doubt.given) for row in rows}
        starts_anew = all(previous == nothing for previous in given.values())
        longer = []
        for prob, path, latest in paths:
            after = nothing if starts_anew else latest
            for step, row in _alternatives([row for row in rows if given[id(row)] == after], doubt):
                if row is None:
                    longer.append((prob * step, path, nothing))
                else:
                    longer.append((prob * step, (*path, row), tuple(row[name] for name in values)))
        paths = longer
    yield from ((prob, path) for prob, path, _ in paths)
