"""Declared columns and the roles that stream options give them."""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.model.schema import Column
from inkling.model.types import FOREIGN_TYPE_NAMES, TYPE_NAMES, Type


def as_declared(kind: Type) -> str:
    """A type in the words of a declaration."""
    return {Type.INTEGER: "INT", Type.TIME: "TIMESTAMP"}.get(kind, str(kind))


def reject_op(owner: str, column: s.Ident, diagnostics: Diagnostics) -> None:
    """Reports that something reads the column that distinguishes events from withdrawals."""
    diagnostics.wrong(
        "INK0391",
        f"`{column}` is the OP column of `{owner}`, which conditions cannot read",
        column,
        notes=["withdrawn events are left out automatically, with everything that depends on them"],
        helps=["leave it out; `ON RETRACT name` is the output of withdrawn results"],
    )


@dataclass(slots=True)
class ColumnList:
    """The columns of one declaration, in order; the type is None after an error in it."""

    owner: str
    diagnostics: Diagnostics
    types: dict[str, Type | None] = field(default_factory=dict)
    _places: dict[str, s.Ident] = field(default_factory=dict)
    _op: str | None = None

    def declare(self, columns: tuple[s.ColumnDecl, ...]) -> None:
        for column in columns:
            kind = TYPE_NAMES.get(column.type.text.upper())
            if kind is None:
                self.unknown_type(column)
            self.add(column.name, kind)

    def unknown_type(self, column: s.ColumnDecl) -> None:
        notes = ["types are BOOLEAN, INT, DOUBLE, STRING and TIMESTAMP"]
        foreign = FOREIGN_TYPE_NAMES.get(column.type.text)
        reversed_ = TYPE_NAMES.get(column.name.text.upper())
        if foreign is not None:
            helps: tuple[str, ...] = (f"write `{column.name} {as_declared(foreign)}`",)
        elif reversed_ is not None:
            notes.append("the name of a column comes before its type")
            written = self.diagnostics.words(column.type)
            helps = (f"write `{written} {as_declared(reversed_)}`",)
        else:
            helps = did_you_mean(column.type.text, TYPE_NAMES)
        self.diagnostics.wrong("INK0202", f"unknown type `{column.type}`", column.type, notes=notes, helps=helps)

    def add(self, name: s.Ident, kind: Type | None) -> bool:
        """Whether the name was still free."""
        first = self._places.get(name.text)
        if first is not None:
            self.diagnostics.wrong(
                "INK0203",
                f"`{self.owner}` has two columns called `{name}`",
                name,
                notes=[f"the first is at {self.diagnostics.place(first)}"],
            )
            return False
        self._places[name.text] = name
        self.types[name.text] = kind
        return True

    def require(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        """The type of a column that must be declared; without `allowed` types any will do."""
        if name.text not in self.types:
            self.unknown(name, notes=[f"{role} names a column of the stream"])
            return None
        return self.check(name, role, *allowed)

    def optional(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        """The type of a column that follows from its role, so that it need not be declared."""
        return self.check(name, role, *allowed) if name.text in self.types else None

    def check(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        kind = self.types[name.text]
        if kind is not None and allowed and kind not in allowed:
            wanted = " or ".join(as_declared(one) for one in allowed)
            self.diagnostics.wrong(
                "INK0216",
                f"{role} needs a column of type {wanted}, found {as_declared(kind)}",
                name,
                f"`{name}` is declared {as_declared(kind)}",
            )
            return None
        return kind

    def set_aside(self, op: s.Ident) -> None:
        """Takes out the column that distinguishes events from withdrawals: nothing can read it."""
        self._op = op.text
        self._places.setdefault(op.text, op)
        self.types.pop(op.text, None)

    def unknown(self, name: s.Ident, notes: list[str] | None = None) -> None:
        if name.text == self._op:
            reject_op(self.owner, name, self.diagnostics)
            return
        helps = did_you_mean(name.text, self.types)
        known = [f"`{self.owner}` has {listed(self.types)}"] if self.types and not helps else []
        self.diagnostics.wrong(
            "INK0204", f"`{self.owner}` has no column `{name}`", name, notes=[*(notes or []), *known], helps=helps
        )

    def finished(self) -> tuple[Column, ...]:
        return tuple(Column(name, kind) for name, kind in self.types.items() if kind is not None)
