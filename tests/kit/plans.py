"""Bound plans built by hand, for tests of the meaning that want no parser between them and it.

>>> six = event("six", seq(leaf(0, "A"), leaf(1, "B"), leaf(2, "C")))
>>> [slot.sources for slot in six.slots]
[('A',), ('B',), ('C',)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.event import Value
from inkling.model.schema import Column, EventSchema, StreamSchema, TableSchema
from inkling.model.time import Duration
from inkling.model.types import Type

PYTHON_TYPES = {bool: Type.BOOLEAN, int: Type.INTEGER, float: Type.DOUBLE, str: Type.STRING, type(None): Type.NULL}


def ticks(amount: int | Fraction) -> Duration:
    return Duration(Fraction(amount), "TICKS")


def literal(value: Value) -> e.Literal:
    return e.Literal(value, PYTHON_TYPES[type(value)])


def column(slot: int, name: str, kind: Type = Type.STRING) -> e.ColumnOf:
    return e.ColumnOf(slot, name, kind)


def compare(left: e.Expr, operator: str, right: e.Expr | Value) -> e.Compare:
    return e.Compare(operator, left, right if isinstance(right, e.Expr) else literal(right))


def leaf(
    slot: int, *sources: str, conditions: tuple[e.Expr, ...] = (), atoms: tuple[p.TableAtom, ...] = (), **equals: Value
) -> p.Leaf:
    """An event of one of the sources; `leaf(0, "V", s="A")` also asks for a value of a column."""
    tests = tuple(compare(column(slot, name, PYTHON_TYPES[type(value)]), "=", value) for name, value in equals.items())
    return p.Leaf(slot, sources, (*tests, *conditions), atoms)


def seq(*parts: p.Part, policy: p.Policy = p.Policy.ANY, within: p.Window | None = None) -> p.Sequence:
    return p.Sequence(policy, parts, within)


def nearest(*parts: p.Part, within: p.Window | None = None) -> p.Sequence:
    return seq(*parts, policy=p.Policy.NEXT, within=within)


def strict(*parts: p.Part, within: p.Window | None = None) -> p.Sequence:
    return seq(*parts, policy=p.Policy.STRICT, within=within)


def plus(pattern: p.Pattern, low: int = 1, high: int | None = None, *, eager: bool = False) -> p.Repetition:
    return p.Repetition(pattern, low, high, eager)


def stream(
    name: str,
    columns: Mapping[str, Type] | None = None,
    *,
    key: tuple[str, ...] = (),
    order_by: str | None = None,
    interval: bool = False,
    derived: tuple[p.DerivedColumn, ...] = (),
) -> p.StreamPlan:
    """A stream on ticks with an `id`, at time `t` or on `[begun, ended]`."""
    declared = {"id": Type.STRING, **(columns or {})}
    schema = StreamSchema(
        name,
        (*(Column(one, kind) for one, kind in declared.items()), *(Column(one.name, one.expr.type) for one in derived)),
        id="id",
        key=key,
        start="begun" if interval else "t",
        end="ended" if interval else "t",
        time_type=Type.INTEGER,
        order_by=order_by,
    )
    return p.StreamPlan(schema, derived)


def event(
    name: str,
    pattern: p.Pattern,
    *,
    head: Mapping[str, e.Expr] | None = None,
    returns: Mapping[str, e.Expr] | None = None,
    within: p.Window | None = None,
    having: tuple[e.Expr, ...] = (),
    partition: Mapping[str, Type] | None = None,
    over: tuple[str, ...] | None = None,
    per: p.Per = p.Per.MATCH,
    restart: bool = False,
    keep: Duration | None = None,
    consumption: p.Consumption | None = None,
    is_ordered: bool = False,
) -> p.EventPlan:
    """An event whose slots, scope and schema follow from its pattern."""
    heads = tuple(p.Output(one, expr) for one, expr in (head or {}).items())
    returned = tuple(p.Output(one, expr) for one, expr in (returns or {}).items())
    named = {source for one in p.leaves(pattern) for source in one.sources}
    return p.EventPlan(
        name,
        heads,
        returned,
        pattern,
        within,
        having,
        tuple(Column(one, kind) for one, kind in (partition or {}).items()),
        tuple(sorted(named)) if over is None else over,
        per,
        restart,
        tuple(_slots(pattern)),
        EventSchema(
            name, tuple(Column(one.name, one.type) for one in (*heads, *returned)), is_ordered, is_interval=True
        ),
        keep,
        consumption=consumption,
    )


def table(name: str, **columns: Type) -> TableSchema:
    return TableSchema(name, tuple(Column(one, kind) for one, kind in columns.items()), f"{name}.csv")


def program(
    streams: tuple[p.StreamPlan, ...] | str,
    *events: p.EventPlan,
    order_by: str | None = None,
    tables: tuple[TableSchema, ...] = (),
) -> p.ProgramPlan:
    """A program over the given streams; a string names streams with a letter each."""
    if isinstance(streams, str):
        streams = tuple(stream(name, order_by=order_by) for name in streams)
    return p.ProgramPlan(streams, tables, events)


def _slots(part: p.Part, *, repeated: bool = False, negated: bool = False) -> Iterator[p.Slot]:
    repeated = repeated or isinstance(part, p.Repetition)
    if isinstance(part, p.Leaf):
        yield p.Slot(part.slot, None, part.sources, repeated, negated)
    parts = part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part)
    for inner in parts:
        yield from _slots(inner, repeated=repeated, negated=negated or isinstance(part, p.Absent))
