"""Whose the results of an event are: the columns of its head that tell from which partition they come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inkling.logical import expr as e
from inkling.logical import plan as p


@dataclass(frozen=True, slots=True)
class ResultKey:
    """The columns that tell whose a result is; none where some column of PARTITION BY is not shown."""

    columns: tuple[str, ...]
    unshown: tuple[str, ...] = ()


def key_of_results(head: Iterable[p.Output], partition: Iterable[str], pattern: p.Pattern) -> ResultKey:
    """The columns of a head that are plain columns of PARTITION BY; those of an event that is always there, too."""
    named = tuple(partition)
    present = _surely_filled(pattern)
    shown = {output.name: column for output in head if (column := _shown(output.expr, set(named), present)) is not None}
    unshown = tuple(name for name in named if name not in shown.values())
    return ResultKey((), unshown) if unshown else ResultKey(tuple(shown))


def _shown(expr: e.Expr, partition: set[str], present: frozenset[int]) -> str | None:
    """The column of PARTITION BY that an expression always equals."""
    match expr:
        case e.KeyColumn(column=column):
            return column
        case e.ColumnOf(slot=slot, column=column) if slot in present and column in partition:
            return column
        case _:
            return None


def _surely_filled(pattern: p.Part) -> frozenset[int]:
    """Slots that hold one event in every match."""
    match pattern:
        case p.Leaf(slot=slot):
            return frozenset((slot,))
        case p.Narrowed(pattern=inner) | p.Except(pattern=inner):
            return _surely_filled(inner)
        case p.Sequence(parts=parts) | p.Conjunction(items=parts) | p.Parallel(items=parts):
            return frozenset[int]().union(*(_surely_filled(part) for part in parts))
        case p.Related(left=left, right=right):
            return _surely_filled(left) | _surely_filled(right)
        case _:
            return frozenset()
