"""The facts that one clause derives from tables, whole columns at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from inkling.knowledge.relations import HOLDS, joined, plain, scanned
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.knowledge import VARIABLES, Clause, RulePlan
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.schema import Column

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
