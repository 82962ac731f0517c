"""Clauses of rules: one per way through OR, and what its parts do: bind variables, name values, or test.

Open rules have arguments that only their caller knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count, product
from typing import TypeVar

from inkling.language import syntax as s
from inkling.logical.binding.syntax_walk import walk
from inkling.model.schema import Column, TableSchema


@dataclass(frozen=True, slots=True)
class Modes:
    """A clause sorted: what facts bind, what is named in order, what is tested, and what only the caller knows."""

    clause: WrittenClause
    atoms: tuple[s.Call, ...]
    bound: frozenset[str]  # by atoms
    named: tuple[tuple[s.Ident, s.Expr], ...]
    conditions: tuple[s.Expr, ...]
    open: frozenset[str]  # variables of the head that nothing here gives a value
    unsafe: tuple[s.Ident, ...]  # variables of the body alone that nothing gives a value

    def by_caller(self, *nodes: s.Expr) -> bool:
        """Whether expressions depend on what only the caller knows."""
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
    """Sorts the conjuncts of a clause."""
    atoms: list[s.Call] = []
    others: list[s.Expr] = []
    for conjunct in clause.conjuncts:
        if isinstance(conjunct, s.Call) and conjunct.name.text in knowledge:
            atoms.append(conjunct)
        else:
            others.append(conjunct)
    bound = {
        arg.name.text for atom in atoms for arg in atom.args if isinstance(arg, s.Variable) and not is_anything(arg)
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
    """The variable that `v = expression` names; `loose` when the expression may wait for the caller.

    Of two variables the one is named that is no parameter, for that one nobody else can give a value.
    """
    if not isinstance(conjunct, s.Compare) or conjunct.op != "=":
        return None
    sides = [(conjunct.left, conjunct.right), (conjunct.right, conjunct.left)]
    if loose and isinstance(conjunct.right, s.Variable) and conjunct.right.name.text not in in_head:
        sides.reverse()
    for side, other in sides:
        if not isinstance(side, s.Variable) or is_anything(side):
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
    """The variables behind an expression that are not named values themselves."""
    found: set[str] = set()
    for name in variables_in(expr):
        found |= _needs(named[name.text][1], named) if name.text in named else {name.text}
    return found


def _in_order(named: dict[str, tuple[s.Ident, s.Expr]]) -> tuple[tuple[s.Ident, s.Expr], ...]:
    """Named values after those they need."""
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
    """Bare arguments of look-ups inside a condition; what nothing else binds may be anything there."""
    return [
        arg.name
        for call in calls_in(test, knowledge)
        for arg in call.args
        if isinstance(arg, s.Variable) and not is_anything(arg)
    ]


def _outside_calls(test: s.Expr, knowledge: frozenset[str]) -> list[s.Ident]:
    """Variables of a condition that stand outside look-ups, or inside larger arguments of them."""
    bare = {id(arg.name) for call in calls_in(test, knowledge) for arg in call.args if isinstance(arg, s.Variable)}
    return [
        part.name
        for part in walk(test)
        if isinstance(part, s.Variable) and not is_anything(part) and id(part.name) not in bare
    ]


MAX_WAYS = 256
"""Clauses that one rule may have once OR and open rules are written out."""

ANYTHING = "_"

NodeT = TypeVar("NodeT", bound=s.Node)


@dataclass(frozen=True, slots=True)
class WrittenClause:
    """`head(args) IF conjuncts`."""

    head: s.Call
    conjuncts: tuple[s.Expr, ...]

    @property
    def name(self) -> str:
        return self.head.name.text

    @property
    def args(self) -> tuple[s.Expr, ...]:
        return self.head.args


def clauses_of(decl: s.RuleDecl, knowledge: frozenset[str]) -> list[WrittenClause]:
    """One clause per way in which look-ups joined by OR can hold."""
    return [WrittenClause(decl.head, way) for way in _disjuncts(decl.body, knowledge)]


def _disjuncts(body: s.Expr | None, knowledge: frozenset[str]) -> list[tuple[s.Expr, ...]]:
    match body:
        case None:
            return [()]
        case s.AllOf(items=items):
            parts = [_disjuncts(item, knowledge) for item in items]
            return [tuple(one for part in parts for one in part) for parts in product(*parts)]
        case s.AnyOf(items=items) if any(True for _ in calls_in(body, knowledge)):
            return [way for item in items for way in _disjuncts(item, knowledge)]
        case _:
            return [(body,)]


def calls_in(node: s.Expr | None, knowledge: Iterable[str]) -> Iterator[s.Call]:
    """Calls of tables and rules anywhere in an expression."""
    yield from (part for part in walk(node) if isinstance(part, s.Call) and part.name.text in knowledge)


def variables_in(*nodes: s.Expr | None) -> list[s.Ident]:
    """The variables of some expressions, each where it stands first."""
    found: dict[str, s.Ident] = {}
    for node in nodes:
        for part in walk(node):
            if isinstance(part, s.Variable) and part.name.text != ANYTHING:
                found.setdefault(part.name.text, part.name)
    return list(found.values())


def is_anything(arg: s.Expr) -> bool:
    return isinstance(arg, s.Variable) and arg.name.text == ANYTHING


@dataclass(slots=True)
class Unfolding:
    """Writes calls of open rules out, with variables that nothing else uses."""

    _numbers: Iterator[int]

    @classmethod
    def fresh(cls) -> Unfolding:
        return cls(count())

    def unfolded(self, clause: WrittenClause, opened: Mapping[str, list[WrittenClause]]) -> list[WrittenClause]:
        """The clause once per choice of clauses for the open rules that it calls."""
        choices: list[list[tuple[s.Expr, ...]]] = []
        for conjunct in clause.conjuncts:
            if isinstance(conjunct, s.Call) and conjunct.name.text in opened:
                choices.append([self._body(conjunct, called) for called in opened[conjunct.name.text]])
            else:
                choices.append([(conjunct,)])
        return [replace(clause, conjuncts=tuple(one for part in way for one in part)) for way in product(*choices)]

    def _body(self, call: s.Call, called: WrittenClause) -> tuple[s.Expr, ...]:
        """What a call means by one clause: the body, with the arguments in the place of the head's."""
        number = next(self._numbers)
        values: dict[str, s.Expr] = {}
        equal: list[tuple[s.Expr, s.Expr]] = []
        for arg, head in zip(call.args, called.args, strict=True):
            if is_anything(arg):
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


def _with_values(node: NodeT, values: Mapping[str, s.Expr]) -> NodeT:
    """The expression with other expressions in the place of variables."""
    if isinstance(node, s.Variable) and node.name.text in values:
        return values[node.name.text]  # type: ignore[return-value]
    changes: dict[str, object] = {}
    for part in fields(node):
        value = getattr(node, part.name)
        if isinstance(value, s.Node) and not isinstance(value, s.Ident):
            changes[part.name] = _with_values(value, values)
        elif isinstance(value, tuple) and any(isinstance(item, s.Node) for item in value):
            changes[part.name] = tuple(_with_values(item, values) for item in value)
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class OpenClause:
    """A clause, and which columns of the rule's table hold its parameters and variables that facts give values."""

    modes: Modes
    columns: Mapping[str, Column]

    def opens(self, place: int) -> bool:
        """Whether only the caller knows the argument in a place."""
        arg = self.modes.clause.args[place]
        return isinstance(arg, s.Variable) and arg.name.text in self.modes.open

    def is_stored(self, place: int) -> bool:
        return not self.modes.by_caller(self.modes.clause.args[place])


@dataclass(frozen=True, slots=True)
class OpenRule:
    """`schema.columns[0]` shows which clause a row belongs to."""

    schema: TableSchema
    parameters: tuple[str, ...]
    clauses: tuple[OpenClause, ...]
    needs_no_facts: bool

    def must_be_given(self, place: int) -> bool:
        return any(clause.opens(place) for clause in self.clauses)

    def is_stored(self, place: int) -> bool:
        """Whether every clause knows the argument without its caller, so that it is a column of the table."""
        return all(clause.is_stored(place) for clause in self.clauses)
