"""Translates a rule file into the syntax tree of `.ink`, with spans of the rule file.

e(X) <- a(X) SEQ b(X).
EVENT e(a1.a1 AS X) AS PATTERN SEQ(a a1, b[a1 = a1.a1]) PER INTERVAL
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.errors import NotSupportedYet, ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.ele.directives import HALF_OPEN, MICROSECONDS, Directives, duration, read_directives, shorter
from inkling.language.ele.patterns import (
    PatternTranslator,
    UnevenAlternativesError,
    alternatives,
    spread,
    united_in_absences,
)
from inkling.language.ele.predicates import Key, collect, column_slot, infer, key_of, unused, variable_slot
from inkling.language.ele.rewriting import rewritten
from inkling.language.ele.scope import Meaning, RuleScope, joined, test
from inkling.language.ele.terms import aggregates, atoms, bound_by, inner_rules, names_of, pattern_variables, variables
from inkling.source import SourceText, Span

WINDOW_PROPERTIES = ("event_rule_window", "window", HALF_OPEN)
LATE_PROPERTY = "ooo_window"
IDLE_PROPERTIES = ("window_step", LATE_PROPERTY)  # they change no result


def translate(file: t.RuleFile, source: SourceText) -> s.Program:
    """Raises `ProgramError` with every error found."""
    file, problems = rewritten(file, source)
    directives, wrong = read_directives(file.statements, source)
    problems += wrong
    predicates, clashes = collect(file, directives, source)
    problems += clashes
    if problems:
        raise ProgramError(problems)
    translator = _RuleTranslator(
        Meaning(source, predicates, infer(file, directives)), directives, _late(file, source), _choosing(file)
    )
    statements: list[s.Statement] = list(translator.undeclared_streams())
    comments: tuple[str, ...] = ()
    for number, statement in enumerate(file.statements):
        comments += statement.comments
        try:
            made = translator.statement(number, statement)
        except ProgramError as error:
            problems.extend(error.diagnostics)
            continue
        if made:
            statements += [replace(made[0], comments=comments), *made[1:]]
            comments = ()
    if problems:
        raise (NotSupportedYet if all(p.code.startswith("INK04") for p in problems) else ProgramError)(problems)
    return s.Program(tuple(statements), comments + file.comments, span=Span(0, len(source.text)))


@dataclass(slots=True)
class _RuleTranslator:
    meaning: Meaning
    directives: Directives
    late: Mapping[Key, s.Duration]  # how late the events of an input may be
    choosing: frozenset[Key]  # events with a rule that joins events, so that a policy can choose among them

    def statement(self, number: int, statement: t.Statement) -> list[s.Statement]:
        match statement:
            case t.Rule():
                return list(self._rule(number, statement))
            case t.Clause():
                return [self._clause(number, statement)]
            case t.Directive(setting=t.Setting(name=s.Ident(text="stream"), parts=(t.Setting(name=name) as first, *_))):
                return [self._declared_stream((name.text, len(first.parts)))]
            case t.Directive(setting=t.Setting(name=s.Ident(text="table"), parts=(t.Setting(name=name) as first, *_))):
                table = self.directives.tables[name.text, len(first.parts)]
                fact_name = self.meaning.predicates.knowledge_name((name.text, len(first.parts)))
                return [replace(table, name=replace(table.name, text=fact_name))]
            case t.Directive():
                return []

    def undeclared_streams(self) -> Iterator[s.StreamDecl]:
        predicates = self.meaning.predicates
        for key in predicates.inputs(self.directives):
            atom = predicates.events[key]
            columns = [
                s.ColumnDecl(s.Ident(name), s.Ident(self._type(key, n)))
                for n, name in enumerate(predicates.columns[key])
            ]
            time = s.TimePoint(s.Ident("t", span=atom.span), span=atom.span)
            yield self._stream(key, atom.name, columns, time, atom.span)

    def _declared_stream(self, key: Key) -> s.StreamDecl:
        declared = self.directives.streams[key]
        columns = [
            s.ColumnDecl(
                s.Ident(name, span=part.span), s.Ident(kind or self._type(key, n), span=part.span), span=part.span
            )
            for n, (name, kind, part) in enumerate(
                zip(declared.columns, declared.types, declared.atom.parts, strict=True)
            )
        ]
        columns += [column for column in declared.time_types if column.name.text not in declared.columns]
        time: s.TimePoint | s.TimeSpan = declared.options["time"]
        made = self._stream(key, declared.atom.name, columns, time, declared.span)
        late = [one for one in (made.late, declared.options.get("late")) if one is not None]
        return replace(made, **{**declared.options, "late": max(late, key=_length, default=None)})

    def _stream(
        self, key: Key, name: s.Ident, columns: list[s.ColumnDecl], time: s.TimePoint | s.TimeSpan, span: Span
    ) -> s.StreamDecl:
        """A stream has at least one column; without others that is its time."""
        of_time = (time.column,) if isinstance(time, s.TimePoint) else (time.start, time.end)
        kind = self.directives.time_type or (None if columns else "BIGINT")
        declared = {column.name.text for column in columns}
        if kind is not None:
            columns = columns + [s.ColumnDecl(one, s.Ident(kind)) for one in of_time if one.text not in declared]
        ident = s.Ident(self.meaning.predicates.event_name(key), quoted=name.quoted, span=name.span)
        late = self.late.get(key)
        return s.StreamDecl(ident, tuple(columns), time=time, tick=self.directives.tick, late=late, span=span)

    def _type(self, key: Key, number: int) -> str:
        return self.meaning.kinds.type_of(column_slot(key, number))

    def _clause(self, number: int, clause: t.Clause) -> s.RuleDecl:
        counts = Counter(v.name for term in (clause.head, *clause.goals) for v in variables(term))
        bound = names_of(v for goal in clause.goals for v in variables(goal) if not _looks_up(goal))
        scope = RuleScope(self.meaning, number, counts, frozenset(bound))
        scope.values = {name: s.Variable(s.Ident(name)) for name in bound}
        anything = s.Variable(s.Ident("_"))
        head = scope.atom(clause.head, lambda variable: scope.value(variable))
        for goal in clause.goals:
            for variable in variables(goal):
                scope.values.setdefault(variable.name, s.Variable(s.Ident(variable.name)))
        scope.values["_"] = anything
        body = joined([test(goal, scope) for goal in clause.goals])
        return s.RuleDecl(head, body, span=clause.span)

    def _rule(self, number: int, rule: t.Rule) -> Iterator[s.EventDecl]:
        counts = Counter(v.name for v in variables(rule.head))
        counts.update(v.name for v in pattern_variables(rule.pattern))
        if self.directives.prefer is not None:
            counts[self.directives.prefer.name] += 1
        further: list[s.EventDecl] = []

        def declare(head: t.Atom, pattern: t.Pattern) -> None:
            further.extend(self._rule(number, t.Rule(head, pattern, span=head.span.to(pattern.span))))

        def unite(names: tuple[str, ...], branches: tuple[t.Pattern, ...], span: Span) -> t.Atom:
            head = self._united(number, rule.head.name.text, names, span)
            if any(_has_choice(branch) for branch in branches):
                self.choosing |= {key_of(head)}
            for branch in branches:
                declare(head, branch)
            return head

        predicates = self.meaning.predicates
        shape = PatternTranslator(declare, unite, self.directives.consume is not None, *_window(rule))
        for pattern in self._split(rule, counts):
            columns = {c for atom in atoms(pattern) for c in predicates.columns[key_of(atom)]}
            columns |= united_in_absences(pattern)
            scope = RuleScope(self.meaning, number, Counter(counts), frozenset(bound_by(pattern)), frozenset(columns))
            known = dict(predicates.columns)
            try:
                body = self._windowed(rule, shape.body(pattern, scope))
            except UnevenAlternativesError as uneven:
                branches = spread(pattern, uneven.choice)
                if self.directives.consume is not None or branches == (pattern,):
                    raise uneven.problem from None
                further.clear()
                predicates.columns.clear()
                predicates.columns.update(known)
                rules = (replace(rule, pattern=branch) for branch in branches)
                try:
                    yield from [event for one in rules for event in self._rule(number, one)]
                except ProgramError:
                    raise uneven.problem from None
                continue
            event = self._event(rule, body, scope)
            yield from further
            further.clear()
            yield event

    def _split(self, rule: t.Rule, counts: Counter[str]) -> Iterator[t.Pattern]:
        """An OR around the whole pattern whose variables are used becomes one rule for each branch."""
        core, around = rule.pattern, list[t.Condition | t.Limited]()
        while isinstance(core, t.Group | t.Limited | t.Condition):
            if not isinstance(core, t.Group):
                around.append(core)
            core = core.pattern
        branches = alternatives(core)
        inside = Counter(v.name for v in pattern_variables(core))
        if len(branches) < 2 or all(counts[name] == inside[name] for name in inside):
            yield rule.pattern
            return
        for branch in branches:
            pattern = branch
            for outer in reversed(around):
                pattern = replace(outer, pattern=pattern)
            yield pattern

    def _event(self, rule: t.Rule, body: s.Body, scope: RuleScope) -> s.EventDecl:
        key = key_of(rule.head)
        columns = self.meaning.predicates.columns[key]
        items: list[s.Item] = []
        for n, (arg, column) in enumerate(zip(rule.head.args, columns, strict=True)):
            missing = scope.missing(arg)
            if missing or (isinstance(arg, t.Variable) and arg.is_anything):
                raise self._unsafe_head(missing[0] if missing else arg, rule)
            value = scope.value(arg, double=self._type(key, n) == "DOUBLE")
            alias = None if _own_name(value) == column else s.Ident(column, span=arg.span)
            items.append(s.Item(value, alias, span=arg.span))
        name = s.Ident(self.meaning.predicates.event_name(key), quoted=rule.head.name.quoted, span=rule.head.name.span)
        consume = self._consume(scope) if key in self.choosing else None
        return s.EventDecl(name, tuple(items) or None, body, consume=consume, per="INTERVAL", span=rule.span)

    def _consume(self, scope: RuleScope) -> s.Consume | None:
        consume, prefer = self.directives.consume, self.directives.prefer
        if consume is None or prefer is None or prefer.name not in scope.values:
            return consume
        return replace(consume, prefer=scope.value(prefer))

    def _unsafe_head(self, variable: t.Term, rule: t.Rule) -> ProgramError:
        assert isinstance(variable, t.Variable)
        near = nearest(variable.name, bound_by(rule.pattern), n=1)
        return ProgramError.of(
            "INK0132",
            f"`{variable.name}` is not bound",
            span=variable.span,
            source=self.meaning.source,
            label="used in the head",
            notes=("a variable of the head must be bound by the pattern, outside NOT, or in WHERE",),
            helps=tuple(f"did you mean `{one}`?" for one in near),
        )

    def _windowed(self, rule: t.Rule, body: s.Body) -> s.Body:
        for one in rule.label.properties if rule.label else ():
            if one.name.text in WINDOW_PROPERTIES and aggregates(rule.pattern):
                continue  # it is the window of the aggregate
            if one.name.text in WINDOW_PROPERTIES:
                within = duration(one.value, self.meaning.source)
                if one.name.text == HALF_OPEN:
                    within = shorter(within)
                if body.within is not None or body.having is not None:
                    body = s.Body(s.Nested(body, span=body.span), span=body.span)
                body = replace(body, within=within)
            elif one.name.text not in IDLE_PROPERTIES:
                choices = WINDOW_PROPERTIES + IDLE_PROPERTIES
                raise ProgramError.of(
                    "INK0133",
                    f"unknown property `{one.name.text}`",
                    span=one.name.span,
                    source=self.meaning.source,
                    notes=(f"the choices are {', '.join(choices[:-1])} and {choices[-1]}",),
                    helps=tuple(f"write `{near}`" for near in nearest(one.name.text, choices, n=1)),
                )
        return body

    def _united(self, number: int, rule: str, names: tuple[str, ...], span: Span) -> t.Atom:
        """The head of an event that unites alternatives."""
        predicates = self.meaning.predicates
        taken = {predicates.event_name(key) for key in predicates.columns} | {name for name, _ in predicates.columns}
        head = t.Atom(
            s.Ident(unused(f"{rule}_either", taken), span=span),
            tuple(t.Variable(name, span=span) for name in names),
            span=span,
        )
        key = key_of(head)
        predicates.columns[key] = names
        for place, name in enumerate(names):
            self.meaning.kinds.agree(column_slot(key, place), variable_slot(number, name))
        return head


def _looks_up(goal: t.Term) -> bool:
    """Whether a goal asks that there be no fact, which binds none of its variables."""
    return isinstance(goal, t.Negated) and any(True for _ in t.static_atoms((goal,)))


def _window(rule: t.Rule) -> tuple[t.Quantity | None, bool]:
    """The window of a rule, and whether its older border is outside."""
    properties = rule.label.properties if rule.label else ()
    found = ((one.value, one.name.text == HALF_OPEN) for one in properties if one.name.text in WINDOW_PROPERTIES)
    return next(found, (None, False))


def _late(file: t.RuleFile, source: SourceText) -> dict[Key, s.Duration]:
    """How late the inputs of rules with an `ooo_window` may be, through all rules between."""
    rules = [rule for rule in file.statements if isinstance(rule, t.Rule)]
    late: dict[Key, s.Duration] = {}
    for rule in rules:
        for one in rule.label.properties if rule.label else ():
            if one.name.text == LATE_PROPERTY:
                window = duration(one.value, source)
                reached = _asked_for(rule)
                waiting = list(reached)
                while waiting:
                    key = waiting.pop()
                    late[key] = max(window, late.get(key, window), key=_length)
                    used = {one for other in rules if key_of(other.head) == key for one in _asked_for(other)}
                    waiting += used - reached
                    reached |= used
    return late


def _asked_for(rule: t.Rule) -> set[Key]:
    """The events of a rule, and the events and facts that its goals ask for."""
    return {key_of(atom) for atom in (*atoms(rule.pattern), *t.static_atoms(t.every_goal(rule.pattern)))}


def _length(length: s.Duration) -> float:
    """In microseconds; ticks, whose length is not known here, are the shortest."""
    return float(length.amount) * MICROSECONDS.get(length.unit, 1e-9)


def _own_name(value: s.Expr) -> str | None:
    match value:
        case s.Variable(name=name) | s.Attribute(column=name):
            return name.text
        case _:
            return None


def _choosing(file: t.RuleFile) -> frozenset[Key]:
    rules = [(rule.head, rule.pattern) for rule in file.statements if isinstance(rule, t.Rule)]
    rules += [(inner.head, inner.pattern) for _, pattern in rules for inner in inner_rules(pattern)]
    return frozenset(key_of(head) for head, pattern in rules if _has_choice(pattern))


def _has_choice(pattern: t.Pattern) -> bool:
    match pattern:
        case t.Group(pattern=inner) | t.Limited(pattern=inner) | t.Condition(pattern=inner):
            return _has_choice(inner)
        case t.Atom() | t.Point() | t.InnerRule():
            return False
        case _ if aggregates(pattern):
            return False
        case t.Joined(op="OR", left=left, right=right):
            return _has_choice(left) or _has_choice(right)
        case _:
            return True
