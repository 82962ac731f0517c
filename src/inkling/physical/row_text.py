"""Conditions on rows in the words of the language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from inkling.logical.expr import Aggregate, ColumnOf, Expr, FactColumn, KeyColumn, ListColumn, rebuilt
from inkling.logical.text import expr_text

Facts: TypeAlias = Mapping[str, FactColumn]
"""Physical name to what a look-up supplied under it."""


def row_text(expr: Expr) -> str:
    """A condition on one row."""
    return expr_text(plain(expr, {}))


def plain(expr: Expr, facts: Facts) -> Expr:
    """The expression with the names of the language: physical names carry a type after a bar."""
    match expr:
        case ColumnOf(column=column) if column in facts:
            return facts[column]
        case ColumnOf(column=column) | ListColumn(column=column) | KeyColumn(column=column):
            return replace(expr, column=column.rsplit("|", 1)[0])
        case Aggregate(column=str(column)):
            return replace(expr, column=column.rsplit("|", 1)[0])
        case _:
            return rebuilt(expr, lambda part: plain(part, facts))
