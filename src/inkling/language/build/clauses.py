"""What all statement builders share: they never change, each clause gives a new one."""

from collections.abc import Iterable
from typing import Any, Self

from inkling.language.build.values import Value, node_of
from inkling.language.syntax import ColumnDecl, Confidence, Ident, Item


class StatementBuilder:
    """The fields of a statement collected so far."""

    __slots__ = ("_fields",)

    def __init__(self, **fields: Any) -> None:
        self._fields: dict[str, Any] = fields

    def comment(self, *lines: str) -> Self:
        """Lines to print above the statement."""
        return self._with(comments=(*self._fields.get("comments", ()), *lines))

    def _with(self, **fields: Any) -> Self:
        return type(self)(**self._fields | fields)

    def _with_column(self, name: str, type_name: str) -> Self:
        column = ColumnDecl(Ident(name), Ident(type_name.upper()))
        return self._with(columns=(*self._fields["columns"], column))


def idents(names: Iterable[str]) -> tuple[Ident, ...]:
    return tuple(Ident(name) for name in names)


def items(values: Iterable[Value | Item]) -> tuple[Item, ...]:
    return tuple(value if isinstance(value, Item) else Item(node_of(value)) for value in values)


def named(value: Value, name: str) -> Item:
    """A value of a result with a name: `named(avg_of(v("w").v), "m")`."""
    return Item(node_of(value), Ident(name))


def at_least_confident(threshold: float, *, strictly: bool, early: bool = False) -> Confidence:
    return Confidence(">" if strictly else ">=", float(threshold), early)
