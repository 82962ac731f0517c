"""The model of rules, straight from their definition: intervals of patterns, saturated by increasing ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from inkling.language.ele import terms as t
from inkling.language.kit.cursor import Number

Happened: TypeAlias = tuple[str, tuple[object, ...], int, int]  # name, arguments, start, end
Binding: TypeAlias = dict[str, object]
Occurrence: TypeAlias = tuple[Binding, int, int]
NEVER = -1

_RELATIONS: dict[str, Callable[[int, int, int, int], bool]] = {
    "SEQ": lambda s1, e1, s2, e2: e1 < s2,
    "AND": lambda s1, e1, s2, e2: True,
    "PAR": lambda s1, e1, s2, e2: (
        max(s1, s2) < min(e1, e2) or (s1 == e1 and s2 < s1 < e2) or (s2 == e2 and s1 < s2 < e1)
    ),
    "EQUALS": lambda s1, e1, s2, e2: (s1, e1) == (s2, e2),
    "MEETS": lambda s1, e1, s2, e2: e1 == s2,
    "DURING": lambda s1, e1, s2, e2: s2 < s1 <= e1 < e2,
    "STARTS": lambda s1, e1, s2, e2: s1 == s2 and e1 < e2,
    "FINISHES": lambda s1, e1, s2, e2: e1 == e2 and s2 < s1,
}
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
    "=<": lambda x, y: x <= y,
    ">=": lambda x, y: x >= y,
    "=": lambda x, y: x == y,
    "\\=": lambda x, y: x != y,
}


def model(file: t.RuleFile, happened: set[Happened], ends: frozenset[int] = frozenset()) -> set[Happened]:
    """All events, given and derived; `ends` are times at which something could end without an event of its own.

    Facts are known too, at no time.
    """
    known: set[Happened] = {
        (one.head.name.text, tuple(_value(arg, {}) for arg in one.head.args), NEVER, NEVER)
        for one in file.statements
        if isinstance(one, t.Clause)
    }
    for now in sorted({event[3] for event in happened} | ends):
        known |= {event for event in happened if event[3] == now}
        while True:
            derived = {
                (rule.head.name.text, tuple(_value(arg, binding) for arg in rule.head.args), start, end)
                for rule in file.statements
                if isinstance(rule, t.Rule)
                for binding, start, end in held(rule.pattern, known)
                if end == now
            }
            if derived <= known:
                break
            known |= derived
    return known


def held(pattern: t.Pattern, known: set[Happened]) -> Iterator[Occurrence]:
    """Where the pattern of a rule holds: something is absent for the values that all other parts give variables."""
    found = {tuple(sorted(binding.items())) for binding, _, _ in occurrences(pattern, {}, known, complete=False)}
    for values in found:
        yield from occurrences(pattern, dict(values), known)


def occurrences(
    pattern: t.Pattern, bound: Mapping[str, object], known: set[Happened], *, complete: bool = True
) -> Iterator[Occurrence]:
    """Where a pattern holds, with the values of its variables beside those that are given.

    An incomplete one may hold where something is absent.
    """
    match pattern:
        case t.Atom(name=name, args=args):
            for other, values, start, end in known:
                if other == name.text and len(values) == len(args):
                    binding = _unified(args, values, bound)
                    if binding is not None:
                        yield binding, start, end
        case t.Point(time=time):
            assert isinstance(time.size, int)
            yield dict(bound), time.size, time.size
        case t.Group(pattern=inner):
            yield from occurrences(inner, bound, known, complete=complete)
        case t.Limited(pattern=inner, limit=limit):
            for binding, start, end in occurrences(inner, bound, known, complete=complete):
                if end - start <= limit.number.size:
                    yield binding, start, end
        case t.Condition(pattern=inner, goals=goals):
            for binding, start, end in occurrences(inner, bound, known, complete=complete):
                for solved in _solutions(goals, binding, known):
                    yield solved, start, end
        case t.Joined(op="OR", left=left, right=right):
            yield from occurrences(left, bound, known, complete=complete)
            yield from occurrences(right, bound, known, complete=complete)
        case t.Joined(op="FNOT", left=left, right=right):
            for binding, start, end in occurrences(left, bound, known, complete=complete):
                if not complete or not any(
                    last < start for _, _, last in occurrences(right, binding, known, complete=complete)
                ):
                    yield binding, start, end
        case t.Joined(op=op, left=left, right=right):
            for first, s1, e1 in occurrences(left, bound, known, complete=complete):
                for both, s2, e2 in occurrences(right, first, known, complete=complete):
                    if _RELATIONS[op](s1, e1, s2, e2):
                        yield both, min(s1, s2), max(e1, e2)
        case t.Absence(absent=absent, first=first_pattern, last=last_pattern):
            for first, s1, e1 in occurrences(first_pattern, bound, known, complete=complete):
                for both, s2, e2 in occurrences(last_pattern, first, known, complete=complete):
                    between = occurrences(absent, both, known, complete=complete)
                    if e1 < s2 and not (complete and any(e1 < s and e < s2 for _, s, e in between)):
                        yield both, s1, e2
        case t.Times(pattern=inner, n=n):
            assert n is not None
            repeated = inner
            for _ in range(n - 1):
                repeated = t.Joined("SEQ", repeated, inner, span=pattern.span)
            yield from occurrences(repeated, bound, known, complete=complete)
        case t.InnerRule(head=head, pattern=inner):
            for binding, start, end in held(inner, known):
                values = tuple(_value(arg, binding) for arg in head.args)
                outer = _unified(head.args, values, bound)
                if outer is not None:
                    yield outer, start, end


def _unified(args: tuple[t.Term, ...], values: tuple[object, ...], bound: Mapping[str, object]) -> Binding | None:
    binding = dict(bound)
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, t.Variable):
            if not arg.is_anything and binding.setdefault(arg.name, value) != value:
                return None
        elif _value(arg, binding) != value:
            return None
    return binding


def _value(term: t.Term, binding: Mapping[str, object]) -> object:
    match term:
        case t.Variable(name=name):
            return binding[name]
        case Number(size=value):
            return value
        case _:
            raise AssertionError(term)


def _solutions(goals: tuple[t.Term, ...], binding: Binding, known: set[Happened]) -> Iterator[Binding]:
    """The bindings with which goals hold: facts give variables their values, then values are compared."""
    asked = [goal for goal in goals if isinstance(goal, t.Atom)]
    if not asked:
        if all(_holds(goal, binding) for goal in goals):
            yield binding
        return
    rest = tuple(goal for goal in goals if goal is not asked[0])
    for name, values, start, _ in known:
        if (name, start) == (asked[0].name.text, NEVER):
            solved = _unified(asked[0].args, values, binding)
            if solved is not None:
                yield from _solutions(rest, solved, known)


def _holds(goal: t.Term, binding: Mapping[str, object]) -> bool:
    assert isinstance(goal, t.Comparison)
    left, right = _value(goal.left, binding), _value(goal.right, binding)
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    return _COMPARED[goal.op](left, right)
