"""What a condition that compares several events may contain, so that kernels can decide it.

Under a consumption policy, conditions on whole matches are tested on every pair.

Numbers for local conditions: equal conditions on rows share one bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from inkling.errors import NotSupportedYet
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.expr import Expr, rebuilt
from inkling.logical.rewrites.everywhere import everywhere
from inkling.physical.naming import Naming

DIVIDED_FUNCTIONS = {"seconds": 1e6, "minutes": 60e6, "hours": 3600e6}
"""Functions that divide a duration by so many microseconds."""

NUMERIC_FUNCTIONS = frozenset(
    ("abs", "sqrt", "exp", "ln", "sin", "cos", "floor", "ceil", "pow", "least", "greatest")
) | {"angle_difference", "haversine", "great_circle", *DIVIDED_FUNCTIONS}
"""Functions that may mix columns of several events; the others must look at one event only."""


def hoisted(condition: e.Expr, column_for: Callable[[int, e.Expr], str]) -> e.Expr:
    """The condition with what kernels cannot compute, but rows of one slot can, replaced by columns of that slot."""
    slots = e.slots_of(condition)
    if not any(_is_foreign(part) for part in e.walk(condition)):
        return condition
    looks_at_rows = all(not isinstance(part, e.ListColumn | e.Aggregate) for part in e.walk(condition))
    if len(slots) == 1 and looks_at_rows:
        (slot,) = slots
        return e.ColumnOf(slot, column_for(slot, condition), condition.type)
    return rebuilt(condition, lambda part: hoisted(part, column_for))


def _is_foreign(part: e.Expr) -> bool:
    return isinstance(part, e.InTable) or (isinstance(part, e.FunctionCall) and part.name not in NUMERIC_FUNCTIONS)


def compared_args(test: e.InTable) -> tuple[tuple[int, e.ColumnOf], ...]:
    """The arguments of a look-up that are columns of events, with their places."""
    return tuple((place, arg) for place, arg in enumerate(test.args) if isinstance(arg, e.ColumnOf))


def is_pair_test(test: e.InTable) -> bool:
    """Whether kernels can decide a look-up: by one column of each of two events, and constants."""
    others = [arg for arg in test.args if arg is not None and not isinstance(arg, e.ColumnOf)]
    slots = {arg.slot for _, arg in compared_args(test)}
    all_constant = all(isinstance(arg, e.Literal) for arg in others)
    return test.condition is None and len(compared_args(test)) == len(slots) == 2 and all_constant


def reject_unsupported(condition: e.Expr) -> None:
    """Raise when a condition across events calls something that only single events can be asked."""
    for part in e.walk(condition):
        match part:
            case e.FunctionCall(name=name) if name not in NUMERIC_FUNCTIONS:
                raise NotSupportedYet.of(
                    "INK0423",
                    f"`{name}` cannot be part of a condition that compares several events yet",
                    notes=("the join network compares columns and numbers of different events",),
                    helps=(f"let the stream compute it: `DERIVE {name}_of = {name}(…)`, and compare that column",),
                )
            case e.InTable(table=table) if not is_pair_test(part):
                raise NotSupportedYet.of(
                    "INK0424",
                    f"`{table}(…)` under NOT or OR cannot read several events yet",
                    notes=("only a look-up that must hold can read several events",),
                    helps=("move the condition to HAVING",),
                )
            case _:
                pass


ColumnFor = Callable[[int, e.Expr], str]


def with_physical_preference(consumption: p.Consumption | None, naming: Naming) -> p.Consumption | None:
    """The policy with its preference over physical columns."""
    if consumption is None or consumption.prefer is None or isinstance(consumption.prefer, p.Preference):
        return consumption
    return replace(consumption, prefer=naming.physical(consumption.prefer))


def having_for_kernels(event: p.EventPlan, column_for: ColumnFor) -> p.EventPlan:
    """The event with HAVING, nested ones too, in terms that kernels can decide."""

    def decidable(conditions: tuple[e.Expr, ...]) -> tuple[e.Expr, ...]:
        changed = tuple(hoisted(condition, column_for) for condition in conditions)
        for condition in changed:
            reject_unsupported(condition)
        return changed

    def nested(pattern: p.Pattern) -> p.Pattern:
        return replace(pattern, having=decidable(pattern.having)) if isinstance(pattern, p.Narrowed) else pattern

    return replace(event, having=decidable(event.having), pattern=everywhere(event.pattern, nested))


@dataclass(slots=True)
class BitIndex:
    """Hands out bit numbers while a stage is planned."""

    numbers: dict[Expr, int] = field(default_factory=dict)

    def number(self, condition: Expr) -> int:
        return self.numbers.setdefault(condition, len(self.numbers))
