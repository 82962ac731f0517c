"""The predicates of Wayeb as conditions on one event, and the columns that they read.

`GT(speed, 5.0)` becomes `speed > 5.0`; a bare name outside the library is a BOOLEAN column.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.errors import ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.kit.cursor import Number, Text
from inkling.language.sre import terms as t
from inkling.source import SourceText, Span

ColumnType: TypeAlias = OneOf["STRING", "DOUBLE", "BOOLEAN"]
Role: TypeAlias = OneOf["type", "lon", "lat", "speed", "heading"]
Parameter: TypeAlias = OneOf["column", "number", "text", "register"]

RESET = "RESET"  # the type of events that are not part of the stream, but reset their key
_METERS = 1000
_METERS_PER_HOUR_AND_KNOT = 1852.0
PLACES = {"BrestPort": ("-4.47530", "48.38273", "5000.0")}
"""Places that predicates of Wayeb name: longitude, latitude, and radius in meters."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What predicates read: columns that they do not name, and the last event of a register stored repeatedly.

    Registers that are `unset` are stored only by later events.
    """

    by_role: Mapping[Role, str]
    repeated: frozenset[str] = frozenset()
    unset: frozenset[str] = frozenset()

    def ident(self, role: Role, span: Span) -> s.Ident:
        return s.Ident(self.by_role[role], span=span)


@dataclass(frozen=True, slots=True)
class Known:
    """A predicate of the library: its arguments, what it reads, and its meaning."""

    parameters: tuple[Parameter, ...]
    example: str
    type: ColumnType | None  # of the column that is its first argument
    roles: tuple[Role, ...]
    condition: Callable[[t.Predicate, Columns], s.Expr]


def _compared(op: s.ComparisonOperator, *, text: bool = False) -> Known:
    def condition(node: t.Predicate, _: Columns) -> s.Expr:
        column, value = node.args
        return s.Compare(op, _column(column), _text(value) if text else _number(value), span=node.span)

    name = {"=": "EQ", "<>": "NEQ", "<": "LT", "<=": "LTE", ">": "GT", ">=": "GTE"}[op]
    if text:
        return Known(("column", "text"), f"{name}Str(status, 'parked')", "STRING", (), condition)
    return Known(("column", "number"), f"{name}(speed, 5.0)", "DOUBLE", (), condition)


def _compared_with_register(op: s.ComparisonOperator, name: str, type: ColumnType) -> Known:
    def condition(node: t.Predicate, columns: Columns) -> s.Expr:
        column, register = node.args
        assert isinstance(register, t.Register)
        if register.name in columns.unset:
            return s.Literal(False, span=node.span)
        var = s.Ident(register.name, span=register.span)
        stored: s.Expr = s.Attribute(var, _ident(column), span=node.span)
        if register.name in columns.repeated:
            stored = s.FirstOrLast("LAST", var, _ident(column), span=node.span)
        return s.Compare(op, _column(column), stored, span=node.span)

    return Known(("column", "register"), f'{name}(speed, "x")', type, (), condition)


def _event_type(node: t.Predicate, columns: Columns) -> s.Expr:
    column = s.Variable(columns.ident("type", node.name.span), span=node.name.span)
    return s.Compare("=", column, _text(node.args[0]), span=node.span)


def _between(node: t.Predicate, _: Columns) -> s.Expr:
    column, low, high = node.args
    return s.AllOf(
        (
            s.Compare(">=", _column(column), _number(low), span=node.span),
            s.Compare("<", _column(column), _number(high), span=node.span),
        ),
        span=node.span,
    )


def _distance(node: t.Predicate, columns: Columns) -> s.Expr:
    lon, lat, *_ = node.args
    here = [s.Variable(columns.ident(role, node.name.span), span=node.name.span) for role in ("lat", "lon")]
    return s.Call(s.Ident("haversine", span=node.name.span), (*here, _number(lat), _number(lon)), span=node.span)


def _within_circle(op: s.ComparisonOperator) -> Callable[[t.Predicate, Columns], s.Expr]:
    def condition(node: t.Predicate, columns: Columns) -> s.Expr:
        return s.Compare(op, _distance(node, columns), _meters(node.args[2]), span=node.span)

    return condition


def _between_circles(node: t.Predicate, columns: Columns) -> s.Expr:
    inner, outer = (_meters(arg) for arg in node.args[2:])
    return s.AllOf(
        (
            s.Compare(">", _distance(node, columns), inner, span=node.span),
            s.Compare("<", _distance(node, columns), outer, span=node.span),
        ),
        span=node.span,
    )


def _heading_towards(node: t.Predicate, columns: Columns) -> s.Expr:
    """The way of the next hour, at this speed and heading, comes into the circle around a place."""
    place = node.args[0]
    assert isinstance(place, s.Ident)
    lon, lat, radius = PLACES[place.text]

    def column(role: Role) -> s.Expr:
        return s.Variable(columns.ident(role, node.name.span), span=node.name.span)

    way = s.Binary("*", column("speed"), s.Literal(_METERS_PER_HOUR_AND_KNOT, span=node.span), span=node.span)
    here = (column("lat"), column("lon"), column("heading"), way)
    there = (Number(lat, span=place.span).literal, Number(lon, span=place.span).literal)
    distance = s.Call(s.Ident("passing_distance", span=node.name.span), (*here, *there), span=node.span)
    return s.Compare("<=", distance, Number(radius, span=place.span).literal, span=node.span)


_CIRCLE: tuple[Parameter, ...] = ("number", "number", "number")
_HERE: tuple[Role, ...] = ("lon", "lat")


def _no_condition(node: t.Predicate, _: Columns) -> s.Expr:
    raise AssertionError("the empty word is no condition on an event")


LIBRARY: Mapping[str, Known] = MappingProxyType(
    {
        "IsEventType": Known(("text",), "IsEventTypePredicate(A)", None, ("type",), _event_type),
        "EQ": _compared("="),
        "NEQ": _compared("<>"),
        "LT": _compared("<"),
        "LTE": _compared("<="),
        "GT": _compared(">"),
        "GTE": _compared(">="),
        "BT": Known(("column", "number", "number"), "BT(speed, 1.0, 9.0)", "DOUBLE", (), _between),
        "EQStr": _compared("=", text=True),
        "NEQStr": _compared("<>", text=True),
        "EQAttr": _compared_with_register("=", "EQAttr", "DOUBLE"),
        "EQAttrStr": _compared_with_register("=", "EQAttrStr", "STRING"),
        "NEQAttr": _compared_with_register("<>", "NEQAttr", "DOUBLE"),
        "LTAttr": _compared_with_register("<", "LTAttr", "DOUBLE"),
        "LTEAttr": _compared_with_register("<=", "LTEAttr", "DOUBLE"),
        "GTAttr": _compared_with_register(">", "GTAttr", "DOUBLE"),
        "GTEAttr": _compared_with_register(">=", "GTEAttr", "DOUBLE"),
        "WithinCircle": Known(_CIRCLE, "WithinCirclePredicate(-4.47, 48.38, 5.0)", None, _HERE, _within_circle("<")),
        "OutsideCircle": Known(_CIRCLE, "OutsideCirclePredicate(-4.47, 48.38, 5.0)", None, _HERE, _within_circle(">=")),
        "DistanceBetween": Known(
            (*_CIRCLE, "number"), "DistanceBetweenPredicate(-4.47, 48.38, 5.0, 10.0)", None, _HERE, _between_circles
        ),
        "HeadingTowards": Known(
            ("text",), "HeadingTowardsPredicate(BrestPort)", None, ("lon", "lat", "speed", "heading"), _heading_towards
        ),
        t.EPSILON: Known((), "EpsilonPredicate", None, (), _no_condition),
        "True": Known((), "TruePredicate", None, (), lambda node, _: s.Literal(True, span=node.span)),
    }
)
_KINDS: Mapping[Parameter, tuple[type[t.Argument], ...]] = {
    "column": (s.Ident,),
    "number": (Number,),
    "text": (s.Ident, Text, Number),
    "register": (t.Register,),
}


def known(node: t.Predicate, source: SourceText) -> Known | None:
    """The predicate of the library, checked; None for a column that is true or false."""
    found = LIBRARY.get(node.short_name)
    if found is None:
        _check_column(node, source)
        return None
    if not _fits(node.args, found):
        kinds = ", ".join(f"a {parameter}" for parameter in found.parameters) or "none"
        raise ProgramError.of(
            "INK0142",
            f"wrong arguments for `{node.name.text}`",
            span=node.span,
            source=source,
            notes=(f"its arguments are: {kinds}",),
            helps=(f"write for example `{found.example}`",),
        )
    if node.short_name == "HeadingTowards":
        _check_place(node, source)
    return found


def _check_place(node: t.Predicate, source: SourceText) -> None:
    place = node.args[0]
    if not (isinstance(place, s.Ident) and place.text in PLACES):
        raise ProgramError.of(
            "INK0142",
            f"unknown place in `{node.name.text}`",
            span=place.span,
            source=source,
            notes=(f"places are {', '.join(PLACES)}",),
            helps=("compute the condition in a BOOLEAN column of the stream: `passing_distance(…) <= 5000`",),
        )


def _fits(args: tuple[t.Argument, ...], found: Known) -> bool:
    return len(args) == len(found.parameters) and all(
        isinstance(arg, _KINDS[parameter]) for arg, parameter in zip(args, found.parameters, strict=True)
    )


def is_anything(node: t.Formula) -> bool:
    return isinstance(node, t.Predicate) and node.short_name == "True" and not node.args


def is_reset(node: t.Formula) -> bool:
    """Whether a predicate asks for rows that are no events but reset their key."""
    return (
        isinstance(node, t.Predicate)
        and node.short_name == "IsEventType"
        and any(isinstance(arg, s.Ident) and arg.text == RESET for arg in node.args)
    )


def condition_of(node: t.Formula, columns: Columns, source: SourceText) -> s.Expr:
    match node:
        case t.Predicate():
            found = known(node, source)
            if found is None:
                return s.Variable(node.name, span=node.span)
            return found.condition(node, columns)
        case t.Negated(item=item):
            return s.Negation(condition_of(item, columns, source), span=node.span)
        case t.Joined(op="^", items=items):
            return s.AllOf(tuple(_flat(s.AllOf, items, columns, source)), span=node.span)
        case t.Joined(items=items):
            return s.AnyOf(tuple(_flat(s.AnyOf, items, columns, source)), span=node.span)


def _flat(
    join: type[s.AllOf] | type[s.AnyOf], items: tuple[t.Formula, ...], columns: Columns, source: SourceText
) -> list[s.Expr]:
    found: list[s.Expr] = []
    for item in items:
        condition = condition_of(item, columns, source)
        found += condition.items if isinstance(condition, join) else [condition]
    return found


def _check_column(node: t.Predicate, source: SourceText) -> None:
    """A name alone, outside the library, is a column that is true or false."""
    name = node.name.text
    if not node.args and not name.endswith(t.SUFFIX):
        return
    fitting = [one for one, found in LIBRARY.items() if _fits(node.args, found)] if node.args else LIBRARY
    meant = nearest(node.short_name, fitting, n=1)
    raise ProgramError.of(
        "INK0141",
        f"unknown predicate `{name}`",
        span=node.name.span,
        source=source,
        notes=() if meant else (f"predicates are {', '.join(LIBRARY)}; a bare name is a BOOLEAN column",),
        helps=tuple(f"write for example `{LIBRARY[one].example}`" for one in meant)
        or ("compute the condition in a BOOLEAN column of the stream, and write the name of that column",),
    )


def _ident(argument: t.Argument) -> s.Ident:
    assert isinstance(argument, s.Ident)
    return argument


def _column(argument: t.Argument) -> s.Variable:
    return s.Variable(_ident(argument), span=argument.span)


def _number(argument: t.Argument) -> s.Expr:
    assert isinstance(argument, Number)
    return argument.literal


def _meters(argument: t.Argument) -> s.Expr:
    """Kilometers, in which Wayeb gives radii, as meters."""
    assert isinstance(argument, Number)
    return Number(str(float(Fraction(argument.written) * _METERS)), span=argument.span).literal


def _text(argument: t.Argument) -> s.Literal:
    match argument:
        case Text(value=value):
            return s.Literal(value, span=argument.span)
        case s.Ident(text=text) | Number(written=text):
            return s.Literal(text, span=argument.span)
        case _:
            raise AssertionError(f"no text: {argument}")
