"""Settings of online learning."""

import re
from dataclasses import dataclass, field
from datetime import timedelta

from inkling.errors import InputError
from inkling.forecasting.models.model import Learning

_LENGTH = re.compile(r"(\d+)(?:\s*(second|minute|hour|day)s?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OnlineLearning:
    """When a new version of a model is made, and how much of the old counts it keeps.

    Parameters
    ----------
    every
        Events, or time of the stream, between versions. None makes no new versions: events are counted only to
        measure drift.
    forget
        The factor by which a new version scales the counts of the last one; 1 forgets nothing, 0 everything.
    order
        The order of counting if there is no model at the start; otherwise the order of that model is used.
    how
        How distributions are learned from counts if there is no model at the start.
    alarm
        The log-loss in bits per event by which new events may exceed the training data.
    at_least
        The number of events before the first alarm.
    """

    every: int | timedelta | None = 10_000
    forget: float = 1.0
    order: int | None = None
    how: Learning = field(default_factory=Learning)
    alarm: float = 0.5
    at_least: int = 200

    def __post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int | timedelta | None):
            raise _wrong(f"`every` is a number of events or a length of time, not {self.every!r}")
        nothing = timedelta() if isinstance(self.every, timedelta) else 0
        if self.every is not None and self.every <= nothing:  # type: ignore[operator]
            raise _wrong(f"`every` must be positive, not {self.every}")
        if not 0 <= self.forget <= 1:
            raise _wrong(f"`forget` is the share of counts that is kept, between 0 and 1, not {self.forget}")
        if self.order is not None and self.order < 0:
            raise _wrong(f"`order` is at least 0, not {self.order}")

    def passed(self, n_events: float, microseconds: int) -> bool:
        """Whether a new version is due."""
        if self.every is None or not n_events:
            return False
        if isinstance(self.every, timedelta):
            return microseconds >= self.every / timedelta(microseconds=1)
        return n_events >= self.every


def every_of(text: str) -> int | timedelta | None:
    """A number of events, or a length of time; None for never.

    >>> every_of("5000"), every_of("10 minutes"), every_of("never")
    (5000, datetime.timedelta(seconds=600), None)
    """
    if text.strip().lower() == "never":
        return None
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        raise _wrong(
            f"`{text}` is neither a number of events nor a length of time", "write `5000`, `10 minutes` or `never`"
        )
    n, unit = int(found[1]), found[2]
    return n if unit is None else timedelta(**{f"{unit.lower()}s": n})


def _wrong(message: str, *helps: str) -> InputError:
    return InputError.of("INK0623", message, helps=helps)
