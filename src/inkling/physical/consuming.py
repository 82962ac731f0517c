"""What a consumption policy asks of kernels: conditions on whole matches are tested on every pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.everywhere import everywhere
from inkling.physical.across import hoisted, refuse_unsupported
from inkling.physical.naming import Naming

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
            refuse_unsupported(condition)
        return changed

    def nested(pattern: p.Pattern) -> p.Pattern:
        return replace(pattern, having=decidable(pattern.having)) if isinstance(pattern, p.Narrowed) else pattern

    return replace(event, having=decidable(event.having), pattern=everywhere(event.pattern, nested))
