"""Worlds of a stream of alternatives: one value per key and time, or none.

Keys are independent of each other. Without `GIVEN`, so are the times of one key. With `GIVEN`, the value
depends on the value at the previous time of that key:

- a row with a previous value is an alternative after that value;
- a row without one is an alternative at the start of a chain, and after "no event"; a time all of whose rows
  are without one starts a new chain.

Within a chain, every value that may have been the previous one, "no event" included, needs rows that say what
follows it; a row of probability 0 is enough to say that nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from inkling.model.schema import StreamSchema, value_columns
from inkling.model.uncertainty import ProbableValue
from inkling.model.weights import TOLERANCE, Row, Rows, Weighted, probability, with_nothing

Path = tuple[Row, ...]
State = tuple[object, ...] | None
"""What was the case at a time, None for "no event"."""


def independent_worlds(rows: Rows, doubt: ProbableValue, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    values = value_columns(doubt, schema)
    steps = [
        _alternatives(together, doubt, (*values, schema.end))
        for by_time in _by_key_and_time(rows, schema).values()
        for together in by_time.values()
    ]
    for choice in product(*steps):
        yield (
            prod((prob for prob, _ in choice), start=Fraction(1)),
            [row for _, row in choice if row is not None],
        )


def markov_worlds(rows: Rows, doubt: ProbableValue, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    values = value_columns(doubt, schema)[: len(doubt.given)]
    if len(values) < len(doubt.given):
        raise ValueError(f"GIVEN needs one column for each of {', '.join(values)}")
    chains = [list(_paths(by_time, doubt, values, schema)) for by_time in _by_key_and_time(rows, schema).values()]
    for choice in product(*chains):
        yield (
            prod((prob for prob, _ in choice), start=Fraction(1)),
            [row for _, path in choice for row in path],
        )


def _by_key_and_time(rows: Rows, schema: StreamSchema) -> dict[tuple[object, ...], dict[object, list[Row]]]:
    """Rows per key, and within a key per time, in order of time."""
    in_order = sorted(rows, key=lambda row: row[schema.start])  # type: ignore[arg-type, return-value]
    grouped: dict[tuple[object, ...], dict[object, list[Row]]] = {}
    for row in in_order:
        by_time = grouped.setdefault(tuple(row[name] for name in schema.key), {})
        by_time.setdefault(row[schema.start], []).append(row)
    return grouped


def _alternatives(rows: Rows, doubt: ProbableValue, distinct_by: tuple[str, ...]) -> list[Weighted[Row | None]]:
    """The rows as alternatives to each other, no two of which say the same unless both are impossible."""
    weighted = [(probability(row[doubt.probability]), row) for row in rows]
    by_value: dict[State, list[Fraction]] = {}
    for prob, row in weighted:
        by_value.setdefault(tuple(row.get(name) for name in distinct_by), []).append(prob)
    if any(len(probs) > 1 and any(probs) for probs in by_value.values()):
        raise ValueError("an alternative is given twice")
    return with_nothing(weighted)


def _paths(
    by_time: dict[object, list[Row]], doubt: ProbableValue, values: list[str], schema: StreamSchema
) -> Iterator[Weighted[Path]]:
    """What may happen to one key from first to last, with the probability of the whole path."""
    paths: list[tuple[Fraction, Path, State]] = [(Fraction(1), (), None)]
    for time, rows in by_time.items():
        given: dict[State, list[Row]] = {}
        for row in rows:
            previous = tuple(row.get(name) for name in doubt.given)
            given.setdefault(None if set(previous) == {None} else previous, []).append(row)
        starts_anew = given.keys() == {None}
        if not starts_anew:
            _require_followers(paths, given, time)
        after = {state: _alternatives(together, doubt, (*values, schema.end)) for state, together in given.items()}
        longer: list[tuple[Fraction, Path, State]] = []
        for prob, path, latest in paths:
            for step, found in after.get(None if starts_anew else latest, [(Fraction(1), None)]):
                if found is None:
                    longer.append((prob * step, path, None))
                else:
                    longer.append((prob * step, (*path, found), tuple(found[name] for name in values)))
        paths = longer
    yield from ((prob, path) for prob, path, _ in paths)


def _require_followers(paths: list[tuple[Fraction, Path, State]], given: dict[State, list[Row]], time: object) -> None:
    """Refuse a time that does not say what follows a value which may have been the previous one."""
    mass: dict[State, Fraction] = {}
    for prob, _, latest in paths:
        mass[latest] = mass.get(latest, Fraction(0)) + prob
    for state, prob in mass.items():
        if prob > TOLERANCE and state not in given:
            before = "no event" if state is None else ", ".join(map(str, state))
            raise ValueError(f"no row at {time} says what follows {before}, which has probability {float(prob):g}")
