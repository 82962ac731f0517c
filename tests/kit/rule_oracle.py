"""What rules answer, worked out from their text alone: one clause after the other, one value at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.language.syntax import walk
from inkling.logical.evaluate import COMPARISONS
from inkling.logical.functions import FUNCTIONS
from inkling.model.event import Value

Fact = tuple[Value, ...]
Known = dict[str, Value]


class UnboundError(Exception):
    """Something has no value yet, so it must wait for the rest of the clause."""


@dataclass
class RuleOracle:
    """Answers calls of the rules of a program over some tables.

    Rules that use themselves are derived bottom up; all others are answered by their clauses at every call.
    """

    program: s.Program
    tables: Mapping[str, Sequence[Fact]]
    facts: dict[str, set[Fact]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clauses: dict[str, list[s.RuleDecl]] = {}
        for decl in self.program.statements:
            if isinstance(decl, s.RuleDecl):
                self.clauses.setdefault(decl.head.name.text, []).append(decl)
        uses = {name: {used for decl in some for used in _used(decl.body)} for name, some in self.clauses.items()}
        reach = {name: _closure(name, uses) for name in uses}
        for name in sorted((name for name in uses if name in reach[name]), key=lambda name: len(reach[name])):
            if name not in self.facts:
                self._derive([other for other in uses if other in reach[name] and name in reach[other]])

    def _derive(self, group: list[str]) -> None:
        self.facts |= {name: set() for name in group}
        grows = True
        while grows:
            found = {
                name: {
                    fact for decl in self.clauses[name] for fact in self._by_clause(decl, [_FREE] * len(decl.head.args))
                }
                for name in group
            }
            grows = any(found[name] != self.facts[name] for name in group)
            self.facts |= found

    def answers(self, name: str, given: Sequence[object]) -> set[Fact]:
        """All solutions of a call; `FREE` stands for an argument that has no value."""
        if any(value is None for value in given):
            return set()
        if name in self.tables or name in self.facts:
            rows: Iterable[Fact] = self.facts[name] if name in self.facts else self.tables[name]
            return {row for row in rows if all(_agrees(have, want) for have, want in zip(row, given, strict=True))}
        return {fact for decl in self.clauses[name] for fact in self._by_clause(decl, given)}

    def _by_clause(self, decl: s.RuleDecl, given: Sequence[object]) -> Iterator[Fact]:
        known: Known = {}
        for arg, value in zip(decl.head.args, given, strict=True):
            if isinstance(arg, s.Variable) and value is not _FREE and arg.name.text not in known:
                known[arg.name.text] = value  # type: ignore[assignment]
        for solution in self._solve([] if decl.body is None else [decl.body], known):
            fact = tuple(self._value(arg, solution) for arg in decl.head.args)
            if all(_agrees(have, want) for have, want in zip(fact, given, strict=True)):
                yield fact

    def _solve(self, goals: list[s.Expr], known: Known) -> Iterator[Known]:
        if not goals:
            yield known
            return
        # what nothing else binds is existential inside a test, so such tests come last
        waiting = [place for place, goal in enumerate(goals) if not self._binds(goal) and _unbound(goal, known)]
        order = [place for place in range(len(goals)) if place not in waiting]
        for place in order or waiting:
            goal = goals[place]
            try:
                ways = list(self._ways(goal, known))
            except UnboundError:
                continue
            rest = goals[:place] + goals[place + 1 :]
            for more, solution in ways:
                yield from self._solve([*more, *rest], solution)
            return
        raise UnboundError

    def _binds(self, goal: s.Expr) -> bool:
        match goal:
            case s.Call(name=name):
                return name.text in self.clauses or name.text in self.tables
            case s.Compare(op="="):
                return True
            case s.AllOf(items=items) | s.AnyOf(items=items):
                return any(self._binds(item) for item in items)
            case _:
                return False

    def _ways(self, goal: s.Expr, known: Known) -> Iterator[tuple[list[s.Expr], Known]]:
        match goal:
            case s.AllOf(items=items):
                yield list(items), known
            case s.AnyOf(items=items) if any(isinstance(item, s.Call | s.AllOf | s.AnyOf) for item in items):
                yield from (([item], known) for item in items)
            case s.Call(name=name) if name.text in self.clauses or name.text in self.tables:
                yield from (([], solution) for solution in self._called(goal, known))
            case s.Compare(op="=", left=left, right=right) if (named := self._named(left, right, known)) is not None:
                yield [], named
            case _:
                if self._value(goal, known) is True:
                    yield [], known

    def _named(self, left: s.Expr, right: s.Expr, known: Known) -> Known | None:
        for side, other in ((left, right), (right, left)):
            if isinstance(side, s.Variable) and side.name.text not in known and side.name.text != "_":
                return {**known, side.name.text: self._value(other, known)}
        return None

    def _called(self, call: s.Call, known: Known) -> Iterator[Known]:
        given = [self._argument(arg, known) for arg in call.args]
        for fact in self.answers(call.name.text, given):
            solution = dict(known)
            for arg, have in zip(call.args, fact, strict=True):
                if isinstance(arg, s.Variable) and arg.name.text != "_" and arg.name.text not in known:
                    if arg.name.text in solution and (have is None or solution[arg.name.text] != have):
                        break
                    if arg.name.text in solution and solution[arg.name.text] is None:
                        break
                    solution[arg.name.text] = have
            else:
                yield solution

    def _argument(self, arg: s.Expr, known: Known) -> object:
        if isinstance(arg, s.Variable) and arg.name.text not in known:
            return _FREE
        return self._value(arg, known)

    def _value(self, node: s.Expr, known: Known) -> Value:
        match node:
            case s.Literal(value=value):
                return value
            case s.Variable(name=name):
                if name.text not in known:
                    raise UnboundError
                return known[name.text]
            case s.Unary(operand=operand):
                value = self._value(operand, known)
                return None if value is None else -value  # type: ignore[operator]
            case s.Binary(op=op, left=left, right=right):
                return _combined(op, self._value(left, known), self._value(right, known))
            case s.Compare(op=op, left=left, right=right):
                one, other = self._value(left, known), self._value(right, known)
                return one is not None and other is not None and COMPARISONS[op](one, other)
            case s.InList(item=item, options=options, negated=negated):
                value = self._value(item, known)
                found = value is not None and any(value == self._value(option, known) for option in options)
                return found != negated
            case s.IsNull(item=item, negated=negated):
                return (self._value(item, known) is None) != negated
            case s.AllOf(items=items):
                values = [self._value(item, known) for item in items]  # all of them, for what is not bound yet
                return all(value is True for value in values)
            case s.AnyOf(items=items):
                values = [self._value(item, known) for item in items]
                return any(value is True for value in values)
            case s.Negation(item=item):
                return self._value(item, known) is not True
            case s.Call(name=name, args=args) if name.text in self.clauses or name.text in self.tables:
                return bool(self.answers(name.text, [self._argument(arg, known) for arg in args]))
            case s.Call(name=name, args=args):
                values = [self._value(arg, known) for arg in args]
                return None if None in values else FUNCTIONS[name.text].meaning(*values)
            case _:
                raise AssertionError(node)


class _Free:
    def __repr__(self) -> str:
        return "FREE"


FREE = _FREE = _Free()


def _agrees(have: Value, want: object) -> bool:
    return want is _FREE or (have is not None and want is not None and have == want)


def _unbound(goal: s.Expr, known: Known) -> bool:
    return any(isinstance(node, s.Variable) and node.name.text not in known for node in walk(goal))


def _combined(op: str, one: Value, other: Value) -> Value:
    if one is None or other is None:
        return None
    assert isinstance(one, int | float)
    assert isinstance(other, int | float)
    match op:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case "/":
            return None if other == 0 else one / other
        case _:
            raise AssertionError(op)


def _used(body: s.Expr | None) -> Iterator[str]:
    if body is None:
        return
    yield from (node.name.text for node in walk(body) if isinstance(node, s.Call))


def _closure(name: str, uses: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(uses[name])
    while waiting:
        used = waiting.pop()
        if used not in found:
            found.add(used)
            waiting.extend(uses.get(used, ()))
    return found
