"""Clauses of rules as they are written: one per way through OR, with calls of open rules written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count, product
from typing import TypeVar

from inkling.language import syntax as s
from inkling.logical.binding.syntax_walk import walk

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
    return [WrittenClause(decl.head, way) for way in _ways(decl.body, knowledge)]


def _ways(body: s.Expr | None, knowledge: frozenset[str]) -> list[tuple[s.Expr, ...]]:
    match body:
        case None:
            return [()]
        case s.AllOf(items=items):
            parts = [_ways(item, knowledge) for item in items]
            return [tuple(one for part in parts for one in part) for parts in product(*parts)]
        case s.AnyOf(items=items) if any(True for _ in calls_in(body, knowledge)):
            return [way for item in items for way in _ways(item, knowledge)]
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
