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

LOST_TABLES = """\
TABLE plan(n INT, k STRING, x INT) FROM 'plan.csv';
TABLE busy(since INT, rate DOUBLE) FROM 'busy.csv';
"""
"""What streams with lost events may name: what these were, and how fast they come."""


class Kind(Enum):
    """How the events of a stream stand in time."""

    POINTS = "points"
    ORDERED = "ordered points"
    INTERVALS = "intervals"


class Uncertain(Enum):
    """What is uncertain about the events of a stream, if anything, and how the declaration says so."""

    NOTHING = ""
    TIME = "TIME BETWEEN lo AND hi"
    WEIGHTED_TIME = "TIME BETWEEN lo AND hi WEIGHTS weights"
    VALUE = "PROBABILITY p"
    CHAIN = "PROBABILITY p GIVEN px, py, ps"
    LOST = "NUMBERED BY n"
    LOST_SEGMENTS = "NUMBERED BY n SEGMENTS ROLE s COUNT total BOUNDS since TO until"
    READING = "TIME t ± off AT MOST 2 TICKS"
    LOST_MARKS = "NUMBERED BY n SEGMENTS ROLE s"
    LOST_ERLANG = "NUMBERED BY n GAPS ERLANG 2 SEGMENTS ROLE s"
    LOST_BUSY = "NUMBERED BY n INTENSITY busy SEGMENTS ROLE s"
    LOST_KNOWN = "NUMBERED BY n KNOWN FROM plan SEGMENTS ROLE s"
    LOST_TIMEOUT = "NUMBERED BY n SEGMENTS ROLE s TIMEOUT 4 TICKS"

    @property
    def is_time(self) -> bool:
        return self in (Uncertain.TIME, Uncertain.WEIGHTED_TIME, Uncertain.READING)

    @property
    def is_loss(self) -> bool:
        return self in (Uncertain.LOST, Uncertain.LOST_SEGMENTS) or self.has_marks

    @property
    def has_marks(self) -> bool:
        return self in MORE_ABOUT_LOSSES

    def fits(self, kind: Kind) -> bool:
        """Imprecise times have no order, and what lasts is not lost in one go."""
        match kind:
            case Kind.POINTS:
                return True
            case Kind.ORDERED:
                return not self.is_time
            case Kind.INTERVALS:
                return not self.is_time and not self.is_loss


MORE_ABOUT_LOSSES = (
    Uncertain.LOST_MARKS,
    Uncertain.LOST_ERLANG,
    Uncertain.LOST_BUSY,
    Uncertain.LOST_KNOWN,
    Uncertain.LOST_TIMEOUT,
)
"""Streams with lost events about which more is known than numbers, counts and bounds."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A stream of a random program and its text."""

    name: str
    kind: Kind
    with_id: bool
    order_by: str  # used by ordered streams only
    derive: str = ""  # one of DERIVED, or nothing
    uncertain: Uncertain = Uncertain.NOTHING

    @property
    def columns(self) -> dict[str, Type]:
        """What conditions may read."""
        numbers = {"n": Type.INTEGER} if self.uncertain.is_loss else {}
        derived = {"d": DERIVED[self.derive]} if self.derive else {}
        return {**VALUE_COLUMNS, **numbers, **derived}

    def __str__(self) -> str:
        own = {
            Kind.POINTS: "lo INT, hi INT" if self.uncertain in (Uncertain.TIME, Uncertain.WEIGHTED_TIME) else "t INT",
            Kind.ORDERED: "t INT, seq INT",
            Kind.INTERVALS: "begun INT, ended INT",
        }[self.kind]
        numbers = ", n INT" if self.uncertain.is_loss else ""
        when = "TIME FROM begun TO ended" if self.kind is Kind.INTERVALS else "TIME t"
        order = f" ORDER BY {self.order_by}" if self.kind is Kind.ORDERED else ""
        uncertainty = f" {self.uncertain.value}" if self.uncertain.value else ""
        derive = f" DERIVE d = {self.derive}" if self.derive else ""
        identity = " ID id" if self.with_id else ""
        time = "" if self.uncertain.is_time else f" {when}"
        return (
            f"STREAM {self.name}(id STRING, k STRING, x INT, y DOUBLE, s STRING, {own}{numbers})"
            f"{identity} KEY k{time}{order}{uncertainty}{derive};"
        )
