"""The definition of expressions: their value on the events of one match, in plain Python."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

from inkling.logical import expr as e
from inkling.logical.functions import FUNCTIONS
from inkling.logical.user_aggregates import UserAggregate
from inkling.model.event import Event, Value
from inkling.model.time import Duration, Instant
from inkling.model.types import Type

Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Bindings:
    """The events of slots, rows of look-ups and partition columns of a partial match.

    Inside a repetition, `rounds` has the number of events of a slot that belong to earlier rounds. `quantity` is the k
    of `AT LEAST k FROM 1 TO 12`.
    """

    events: Mapping[int, tuple[Event, ...]] = field(default_factory=dict)
    spans: Mapping[int, tuple[Instant, Instant]] = field(default_factory=dict)
    facts: Mapping[int, Row] = field(default_factory=dict)
    key: Row = field(default_factory=dict)
    rounds: Mapping[int, int] = field(default_factory=dict)
    quantity: int | None = None

    def at_hand(self, slot: int) -> tuple[Event, ...]:
        """The events of a slot; inside a repetition, those of the current round."""
        return self.events.get(slot, ())[self.rounds.get(slot, 0) :]

    def with_event(self, slot: int, event: Event) -> Bindings:
        events = {**self.events, slot: (*self.events.get(slot, ()), event)}
        return Bindings(events, self.spans, self.facts, self.key, self.rounds, self.quantity)

    def with_span(self, slot: int, start: Instant, end: Instant) -> Bindings:
        spans = {**self.spans, slot: (start, end)}
        return Bindings(self.events, spans, self.facts, self.key, self.rounds, self.quantity)

    def with_fact(self, atom: int, row: Row) -> Bindings:
        facts = {**self.facts, atom: row}
        return Bindings(self.events, self.spans, facts, self.key, self.rounds, self.quantity)

    def in_round(self, rounds: Mapping[int, int]) -> Bindings:
        return Bindings(self.events, self.spans, self.facts, self.key, rounds, self.quantity)

    def in_new_round(self, slots: Iterable[int], atoms: Iterable[int]) -> Bindings:
        """A new round begins: events and facts of earlier rounds are not current any more."""
        begun = {slot: len(self.events.get(slot, ())) for slot in slots}
        return replace(
            self,
            spans={slot: span for slot, span in self.spans.items() if slot not in begun},
            facts={atom: row for atom, row in self.facts.items() if atom not in set(atoms)},
            rounds={**self.rounds, **begun},
        )


@dataclass(frozen=True, slots=True)
class ExpressionContext:
    """What an expression needs besides the match: the rows of tables, and the length of a duration in clock units."""

    tables: Mapping[str, Sequence[Row]]
    unit: Callable[[Duration], int]


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def of_one_type(one: Any, other: Any) -> tuple[Any, Any]:
    """Values to compare: an integer that meets a double becomes the nearest double.

    >>> of_one_type(2**53 + 1, 2.0**53)
    (9007199254740992.0, 9007199254740992.0)
    """
    if isinstance(one, float) and isinstance(other, int):
        return one, float(other)
    if isinstance(one, int) and isinstance(other, float):
        return float(one), other
    return one, other


def holds(condition: e.Expr, at: Bindings, context: ExpressionContext) -> bool:
    """Whether a condition is true; null is not."""
    return value_of(condition, at, context) is True


def value_of(expr: e.Expr, at: Bindings, context: ExpressionContext) -> Value:
    """The value of an expression; null (None) propagates through arithmetic and makes comparisons false."""

    def value(item: e.Expr) -> Value:
        return value_of(item, at, context)

    match expr:
        case e.Literal(value=literal):
            return literal
        case e.ColumnOf(slot=slot, column=column):
            filled = at.at_hand(slot)
            return filled[-1].values.get(column) if filled else None
        case e.Compare(operator=symbol, left=left, right=right):
            one, other = value(left), value(right)
            return one is not None and other is not None and COMPARISONS[symbol](*of_one_type(one, other))
        case e.KeyColumn(column=column):
            return at.key.get(column)
        case e.SpanLiteral(span=span):
            return context.unit(span)
        case e.ListColumn(which=which, slot=slot, column=column, own=own):
            filled = at.events.get(slot, ())[: -1 if own else None]
            if not filled:
                return None
            return filled[0 if which is e.Which.FIRST else -1].values.get(column)
        case e.Aggregate(slot=slot, column=str(column), by=UserAggregate() as by, own=own):
            import numpy as np

            return by.of(np.array(_present(at.events.get(slot, ())[: -1 if own else None], column)))
        case e.Aggregate(function=function, slot=slot, column=aggregated, own=own):
            return _aggregate(function, at.events.get(slot, ())[: -1 if own else None], aggregated)
        case e.TimeOf(edge=edge, slot=slot):
            return _edge(edge, slot, at)
        case e.IdOf(slot=slot, of_any=True):
            filled = at.at_hand(slot)
            return cast(Value, filled[-1]) if filled else None
        case e.IdOf(slot=slot):
            filled = at.at_hand(slot)
            return filled[-1].ids[0] if filled else None
        case e.Quantity():
            return at.quantity
        case e.FactColumn(atom=atom, column=column):
            return at.facts[atom].get(column) if atom in at.facts else None
        case e.Negate(item=item):
            number = value(item)
            return None if number is None else 0 - _number(number)
        case e.Arithmetic(operator=symbol, left=left, right=right, type=kind):
            return _arithmetic(symbol, value(left), value(right), kind)
        case e.FunctionCall(name=name, args=args):
            values = [value(arg) for arg in args]
            return None if None in values else _without_negative_zero(FUNCTIONS[name].meaning(*values))
        case e.Chosen(conditions=conditions, values=choices):
            pairs = zip(conditions, choices, strict=True)
            return next((value(choice) for condition, choice in pairs if value(condition) is True), None)
        case e.InList(item=item, choices=choices):
            found = value(item)
            return found is not None and any(found == choice.value for choice in choices)
        case e.IsNull(item=item, negated=negated):
            return (value(item) is None) != negated
        case e.AllOf(items=items):
            return all(value(item) is True for item in items)
        case e.AnyOf(items=items):
            return any(value(item) is True for item in items)
        case e.Not(item=item):
            return value(item) is not True
        case e.InTable(table=table, args=args, condition=condition, number=number):
            wanted = [None if arg is None else value(arg) for arg in args]
            free = [arg is None for arg in args]
            passes = e.TRUE if condition is None else condition
            return any(
                agrees(row, wanted, free) and holds(passes, at.with_fact(number, row), context)
                for row in context.tables[table]
            )
        case e.PreviousColumn() | e.SinceChange():
            raise AssertionError("derived columns are computed with their stream")


def agrees(row: Row, wanted: list[Value], free: list[bool]) -> bool:
    """Whether a table row has the wanted values; null agrees with nothing."""
    return all(
        anything or (want is not None and have is not None and operator.eq(*of_one_type(have, want)))
        for have, want, anything in zip(row.values(), wanted, free, strict=True)
    )


def _edge(edge: e.Edge, slot: int, at: Bindings) -> Value:
    if slot in at.spans:
        start, end = at.spans[slot]
        return start.time if edge is e.Edge.START else end.time
    filled = at.at_hand(slot)
    if not filled:
        return None
    if edge is e.Edge.START:
        return min(event.start for event in filled).time
    return max(event.end for event in filled).time


def _arithmetic(symbol: str, left: Value, right: Value, kind: Type) -> Value:
    if left is None or right is None:
        return None
    one, other = _number(left), _number(right)
    match symbol:
        case "+":
            result = one + other
        case "-":
            result = one - other
        case "*":
            result = one * other
        case "/":
            return None if other == 0 else _finite(one / other)
        case "%":
            return None if other == 0 else _finite(_remainder(one, other))
        case _:
            raise AssertionError(symbol)
    if kind is Type.DOUBLE:
        return _finite(float(result))
    return _within_64_bits(result) if kind is Type.INTEGER else _without_negative_zero(result)


def _remainder(one: float, other: float) -> float:
    """Remainder with the sign of the dividend, as in SQL."""
    if isinstance(one, int) and isinstance(other, int):
        return abs(one) % abs(other) * (1 if one >= 0 else -1)
    return math.fmod(one, other)


def _within_64_bits(result: int | float) -> Value:
    """The result of arithmetic with integers: null beyond 64 bits."""
    if isinstance(result, int) and not -(2**63) <= result < 2**63:
        return None
    return _without_negative_zero(result)


def _without_negative_zero(value: Value) -> Value:
    return value + 0.0 if isinstance(value, float) else value


def _finite(number: float) -> float | None:
    """A finite number, or null; adding zero removes a negative zero."""
    return None if math.isnan(number) or math.isinf(number) else number + 0


def _number(value: Value) -> int | float:
    assert isinstance(value, int | float | Fraction)  # lost events have times between ticks
    return value


def exact_sum(numbers: Sequence[int | float]) -> int | float | None:
    """The exact sum, rounded once so that it does not depend on the order; null if it exceeds every double."""
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    try:
        return float(sum(map(Fraction, numbers)))
    except OverflowError:
        return None


def _present(events: tuple[Event, ...], column: str) -> list[int | float | str]:
    return [value for event in events if (value := event.values.get(column)) is not None]


def _aggregate(function: str, events: tuple[Event, ...], column: str | None) -> Value:
    if column is None:
        return len(events)
    values = _present(events, column)
    if function == "COUNT":
        return len(values)
    if not values:
        return None
    if function == "MIN":
        return min(values)
    if function == "MAX":
        return max(values)
    numbers = [_number(value) for value in values]
    match function:
        case "SUM":
            total = exact_sum(numbers)
            return None if total is None else _within_64_bits(total)
        case "AVG":
            total = exact_sum(numbers)
            return None if total is None else total / len(numbers)
        case "STDDEV":
            return statistics.pstdev(numbers)
        case "MEDIAN":
            return float(statistics.median(numbers))
    raise AssertionError(function)
