"""Rewrites the rules of a file into plainer ones, before their predicates are collected.

Values in heads become equations, choices that give values become rules of their own, printing directives are left out.
Cuts are resolved in `first_match`, structured terms in `structures`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inkling.errors import Diagnostic, ProgramError
from inkling.language.ele import terms as t
from inkling.language.ele.first_match import without_cuts
from inkling.language.ele.predicates import Key, key_of
from inkling.language.ele.structures import flattened
from inkling.language.ele.terms import bound_by_goals, flat_goals, names_of, negated, variables
from inkling.language.kit.cursor import Number
from inkling.language.syntax import Ident
from inkling.source import SourceText, Span

MAX_ALTERNATIVES = 64
"""The rules that the choices of one rule may become."""

PRINTING = frozenset({"print_trigger", "print_event"})
"""Facts of the public engine that say what it prints."""


ALARMS = frozenset({"exceptionAlarm", "exceptionAlarmAbsoluteDatime", "exceptionAlarmAbsoluteDatetime"})
CHANGES = frozenset({"assert", "asserta", "assertz", "retract", "retractall"})


def rewritten(file: t.RuleFile, source: SourceText) -> tuple[t.RuleFile, list[Diagnostic]]:
    """Rules that need none of these forms, and what is wrong with the others."""
    defined = (key_of(one.head) for one in file.statements if isinstance(one, t.Clause))
    rules = (one for one in file.statements if isinstance(one, t.Rule) and one.head.name.text in ALARMS)
    heads = (head for one in rules for head in one.head.args[:1])
    rewriter = _Rewriter(
        source, frozenset(defined), frozenset(key_of(head) for head in heads if isinstance(head, t.Atom))
    )
    problems: list[Diagnostic] = []
    statements: list[t.Statement] = []
    for statement in file.statements:
        try:
            made = list(rewriter.statement(statement))
        except ProgramError as error:
            problems.extend(error.diagnostics)
            continue
        statements += [replace(one, comments=statement.comments if one is made[0] else ()) for one in made]
    statements, unlike = flattened(statements, source)
    statements, unordered = without_cuts(statements, source)
    return t.RuleFile(tuple(statements), file.comments), [*problems, *unlike, *unordered]


@dataclass(frozen=True, slots=True)
class _Rewriter:
    source: SourceText
    defined: frozenset[Key]  # predicates with clauses or facts
    alarms: frozenset[Key]

    def statement(self, statement: t.Statement) -> Iterator[t.Statement]:
        match statement:
            case t.Rule():
                yield from self._rule(statement)
            case t.Clause(head=t.Atom(name=Ident(text=name)), goals=()) if name in PRINTING:
                return
            case t.Clause():
                yield from self._clause(statement)
            case _:
                yield statement

    # rules

    def _rule(self, rule: t.Rule) -> Iterator[t.Rule]:
        if rule.head.name.text in ALARMS:
            rule = self._alarm(rule)
        self._no_alarm_before(rule.pattern)
        for atom in t.atoms(rule.pattern):
            if atom.name.text in ALARMS:
                message = f"`{atom.name.text}` stands in the head of a rule, not in a pattern"
                raise self._error("INK0133", message, atom.span)
        rule = self._valued_head(rule)
        rule, actions = self._actions(rule)
        for action in actions:
            yield from self._rule(action)
        pattern = t.mapped(rule.pattern, _same, lambda goals: tuple(map(_member_as_choice, goals)))
        even = (one for split in _evened(pattern, _uses(rule)) for one in self._alternatives(split, _uses(rule)))
        for number, alternative in enumerate(even):
            if number == MAX_ALTERNATIVES:
                raise self._error("INK0136", f"the choices of this rule make more than {MAX_ALTERNATIVES}", rule.span)
            yield replace(rule, pattern=alternative)

    def _no_alarm_before(self, pattern: t.Pattern) -> None:
        """Rejects FNOT after an alarm: it looks before the start of the alarm, which is that of its pattern."""
        if isinstance(pattern, t.Joined) and pattern.op == "FNOT":
            for atom in t.atoms(pattern.left):
                if key_of(atom) in self.alarms:
                    raise self._error(
                        "INK0133",
                        f"`FNOT` looks before the start of the alarm `{atom.name.text}`, not before it goes off",
                        pattern.span,
                        helps=("write the absence into the alarm: `exceptionAlarm(head, 10 min) <- a CNOT b`",),
                    )
        for part in t.parts(pattern):
            self._no_alarm_before(part)

    def _alarm(self, rule: t.Rule) -> t.Rule:
        """`exceptionAlarm(head, 60) <- P` as the event `head`, which ends so long after P."""
        match rule.head:
            case t.Atom(name=Ident(text="exceptionAlarm"), args=(t.Atom() as head, Number() | t.Quantity() as delay)):
                quantity = delay if isinstance(delay, t.Quantity) else t.Quantity(delay, span=delay.span)
                match rule.pattern:
                    case t.Joined(op="CNOT", left=waited, right=absent, span=span):
                        return replace(rule, head=head, pattern=t.Delayed(waited, quantity, absent, span=span))
                    case pattern:
                        return replace(rule, head=head, pattern=t.Delayed(pattern, quantity, span=pattern.span))
            case t.Atom(args=(t.Atom() as head, Number() as time)) if rule.head.name.text != "exceptionAlarm":
                point = t.Point(time, span=time.span)
                pattern = t.Joined("SEQ", t.Group(rule.pattern, span=rule.pattern.span), point, span=rule.pattern.span)
                return replace(rule, head=head, pattern=pattern)
            case _:
                name = rule.head.name.text
                raise self._error(
                    "INK0133",
                    f"`{name}` takes an event and {'a length of time' if name == 'exceptionAlarm' else 'a time'}",
                    rule.head.span,
                    helps=(
                        "write `exceptionAlarm(event(X), 10 min) <- …`, with a number or a length of time",
                        "for a time in a column, compare the times of events in a condition",
                    ),
                )

    def _actions(self, rule: t.Rule) -> tuple[t.Rule, list[t.Rule]]:
        """The rule without `DO`, and a rule for each action: an event with the arguments of the action."""
        pattern, done = _without_do(rule.pattern)
        actions, goals = list[t.Atom](), list[t.Term]()
        for goal in t.flat_goals((*rule.actions, *done)):
            if isinstance(goal, t.Atom) and key_of(goal) not in self.defined:
                actions.append(goal)
            else:
                goals.append(goal)
        for atom in (*actions, *t.static_atoms(goals), *t.static_atoms(t.every_goal(pattern))):
            self._no_change_of_facts(atom)
        if goals:
            pattern = t.Condition(pattern, "WHERE", tuple(goals), span=pattern.span)
        plain = replace(rule, pattern=pattern, actions=())
        return plain, [replace(plain, head=action) for action in actions]

    def _no_change_of_facts(self, goal: t.Atom) -> None:
        if goal.name.text not in CHANGES:
            return
        raise ProgramError.of(
            "INK0138",
            f"`{goal.name.text}` changes facts while rules run, which rules cannot do",
            span=goal.span,
            source=self.source,
            notes=("facts are tables: what they hold changes from outside, and rules derive events",),
            helps=(
                "for the last values of events, use an aggregate over a window: "
                "`sums([window(5 events)]): s(S) <- aggregate(sum(X), a(X), S).`",
                "to pass a value on, derive an event with it",
            ),
        )

    def _valued_head(self, rule: t.Rule) -> t.Rule:
        """`head(Name = value)` as a column with this name: `head(Name) … WHERE Name is value`."""
        args: list[t.Term] = []
        goals: list[t.Term] = []
        for arg in rule.head.args:
            match arg:
                case t.Comparison(op="=", left=t.Variable() as name) if not name.is_anything:
                    args.append(name)
                    goals.append(arg)
                case _:
                    args.append(arg)
        if not goals:
            return rule
        pattern = t.Condition(rule.pattern, "WHERE", tuple(goals), span=rule.pattern.span)
        return replace(rule, head=replace(rule.head, args=tuple(args)), pattern=pattern)

    def _alternatives(self, pattern: t.Pattern, used: Counter[str]) -> Iterator[t.Pattern]:
        """The pattern, once for each branch of the choices that give values."""
        split = self._first_choice(pattern)
        if split is None:
            yield pattern
            return
        condition, choice = split
        others = (goal for goal in flat_goals(t.all_goals(pattern)) if goal is not choice)
        for goals in self._branches(choice, _of_events(pattern) | bound_by_goals(others)):
            chosen = replace(condition, goals=tuple(_replaced(condition.goals, choice, goals)))
            yield from self._alternatives(_without(pattern, condition, chosen), used)

    def _first_choice(self, pattern: t.Pattern) -> tuple[t.Condition, t.Choice] | None:
        """A choice that binds variables of other goals or of the head; others are conditions joined by OR."""
        for condition in _outer_conditions(pattern):
            bound = _of_events(pattern)
            for goal in flat_goals(condition.goals):
                if isinstance(goal, t.Choice) and _gives_values(goal, bound):
                    return condition, goal
        return None

    # clauses

    def _clause(self, clause: t.Clause) -> Iterator[t.Clause]:
        for atom in t.static_atoms(clause.goals):
            self._no_change_of_facts(atom)
        goals = tuple(_member_as_choice(goal) for goal in flat_goals(clause.goals))
        choice = next((goal for goal in goals if isinstance(goal, t.Choice)), None)
        if choice is None:
            yield replace(clause, goals=goals) if clause.goals else clause
            return
        outside = names_of(v for goal in goals if goal is not choice for v in variables(goal))
        for chosen in self._branches(choice, outside | names_of(variables(clause.head))):
            yield from self._clause(replace(clause, goals=tuple(_replaced(goals, choice, chosen))))

    def _branches(self, choice: t.Choice, known: set[str]) -> Iterator[tuple[t.Term, ...]]:
        """The goals of each branch, after the negated conditions of the branches before it."""
        before: list[t.Term] = []
        for branch in choice.branches:
            if branch.condition is None:
                yield (*before, *branch.goals)
                continue
            new = bound_by_goals(branch.condition) - known
            taken = names_of(v for goal in branch.goals for v in variables(goal)) & new
            if taken:
                raise self._error(
                    "INK0136",
                    f"`->` keeps the first value of `{min(taken)}`, but solutions are in no order",
                    branch.span,
                    helps=("write `,` for `->`: every solution counts",),
                )
            yield (*before, *branch.condition, *branch.goals)
            before.append(negated(branch.condition))

    def _error(self, code: str, message: str, span: Span, *, helps: tuple[str, ...] = ()) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.source, helps=helps)


def _uses(rule: t.Rule) -> Counter[str]:
    return Counter(v.name for v in (*variables(rule.head), *t.pattern_variables(rule.pattern)))


def _evened(pattern: t.Pattern, used: Counter[str]) -> Iterator[t.Pattern]:
    """The pattern, once for each branch of an OR that binds a variable in only some of its branches."""
    uneven = _uneven(pattern, set(), used, t.bound_by(pattern))
    if uneven is None:
        yield pattern
        return
    for branch in (uneven.left, uneven.right):
        yield from _evened(_without(pattern, uneven, t.Group(branch, span=branch.span)), used)


def _uneven(pattern: t.Pattern, before: set[str], used: Counter[str], bound: set[str]) -> t.Joined | None:
    """The first OR with a variable that another part binds later, and only some of its branches."""
    match pattern:
        case t.Joined(op="OR"):
            inside = Counter(v.name for v in t.pattern_variables(pattern))
            shared = {name for name in inside if used[name] > inside[name]}
            missing = shared - t.bound_by(pattern)
            return pattern if not shared <= before and missing and missing <= bound else None
        case t.Joined(op="FNOT" | "CNOT", left=left):
            return _uneven(left, before, used, bound)
        case t.Joined(left=left, right=right) | t.Absence(first=left, last=right):
            return _uneven(left, before, used, bound) or _uneven(right, before | t.bound_by(left), used, bound)
        case t.Group(pattern=inner) | t.Limited(pattern=inner) | t.Condition(pattern=inner) | t.Delayed(pattern=inner):
            return _uneven(inner, before, used, bound)
        case _:
            return None


def _of_events(pattern: t.Pattern) -> set[str]:
    return names_of(v for atom in t.atoms(pattern) for v in variables(atom))


def _gives_values(choice: t.Choice, bound: set[str]) -> bool:
    """Whether a choice has to be a rule for each branch: it binds variables, or looks facts up."""
    goals = [goal for branch in choice.branches for goal in (*(branch.condition or ()), *branch.goals)]
    new = bound_by_goals(goals) - bound
    return bool(new) or any(isinstance(goal, t.Atom) for goal in flat_goals(goals))


def _outer_conditions(pattern: t.Pattern) -> Iterator[t.Condition]:
    """The conditions that every match of a pattern satisfies, so not those of absent, repeated and named parts."""
    match pattern:
        case t.Condition(pattern=inner):
            yield pattern
            yield from _outer_conditions(inner)
        case t.Absence(first=first, last=last):
            yield from _outer_conditions(first)
            yield from _outer_conditions(last)
        case t.Joined(op="FNOT" | "CNOT", left=left):
            yield from _outer_conditions(left)
        case t.Times() | t.InnerRule() | t.Joined(op="OR"):
            return
        case _:
            for part in t.parts(pattern):
                yield from _outer_conditions(part)


def _without(pattern: t.Pattern, old: t.Pattern, new: t.Pattern) -> t.Pattern:
    """A pattern with one of its parts replaced."""
    if pattern is old:
        return new
    match pattern:
        case t.Joined(left=left, right=right):
            return replace(pattern, left=_without(left, old, new), right=_without(right, old, new))
        case t.Absence(first=first, last=last):
            return replace(pattern, first=_without(first, old, new), last=_without(last, old, new))
        case t.Group(pattern=inner) | t.Limited(pattern=inner) | t.Condition(pattern=inner) | t.Delayed(pattern=inner):
            return replace(pattern, pattern=_without(inner, old, new))
        case _:
            return pattern


def _replaced(goals: Sequence[t.Term], old: t.Term, new: Sequence[t.Term]) -> Iterator[t.Term]:
    for goal in goals:
        if goal is old:
            yield from new
        elif isinstance(goal, t.Goals):
            yield replace(goal, goals=tuple(_replaced(goal.goals, old, new)))
        else:
            yield goal


def _without_do(pattern: t.Pattern) -> tuple[t.Pattern, tuple[t.Term, ...]]:
    """A pattern without the actions around it."""
    match pattern:
        case t.Condition(pattern=inner, word="DO", goals=goals):
            rest, more = _without_do(inner)
            return rest, (*more, *goals)
        case t.Condition(pattern=inner) | t.Group(pattern=inner):
            rest, more = _without_do(inner)
            return (replace(pattern, pattern=rest), more) if more else (pattern, ())
        case _:
            return pattern, ()


def _same(atom: t.Atom) -> t.Atom:
    return atom


def _member_as_choice(goal: t.Term) -> t.Term:
    match goal:
        case t.Atom(name=Ident(text="member"), args=(value, t.Listed(items=items)), span=span) if items:
            equations = [t.Comparison("=", value, item, span=span) for item in items]
            if len(equations) == 1:
                return equations[0]
            return t.Choice(tuple(t.Branch((one,), span=span) for one in equations), span=span)
        case t.Negated(goal=inner):
            return replace(goal, goal=_member_as_choice(inner))
        case t.Goals(goals=goals):
            return replace(goal, goals=tuple(_member_as_choice(one) for one in goals))
        case _:
            return goal
