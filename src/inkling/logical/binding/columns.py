"""Declared columns and the roles that stream options give them."""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical.binding.mistakes import Mistakes, did_you_mean, listed
from inkling.model.schema import Column
from inkling.model.types import TYPE_NAMES, Type


def as_declared(kind: Type) -> str:
    """A type in the words of a declaration."""
    return {Type.INTEGER: "INT", Type.TIME: "TIMESTAMP"}.get(kind, str(kind))


def refuse_op(owner: str, column: s.Ident, mistakes: Mistakes) -> None:
    """Reports that something reads the column that tells events from withdrawals."""
    mistakes.wrong(
        "INK0391",
        f"`{column}` cannot be read: it tells events of `{owner}` from withdrawals, and no event has it",
        column,
        notes=["events that are withdrawn are left out by themselves, with all that rests on them"],
        helps=["leave it out; `ON RETRACT name` gives what is withdrawn of an event"],
    )


@dataclass(slots=True)
class ColumnList:
    """The columns of one declaration, in order; the type is None after a mistake in it."""

    owner: str
    mistakes: Mistakes
    types: dict[str, Type | None] = field(default_factory=dict)
    _places: dict[str, s.Ident] = field(default_factory=dict)
    _op: str | None = None

    def declare(self, columns: tuple[s.ColumnDecl, ...]) -> None:
        for column in columns:
            kind = TYPE_NAMES.get(column.type.text.upper())
            if kind is None:
                self.mistakes.wrong(
                    "INK0202",
                    f"unknown type `{column.type}`",
                    column.type,
                    notes=["types are BOOLEAN, INT, DOUBLE, STRING and TIMESTAMP"],
                    helps=did_you_mean(column.type.text, TYPE_NAMES),
                )
            self.add(column.name, kind)

    def add(self, name: s.Ident, kind: Type | None) -> bool:
        """Whether the name was still free."""
        first = self._places.get(name.text)
        if first is not None:
            self.mistakes.wrong(
                "INK0203",
                f"`{self.owner}` has two columns called `{name}`",
                name,
                notes=[f"the first stands at {self.mistakes.place(first)}"],
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
        """The type of a column whose role tells enough, so that it need not be declared."""
        return self.check(name, role, *allowed) if name.text in self.types else None

    def check(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        kind = self.types[name.text]
        if kind is not None and allowed and kind not in allowed:
            wanted = " or ".join(as_declared(one) for one in allowed)
            self.mistakes.wrong(
                "INK0216",
                f"{role} needs a column of type {wanted}, found {as_declared(kind)}",
                name,
                f"`{name}` is declared {as_declared(kind)}",
            )
            return None
        return kind

    def set_aside(self, op: s.Ident) -> None:
        """Takes out the column that tells events from withdrawals: nothing can read it."""
        self._op = op.text
        self._places.setdefault(op.text, op)
        self.types.pop(op.text, None)

    def unknown(self, name: s.Ident, notes: list[str] | None = None) -> None:
        if name.text == self._op:
            refuse_op(self.owner, name, self.mistakes)
            return
        helps = did_you_mean(name.text, self.types)
        known = [f"`{self.owner}` has {listed(self.types)}"] if self.types and not helps else []
        self.mistakes.wrong(
            "INK0204",
            f"`{self.owner}` has no column `{name}`",
            name,
            notes=[*(notes or []), *known],
            helps=helps,
        )

    def finished(self) -> tuple[Column, ...]:
        return tuple(Column(name, kind) for name, kind in self.types.items() if kind is not None)
