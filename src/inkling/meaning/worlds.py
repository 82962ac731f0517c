"""The definition of uncertainty: an uncertain stream is a set of certain streams with probabilities, as fractions.

Possible worlds as in Re et al. (Lahar), section 2.3, Zhang et al. (imprecise timestamps), section 3.3, and Busany et
al. (SimpMatch), section 3.1.

Each kind of uncertainty lists its possible worlds as rows of a certain stream with the probability of each. The
probability of anything is the sum over the worlds in which it happens. Nothing here is optimized.

>>> from inkling.model.schema import StreamSchema, certain
>>> when = StreamSchema("A", (), None, (), "lo", "hi", uncertainty=ImpreciseTime("lo", "hi"))
>>> [(str(prob), rows[0]["lo"]) for prob, rows in worlds([{"lo": 1, "hi": 2}], when)]
[('1/2', 1), ('1/2', 2)]

Worlds of a stream of alternatives: one value per key and time, or none.

Keys are independent of each other. Without `GIVEN`, so are the times of one key. With `GIVEN`, the value
depends on the value at the previous time of that key:

- a row with a previous value is an alternative after that value;
- a row without one is an alternative at the start of a chain, and after "no event"; a time all of whose rows
  are without one starts a new chain.

Within a chain, every value that may have been the previous one, "no event" included, needs rows that say what
follows it; a row of probability 0 is enough to say that nothing does.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from types import MappingProxyType
from typing import TypeVar

from inkling.meaning.lost_worlds import LosingStream, known_times, lost_worlds
from inkling.model.schema import StreamSchema, certain, value_columns
from inkling.model.time import Duration
from inkling.model.uncertainty import (
    TOLERANCE,
    ClockErrors,
    ErrorColumn,
    ImpreciseTime,
    LostEvents,
    ProbableValue,
    Row,
    Rows,
    Weighted,
    exact,
    normalized,
    probability,
    with_nothing,
)

Path = tuple[Row, ...]
State = tuple[object, ...] | None
"""The value at a time; None for "no event"."""


def independent_worlds(rows: Rows, uncertainty: ProbableValue, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    values = value_columns(uncertainty, schema)
    steps = [
        _alternatives(together, uncertainty, (*values, schema.end))
        for by_time in _by_key_and_time(rows, schema).values()
        for together in by_time.values()
    ]
    for choice in product(*steps):
        yield (prod((prob for prob, _ in choice), start=Fraction(1)), [row for _, row in choice if row is not None])


def markov_worlds(rows: Rows, uncertainty: ProbableValue, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    values = value_columns(uncertainty, schema)[: len(uncertainty.given)]
    if len(values) < len(uncertainty.given):
        raise ValueError(f"GIVEN needs one column for each of {', '.join(values)}")
    chains = [list(_paths(by_time, uncertainty, values, schema)) for by_time in _by_key_and_time(rows, schema).values()]
    for choice in product(*chains):
        yield (prod((prob for prob, _ in choice), start=Fraction(1)), [row for _, path in choice for row in path])


def _by_key_and_time(rows: Rows, schema: StreamSchema) -> dict[tuple[object, ...], dict[object, list[Row]]]:
    """Rows per key, and within a key per time, in order of time."""
    in_order = sorted(rows, key=lambda row: row[schema.start])  # type: ignore[arg-type, return-value]
    grouped: dict[tuple[object, ...], dict[object, list[Row]]] = {}
    for row in in_order:
        by_time = grouped.setdefault(tuple(row[name] for name in schema.key), {})
        by_time.setdefault(row[schema.start], []).append(row)
    return grouped


def _alternatives(rows: Rows, uncertainty: ProbableValue, distinct_by: tuple[str, ...]) -> list[Weighted[Row | None]]:
    """The rows as alternatives to each other, no two of which say the same unless both are impossible."""
    weighted = [(probability(row[uncertainty.probability]), row) for row in rows]
    by_value: dict[State, list[Fraction]] = {}
    for prob, row in weighted:
        by_value.setdefault(tuple(row.get(name) for name in distinct_by), []).append(prob)
    if any(len(probs) > 1 and any(probs) for probs in by_value.values()):
        raise ValueError("an alternative is given twice")
    return with_nothing(weighted)


def _paths(
    by_time: dict[object, list[Row]], uncertainty: ProbableValue, values: list[str], schema: StreamSchema
) -> Iterator[Weighted[Path]]:
    """What may happen to one key from first to last, with the probability of the whole path."""
    paths: list[tuple[Fraction, Path, State]] = [(Fraction(1), (), None)]
    for time, rows in by_time.items():
        given: dict[State, list[Row]] = {}
        for row in rows:
            previous = tuple(row.get(name) for name in uncertainty.given)
            given.setdefault(None if set(previous) == {None} else previous, []).append(row)
        starts_anew = given.keys() == {None}
        if not starts_anew:
            _require_followers(paths, given, time)
        after = {
            state: _alternatives(together, uncertainty, (*values, schema.end)) for state, together in given.items()
        }
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
    """Reject a time without a distribution for a value that may have been the previous one."""
    mass: dict[State, Fraction] = {}
    for prob, _, latest in paths:
        mass[latest] = mass.get(latest, Fraction(0)) + prob
    for state, prob in mass.items():
        if prob > TOLERANCE and state not in given:
            before = "no event" if state is None else ", ".join(map(str, state))
            raise ValueError(f"no row at {time} says what follows {before}, which has probability {float(prob):g}")


Result = TypeVar("Result", bound=Hashable)
RowsByStream = Mapping[str, Rows]


NO_TABLES: Mapping[str, Rows] = MappingProxyType({})


def worlds(rows: Rows, schema: StreamSchema, tables: Mapping[str, Rows] = NO_TABLES) -> Iterator[Weighted[Rows]]:
    """The possible worlds of one stream, each with its positive probability; these sum to 1.

    `tables` are those that declarations of streams name.
    """
    match schema.uncertainty:
        case None:
            yield Fraction(1), list(rows)
        case ImpreciseTime():
            yield from _imprecise_worlds(rows, schema.uncertainty, schema)
        case ProbableValue(given=()):
            yield from independent_worlds(rows, schema.uncertainty, schema)
        case ProbableValue():
            yield from markov_worlds(rows, schema.uncertainty, schema)
        case LostEvents():
            yield from ((prob, one) for prob, (one,) in lost_worlds([LosingStream(rows, schema, tables)], ()))


def joint_worlds(
    rows: RowsByStream,
    schemas: Iterable[StreamSchema],
    tables: Mapping[str, Rows] = NO_TABLES,
    begun: int | None = None,
) -> Iterator[Weighted[dict[str, Rows]]]:
    """The possible worlds of several streams, which are independent of each other.

    Lost events of all streams are placed together, among the times that the other streams have in a world. With
    `begun`, the rows are those that count for an event that was added to a running program at this time.
    """
    declared = list(schemas)
    losing = [schema for schema in declared if isinstance(schema.uncertainty, LostEvents)]
    keeping = [schema for schema in declared if schema not in losing]
    streams = [LosingStream(rows[schema.name], schema, tables, begun) for schema in losing]
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


def _imprecise_worlds(rows: Rows, uncertainty: ImpreciseTime, schema: StreamSchema) -> Iterator[Weighted[Rows]]:
    """One tick per row, independently; both bounds of the row become that tick."""
    for choice in product(*(_placements(row, uncertainty, schema) for row in rows)):
        yield prod((prob for prob, _ in choice), start=Fraction(1)), [row for _, row in choice]


def _placements(row: Row, uncertainty: ImpreciseTime, schema: StreamSchema) -> list[Weighted[Row]]:
    error = _error(row, uncertainty, schema)
    if error < 0:
        raise ValueError(f"an error is not negative, got {error}")
    lo, hi = int(exact(row[uncertainty.lo])) - error, int(exact(row[uncertainty.hi])) + error
    lo, hi = lo - lo % uncertainty.step, hi - hi % uncertainty.step
    if hi < lo:
        raise ValueError(f"an interval ends before it starts: [{lo}, {hi}]")
    if uncertainty.widest is not None and hi - lo > schema.units(uncertainty.widest):
        raise ValueError(f"[{lo}, {hi}] is wider than {uncertainty.widest}")
    ticks = range(lo, hi + 1, uncertainty.step)
    written = row.get(uncertainty.weights) if uncertainty.weights is not None else None
    weights = [1] * len(ticks) if written is None else written
    if not isinstance(weights, Sequence) or len(weights) != len(ticks):
        raise ValueError(f"[{lo}, {hi}] has {len(ticks)} ticks and other than that many weights")
    return [
        (prob, {**row, uncertainty.lo: tick, uncertainty.hi: tick})
        for tick, prob in zip(ticks, normalized(weights), strict=True)
        if prob > 0
    ]


def _error(row: Row, uncertainty: ImpreciseTime, schema: StreamSchema) -> int:
    """How far from its reading the event may lie, in units of the clock."""
    match uncertainty.error:
        case None:
            return 0
        case Duration() as error:
            return schema.units(error)
        case ErrorColumn(name=name):
            return int(exact(row[name])) * uncertainty.step
        case ClockErrors(column=column, usual=usual, others=others):
            return schema.units(dict(others).get(str(row[column]), usual))
