"""Rules of a program: tables whose facts follow from other facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from inkling.logical import expr as e
from inkling.model.schema import Column, TableSchema

VARIABLES = -1
"""`FactColumn(VARIABLES, name, …)` is a variable of the clause it stands in."""


class RuleKind(Enum):
    """How a rule is answered."""

    MATERIALIZED = "materialized"  # all of its facts are known before the run
    PER_ROW = "solved per row"  # what does not depend on the caller is; conditions decide the rest
    UNFOLDED = "unfolded"  # it needs no facts at all, so its conditions stand in the caller


@dataclass(frozen=True, slots=True)
class RuleAtom:
    """`table(args)` in the body of a clause: a variable is bound or must agree, None is anything."""

    table: str
    args: tuple[e.FactColumn | e.Literal | None, ...]


@dataclass(frozen=True, slots=True)
class RuleClause:
    """One way to derive facts: all atoms agree, values are named in order, and all conditions hold."""

    head: tuple[e.Expr, ...]
    atoms: tuple[RuleAtom, ...]
    named: tuple[tuple[e.FactColumn, e.Expr], ...] = ()
    conditions: tuple[e.Expr, ...] = ()

    def tables(self) -> Iterator[str]:
        """Everything that the clause looks up."""
        yield from (atom.table for atom in self.atoms)
        for expr in self.expressions():
            yield from (part.table for part in e.walk(expr) if isinstance(part, e.InTable))

    def expressions(self) -> Iterator[e.Expr]:
        yield from self.head
        yield from (value for _, value in self.named)
        yield from self.conditions


@dataclass(frozen=True, slots=True)
class RulePlan:
    """The facts of a rule as a table of its own.

    Of a rule that is solved per row the table holds what its clauses know without their caller. Rules stand after
    those they use; rules of one `group` use each other.
    """

    schema: TableSchema
    clauses: tuple[RuleClause, ...]
    kind: RuleKind
    group: int

    @property
    def name(self) -> str:
        return self.schema.name

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.schema.columns
