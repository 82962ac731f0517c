"""The parts of patterns and terms, and the variables in them."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from inkling.language.ele import terms as t
from inkling.language.syntax import Ident

ASSIGNMENTS = frozenset({"=", "==", "=:=", "is"})

Node: TypeAlias = t.Pattern | t.Term


def atoms(pattern: t.Pattern) -> Iterator[t.Atom]:
    """The event atoms of a pattern, with the heads of inner rules."""
    match pattern:
        case t.Atom():
            yield aggregated(pattern) or pattern
        case t.InnerRule(head=head, pattern=inner):
            yield head
            yield from atoms(inner)
        case _:
            for part in parts(pattern):
                yield from atoms(part)


def aggregated(pattern: t.Pattern) -> t.Atom | None:
    """The event of `aggregate(sum(X), event(X), S)`."""
    match pattern:
        case t.Atom(name=Ident(text="aggregate"), args=(t.Atom(), t.Atom() as event, t.Variable())):
            return event
        case _:
            return None


def aggregates(pattern: t.Pattern) -> bool:
    """Whether a pattern has an aggregate in it."""
    return aggregated(pattern) is not None or any(aggregates(part) for part in parts(pattern))


def parts(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """The patterns directly inside a pattern, in the order in which they bind variables."""
    match pattern:
        case t.Atom() | t.Point():
            return ()
        case t.Joined(op="FNOT", left=left, right=right):
            return (left, right)
        case t.Joined(left=left, right=right):
            return (left, right)
        case t.Absence(absent=absent, first=first, last=last):
            return (first, last, absent)
        case t.Times(pattern=inner) | t.Group(pattern=inner) | t.Limited(pattern=inner):
            return (inner,)
        case t.InnerRule(pattern=inner) | t.Condition(pattern=inner):
            return (inner,)


def inner_rules(pattern: t.Pattern) -> Iterator[t.InnerRule]:
    if isinstance(pattern, t.InnerRule):
        yield pattern
    for part in parts(pattern):
        yield from inner_rules(part)


def all_goals(pattern: t.Pattern) -> Iterator[t.Term]:
    """The goals of all conditions in a pattern, without those of inner rules."""
    if isinstance(pattern, t.Condition):
        yield from pattern.goals
    if not isinstance(pattern, t.InnerRule):
        for part in parts(pattern):
            yield from all_goals(part)


def flat_goals(goals: Iterable[t.Term]) -> Iterator[t.Term]:
    """Goals with those in parentheses among them."""
    for goal in goals:
        if isinstance(goal, t.Goals):
            yield from flat_goals(goal.goals)
        else:
            yield goal


def static_atoms(goals: Iterable[t.Term]) -> Iterator[t.Atom]:
    """The static atoms that goals ask about."""
    for goal in flat_goals(goals):
        match goal:
            case t.Atom():
                yield goal
            case t.Negated(goal=inner):
                yield from static_atoms((inner,))
            case _:
                pass


def variables(node: t.Term) -> Iterator[t.Variable]:
    """The variables of a term or goal, each as often as it occurs; `_` is none."""
    match node:
        case t.Variable():
            if not node.is_anything:
                yield node
        case t.Atom(args=args):
            for arg in args:
                yield from variables(arg)
        case t.Minus(operand=inner) | t.Negated(goal=inner):
            yield from variables(inner)
        case t.Arithmetic(left=left, right=right) | t.Comparison(left=left, right=right):
            yield from variables(left)
            yield from variables(right)
        case t.Goals(goals=goals):
            for goal in goals:
                yield from variables(goal)
        case t.Number() | t.Text():
            pass


def pattern_variables(pattern: t.Pattern) -> Iterator[t.Variable]:
    """The variables of a pattern and of its conditions; of an inner rule those of its head."""
    match pattern:
        case t.Atom() | t.InnerRule(head=t.Atom()):
            yield from variables(pattern if isinstance(pattern, t.Atom) else pattern.head)
        case _:
            for part in parts(pattern):
                yield from pattern_variables(part)
            if isinstance(pattern, t.Condition):
                for goal in pattern.goals:
                    yield from variables(goal)


def names_of(found: Iterable[t.Variable]) -> set[str]:
    return {variable.name for variable in found}


def bound_by(pattern: t.Pattern) -> set[str]:
    """Variables that every occurrence of a pattern gives a value."""
    match pattern:
        case t.Atom(args=args) if aggregated(pattern) is not None:
            return names_of(variables(args[-1]))
        case t.Atom() | t.InnerRule():
            return names_of(pattern_variables(pattern))
        case t.Point():
            return set()
        case t.Joined(op="OR", left=left, right=right):
            return bound_by(left) & bound_by(right)
        case t.Joined(op="FNOT", left=left):
            return bound_by(left)
        case t.Absence(first=first, last=last):
            return bound_by(first) | bound_by(last)
        case t.Times(pattern=inner, n=n):
            return bound_by(inner) if n else set()
        case t.Condition(pattern=inner, goals=goals):
            return bound_by(inner) | bound_by_goals(goals)
        case _:
            return set().union(*(bound_by(part) for part in parts(pattern)))


def bound_by_goals(goals: Iterable[t.Term]) -> set[str]:
    """Variables that goals can give a value: arguments of static atoms, and sides of an equation."""
    found: set[str] = set()
    for goal in flat_goals(goals):
        match goal:
            case t.Atom(args=args):
                found |= {arg.name for arg in args if isinstance(arg, t.Variable)}
            case t.Comparison(op=op, left=left, right=right) if op in ASSIGNMENTS:
                found |= {side.name for side in (left, right) if isinstance(side, t.Variable)}
            case _:
                pass
    return found - {"_"}
