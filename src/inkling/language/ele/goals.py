"""Goals of WHERE as one condition; static atoms and equations give values to variables that have none."""

from __future__ import annotations

from collections.abc import Sequence

from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.ele.scope import Scope
from inkling.language.ele.walk import ASSIGNMENTS, flat_goals


def condition(goals: Sequence[t.Term], scope: Scope) -> s.Expr | None:
    """All goals joined; None when nothing is left to be tested."""
    waiting = list(enumerate(flat_goals(goals)))
    done: dict[int, s.Expr | None] = {}
    while waiting:
        ready = next(((place, goal) for place, goal in waiting if _is_ready(goal, scope)), None)
        place, goal = ready or _least_ready(waiting, scope)
        waiting.remove((place, goal))
        done[place] = _goal(goal, scope)
    return joined([done[place] for place in sorted(done)])


def joined(conditions: Sequence[s.Expr | None]) -> s.Expr | None:
    some = [one for one in conditions if one is not None]
    flat = [part for one in some for part in (one.items if isinstance(one, s.AllOf) else (one,))]
    if len(flat) < 2:
        return flat[0] if flat else None
    return s.AllOf(tuple(flat), span=flat[0].span.to(flat[-1].span))


def test(goal: t.Term, scope: Scope) -> s.Expr:
    """A goal in which every variable has a value, or stands for some value in a static atom."""
    match goal:
        case t.Comparison():
            return scope.compare(goal)
        case t.Negated(goal=inner, span=span):
            return s.Negation(test(inner, scope), span=span)
        case t.Goals(goals=goals):
            tests = joined([test(one, scope) for one in flat_goals(goals)])
            assert tests is not None
            return tests
        case t.Atom():
            return scope.atom(goal, lambda variable: s.Variable(s.Ident(variable.name, span=variable.span)))
        case _:
            raise scope.error("INK0212", "expected a condition, found a value", goal.span)


def _is_ready(goal: t.Term, scope: Scope) -> bool:
    match goal:
        case t.Atom(args=args):
            return not any(scope.missing(arg) for arg in args if not isinstance(arg, t.Variable))
        case t.Comparison() if (free := _free_side(goal, scope)) is not None:
            return not scope.missing(free[1])
        case t.Negated():
            return False
        case _:
            return not scope.missing(goal)


def _least_ready(waiting: Sequence[tuple[int, t.Term]], scope: Scope) -> tuple[int, t.Term]:
    """The next goal when none is ready: an unsafe one, and negations last."""
    return next(((place, goal) for place, goal in waiting if not isinstance(goal, t.Negated)), waiting[0])


def _free_side(goal: t.Comparison, scope: Scope) -> tuple[t.Variable, t.Term] | None:
    """The variable that an equation gives a value, and the value."""
    if goal.op not in ASSIGNMENTS:
        return None
    for side, other in ((goal.left, goal.right), (goal.right, goal.left)):
        if isinstance(side, t.Variable) and not side.is_anything and side.name not in scope.values:
            return side, other
    return None


def _goal(goal: t.Term, scope: Scope) -> s.Expr | None:
    match goal:
        case t.Comparison() if (free := _free_side(goal, scope)) is not None:
            return _assign(*free, goal, scope)
        case t.Atom():
            return scope.atom(goal, lambda variable: _supplied(variable, scope))
        case _:
            return test(goal, scope)


def _assign(variable: t.Variable, value: t.Term, goal: t.Comparison, scope: Scope) -> s.Expr | None:
    bound = scope.value(value, double=scope.is_double(variable.name))
    if not scope.is_used_outside(variable.name, 1):
        return None  # a name for a value that nothing uses
    name = s.Variable(s.Ident(scope.fresh_value(variable.name), span=variable.span), span=variable.span)
    scope.values[variable.name] = name
    return s.Compare("=", name, bound, span=goal.span)


def _supplied(variable: t.Variable, scope: Scope) -> s.Expr:
    if variable.is_anything or not scope.is_used_outside(variable.name, 1):
        return s.Variable(s.Ident("_", span=variable.span), span=variable.span)
    name = s.Variable(s.Ident(scope.fresh_value(variable.name), span=variable.span), span=variable.span)
    scope.values[variable.name] = name
    return name
