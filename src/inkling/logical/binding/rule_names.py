"""What names mean in the clause of a rule: every bare name is a variable."""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.expressions import ExpressionBinder, Reference
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.rule_calls import bind_test, fits_column, refuse_event
from inkling.logical.binding.rule_clauses import is_anything, variables_in
from inkling.logical.binding.rule_modes import Modes
from inkling.logical.binding.tables import check_arity
from inkling.model.schema import Column
from inkling.model.types import Type


@dataclass(slots=True)
class VariableTypes:
    """Types of the variables of a clause, as far as they are known."""

    known: dict[str, Type] = field(default_factory=dict)

    def knows(self, expr: s.Expr) -> bool:
        return all(name.text in self.known for name in variables_in(expr))


@dataclass(frozen=True, slots=True)
class RuleNames:
    """Resolves the variables of a clause to columns of what is known so far, under the number of that row."""

    catalog: Catalog
    mistakes: Mistakes
    times: TimeUses
    types: VariableTypes
    number: int

    def binder(self) -> ExpressionBinder:
        return ExpressionBinder(self, self.catalog, self.mistakes, self.times)

    def variable(self, node: s.Variable) -> e.Expr | None:
        kind = self.types.known.get(node.name.text)
        return None if kind is None else e.FactColumn(self.number, node.name.text, kind)

    def reference(self, node: Reference) -> e.Expr | None:
        refuse_event(node, self.mistakes)
        return None

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        if not check_arity(node, self.catalog, self.mistakes):
            return None
        return bind_test(node, binder, self.catalog, self.mistakes, self.types.known)

    def atom_argument(
        self, arg: s.Expr, column: Column, atom: s.Call, number: int, modes: Modes
    ) -> tuple[e.FactColumn | e.Literal | None, e.Expr | None]:
        """An argument of an atom, and a condition that says what it must equal when it is no name or constant."""
        if is_anything(arg):
            return None, None
        if isinstance(arg, s.Variable) and arg.name.text in modes.bound:
            return e.FactColumn(self.number, arg.name.text, self.types.known[arg.name.text]), None
        place = self.catalog.facts[atom.name.text].columns.index(column)
        own = e.FactColumn(self.number, f"{atom.name.text}'{number}'{place}", column.type)
        self.types.known[own.column] = column.type
        if modes.by_caller(arg):
            return own, None
        value = self.binder().value(arg)
        if value is None:
            return None, None
        if not fits_column(value, column, atom, arg, self.mistakes):
            return None, None
        if isinstance(value, e.Literal) and value.value is not None:
            return value, None
        return own, e.Compare("=", own, value)
