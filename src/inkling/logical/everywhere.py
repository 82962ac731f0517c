"""Applies a change to every pattern of an event, inner ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inkling.logical import plan as p

Change = Callable[[p.Pattern], p.Pattern]


def everywhere(pattern: p.Pattern, change: Change) -> p.Pattern:
    """The pattern with `change` applied to all its patterns; the same object when nothing changed."""

    def within(inner: p.Pattern) -> p.Pattern:
        return everywhere(inner, change)

    match pattern:
        case p.Leaf() | p.TimePoint():
            return change(pattern)
        case p.Sequence(parts=parts):
            changed = tuple(_part(part, change) for part in parts)
            return change(pattern if _same(changed, parts) else replace(pattern, parts=changed))
        case p.Conjunction(items=items) | p.Disjunction(items=items) | p.Parallel(items=items):
            inside = tuple(within(item) for item in items)
            return change(pattern if _same(inside, items) else replace(pattern, items=inside))
        case p.Related(left=left, right=right):
            sides = (within(left), within(right))
            unchanged = _same(sides, (left, right))
            return change(pattern if unchanged else replace(pattern, left=sides[0], right=sides[1]))
        case p.Except(pattern=inner, other=other):
            both = (within(inner), within(other))
            unchanged = _same(both, (inner, other))
            return change(pattern if unchanged else p.Except(*both))
        case p.Quantified(left=x, right=y):
            operands = tuple(_operand(one, change) for one in (x, y))
            unchanged = operands[0] is x and operands[1] is y
            return change(pattern if unchanged else replace(pattern, left=operands[0], right=operands[1]))
        case p.Sliding(leaf=leaf, since=since):
            members = _leaf(leaf, change)
            opening = None if since is None else _leaf(since, change)
            unchanged = members is leaf and opening is since
            return change(pattern if unchanged else replace(pattern, leaf=members, since=opening))
        case p.Repetition(pattern=inner) | p.Narrowed(pattern=inner) | p.OtherRun(pattern=inner):
            found = within(inner)
            return change(pattern if found is inner else replace(pattern, pattern=found))


def _operand(operand: p.Operand, change: Change) -> p.Operand:
    leaf = _leaf(operand.leaf, change)
    return operand if leaf is operand.leaf else replace(operand, leaf=leaf)


def _leaf(leaf: p.Leaf, change: Change) -> p.Leaf:
    changed = change(leaf)
    assert isinstance(changed, p.Leaf), "segments and members of windows are single events"
    return changed


def _part(part: p.Part, change: Change) -> p.Part:
    match part:
        case p.Absent(pattern=inner):
            found = everywhere(inner, change)
            return part if found is inner else p.Absent(found)
        case p.Deadline() | p.StreamStart():
            return part
        case _:
            return everywhere(part, change)


def _same(one: tuple[p.Part, ...], other: tuple[p.Part, ...]) -> bool:
    return all(left is right for left, right in zip(one, other, strict=True))
