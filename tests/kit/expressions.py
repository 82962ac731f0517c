"""Random typed expressions over one row, and rows with awkward values, to try back ends on.

Everything comes from a seeded generator, so a failure can be repeated.

>>> from random import Random
>>> rows = random_rows(Random(1), 3)
>>> sorted(rows[0])[:3]
['b1', 'b2', 'd1']
>>> random_expression(Random(1), Type.BOOLEAN, depth=2).type
<Type.BOOLEAN: 'BOOLEAN'>
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from random import Random

from inkling.logical import expr as e
from inkling.logical.binding.choices import either, first_present
from inkling.logical.evaluate import Bindings, ExpressionContext, value_of
from inkling.logical.functions import FUNCTIONS
from inkling.model.event import Event, Value
from inkling.model.time import Duration, Instant
from inkling.model.types import Type


class Undefined(Enum):
    UNDEFINED = "undefined"


UNDEFINED = Undefined.UNDEFINED

COLUMNS = {
    "b1": Type.BOOLEAN,
    "b2": Type.BOOLEAN,
    "i1": Type.INTEGER,
    "i2": Type.INTEGER,
    "i3": Type.INTEGER,
    "d1": Type.DOUBLE,
    "d2": Type.DOUBLE,
    "d3": Type.DOUBLE,
    "s1": Type.STRING,
    "s2": Type.STRING,
    "r1": Type.TERM,
    "r2": Type.TERM,
    "t1": Type.TIME,
    "u1": Type.DURATION,
}
"""What a random row has; `d3` holds angles in degrees."""

TABLE = "known"
TABLE_COLUMNS = {"name": Type.STRING, "number": Type.INTEGER, "size": Type.DOUBLE}

OF_PLACES = frozenset({"great_circle", "contains", "distance_to", "passing_distance"})
"""Functions whose arguments mean something only together."""

APPROXIMATE = frozenset({"exp", "ln", "sin", "cos", "asin", "acos", "pow", "haversine"})
"""Functions whose last digits depend on the mathematical library."""

TEXTS = ("", "a", "A", "ab", "Ab ", "b", "null", "straße", "İ", "ΟΔΟΣ", "é", "e\u0301", "\U0001f980", "事", "\uffee")
SMALL = (-3, -2, -1, 0, 1, 2, 3, 7, 10, 360)
LARGE = (2**31, -(2**31) - 1, 2**53, -(2**53), 10**15)
HUGE = (2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63))
TERMS = (
    "<http://ex.org/a>",
    "<http://ex.org/b>",
    "_:b",
    '"a"',
    '"b\\"\\n"',
    '""',
    '"a"@en',
    '"a"@de-at',
    *(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#integer>' for text in ("1", "-2", "9007199254740993", "a")),
    *(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#decimal>' for text in ("1", "0.1", "-2.5")),
    *(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#double>' for text in ("1.0E0", "1.0E-1", "INF", "-INF", "NaN")),
    *(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for text in ("true", "false", "x")),
    *(
        f'"{text}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        for text in ("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2021-02-03T04:05:06.789", "soon")
    ),
    *(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#duration>' for text in ("P1D", "PT24H", "P1M", "P1H", "-PT0.5S")),
    '"a"^^<http://ex.org/unknown>',
)
DOUBLES = (0.0, 0.1, 0.5, -0.5, 1.0, 2.5, -2.5, 3.0, 1e-9, 1e15, 1e16, -1e22, 1e300, -1e308, 5e-324, 720.25)


def random_rows(rng: Random, n_rows: int, *, huge: bool = True) -> list[dict[str, Value]]:
    """Rows of `COLUMNS`, one value in six null; `huge` adds integers that doubles cannot distinguish."""
    return [
        {name: None if rng.random() < 1 / 6 else _random_value(rng, name, kind, huge) for name, kind in COLUMNS.items()}
        for _ in range(n_rows)
    ]


def random_facts(rng: Random, n_facts: int) -> tuple[dict[str, Value], ...]:
    """Rows of `TABLE_COLUMNS` that rows of `COLUMNS` sometimes agree with."""
    return tuple(
        {
            name: None if rng.random() < 1 / 6 else _random_value(rng, name, kind, huge=False)
            for name, kind in TABLE_COLUMNS.items()
        }
        for _ in range(n_facts)
    )


def random_expression(rng: Random, kind: Type, depth: int, *, exact: bool = False, tables: bool = False) -> e.Expr:
    """An expression of a type; `exact` leaves out `APPROXIMATE`, `tables` adds tests against `TABLE`."""
    return _Writer(rng, exact, tables).of(kind, depth)


def written_units(span: Duration) -> int:
    """Length of a written duration on timestamps."""
    return int(span.amount * 1_000_000)


def _random_value(rng: Random, name: str, kind: Type, huge: bool) -> Value:
    match kind:
        case Type.BOOLEAN:
            return rng.random() < 0.5
        case Type.INTEGER:
            return rng.choice(SMALL + SMALL + LARGE + (HUGE if huge else ()))
        case Type.DOUBLE if name == "d3":
            return rng.uniform(-90.0, 90.0)
        case Type.DOUBLE:
            return rng.choice((*DOUBLES, rng.uniform(-10.0, 10.0), float(rng.choice(SMALL))))
        case Type.STRING:
            return rng.choice(TEXTS)
        case Type.TERM:
            return rng.choice(TERMS)
        case Type.TIME:
            return rng.choice((0, -1, 1_700_000_000_000_000, rng.randrange(10**15)))
        case Type.DURATION:
            return rng.choice((0, 1, 1_000_000, 90_000_000, rng.randrange(10**12)))
        case Type.NULL | Type.WEIGHTS:
            return None


class _Writer:
    def __init__(self, rng: Random, exact: bool, tables: bool) -> None:
        self.rng = rng
        self.tables = tables
        self.functions = [
            function
            for function in FUNCTIONS.values()
            if function.name not in OF_PLACES and (not exact or function.name not in APPROXIMATE)
        ]

    def of(self, kind: Type, depth: int) -> e.Expr:
        if depth <= 0 or self.rng.random() < 0.1:
            return self._leaf(kind)
        if self.rng.random() < 0.1:
            return self._chosen(kind, depth - 1)
        return self._condition(depth) if kind is Type.BOOLEAN else self._value(kind, depth)

    def _chosen(self, kind: Type, depth: int) -> e.Expr:
        values = [self.of(kind, depth) for _ in range(self.rng.randrange(2, 4))]
        if self.rng.random() < 0.5:
            return first_present(values, kind)
        return either(self.of(Type.BOOLEAN, depth), values[0], values[1], kind)

    def _leaf(self, kind: Type) -> e.Expr:
        if self.rng.random() < 0.25 and kind is not Type.TIME:
            return self._literal(kind)
        names = [name for name, one in COLUMNS.items() if one is kind]
        return e.ColumnOf(e.ROW, self.rng.choice(names), kind)

    def _literal(self, kind: Type) -> e.Expr:
        if self.rng.random() < 0.1:
            return e.Literal(None, Type.NULL)
        if kind is Type.DURATION:
            return e.SpanLiteral(Duration(Fraction(self.rng.choice((0, 1, 30, 3600))), "SECONDS"))
        return e.Literal(_random_value(self.rng, "d1", kind, huge=False), kind)

    def _value(self, kind: Type, depth: int) -> e.Expr:
        callable_here = [function for function in self.functions if function.result is kind]
        if callable_here and (kind.is_text or self.rng.random() < 0.35):
            function = self.rng.choice(callable_here)
            extra = self.rng.randrange(3) if function.variadic else 0
            wanted = function.parameters + function.parameters[-1:] * extra
            wanted = wanted[: len(wanted) - self.rng.randrange(function.n_optional + 1)]
            # a power of integers may have more digits than memory
            whole = function.name != "pow"
            args = tuple(self._argument(one, depth - 1, whole) for one in wanted)
            return e.FunctionCall(function.name, args, kind)
        if kind.is_text:
            return self._leaf(kind)
        if self.rng.random() < 0.15 and kind is not Type.TIME:
            item = self.of(kind, depth - 1)
            return e.Negate(item, item.type)
        return self._arithmetic(kind, depth - 1)

    def _argument(self, kind: Type, depth: int, whole: bool) -> e.Expr:
        as_whole = whole and kind is Type.DOUBLE and self.rng.random() < 0.2
        return self.of(Type.INTEGER if as_whole else kind, depth)

    def _arithmetic(self, kind: Type, depth: int) -> e.Expr:
        whole, double, time, duration = Type.INTEGER, Type.DOUBLE, Type.TIME, Type.DURATION
        choices: Mapping[Type, tuple[tuple[str, Type, Type], ...]] = {
            whole: tuple((symbol, whole, whole) for symbol in "+-*%"),
            double: (
                *((symbol, double, double) for symbol in "+-*/%"),
                *((symbol, double, whole) for symbol in "+-*/%"),
                ("/", whole, whole),
                ("%", whole, double),
                ("/", duration, duration),
            ),
            time: (("+", time, duration), ("-", time, duration)),
            duration: (
                ("-", time, time),
                ("+", duration, duration),
                ("*", duration, whole),
                ("*", double, duration),
                ("/", duration, whole),
            ),
        }
        symbol, left, right = self.rng.choice(choices[kind])
        return e.Arithmetic(symbol, self.of(left, depth), self.of(right, depth), kind)

    def _condition(self, depth: int) -> e.Expr:
        smaller = depth - 1
        match self.rng.randrange(10 if self.tables else 9):
            case 0 | 1 | 2:
                return self._compare(smaller)
            case 3:
                return self._in_list(smaller)
            case 4:
                return e.IsNull(self.of(self._any_type(), smaller), self.rng.random() < 0.5)
            case 5:
                return e.Not(self.of(Type.BOOLEAN, smaller))
            case 6:
                return e.AllOf(tuple(self.of(Type.BOOLEAN, smaller) for _ in range(self.rng.randrange(4))))
            case 7:
                return e.AnyOf(tuple(self.of(Type.BOOLEAN, smaller) for _ in range(self.rng.randrange(4))))
            case 8:
                return self._leaf(Type.BOOLEAN)
            case _:
                args = (
                    None if self.rng.random() < 0.3 else self.of(kind, min(smaller, 1))
                    for kind in TABLE_COLUMNS.values()
                )
                return e.InTable(TABLE, tuple(args))

    def _compare(self, depth: int) -> e.Expr:
        kind = self._any_type()
        other = kind
        if kind in (Type.INTEGER, Type.DOUBLE) and self.rng.random() < 0.3:
            other = self.rng.choice((Type.INTEGER, Type.DOUBLE))
        symbols = ("=", "<>") if kind is Type.BOOLEAN else ("=", "<>", "<", "<=", ">", ">=")
        return e.Compare(self.rng.choice(symbols), self.of(kind, depth), self.of(other, depth))

    def _in_list(self, depth: int) -> e.Expr:
        kind = self.rng.choice((Type.INTEGER, Type.DOUBLE, Type.STRING, Type.TERM))
        n_choices = self.rng.choice((1, 2, 3, 14))
        mixed = (kind,) if kind.is_text else (Type.INTEGER, Type.DOUBLE)
        choices = tuple(
            e.Literal(_random_value(self.rng, "d1", one, huge=False), one)
            for one in (self.rng.choice((kind, *mixed)) for _ in range(n_choices))
        )
        return e.InList(self.of(kind, depth), choices)

    def _any_type(self) -> Type:
        kinds = (Type.BOOLEAN, Type.INTEGER, Type.DOUBLE, Type.STRING, Type.TERM, Type.TIME, Type.DURATION)
        return self.rng.choice(kinds)


def same_value(left: Value, right: Value, *, ulps: int = 0) -> bool:
    """Whether two values are equal; doubles up to some units in the last place. No zero is negative."""
    if left is None or right is None or isinstance(left, bool | str) or isinstance(right, bool | str):
        return left is right or (type(left) is type(right) and left == right)
    if any(value == 0 and math.copysign(1, value) < 0 for value in (left, right)):
        return False
    if left == right or not ulps:
        return left == right
    return abs(left - right) <= ulps * math.ulp(max(abs(left), abs(right)))


def defined_value(expr: e.Expr, row: Mapping[str, Value], context: ExpressionContext) -> Value | Undefined:
    """The value by definition, or `UNDEFINED` where Python's numbers have no 64-bit counterpart.

    That is so when an integer does not fit into 64 bits, when one that doubles cannot hold meets a double,
    and when a function is asked for what no double expresses.
    """
    event = Event("Row", (row["i1"],), Instant(0), Instant(0), row)
    at = Bindings().with_event(e.ROW, event)
    meets_double = any(
        part.type is Type.DOUBLE or (isinstance(part, e.Arithmetic) and part.operator == "/") for part in e.walk(expr)
    )
    bound = 2**53 if meets_double else 2**63 - 1
    try:
        for part in e.walk(expr):
            value = value_of(part, at, context)
            if isinstance(value, int) and not -bound <= value <= bound:
                return UNDEFINED
            if isinstance(value, float) and not math.isfinite(value):
                return UNDEFINED
        return value_of(expr, at, context)
    except (ValueError, OverflowError):
        return UNDEFINED
