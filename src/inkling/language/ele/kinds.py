"""Guesses which columns are numbers, from the constants, comparisons and arithmetic that they meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from inkling.language.ele import terms as t
from inkling.language.ele.directives import Directives
from inkling.language.ele.predicates import Key, key_of
from inkling.language.ele.walk import ASSIGNMENTS, aggregated, atoms, flat_goals, inner_rules, parts, variables

Slot: TypeAlias = tuple[object, ...]  # a column of a predicate, or a variable of a statement

_ORDER = frozenset({"<", ">", "=<", ">=", "=:=", "=\\=", "is"})
_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "LONG"})
_REAL = frozenset({"FLOAT", "REAL", "DOUBLE"})


def column_slot(key: Key, number: int) -> Slot:
    return ("column", *key, number)


def variable_slot(statement: int, name: str) -> Slot:
    return ("variable", statement, name)


@dataclass(slots=True)
class Kinds:
    """Columns and variables that must agree form one class; a class is of numbers or of texts."""

    _parent: dict[Slot, Slot] = field(default_factory=dict)
    _numeric: set[Slot] = field(default_factory=set)
    _declared: dict[Slot, set[str]] = field(default_factory=dict)

    def type_of(self, slot: Slot) -> str:
        """DOUBLE for numbers, STRING for everything of which nothing is known."""
        root = self._root(slot)
        declared = self._declared.get(root, set())
        if declared:
            return "DOUBLE" if declared & _REAL else sorted(declared)[0]
        return "DOUBLE" if root in self._numeric else "STRING"

    def is_whole(self, slot: Slot) -> bool:
        """Whether the numbers of a class are declared as whole."""
        declared = self._declared.get(self._root(slot), set())
        return bool(declared & _WHOLE) and not declared & _REAL

    def declare(self, slot: Slot, kind: str) -> None:
        self._declared.setdefault(self._root(slot), set()).add(kind)

    def number(self, slot: Slot | None) -> None:
        if slot is not None:
            self._numeric.add(self._root(slot))

    def agree(self, left: Slot | None, right: Slot | None) -> None:
        if left is None or right is None:
            return
        left, right = self._root(left), self._root(right)
        if left == right:
            return
        self._parent[right] = left
        if right in self._numeric:
            self._numeric.add(left)
        if right in self._declared:
            self._declared.setdefault(left, set()).update(self._declared.pop(right))

    def _root(self, slot: Slot) -> Slot:
        while slot in self._parent:
            slot = self._parent[slot]
        return slot


def infer(file: t.RuleFile, directives: Directives) -> Kinds:
    kinds = Kinds()
    for key, stream in directives.streams.items():
        for number, kind in enumerate(stream.types):
            if kind is not None:
                kinds.declare(column_slot(key, number), kind)
    for key, table in directives.tables.items():
        for number, column in enumerate(table.columns):
            kinds.declare(column_slot(key, number), column.type.text)
    for number, statement in enumerate(file.statements):
        reader = _Statement(kinds, number)
        match statement:
            case t.Rule(head=head, pattern=pattern):
                reader.rule(head, pattern)
            case t.Clause(head=head, goals=goals):
                reader.atom(head)
                reader.goals(goals)
            case t.Directive():
                pass
    return kinds


@dataclass(frozen=True, slots=True)
class _Statement:
    kinds: Kinds
    number: int

    def rule(self, head: t.Atom, pattern: t.Pattern) -> None:
        self.atom(head)
        for inner in inner_rules(pattern):
            self.atom(inner.head)
        for atom in atoms(pattern):
            self.atom(atom)
        self.results(pattern)
        for goals in _conditions(pattern):
            self.goals(goals)

    def results(self, pattern: t.Pattern) -> None:
        """Aggregates are numbers, and so is what they are calculated from."""
        if isinstance(pattern, t.Atom) and aggregated(pattern) is not None:
            function, _, result = pattern.args
            for variable in (*variables(function), *variables(result)):
                self.kinds.number(self.slot(variable))
        for part in parts(pattern):
            self.results(part)

    def atom(self, atom: t.Atom) -> None:
        for number, arg in enumerate(atom.args):
            slot = column_slot(key_of(atom), number)
            self.kinds.agree(slot, self.slot(arg))
            if self.is_number(arg):
                self.kinds.number(slot)

    def goals(self, goals: Iterable[t.Term]) -> None:
        for goal in flat_goals(goals):
            match goal:
                case t.Atom():
                    self.atom(goal)
                case t.Negated(goal=inner):
                    self.goals((inner,))
                case t.Comparison(op=op, left=left, right=right):
                    slots = self.slot(left), self.slot(right)
                    if op in ASSIGNMENTS or op in ("\\=", "\\==") or op in _ORDER:
                        self.kinds.agree(*slots)
                    if op in _ORDER or self.is_number(left) or self.is_number(right):
                        for slot in slots:
                            self.kinds.number(slot)
                case _:
                    pass

    def slot(self, term: t.Term) -> Slot | None:
        """The class a term belongs to; marks the operands of arithmetic on the way."""
        match term:
            case t.Variable():
                return None if term.is_anything else variable_slot(self.number, term.name)
            case t.Arithmetic(left=left, right=right):
                for side in (left, right):
                    self.kinds.number(self.slot(side))
            case t.Minus(operand=operand):
                self.kinds.number(self.slot(operand))
            case t.Goals(goals=(inner,)):
                return self.slot(inner)
            case _:
                pass
        return None

    def is_number(self, term: t.Term) -> bool:
        match term:
            case t.Number() | t.Arithmetic() | t.Minus():
                return True
            case t.Goals(goals=(inner,)):
                return self.is_number(inner)
            case _:
                return False


def _conditions(pattern: t.Pattern) -> Iterator[tuple[t.Term, ...]]:
    if isinstance(pattern, t.Condition):
        yield pattern.goals
    for part in parts(pattern):
        yield from _conditions(part)
