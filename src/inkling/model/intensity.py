"""How fast events of a stream come, where that is known to change with time; exact.

>>> busy = Intensity.of([{"since": 0, "rate": 1}, {"since": 10, "rate": 3}])
>>> str(busy.between(Fraction(-2), Fraction(12)))
'18'
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from inkling.model.weights import Rows, exact


@dataclass(frozen=True, slots=True)
class Intensity:
    """Each rate holds from its time on until the next one, the first one before, too; none: it is always the same."""

    steps: tuple[tuple[Fraction, Fraction], ...] = ()

    @classmethod
    def of(cls, rows: Rows) -> Intensity:
        """A table with a column of times and one of rates, in this order."""
        steps: dict[Fraction, Fraction] = {}
        for row in rows:
            time, rate = (_number(value) for value in row.values())
            if rate <= 0:
                raise ValueError(f"a rate of arrivals is positive, got {rate}")
            if steps.setdefault(time, rate) != rate:
                raise ValueError(f"two rates of arrivals from {time} on")
        if not steps:
            raise ValueError("a table of rates has at least one row")
        return cls(tuple(sorted(steps.items())))

    @property
    def changes(self) -> tuple[Fraction, ...]:
        """The times at which the rate changes."""
        return tuple(time for time, _ in self.steps[1:])

    def after(self, time: Fraction) -> Fraction:
        """The rate from a time on."""
        known = [rate for since, rate in self.steps[1:] if since <= time]
        return known[-1] if known else self.steps[0][1] if self.steps else Fraction(1)

    def between(self, lo: Fraction, hi: Fraction) -> Fraction:
        """How many events come in that time, on average."""
        times = [lo, *(time for time in self.changes if lo < time < hi), hi]
        return sum((self.after(since) * (until - since) for since, until in pairwise(times)), start=Fraction(0))


ALWAYS_THE_SAME = Intensity()


def _number(value: object) -> Fraction:
    if value is None:
        raise ValueError("a time or a rate of arrivals is missing")
    return exact(value)
