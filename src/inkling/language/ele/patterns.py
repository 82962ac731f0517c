"""Translates patterns of rules: arguments become columns, shared variables become equality conditions.

`aggregate(sum(X), event(X), S)` is a window over the events, whose aggregate is the value of S.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias, cast

from inkling.errors import ProgramError
from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.ele.directives import duration, shorter
from inkling.language.ele.predicates import key_of
from inkling.language.ele.scope import RuleScope, condition, equations, joined, test
from inkling.language.ele.terms import aggregated, bound_by, flat_goals, pattern_variables, variables
from inkling.source import Span

Declare: TypeAlias = Callable[[t.Atom, t.Pattern], None]  # a rule that a pattern needs beside it
Unite: TypeAlias = Callable[[tuple[str, ...], tuple[t.Pattern, ...], Span], t.Atom]


@dataclass(frozen=True, slots=True)
class PatternTranslator:
    declare: Declare
    unite: Unite
    unfold: bool  # write repetitions out, because a policy chooses each part by itself
    last: t.Quantity | None  # the window of aggregates
    half_open: bool  # whether the older border of the window is outside

    def body(self, pattern: t.Pattern, scope: RuleScope) -> s.Body:
        """A pattern with the conditions and the limit around it."""
        goals: list[t.Term] = []
        checks: list[t.Term] = []
        limit: t.Quantity | None = None
        is_inside = False  # whether conditions stand outside the limit
        core = pattern
        while True:
            match core:
                case t.Group(pattern=core):
                    continue
                case t.Limited(pattern=inner, limit=quantity) if limit is None:
                    core, limit, is_inside = inner, quantity, bool(goals)
                case t.Condition(pattern=core, word="WHERE" | "EVENT_MULTIPLY", goals=more):
                    goals[:0] = more
                case t.Condition(pattern=core, word="CHECK" | "TIMESTAMP", goals=more):
                    checks[:0] = more
                case t.Condition(word="DO", span=span):
                    raise scope.error(
                        "INK0138", "`DO` stands after the head or at the end of a rule, not inside a pattern", span
                    )
                case _:
                    break
        scope.equations = {**scope.equations, **equations(goals)}
        shape = self.pattern(core, scope)
        where = joined([condition(goals, scope), *_kept_promises(scope)])
        within = duration(limit, scope.meaning.source) if limit else None
        if within is not None and is_inside and scope.reads_events(goals):
            shape, within = s.Nested(s.Body(shape, within=within, span=core.span), span=core.span), None
        plain = s.Body(shape, where, within, span=pattern.span)
        if not checks:
            return plain
        name = s.Ident(scope.fresh("m"), span=pattern.span)
        times: dict[str, s.Expr] = {
            "T1": s.TimeOf("START", name, span=pattern.span),
            "T2": s.TimeOf("END", name, span=pattern.span),
        }
        seeing = scope.inner()
        seeing.values = times | seeing.values
        having = joined([test(goal, seeing) for goal in flat_goals(checks)])
        return s.Body(s.Nested(plain, name, span=pattern.span), having=having, span=pattern.span)

    def pattern(self, pattern: t.Pattern, scope: RuleScope) -> s.Pattern:
        match pattern:
            case t.Atom() if aggregated(pattern) is not None:
                return _window_of(pattern, scope, self._last(scope))
            case t.Joined(op="SEQ", left=left, right=t.Atom() as right, span=span) if aggregated(right) is not None:
                first, name = self._named(left, scope)
                return s.Seq("ANY", (first, _window_of(right, scope, self._last(scope), name)), span=span)
            case t.Atom():
                return self.leaf(pattern, scope)
            case t.Point(time=time, span=span):
                if not isinstance(time.size, int):
                    raise scope.error("INK0116", f"a time point is a whole number, found `{time.written}`", span)
                return s.AtTime(s.Literal(time.size, span=span), span=span)
            case t.Group() | t.Limited() | t.Condition():
                body = self.body(pattern, scope)
                if body.where is None and body.within is None and body.having is None:
                    return body.pattern
                return s.Nested(body, span=pattern.span)
            case t.Joined(op="SEQ", span=span):
                return s.Seq("ANY", self._whole_sequence(pattern, scope), span=span)
            case t.Joined(op="AND", span=span):
                return s.And(tuple(self.pattern(part, scope) for part in self._operands(pattern)), span=span)
            case t.Joined(op="PAR", span=span):
                one, other = self._operands(pattern)
                return s.Par((self.pattern(one, scope), self.pattern(other, scope)), span=span)
            case t.Joined(op="OR"):
                return self._alternatives(pattern, scope)
            case t.Joined(op="CNOT", span=span):
                raise scope.error(
                    "INK0107",
                    "`CNOT` needs two events, or an event and an alarm, between which something is absent",
                    span,
                    helps=("write `(a SEQ b) CNOT c`, or `exceptionAlarm(head, 10 min) <- a CNOT c`",),
                )
            case t.Joined(op="FNOT", left=left, right=right, span=span):
                found = self.pattern(left, scope)
                absent = s.Absent(self._absent(right, scope), span=right.span)
                is_chain = isinstance(left, t.Joined) and left.op == "SEQ"
                rest = found.components if is_chain and isinstance(found, s.Seq) else (found,)
                return s.Seq("ANY", (s.AtStart(span=span), absent, *rest), span=span)
            case t.Joined(op=op, left=left, span=span):
                one, other = self._operands(pattern)
                relation = cast(s.Relation, op if one is left else INVERSE.get(op, op))
                first_operand = self.pattern(one, scope)
                return s.Allen(first_operand, (relation,), self.pattern(other, scope), span=span)
            case t.Absence(absent=absent_pattern, first=first, last=last, span=span):
                start, end = self.pattern(first, scope), self.pattern(last, scope)
                return s.NotBetween(self._absent(absent_pattern, scope), start, end, span=span)
            case t.Times(span=span):
                return s.Seq("ANY", self._repeated(pattern, scope), span=span)
            case t.Delayed(pattern=inner, delay=delay, absent=missing, span=span):
                waited: tuple[s.Component, ...] = self._components(inner, scope)
                if missing is not None:
                    waited += (s.Absent(self._absent(missing, scope), span=missing.span),)
                after = s.After(duration(delay, scope.meaning.source), span=delay.span)
                return s.Seq("ANY", (*waited, after), span=span)
            case t.InnerRule(head=head, pattern=inner):
                self.declare(head, inner)
                return self.leaf(head, scope)

    def _last(self, scope: RuleScope) -> s.EventCount | s.Duration:
        """The window of aggregates: all events so far in a rule without a window."""
        if self.last is None:
            return s.EventCount(ALL_EVENTS)
        length = _last(self.last, scope)
        return shorter(length) if self.half_open and isinstance(length, s.Duration) else length

    def leaf(self, atom: t.Atom, scope: RuleScope) -> s.Leaf:
        """An event, with conditions on its columns for constants and for variables that have a value."""
        predicates = scope.meaning.predicates
        key = key_of(atom)
        inside = Counter(variable.name for variable in variables(atom))
        base = predicates.event_name(key) if atom.name.text.isidentifier() else "e"
        named: s.Ident | None = None
        own: dict[str, str] = {}  # columns that give a variable its value here
        tests: list[s.Expr] = []
        for arg, column in zip(atom.args, predicates.columns[key], strict=True):
            here = s.Variable(s.Ident(column, span=arg.span), span=arg.span)
            if isinstance(arg, t.Variable) and arg.is_anything:
                continue
            if isinstance(arg, t.Variable) and arg.name in own:
                same = s.Variable(s.Ident(own[arg.name], span=arg.span), span=arg.span)
                tests.append(s.Compare("=", here, same, span=arg.span))
            elif isinstance(arg, t.Variable) and arg.name not in scope.values:
                if arg.name in scope.later:
                    later = scope.equated(arg) or scope.bound_later(arg)
                    tests.append(s.Compare("=", here, later, span=arg.span))
                    continue
                own[arg.name] = column
                if scope.is_used_outside(arg.name, inside[arg.name]):
                    named = named or s.Ident(_numbered(base, scope), span=atom.name.span)
            else:
                tests.append(s.Compare("=", here, scope.value(arg), span=arg.span))
        for name, column in own.items():
            if named is not None:
                scope.values[name] = s.Attribute(named, s.Ident(column, span=atom.span), span=atom.span)
        source = s.Ident(predicates.event_name(key), quoted=atom.name.quoted, span=atom.name.span)
        return s.Leaf((source,), named, joined(tests), span=atom.span)

    def _named(self, pattern: t.Pattern, scope: RuleScope) -> tuple[s.Pattern, s.Ident]:
        """A pattern with a name for what it finds."""
        found = self.pattern(pattern, scope)
        if isinstance(found, s.Leaf):
            name = found.var or s.Ident(_numbered(found.types[0].text, scope), span=pattern.span)
            return replace(found, var=name), name
        name = s.Ident(scope.fresh("m"), span=pattern.span)
        return s.Nested(s.Body(found, span=pattern.span), name, span=pattern.span), name

    def _whole_sequence(self, pattern: t.Joined, scope: RuleScope) -> tuple[s.Component, ...]:
        """A sequence, in which NOT parts that read variables of later parts are translated last."""
        parts = list(_absences_apart(_chain(pattern), bound_by(pattern)))
        if self.unfold or not any(isinstance(part, _Gap) for part in parts):
            return self._components(pattern, scope)
        found = [() if isinstance(part, _Gap) else self._last_component(part, scope) for part in parts]
        for place, part in enumerate(parts):
            if isinstance(part, _Gap):
                absent = s.Absent(self._absent(part.absent, scope), span=part.absent.span)
                found[place] = (s.AtStart(span=part.absent.span), absent) if part.at_start else (absent,)
        return tuple(component for components in found for component in components)

    def _operands(self, pattern: t.Joined) -> tuple[t.Pattern, ...]:
        """The operands in the order in which they are translated; a policy chooses in the order written."""
        operands = _operands(pattern) if pattern.op == "AND" else (pattern.left, pattern.right)
        return operands if self.unfold or pattern.op in NOT_INVERTED else _binding_first(operands)

    def _components(self, pattern: t.Pattern, scope: RuleScope) -> tuple[s.Component, ...]:
        match pattern:
            case t.Joined(op="SEQ", left=left, right=right):
                return (*self._components(left, scope), *self._last_component(right, scope))
            case _:
                return self._last_component(pattern, scope)

    def _last_component(self, pattern: t.Pattern, scope: RuleScope) -> tuple[s.Component, ...]:
        if isinstance(pattern, t.Times):
            return self._repeated(pattern, scope)
        return (self.pattern(pattern, scope),)

    def _repeated(self, times: t.Times, scope: RuleScope) -> tuple[s.Component, ...]:
        """A repetition; with variables, which are the same every time, the parts one by one."""
        inside = [variable.name for variable in pattern_variables(times.pattern)]
        if times.n is not None and (inside or self.unfold):
            if (n_parts := _n_parts(times)) > s.MOST_COUNTS:
                raise scope.error(
                    "INK0116",
                    f"`ntimes` with variables is written out, and has at most {s.MOST_COUNTS} parts, found {n_parts}",
                    times.span,
                )
            scope.counts.update(inside * (times.n - 1))
            return tuple(self.pattern(times.pattern, scope) for _ in range(times.n))
        inner = self.pattern(times.pattern, scope.inner())
        low, high = (times.n, times.n) if times.n is not None else (times.least, None)
        return (s.Repeat(inner, low, high, span=times.span),)

    def _absent(self, pattern: t.Pattern, scope: RuleScope) -> s.Pattern:
        """What must not happen; variables that nothing else binds are its own."""
        return self.pattern(pattern, scope.inner(frozenset(scope.bindable - scope.values.keys())))

    def _alternatives(self, pattern: t.Joined, scope: RuleScope) -> s.Pattern:
        branches = _operands(pattern)
        inside = Counter(variable.name for variable in pattern_variables(pattern))
        shared = [name for name in inside if scope.is_used_outside(name, inside[name])]
        if all(name in scope.values or name in scope.later for name in shared):
            return s.Or(tuple(self.pattern(branch, scope.inner()) for branch in branches), span=pattern.span)
        everywhere = set.intersection(*(bound_by(branch) for branch in branches))
        for name in shared:
            if name not in everywhere:
                place = next(variable for variable in pattern_variables(pattern) if variable.name == name)
                raise UnevenAlternativesError(
                    pattern,
                    scope.error(
                        "INK0132",
                        f"`{name}` is bound in only some of the alternatives",
                        place.span,
                        helps=("write one rule for each alternative",),
                    ),
                )
        return self.leaf(self.unite(tuple(shared), branches, pattern.span), scope)


class UnevenAlternativesError(Exception):
    """Alternatives of which only some bind a variable that the rest of the rule uses."""

    def __init__(self, choice: t.Pattern, problem: ProgramError) -> None:
        super().__init__(str(problem))
        self.choice, self.problem = choice, problem


def spread(pattern: t.Pattern, choice: t.Pattern) -> tuple[t.Pattern, ...]:
    """The pattern once for each alternative of a choice inside it: `(a OR b) SEQ c` as `a SEQ c` and `b SEQ c`.

    Inside NOT, the alternatives become those of all that is absent. A choice in a repetition stays as it is.
    """
    if pattern is choice:
        return _operands(pattern)
    match pattern:
        case t.Joined(op=op, left=left, right=right):
            lefts, rights = spread(left, choice), spread(right, choice)
            if op in ("FNOT", "CNOT"):
                rights = (_spread_absence(right, choice),)
            return _variants(pattern, left=lefts, right=rights)
        case t.Absence(absent=absent, first=first, last=last):
            gap = _spread_absence(absent, choice)
            return _variants(pattern, absent=(gap,), first=spread(first, choice), last=spread(last, choice))
        case t.Delayed(pattern=inner, absent=missing):
            rest = None if missing is None else _spread_absence(missing, choice)
            return _variants(pattern, pattern=spread(inner, choice), absent=(rest,))
        case t.Group(pattern=inner) | t.Limited(pattern=inner) | t.Condition(pattern=inner):
            return _variants(pattern, pattern=spread(inner, choice))
        case t.Atom() | t.Point() | t.Times() | t.InnerRule():
            return (pattern,)


def _variants(pattern: t.Pattern, /, **parts: tuple[t.Pattern | None, ...]) -> tuple[t.Pattern, ...]:
    """A pattern with every combination of its parts; itself if there is only one."""
    chosen = [dict(zip(parts, some, strict=True)) for some in product(*parts.values())]
    if len(chosen) == 1 and all(getattr(pattern, name) is part for name, part in chosen[0].items()):
        return (pattern,)
    return tuple(replace(pattern, **one) for one in chosen)  # type: ignore[arg-type]


def _spread_absence(absent: t.Pattern, choice: t.Pattern) -> t.Pattern:
    core = absent
    while isinstance(core, t.Group):
        core = core.pattern
    found, *others = spread(absent, choice)
    if core is choice:
        return absent
    for other in others:
        found = t.Joined("OR", found, other, span=absent.span)
    return found


def united_in_absences(pattern: t.Pattern) -> set[str]:
    """The variables of alternatives inside NOT, which may become columns."""
    return {
        variable.name
        for absent in _absences(pattern)
        for part in t.all_parts(absent)
        if isinstance(part, t.Joined) and part.op == "OR"
        for variable in pattern_variables(part)
    }


def _operands(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """`a OR b OR c` as three, and the same for AND."""
    if isinstance(pattern, t.Joined) and isinstance(pattern.left, t.Joined) and pattern.left.op == pattern.op:
        return (*_operands(pattern.left), pattern.right)
    return (pattern.left, pattern.right) if isinstance(pattern, t.Joined) else (pattern,)


@dataclass(frozen=True, slots=True)
class _Gap:
    """What is absent between two parts of a sequence, or before its first one."""

    absent: t.Pattern
    at_start: bool = False


def _n_parts(pattern: t.Pattern) -> int:
    """The number of patterns when repetitions are written out."""
    inner = [getattr(pattern, name) for name in ("pattern", "left", "right", "first", "last") if hasattr(pattern, name)]
    times = pattern.n or 1 if isinstance(pattern, t.Times) else 1
    return times * sum(map(_n_parts, inner)) if inner else 1


def _chain(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """The parts of a sequence."""
    if isinstance(pattern, t.Joined) and pattern.op == "SEQ":
        return (*_chain(pattern.left), pattern.right)
    return (pattern,)


def _absences_apart(parts: tuple[t.Pattern, ...], bound: set[str]) -> Iterator[t.Pattern | _Gap]:
    """`NOT(P1).[P2, P3]` as three parts of its sequence if P1 has variables that other parts bind later.

    The same for `P2 FNOT P1` as the first part.
    """
    before: set[str] = set()
    for place, part in enumerate(parts):
        inner = part
        while isinstance(inner, t.Group):
            inner = inner.pattern
        before |= bound_by(part)
        if isinstance(inner, t.Absence):
            names = {variable.name for variable in pattern_variables(inner.absent)}
            if names & (bound - before):
                yield from (*_chain(inner.first), _Gap(inner.absent), inner.last)
                continue
        if isinstance(inner, t.Joined) and inner.op == "FNOT" and place == 0:
            names = {variable.name for variable in pattern_variables(inner.right)}
            if names & (bound - before):
                yield from (_Gap(inner.right, at_start=True), *_chain(inner.left))
                continue
        yield part


def _binding_first(operands: tuple[t.Pattern, ...]) -> tuple[t.Pattern, ...]:
    """Operands, those with NOT last whose variables another operand binds."""

    def waits(operand: t.Pattern) -> bool:
        own = bound_by(operand)
        others = set[str]().union(*(bound_by(other) for other in operands if other is not operand))
        return bool(
            {variable.name for part in _absences(operand) for variable in pattern_variables(part)} & others - own
        )

    return tuple(sorted(operands, key=waits))


def _absences(pattern: t.Pattern) -> Iterator[t.Pattern]:
    """What is absent in some part of a pattern."""
    if isinstance(pattern, t.Absence):
        yield pattern.absent
    elif isinstance(pattern, t.Joined) and pattern.op == "FNOT":
        yield pattern.right
    if not isinstance(pattern, t.InnerRule):
        for part in t.parts(pattern):
            yield from _absences(part)


def alternatives(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """The branches of an OR, or the pattern alone."""
    if isinstance(pattern, t.Joined) and pattern.op == "OR":
        return _operands(pattern)
    return (pattern,)


def _numbered(base: str, scope: RuleScope) -> str:
    stem = f"{base}_" if base[-1:].isdigit() else base
    number = 1
    while f"{stem}{number}" in scope.taken:
        number += 1
    return scope.fresh(f"{stem}{number}")


def _kept_promises(scope: RuleScope) -> Iterator[s.Expr]:
    """Names for the values of events that a NOT before them reads."""
    for variable, name in scope.promised.items():
        value = scope.values.get(variable)
        if value is not None and not isinstance(value, s.Variable):
            scope.values[variable] = s.Variable(s.Ident(name, span=value.span), span=value.span)
            yield s.Compare("=", scope.values[variable], value, span=value.span)


_PAIRS = (
    ("PRECEDES", "PRECEDED_BY"),
    ("MEETS", "MET_BY"),
    ("OVERLAPS", "OVERLAPPED_BY"),
    ("STARTS", "STARTED_BY"),
    ("DURING", "CONTAINS"),
    ("FINISHES", "FINISHED_BY"),
)
INVERSE = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
"""Relations between operands in the other order; EQUALS and INTERSECTS are their own."""

NOT_INVERTED = frozenset({"STARTS_BEFORE", "ENDS_AFTER"})

ALL_EVENTS = 1_000_000_000
"""The events of an aggregate in a rule without a window."""

FUNCTIONS: dict[str, s.AggregateName] = {
    "count": "COUNT",
    "sum": "SUM",
    "avg": "AVG",
    "min": "MIN",
    "max": "MAX",
    "stddev": "STDDEV",
    "median": "MEDIAN",
}
EVENTS = frozenset({"event", "events"})


def _window_of(
    atom: t.Atom, scope: RuleScope, last: s.EventCount | s.Duration, since: s.Ident | None = None
) -> s.WindowOf:
    """The window of an aggregate; the value of its last argument becomes known."""
    function, event, result = cast(tuple[t.Atom, t.Atom, t.Variable], atom.args)
    name = s.Ident(scope.fresh("w"), span=event.span)
    column, condition = _columns(function, event, scope)
    scope.values[result.name] = s.Aggregate(_function(function, scope), name, column, span=function.span)
    stream = s.Ident(scope.meaning.predicates.event_name(key_of(event)), quoted=event.name.quoted, span=event.name.span)
    return s.WindowOf(stream, name, condition, last, since, span=atom.span)


def _function(function: t.Atom, scope: RuleScope) -> s.AggregateName:
    name = function.name.text
    if name not in FUNCTIONS or len(function.args) > 1 or (name != "count") == (not function.args):
        raise scope.error(
            "INK0133",
            "unknown aggregate",
            function.span,
            notes=("aggregates are count, sum(X), avg(X), min(X), max(X), stddev(X) and median(X)",),
        )
    return FUNCTIONS[name]


def _columns(function: t.Atom, event: t.Atom, scope: RuleScope) -> tuple[s.Ident | None, s.Expr | None]:
    """The column that is aggregated, and the condition for events to count."""
    over = next((arg.name for arg in function.args if isinstance(arg, t.Variable)), None)
    inside = Counter(variable.name for term in (function, event) for variable in variables(term))
    chosen: s.Ident | None = None
    tests: list[s.Expr] = []
    for arg, name in zip(event.args, scope.meaning.predicates.columns[key_of(event)], strict=True):
        column = s.Ident(name, span=arg.span)
        match arg:
            case t.Variable(name=variable) if variable == over and variable not in scope.values:
                chosen = column
            case t.Variable(name=variable) if variable not in scope.values:
                if not arg.is_anything and scope.is_used_outside(variable, inside[variable]):
                    raise scope.error(
                        "INK0132",
                        f"`{variable}` has several values inside the aggregate",
                        arg.span,
                        helps=("bind it by an event before the aggregate: `start(X) SEQ aggregate(…)`",),
                    )
            case _:
                tests.append(s.Compare("=", s.Variable(column, span=arg.span), scope.value(arg), span=arg.span))
    if over is not None and chosen is None:
        raise scope.error("INK0132", f"`{over}` is not an argument of the event", function.span)
    return chosen, joined(tests)


def _last(last: t.Quantity, scope: RuleScope) -> s.EventCount | s.Duration:
    if last.unit is not None and last.unit.text.lower() in EVENTS:
        if not isinstance(last.number.size, int) or last.number.size < 1:
            raise scope.error("INK0116", f"a number of events is at least 1, found `{last.number.written}`", last.span)
        return s.EventCount(last.number.size, span=last.span)
    return duration(last, scope.meaning.source)
