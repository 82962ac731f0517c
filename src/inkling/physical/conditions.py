"""Conditions of a stage: numbers for conditions on rows, and which conditions on several events kernels can decide.

Equal conditions on rows share one bit. In a condition that compares several events, what kernels cannot compute is
computed as a column first if it reads one event. A bound on a distance limits the facts that a look-up has to read.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.expr import Expr, rebuilt
from inkling.logical.functions import EARTH_RADIUS_M
from inkling.logical.plan import TableAtom
from inkling.logical.rewrites.everywhere import everywhere
from inkling.physical.naming import Naming, fact_name

DIVIDED_FUNCTIONS = {"seconds": 1e6, "minutes": 60e6, "hours": 3600e6}
"""Functions that divide a duration by so many microseconds."""

NUMERIC_FUNCTIONS = frozenset(
    ("abs", "sqrt", "exp", "ln", "sin", "cos", "floor", "ceil", "pow", "least", "greatest")
) | {"angle_difference", "haversine", "great_circle", "passing_distance", *DIVIDED_FUNCTIONS}
"""Functions that kernels compute."""


def hoisted(condition: e.Expr, column_for: Callable[[int, e.Expr], str]) -> e.Expr:
    """The condition with each part that kernels cannot compute, but that reads one slot, as a column of that slot."""
    if isinstance(condition, e.InTable) and condition.condition is not None and len(e.slots_of(condition)) > 1:
        return condition  # its condition also reads the row that it tests
    slots = e.slots_of(condition)
    if not any(_is_foreign(part) for part in e.walk(condition)):
        return condition
    looks_at_rows = all(not isinstance(part, e.ListColumn | e.Aggregate) for part in e.walk(condition))
    if len(slots) == 1 and looks_at_rows and not any(_sees_absence(part) for part in e.walk(condition)):
        (slot,) = slots
        return e.ColumnOf(slot, column_for(slot, condition), condition.type)
    return rebuilt(condition, lambda part: hoisted(part, column_for))


def _sees_absence(part: e.Expr) -> bool:
    """Whether a part may have a value, or be true, where a slot is empty; a column of the slot would be null there."""
    return isinstance(part, e.IsNull | e.Not | e.Chosen)


def _is_foreign(part: e.Expr) -> bool:
    return isinstance(part, e.InTable) or (isinstance(part, e.FunctionCall) and part.name not in NUMERIC_FUNCTIONS)


def compared_args(test: e.InTable) -> tuple[tuple[int, e.ColumnOf], ...]:
    """The arguments of a look-up that are columns of events, with their positions."""
    return tuple((place, arg) for place, arg in enumerate(test.args) if isinstance(arg, e.ColumnOf))


def is_pair_test(test: e.InTable) -> bool:
    """Whether kernels can decide a look-up: it reads one column of each of two events, and constants."""
    others = [arg for arg in test.args if arg is not None and not isinstance(arg, e.ColumnOf)]
    slots = {arg.slot for _, arg in compared_args(test)}
    all_constant = all(isinstance(arg, e.Literal) for arg in others)
    return test.condition is None and len(compared_args(test)) == len(slots) == 2 and all_constant


ColumnFor = Callable[[int, e.Expr], str]


def with_physical_preference(consumption: p.Consumption | None, naming: Naming) -> p.Consumption | None:
    """The policy with its preference over physical columns."""
    if consumption is None or consumption.prefer is None or isinstance(consumption.prefer, p.Preference):
        return consumption
    return replace(consumption, prefer=naming.physical(consumption.prefer))


def having_for_kernels(event: p.EventPlan, column_for: ColumnFor) -> p.EventPlan:
    """The event with every HAVING in a form that kernels can decide."""

    def decidable(conditions: tuple[e.Expr, ...]) -> tuple[e.Expr, ...]:
        return tuple(hoisted(condition, column_for) for condition in conditions)

    def nested(pattern: p.Pattern) -> p.Pattern:
        return replace(pattern, having=decidable(pattern.having)) if isinstance(pattern, p.Narrowed) else pattern

    return replace(event, having=decidable(event.having), pattern=everywhere(event.pattern, nested))


@dataclass(slots=True)
class BitIndex:
    """The bit numbers of conditions on rows; equal conditions share a number."""

    numbers: dict[Expr, int] = field(default_factory=dict)

    def number(self, condition: Expr) -> int:
        return self.numbers.setdefault(condition, len(self.numbers))


_LESS, _MORE = frozenset(("<", "<=", "=")), frozenset((">", ">=", "="))


@dataclass(frozen=True, slots=True)
class Near:
    """The facts of an atom lie at most `degrees` of a great circle away from a position of the row."""

    atom: int
    lat: e.Expr  # of the row
    lon: e.Expr
    fact_lat: str  # columns of the table
    fact_lon: str
    degrees: float


def near_of(atoms: tuple[TableAtom, ...], conditions: Iterable[e.Expr]) -> Near | None:
    """The smallest bound on the distance of facts that a conjunction of conditions implies; None if there is none."""
    found = [near for condition in conditions for atom in atoms if (near := _bound(atom, condition)) is not None]
    return min(found, key=lambda near: near.degrees, default=None)


def _bound(atom: TableAtom, condition: e.Expr) -> Near | None:
    match condition:
        case e.Compare(operator=symbol, left=e.FunctionCall() as call, right=e.Literal(value=limit)) if symbol in _LESS:
            return _near(atom, call, limit)
        case e.Compare(operator=symbol, left=e.Literal(value=limit), right=e.FunctionCall() as call) if symbol in _MORE:
            return _near(atom, call, limit)
        case _:
            return None


def _near(atom: TableAtom, call: e.FunctionCall, limit: object) -> Near | None:
    radius: object
    match call.name, call.args:
        case "haversine", (lat1, lon1, lat2, lon2):
            radius = EARTH_RADIUS_M
        case "great_circle", (lat1, lon1, lat2, lon2, e.Literal(value=radius)):
            pass
        case _:
            return None
    if not isinstance(limit, int | float) or not isinstance(radius, int | float) or radius <= 0:
        return None
    degrees = math.degrees(max(limit, 0.0) / radius)
    columns = {fact_name(atom.number, column.name, column.type): column.name for column in atom.columns}
    for here, there in (((lat1, lon1), (lat2, lon2)), ((lat2, lon2), (lat1, lon1))):
        names = [columns.get(one.column) if isinstance(one, e.ColumnOf) else None for one in there]
        if names[0] is not None and names[1] is not None and not any(map(_reads_facts, here)):
            return Near(atom.number, *here, names[0], names[1], degrees)
    return None


def _reads_facts(expr: e.Expr) -> bool:
    """Whether a value comes from a table, which may be joined later."""
    return any(
        isinstance(part, e.FactColumn | e.InTable) or (isinstance(part, e.ColumnOf) and part.column.startswith("fact"))
        for part in e.walk(expr)
    )
