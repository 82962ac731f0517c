"""Settings of learning."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, TypeAlias

from inkling.errors import InputError
from inkling.forecasting.models.model import Learner, Learning
from inkling.model.time import Clock

Moment: TypeAlias = int | str | date
"""A time: an integer if times are integers, otherwise a date or time, or text in ISO 8601."""

AUTO: Literal["auto"] = "auto"
DEFAULT_ORDER = 3
DEEPEST = 5
"""The largest order that `auto` tries."""

SHRINKAGE = 20.0
"""The weight, in events, of the model of all groups in the model of one group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """Settings of `Program.fit`, named like the options of `inkling fit`.

    Parameters
    ----------
    order
        The number of past events that a model uses: by default ORDER in the program, or 3. ``"auto"`` chooses the
        order with the least log-loss on the latest rows.
    kind
        ``"tree"`` for contexts of variable length, ``"full"`` for a fixed order, ``"weighted"`` for a mixture of all
        trees, ``"wayeb"`` for a tree with the approximations of the public Wayeb engine.
    until
        Learn from rows up to this time.
    share
        Learn from this share of the rows, the earliest ones.
    by
        Learn a model for each value of this column too, in place of BY in the program.
    p_min, alpha, gamma_min, ratio
        Thresholds for adding a context to a tree.
    symbols
        The number of kinds of events for smoothing a tree, including kinds that never occur.
    shrinkage
        The weight, in events, of the overall model in the model of one value; 20 by default.
    held_out
        The share of the rows, the latest ones, on which ``order="auto"`` compares orders.

    Examples
    --------
    >>> FitSettings(order=2, share=0.7).order
    2
    >>> FitSettings(order=-1)
    Traceback (most recent call last):
        ...
    ValueError: an order must be at least 0, found -1
    """

    order: int | Literal["auto"] | None = None
    kind: Learner = "tree"
    until: Moment | None = None
    share: float | None = None
    by: str | None = None
    p_min: float = 0.001
    alpha: float = 0.0
    gamma_min: float = 0.001
    ratio: float = 1.05
    shrinkage: float | None = None
    symbols: int | None = None
    held_out: float = 0.2

    def __post_init__(self) -> None:
        if self.share is not None and self.until is not None:
            raise ValueError("training rows end at a time or after a share of the rows, not both")
        if self.share is not None and not 0 < self.share <= 1:
            raise ValueError(f"a share of the rows must be above 0 and at most 1, found {self.share}")
        if self.symbols is not None and self.symbols < 1:
            raise ValueError(f"the number of kinds of events must be at least 1, found {self.symbols}")
        if not 0 < self.held_out < 1:
            raise ValueError(f"the share of rows for comparing orders must be between 0 and 1, found {self.held_out}")
        if isinstance(self.order, str) and self.order != AUTO:
            raise ValueError(f"an order must be a number or 'auto', found {self.order!r}")
        if self.shrinkage is not None and self.shrinkage <= 0:
            raise ValueError(
                f"the weight of the overall model must be a number of events above 0, found {self.shrinkage}"
            )
        if self.order is not None and (isinstance(self.order, bool) or not isinstance(self.order, int | str)):
            raise ValueError(f"an order must be a whole number or 'auto', found {self.order!r}")
        if isinstance(self.order, int) and self.order < 0:
            raise ValueError(f"an order must be at least 0, found {self.order}")
        _ = self.learning(0, grouped=False).thresholds  # rejects invalid values

    def learning(self, order: int, *, grouped: bool) -> Learning:
        """How the distribution of the next symbol is learned from counts."""
        shrinkage = (SHRINKAGE if self.shrinkage is None else self.shrinkage) if grouped else None
        return Learning(self.kind, order, self.p_min, self.alpha, self.gamma_min, self.ratio, shrinkage, self.symbols)

    @property
    def last(self) -> tuple[int, Clock] | None:
        return None if self.until is None else on_clock(self.until)


def on_clock(moment: Moment) -> tuple[int, Clock]:
    """A time as a number, and its clock; times without a zone are UTC.

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
                f"`{moment}` is not a time",
                helps=("write an integer where times are integers, else for example `2026-03-01T12:00:00`",),
            ) from None
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds, Clock.TIMESTAMP
