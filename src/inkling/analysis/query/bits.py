"""What a row can do for a query, as bits of one integer: of which stages it is a candidate, and which accept it."""

from __future__ import annotations

from inkling.analysis.query.query import Subgoal
from inkling.logical import expr as e


def candidate(stage: int) -> int:
    """The bit of rows that a stage may take."""
    return 1 << (2 * stage)


def accepted(stage: int) -> int:
    """The bit of rows that a stage takes and accepts."""
    return 2 << (2 * stage)


def of_row(condition: e.Expr, stage: Subgoal) -> e.Expr:
    """A condition on the event of a stage as one on a row."""
    if isinstance(condition, e.ColumnOf) and condition.slot == stage.slot:
        return e.ColumnOf(e.ROW, condition.column, condition.type)
    return e.rebuilt(condition, lambda part: of_row(part, stage))
