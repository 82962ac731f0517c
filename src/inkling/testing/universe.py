"""The streams and tables that random programs speak of: few columns, tiny domains, all alike.

Every stream has a key `k`, a whole number `x`, a number `y` and a text `s`, so that any two can be joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inkling.model.types import Type

VALUE_COLUMNS = {"k": Type.STRING, "x": Type.INTEGER, "y": Type.DOUBLE, "s": Type.STRING}
TEXTS = ("a", "b", "c")
WHOLE_NUMBERS = (0, 1, 2, 3)
NUMBERS = (0.0, 0.5, 1.5, 2.0)
KEYS = ("p", "q")
DERIVED = {"x - PREV(x)": Type.INTEGER, "SINCE_CHANGE(s)": Type.DURATION}

TABLES = """\
TABLE near(one STRING, other STRING) FROM 'near.csv';
TABLE lim(s STRING, top INT) FROM 'lim.csv';
"""


class Kind(Enum):
    """How the events of a stream stand in time."""

    POINTS = "points"
    ORDERED = "ordered points"
    INTERVALS = "intervals"


@dataclass(frozen=True, slots=True)
class Declared:
    """A stream of a random program and its text."""

    name: str
    kind: Kind
    with_id: bool
    order_by: str  # used by ordered streams only
    derive: str = ""  # one of DERIVED, or nothing

    @property
    def columns(self) -> dict[str, Type]:
        """What conditions may read."""
        return {**VALUE_COLUMNS, "d": DERIVED[self.derive]} if self.derive else dict(VALUE_COLUMNS)

    def __str__(self) -> str:
        own = {
            Kind.POINTS: "t INT",
            Kind.ORDERED: "t INT, seq INT",
            Kind.INTERVALS: "begun INT, ended INT",
        }[self.kind]
        when = "TIME FROM begun TO ended" if self.kind is Kind.INTERVALS else "TIME t"
        order = f" ORDER BY {self.order_by}" if self.kind is Kind.ORDERED else ""
        derive = f" DERIVE d = {self.derive}" if self.derive else ""
        identity = " ID id" if self.with_id else ""
        return (
            f"STREAM {self.name}(id STRING, k STRING, x INT, y DOUBLE, s STRING, {own})"
            f"{identity} KEY k {when}{order}{derive};"
        )
