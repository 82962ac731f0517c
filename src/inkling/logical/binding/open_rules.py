"""Open rules: rules with arguments that only their caller knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.logical.binding.rule_modes import Modes
from inkling.model.schema import Column, TableSchema


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
    """`schema.columns[0]` tells which clause a row belongs to."""

    schema: TableSchema
    parameters: tuple[str, ...]
    clauses: tuple[OpenClause, ...]
    needs_no_facts: bool

    def must_be_given(self, place: int) -> bool:
        return any(clause.opens(place) for clause in self.clauses)

    def is_stored(self, place: int) -> bool:
        """Whether every clause knows the argument without its caller, so that it is a column of the table."""
        return all(clause.is_stored(place) for clause in self.clauses)
