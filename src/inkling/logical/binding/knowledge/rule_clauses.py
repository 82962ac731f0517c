"""Clauses of rules: one per disjunct, and the mode of each conjunct: it binds variables, names a value, or tests.

An open rule has arguments that only its caller knows, such as `speed` in

    RULE slow(road, speed) IF threshold(road, top) AND speed < top;
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, product
from typing import cast

from inkling.language import syntax as s
from inkling.model.schema import Column, TableSchema


@dataclass(frozen=True, slots=True)
class Modes:
    """Mode analysis of a clause: which variables atoms bind, `v = …` names, conditions test, or the caller supplies."""

    clause: WrittenClause
    atoms: tuple[s.Call, ...]
    bound: frozenset[str]  # by atoms
    named: tuple[tuple[s.Ident, s.Expr], ...]
    conditions: tuple[s.Expr, ...]
    open: frozenset[str]  # variables of the head that only the caller binds
    unsafe: tuple[s.Ident, ...]  # variables of the body that nothing binds

    def depends_on_caller(self, *nodes: s.Expr) -> bool:
        """Whether expressions depend on variables that only the caller binds."""
        waiting = [name.text for name in variables_in(*nodes)]
        values = {name.text: value for name, value in self.named}
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in self.open:
                return True
            if name in values and name not in seen:
                seen.add(name)
                waiting.extend(inner.text for inner in variables_in(values[name]))
        return False


def modes_of(clause: WrittenClause, knowledge: frozenset[str]) -> Modes:
    """Analyzes the modes of the conjuncts of a clause."""
    atoms: list[s.Call] = []
    others: list[s.Expr] = []
    for conjunct in clause.conjuncts:
        if isinstance(conjunct, s.Call) and conjunct.name.text in knowledge:
            atoms.append(conjunct)
        else:
            others.append(conjunct)
    bound = {
        arg.name.text for atom in atoms for arg in atom.args if isinstance(arg, s.Variable) and not is_wildcard(arg)
    }
    in_head = {name.text for name in variables_in(*clause.args)}
    named: dict[str, tuple[s.Ident, s.Expr]] = {}
    pending = list(others)
    for loose in (False, True):
        grows = True
        while grows:
            grows = False
            for conjunct in list(pending):
                chosen = _naming(conjunct, bound, named, in_head, loose=loose)
                if chosen is not None:
                    named[chosen[0].text] = chosen
                    pending.remove(conjunct)
                    grows = True
                    break
    conditions = tuple(conjunct for conjunct in others if conjunct in pending)
    existential = {name.text for test in conditions for name in _existential(test, knowledge)}
    mentioned = variables_in(*atoms, *conditions, *(value for _, value in named.values()))
    missing = [name for name in mentioned if name.text not in bound and name.text not in named]
    elsewhere = [name.text for test in conditions for name in _outside_calls(test, knowledge)]
    elsewhere += [name.text for _, value in named.values() for name in variables_in(value)]
    unsafe = tuple(
        name
        for name in missing
        if name.text not in in_head and (name.text not in existential or name.text in elsewhere)
    )
    opened = frozenset(name for name in in_head if name not in bound and name not in named)
    return Modes(clause, tuple(atoms), frozenset(bound), _in_order(named), conditions, opened, unsafe)


def _naming(
    conjunct: s.Expr, bound: set[str], named: dict[str, tuple[s.Ident, s.Expr]], in_head: set[str], *, loose: bool
) -> tuple[s.Ident, s.Expr] | None:
    """The variable that `v = expression` names; with `loose`, the expression may depend on the caller.

    Of two variables, the one that is not a parameter is named: nothing else can bind it.
    """
    if not isinstance(conjunct, s.Compare) or conjunct.op != "=":
        return None
    sides = [(conjunct.left, conjunct.right), (conjunct.right, conjunct.left)]
    if loose and isinstance(conjunct.right, s.Variable) and conjunct.right.name.text not in in_head:
        sides.reverse()
    for side, other in sides:
        if not isinstance(side, s.Variable) or is_wildcard(side):
            continue
        name = side.name.text
        if name in bound or name in named:
            continue
        needs = _needs(other, named)
        known = all(need in bound for need in needs)
        if name not in needs and (known or loose):
            return side.name, other
    return None


def _needs(expr: s.Expr, named: dict[str, tuple[s.Ident, s.Expr]]) -> set[str]:
    """The variables that an expression depends on, through named values."""
    found: set[str] = set()
    for name in variables_in(expr):
        found |= _needs(named[name.text][1], named) if name.text in named else {name.text}
    return found


def _in_order(named: dict[str, tuple[s.Ident, s.Expr]]) -> tuple[tuple[s.Ident, s.Expr], ...]:
    """Named values in topological order."""
    done: dict[str, tuple[s.Ident, s.Expr]] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        for needed in variables_in(named[name][1]):
            if needed.text in named:
                visit(needed.text)
        done[name] = named[name]

    for name in named:
        visit(name)
    return tuple(done.values())


def _existential(test: s.Expr, knowledge: frozenset[str]) -> list[s.Ident]:
    """Bare arguments of look-ups inside a condition; unbound ones match any value there."""
    return [
        arg.name
        for call in calls_in(test, knowledge)
        for arg in call.args
        if isinstance(arg, s.Variable) and not is_wildcard(arg)
    ]


def _outside_calls(test: s.Expr, knowledge: frozenset[str]) -> list[s.Ident]:
    """Variables of a condition outside look-ups, or inside larger arguments of look-ups."""
    bare = {id(arg.name) for call in calls_in(test, knowledge) for arg in call.args if isinstance(arg, s.Variable)}
    return [
        part.name
        for part in s.walk(test)
        if isinstance(part, s.Variable) and not is_wildcard(part) and id(part.name) not in bare
    ]


MAX_CLAUSES = 256
"""Largest number of clauses of one rule after OR and open rules are expanded."""

WILDCARD = "_"


@dataclass(frozen=True, slots=True)
class WrittenClause:
    """`head(args) IF conjuncts`."""

    head: s.Call
    conjuncts: tuple[s.Expr, ...]
    note: str | None = None

    @property
    def name(self) -> str:
        return self.head.name.text

    @property
    def args(self) -> tuple[s.Expr, ...]:
        return self.head.args


def clauses_of(decl: s.RuleDecl, knowledge: frozenset[str]) -> list[WrittenClause]:
    """One clause per disjunct of the look-ups in a rule."""
    note = decl.comments[0] if decl.comments else None
    return [WrittenClause(decl.head, disjunct, note) for disjunct in _disjuncts(decl.body, knowledge)]


def _disjuncts(body: s.Expr | None, knowledge: frozenset[str]) -> list[tuple[s.Expr, ...]]:
    match body:
        case None:
            return [()]
        case s.AllOf(items=items):
            parts = [_disjuncts(item, knowledge) for item in items]
            return [tuple(one for part in parts for one in part) for parts in product(*parts)]
        case s.AnyOf(items=items) if any(True for _ in calls_in(body, knowledge)):
            return [disjunct for item in items for disjunct in _disjuncts(item, knowledge)]
        case _:
            return [(body,)]


def calls_in(node: s.Expr | None, knowledge: Iterable[str]) -> Iterator[s.Call]:
    """Calls of tables and rules anywhere in an expression."""
    yield from (part for part in s.walk(node) if isinstance(part, s.Call) and part.name.text in knowledge)


def variables_in(*nodes: s.Expr | None) -> list[s.Ident]:
    """The variables of some expressions, each at its first occurrence."""
    found: dict[str, s.Ident] = {}
    for node in nodes:
        for part in s.walk(node):
            if isinstance(part, s.Variable) and part.name.text != WILDCARD:
                found.setdefault(part.name.text, part.name)
    return list(found.values())


def is_wildcard(arg: s.Expr) -> bool:
    return isinstance(arg, s.Variable) and arg.name.text == WILDCARD


@dataclass(slots=True)
class Unfolding:
    """Replaces calls of open rules by their clauses, with fresh variables."""

    _numbers: Iterator[int]

    @classmethod
    def fresh(cls) -> Unfolding:
        return cls(count())

    def unfolded(self, clause: WrittenClause, opened: Mapping[str, list[WrittenClause]]) -> list[WrittenClause]:
        """The clause, once for each combination of clauses of the open rules that it calls."""
        choices: list[list[tuple[s.Expr, ...]]] = []
        for conjunct in clause.conjuncts:
            if isinstance(conjunct, s.Call) and conjunct.name.text in opened:
                choices.append([self._body(conjunct, called) for called in opened[conjunct.name.text]])
            else:
                choices.append([(conjunct,)])
        return [
            replace(clause, conjuncts=tuple(one for part in disjunct for one in part)) for disjunct in product(*choices)
        ]

    def _body(self, call: s.Call, called: WrittenClause) -> tuple[s.Expr, ...]:
        """The body of a called clause with the arguments of the call in place of its parameters."""
        number = next(self._numbers)
        values: dict[str, s.Expr] = {}
        equal: list[tuple[s.Expr, s.Expr]] = []
        for arg, head in zip(call.args, called.args, strict=True):
            if is_wildcard(arg):
                continue
            if isinstance(head, s.Variable) and head.name.text not in values:
                values[head.name.text] = arg
            else:
                equal.append((arg, head))
        for name in variables_in(*called.args, *called.conjuncts):
            values.setdefault(name.text, s.Variable(replace(name, text=f"{name.text}'{number}"), span=name.span))
        return (
            *(_with_values(conjunct, values) for conjunct in called.conjuncts),
            *(s.Compare("=", arg, _with_values(head, values), span=arg.span) for arg, head in equal),
        )


def _with_values(expr: s.Expr, values: Mapping[str, s.Expr]) -> s.Expr:
    """The expression with other expressions in place of variables."""

    def changed(node: s.Node) -> s.Node:
        if isinstance(node, s.Variable):
            return values.get(node.name.text, node)
        return s.rebuilt(node, changed)

    return cast(s.Expr, changed(expr))


@dataclass(frozen=True, slots=True)
class OpenClause:
    """A clause, and the columns of the rule's table that hold its parameters and the variables that atoms bind."""

    modes: Modes
    columns: Mapping[str, Column]

    def opens(self, place: int) -> bool:
        """Whether only the caller binds the argument at a position."""
        arg = self.modes.clause.args[place]
        return isinstance(arg, s.Variable) and arg.name.text in self.modes.open

    def is_stored(self, place: int) -> bool:
        return not self.modes.depends_on_caller(self.modes.clause.args[place])


@dataclass(frozen=True, slots=True)
class OpenRule:
    """A rule with arguments that only its caller binds; `schema.columns[0]` is the number of the clause of a row."""

    schema: TableSchema
    parameters: tuple[str, ...]
    clauses: tuple[OpenClause, ...]
    needs_no_facts: bool

    def must_be_given(self, place: int) -> bool:
        return any(clause.opens(place) for clause in self.clauses)

    def is_stored(self, place: int) -> bool:
        """Whether every clause binds the argument itself, so that it is a column of the table."""
        return all(clause.is_stored(place) for clause in self.clauses)
