"""How models are to be learned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, TypeAlias

from inkling.errors import InputError
from inkling.markov.model import Learner, Learning
from inkling.model.time import Clock

Moment: TypeAlias = int | str | date
"""A time: an integer where times are integers, else a time of day, also as text in ISO 8601."""

AUTO: Literal["auto"] = "auto"
DEFAULT_ORDER = 3
DEEPEST = 5
"""The largest order that is tried where the best one is asked for."""

SHRINKAGE = 20.0
"""How many events the model of all weighs in the model of a group."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """What a fit is told; `share` and `until` are ends of what is learned from, by time."""

    order: int | Literal["auto"] | None = None  # none: what the program says
    kind: Learner = "tree"
    until: Moment | None = None
    share: float | None = None  # of the rows, the earliest ones
    by: str | None = None
    p_min: float = 0.001
    alpha: float = 0.0
    gamma_min: float = 0.001
    ratio: float = 1.05
    shrinkage: float | None = None
    held_out: float = 0.2  # of the rows, the latest ones: where orders are compared

    def __post_init__(self) -> None:
        if self.share is not None and self.until is not None:
            raise ValueError("what is learned from ends at a time or after a share of the rows, not both")
        if self.share is not None and not 0 < self.share <= 1:
            raise ValueError(f"a share of the rows lies above 0 and is at most 1, not {self.share}")
        if not 0 < self.held_out < 1:
            raise ValueError(f"the share of rows that orders are compared on lies between 0 and 1, not {self.held_out}")
        if isinstance(self.order, str) and self.order != AUTO:
            raise ValueError(f"an order is a number or 'auto', not {self.order!r}")
        if self.shrinkage is not None and self.shrinkage <= 0:
            raise ValueError(f"the model of all weighs as much as a number of events above 0, not {self.shrinkage}")
        if self.order is not None and (isinstance(self.order, bool) or not isinstance(self.order, int | str)):
            raise ValueError(f"an order is a whole number or 'auto', not {self.order!r}")
        if isinstance(self.order, int) and self.order < 0:
            raise ValueError(f"an order is at least 0, not {self.order}")
        _ = self.learning(0, grouped=False).thresholds  # refuses what makes no sense

    def learning(self, order: int, *, grouped: bool) -> Learning:
        """How the law of the next symbol is made of counts."""
        shrinkage = (SHRINKAGE if self.shrinkage is None else self.shrinkage) if grouped else None
        return Learning(self.kind, order, self.p_min, self.alpha, self.gamma_min, self.ratio, shrinkage)

    @property
    def last(self) -> tuple[int, Clock] | None:
        return None if self.until is None else on_clock(self.until)


def on_clock(moment: Moment) -> tuple[int, Clock]:
    """A time as a number, and of which clock; times of day without a zone are UTC.

    >>> on_clock("1970-01-01T00:00:01"), on_clock("17")
    ((1000000, <Clock.TIMESTAMP: 'timestamp'>), (17, <Clock.TICKS: 'ticks'>))
    """
    if isinstance(moment, int):
        return moment, Clock.TICKS
    if isinstance(moment, str):
        try:
            return int(moment), Clock.TICKS
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise InputError.of(
                "INK0618",
                f"`{moment}` is no time",
                helps=("write an integer where times are integers, else for example `2026-03-01T12:00:00`",),
            ) from None
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds, Clock.TIMESTAMP
