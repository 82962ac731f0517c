"""Plans of rules: tables whose facts are derived from other facts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from inkling.logical import expr as e
from inkling.model.schema import Column, TableSchema

VARIABLES = -1
"""`FactColumn(VARIABLES, name, …)` is a variable of the clause it stands in."""


class RuleKind(Enum):
    """How a rule is evaluated."""

    MATERIALIZED = "materialized"  # all of its facts are derived before the run
    PER_ROW = "solved per row"  # facts that do not depend on the caller are; conditions of the caller decide the rest
    UNFOLDED = "unfolded"  # it needs no facts, so its conditions are inlined in the caller


@dataclass(frozen=True, slots=True)
class RuleAtom:
    """`table(args)` in the body of a clause: it binds a variable or tests it; None matches any value."""

    table: str
    args: tuple[e.FactColumn | e.Literal | None, ...]


@dataclass(frozen=True, slots=True)
class RuleClause:
    """One clause: a join of atoms, named values in order, and conditions; `note` is the comment before its RULE."""

    head: tuple[e.Expr, ...]
    atoms: tuple[RuleAtom, ...]
    named: tuple[tuple[e.FactColumn, e.Expr], ...] = ()
    conditions: tuple[e.Expr, ...] = ()
    note: str | None = field(default=None, compare=False)

    def tables(self) -> Iterator[str]:
        """All tables that the clause looks up."""
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

    The table of a rule that is solved per row has only what its clauses determine without the caller. Rules come after
    the rules that they use; rules of one `group` are mutually recursive.
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
