"""The cumulative intensity Λ of a Poisson process whose rate changes with time (INTENSITY).

Lost events are spread evenly over Λ(t) instead of t, so that all formulas of SimpMatch apply with Λ(t) as the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.model.batch import Floats, Ints


@dataclass(frozen=True, slots=True)
class CumulativeIntensity:
    """Λ(t) of a rate that is constant from each time until the next; the first rate also holds before its time."""

    since: Ints
    rate: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, table: pa.Table) -> CumulativeIntensity:
        """From a table of times and rates; raises `InputError` if it has no rows, nulls, or contradictory rates."""
        since, rate = (table.column(place).combine_chunks() for place in (0, 1))
        if not len(table) or since.null_count or rate.null_count:
            raise _problem(name, "has no rows" if not len(table) else "lacks a time or a rate")
        times, rates = since.cast(pa.int64()).to_numpy(), rate.cast(pa.float64()).to_numpy()
        order = np.argsort(times, kind="stable")
        times, rates = times[order], rates[order]
        if not (np.isfinite(rates) & (rates > 0)).all():
            raise _problem(name, "has a rate that is not positive")
        again = np.diff(times) == 0
        if (again & (np.diff(rates) != 0)).any():
            raise _problem(name, "has two rates for one time")
        kept = np.append(True, ~again)
        return cls(times[kept], rates[kept])

    def __call__(self, time: Ints | Floats) -> NDArray[np.float64]:
        """Λ at each time, counted from the first time of the table."""
        total = np.concatenate([[0.0], np.cumsum(np.diff(self.since) * self.rate[:-1])])
        place = np.maximum(np.searchsorted(self.since, time, side="right") - 1, 0)
        return np.asarray(total[place] + (time - self.since[place]) * self.rate[place])


def _problem(name: str, what: str) -> InputError:
    return InputError.of(
        "INK0564", f"the table `{name}` {what}", notes=("INTENSITY has the rate from each time until the next",)
    )
