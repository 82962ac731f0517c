"""What the names of an event mean: pattern variables, named values, table variables, partition columns, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.patterns.places import Place, Shape, Standpoint, typed_column
from inkling.model.types import Type


@dataclass(slots=True, eq=False)
class Assignment:
    """`v = expression`: a name for a value; bare names inside it are columns of `home` first."""

    name: s.Ident
    value: s.Expr
    home: Place | None
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class Supply:
    """A variable that a table look-up at some place supplies."""

    fact: e.Expr
    place: Place
    written: s.Ident


@dataclass(slots=True)
class EventNames:
    """The names of one event; table variables enter as their look-ups are placed."""

    shape: Shape
    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses
    partition: dict[str, Type | None] = field(default_factory=dict)
    assignments: dict[str, Assignment] = field(default_factory=dict)
    supplies: dict[str, list[Supply]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)  # table variables that something else uses
    unknowable: set[str] = field(default_factory=set)  # would be bound but for an error already reported
    quantity: str | None = None  # stands for the number of segments that is asked about

    def supply(self, name: str, at: Standpoint) -> Supply | None:
        """The look-up that supplies a variable as seen from somewhere; those inside NOT stay there."""
        for supply in self.supplies.get(name, ()):
            if all(fence in at.path for fence in supply.place.fences):
                return supply
        return None

    def is_free(self, name: str, home: Place | None) -> bool:
        """Whether a bare name could still be bound by a look-up or an assignment."""
        return not (
            (home is not None and name in home.columns)
            or name in self.partition
            or name == self.quantity
            or self.shape.named(name) is not None
        )

    @property
    def bare_names(self) -> tuple[str, ...]:
        quantity = () if self.quantity is None else (self.quantity,)
        return (*self.partition, *quantity, *self.assignments, *self.supplies)


def report_unknown(name: s.Ident, names: EventNames, home: Place | None, notes: Iterable[str] = ()) -> None:
    """Reports a name that nothing binds, with the likeliest repair."""
    if name.text in names.unknowable:
        return
    if home is not None and any(name.text in source.columns or name.text == source.op for source in home.sources):
        typed_column(home, name, names.diagnostics)
        return
    known = (*names.shape.names, *names.bare_names, *(home.columns if home else ()))
    choices = [choice for choice in known if choice != name.text]
    helps: tuple[str, ...] = did_you_mean(name.text, choices)
    having = [place for place in names.shape.places if name.text in place.columns and not place.fences]
    named = [place.title for place in having if place.name]
    of_that_type = [
        place.title
        for place in names.shape.places
        if place.name and name.text in (source.name for source in place.sources)
    ]
    remarks = list(notes)
    if having and home is None:
        remarks.insert(0, "outside `[…]` a bare name is a variable, not a column")
    if named:
        helps = (f"write {listed([f'{var}.{name}' for var in named[:3]], 'or')}",)
    elif having:
        source = having[0].sources[0].name if having[0].sources else "_"
        helps = (f"give the event a name, `{source} e`, and write `e.{name}`",)
    elif of_that_type:
        helps = (f"use the name of the event: {listed(of_that_type, 'or')}",)
    elif name.text in names.catalog.sources:
        helps = (f"give the event a name in the pattern, such as `{name} e`, and write `e`",)
    if name.quoted and not helps and names.diagnostics.words(name).startswith('"'):
        text = name.text.replace("'", "''")
        remarks = ["double quotes are for names, single quotes for strings"]
        helps = (f"write '{text}' for a string",)
    names.diagnostics.wrong("INK0207", f"unknown name `{name}`", name, notes=remarks, helps=helps)


def warn_of_column(name: s.Ident, names: EventNames) -> None:
    """Warns of a table variable that stands for any value, where a column of that name exists."""
    owners = [place.title for place in names.shape.places if place.name and name.text in place.columns]
    if owners:
        names.diagnostics.warn(
            "INK0325",
            f"`{name}` matches any value here; it is not a column",
            name,
            notes=["outside `[…]` a bare name is a variable, and nothing else uses this one"],
            helps=[f"write {listed([f'{owner}.{name}' for owner in owners[:3]], 'or')} for the column"],
        )
