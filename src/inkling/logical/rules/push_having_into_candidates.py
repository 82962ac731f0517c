"""A HAVING condition becomes a test of candidates where that cannot change which event is next.

Spark then answers it before the shuffle, or the join drops a partial match at once, and an event without
HAVING may be an automaton. Under NEXT only the first part qualifies: no hop leads to it. Under ANY and STRICT
hops do not depend on candidates, so a condition goes to the last part that it mentions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rules.everywhere import everywhere


def push_having_into_candidates(event: p.EventPlan) -> p.EventPlan:
    pattern, having = _pushed(everywhere(event.pattern, _inside), event.having)
    if pattern is event.pattern:
        return event
    return replace(event, pattern=pattern, having=having)


def _inside(pattern: p.Pattern) -> p.Pattern:
    if not isinstance(pattern, p.Narrowed):
        return pattern
    inner, having = _pushed(pattern.pattern, pattern.having)
    return pattern if inner is pattern.pattern else replace(pattern, pattern=inner, having=having)


def _pushed(pattern: p.Pattern, having: tuple[e.Expr, ...]) -> tuple[p.Pattern, tuple[e.Expr, ...]]:
    """The pattern with the conditions it can take, and those that remain."""
    open_to_tests = _open_leaves(pattern)
    tests: dict[int, list[e.Expr]] = {}
    remaining: list[e.Expr] = []
    for condition in (part for item in having for part in e.conjuncts(item)):
        home = _home(condition, open_to_tests)
        if home is None:
            remaining.append(condition)
        else:
            tests.setdefault(home, []).append(condition)
    return (_tested(pattern, tests), tuple(remaining)) if tests else (pattern, having)


def _open_leaves(pattern: p.Pattern) -> list[int]:
    """Slots, in pattern order, whose candidates may be tested further without a change of any hop."""
    match pattern:
        case p.Leaf(slot=slot):
            return [slot]
        case p.Sequence(policy=policy, parts=parts):
            solid = [part for part in parts if not isinstance(part, p.Absent | p.Deadline | p.StreamStart)]
            if policy is p.Policy.NEXT:
                solid = solid[:1]
            return [part.slot for part in solid if isinstance(part, p.Leaf)]
        case p.Conjunction(items=items) | p.Parallel(items=items):
            return [item.slot for item in items if isinstance(item, p.Leaf)]
        case p.Related(left=left, right=right):
            return [item.slot for item in (left, right) if isinstance(item, p.Leaf)]
        case p.Except(pattern=inner):
            return _open_leaves(inner)
        case p.Disjunction() | p.Quantified() | p.Sliding() | p.Repetition() | p.Narrowed():
            return []
        case p.OtherRun() | p.TimePoint():
            return []


def _home(condition: e.Expr, open_to_tests: list[int]) -> int | None:
    """The slot at which a condition can be tested: the last that it mentions, if all are open."""
    mentioned = e.slots_of(condition)
    if not mentioned or e.atoms_of(condition) or not mentioned <= set(open_to_tests):
        return None
    return max(mentioned, key=open_to_tests.index)


def _tested(pattern: p.Pattern, tests: Mapping[int, list[e.Expr]]) -> p.Pattern:
    def change(inner: p.Pattern) -> p.Pattern:
        if isinstance(inner, p.Leaf) and inner.slot in tests:
            return replace(inner, conditions=(*inner.conditions, *tests[inner.slot]))
        return inner

    return everywhere(pattern, change)
