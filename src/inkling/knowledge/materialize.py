"""All facts of all rules: group after group, each round from what the round before it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.knowledge.relations import HOLDS, joined, new_rows, plain, refuse_too_many, scanned
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.knowledge import VARIABLES, Clause, RulePlan
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.clock import Measure
from inkling.model.facts import Facts
from inkling.model.schema import Column

MAX_ROUNDS = 2_000
"""Rounds in which a rule that makes new values may use itself."""


def known(program: ProgramPlan, tables: Mapping[str, pa.Table], measure: Measure) -> dict[str, pa.Table]:
    """The tables, and those that rules derive from them."""
    facts = dict(tables)
    for _, members in groupby(program.rules, lambda rule: rule.group):
        facts |= _fixpoint(list(members), facts, measure)
    return facts


def surroundings(tables: Mapping[str, pa.Table], measure: Measure) -> Surroundings:
    """What expressions need besides the match."""
    return Surroundings({name: Facts(table) for name, table in tables.items()}, measure)


def _fixpoint(group: Sequence[RulePlan], tables: Mapping[str, pa.Table], measure: Measure) -> dict[str, pa.Table]:
    """The facts of rules that use each other."""
    names = {rule.name for rule in group}
    around = surroundings(tables, measure)
    total = {rule.name: _empty(rule) for rule in group}
    found = {
        rule.name: [derived(rule, one, tables, around) for one in rule.clauses if not _own(one, names)]
        for rule in group
    }
    makes_values = any(_makes_values(one) for rule in group for one in rule.clauses if _own(one, names))
    n_rounds = 0
    while True:
        fresh = {name: new_rows(_united(total[name], some), total[name]) for name, some in found.items()}
        total = {name: pa.concat_tables([total[name], fresh[name]]).combine_chunks() for name in names}
        for name in names:
            refuse_too_many(len(total[name]), name)
        if not any(map(len, fresh.values())) or not any(_own(one, names) for rule in group for one in rule.clauses):
            return total
        n_rounds += 1
        if makes_values and n_rounds > MAX_ROUNDS:
            raise _endless(group[0].name)
        here = {**tables, **total, **{DELTA + name: table for name, table in fresh.items()}}
        found = {
            rule.name: [
                derived(rule, one, here, around, place)
                for one in rule.clauses
                for place in _own(one, names)
                if len(fresh[one.atoms[place].table])
            ]
            for rule in group
        }


def _own(clause: Clause, names: set[str]) -> list[int]:
    """The atoms of a clause that look up rules of its own group."""
    return [place for place, atom in enumerate(clause.atoms) if atom.table in names]


def _makes_values(clause: Clause) -> bool:
    """Whether a fact may hold a value that no fact before it had."""
    return bool(clause.named) or any(not isinstance(value, e.FactColumn | e.Literal) for value in clause.head)


def _united(like: pa.Table, found: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([like.slice(0, 0), *found])


def _empty(rule: RulePlan) -> pa.Table:
    fields = [(column.name, ARROW_TYPES[column.type]) for column in rule.columns]
    return pa.schema(fields or [(HOLDS, pa.bool_())]).empty_table()


def _endless(rule: str) -> InputError:
    return InputError.of(
        "INK0349",
        f"rule `{rule}` still finds new facts after {MAX_ROUNDS:,} rounds",
        notes=("it uses itself and computes a value in each round, so it may never end",),
        helps=("bound that value with a condition such as `n < 100`, or take it from a table",),
    )


_START = "@start"


def derived(
    rule: RulePlan, clause: Clause, tables: Mapping[str, pa.Table], around: Surroundings, first: int | None = None
) -> pa.Table:
    """Facts in the rule's columns, perhaps repeated; `tables[name]` are the facts of `first` for that atom alone.

    An atom is joined when it shares most variables with what is known; values are named and conditions tested as
    soon as everything they need is there.
    """
    solver = _Solver(rule.name, clause, around)
    waiting = list(enumerate(clause.atoms))
    while waiting:
        chosen = max(waiting, key=lambda pair: solver.rank(pair[1].args, is_first=pair[0] == first))
        waiting.remove(chosen)
        place, atom = chosen
        solver.join(scanned(atom, tables[DELTA + atom.table if place == first else atom.table]))
    return solver.head(rule.columns)


DELTA = "@new "
"""Before the name of a rule: the facts that its last step found."""


class _Solver:
    def __init__(self, rule: str, clause: Clause, around: Surroundings) -> None:
        self._rule, self._clause, self._around = rule, clause, around
        self._rows = pa.table({_START: pa.array([0], pa.int8())})
        self._named = list(clause.named)
        self._given = {variable.column for variable, _ in clause.named}
        self._conditions = list(clause.conditions)
        self._settle()

    def rank(self, args: tuple[e.FactColumn | e.Literal | None, ...], *, is_first: bool) -> tuple[bool, int, int]:
        known = set(self._rows.column_names)
        shared = sum(isinstance(arg, e.FactColumn) and arg.column in known for arg in args)
        fixed = sum(isinstance(arg, e.Literal) for arg in args)
        return is_first, shared, fixed

    def join(self, facts: pa.Table) -> None:
        self._rows = joined(self._rows, facts, self._rule)
        self._settle()

    def head(self, columns: tuple[Column, ...]) -> pa.Table:
        assert not self._conditions
        assert not self._named
        if not columns:
            return pa.table({HOLDS: pa.array([True] * min(len(self._rows), 1), pa.bool_())})
        values = [
            plain(pa.chunked_array([self._value(expr)]), ARROW_TYPES[column.type])
            for expr, column in zip(self._clause.head, columns, strict=True)
        ]
        return pa.table(values, [column.name for column in columns])

    def _settle(self) -> None:
        """Names values and tests conditions as far as their variables are known."""
        grows = True
        while grows:
            grows = False
            for named in list(self._named):
                variable, expr = named
                if self._knows(expr):
                    self._named.remove(named)
                    self._add(variable, expr)
                    grows = True
            for condition in list(self._conditions):
                found = self._found_by(condition)
                if self._knows(condition):
                    self._rows = self._rows.filter(self._value(condition))
                elif found is not None:
                    self._add(*found)
                    self._rows = self._rows.filter(pc.is_valid(self._rows[found[0].column]))
                else:
                    continue
                self._conditions.remove(condition)
                grows = True

    def _found_by(self, condition: e.Expr) -> tuple[e.FactColumn, e.Expr] | None:
        """A variable that atoms will bind, but whose value an equation gives already."""
        if not isinstance(condition, e.Compare) or condition.operator != "=":
            return None
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if not isinstance(side, e.FactColumn) or side.column in self._given:
                continue
            is_new = side.atom == VARIABLES and side.column not in self._rows.column_names
            if is_new and other.type is side.type and self._knows(other):
                return side, other
        return None

    def _add(self, variable: e.FactColumn, expr: e.Expr) -> None:
        column = plain(pa.chunked_array([self._value(expr)]), ARROW_TYPES[variable.type])
        self._rows = self._rows.append_column(variable.column, column)

    def _knows(self, expr: e.Expr) -> bool:
        known = self._rows.column_names
        return all(
            part.column in known for part in e.walk(expr) if isinstance(part, e.FactColumn) and part.atom == VARIABLES
        )

    def _value(self, expr: e.Expr) -> pa.Array:
        return evaluate(expr, self._column, len(self._rows), self._around)

    def _column(self, reference: object) -> pa.Array:
        assert isinstance(reference, e.FactColumn)
        return self._rows[reference.column].combine_chunks()
