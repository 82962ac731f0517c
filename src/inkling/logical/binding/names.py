"""What the names of an event mean: pattern variables, named values, table variables and partition columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.places import Place, Shape, Standpoint
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
    mistakes: Mistakes
    times: TimeUses
    partition: dict[str, Type | None] = field(default_factory=dict)
    assignments: dict[str, Assignment] = field(default_factory=dict)
    supplies: dict[str, list[Supply]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)  # table variables that something else uses
    unknowable: set[str] = field(default_factory=set)  # would be bound but for a mistake already reported
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
