"""The axis on which lost events are spread evenly: time, or how many arrivals a rate makes likely by then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.evaluators.gaps.rows import NumberedRows
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import Clock, TimeUnit
from inkling.model.uncertainty import LostEvents, Rate


@dataclass(frozen=True, slots=True)
class CumulativeIntensity:
    """A rate that holds from each time on until the next one; the first holds before it, too."""

    since: Ints
    rate: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, table: pa.Table) -> CumulativeIntensity:
        """Of a table with times and rates; raises `InputError` if it says nothing, or what makes no sense."""
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

    def __call__(self, time: Ints) -> NDArray[np.float64]:
        """What adds up to each time, from the first one of the table."""
        total = np.concatenate([[0.0], np.cumsum(np.diff(self.since) * self.rate[:-1])])
        place = np.maximum(np.searchsorted(self.since, time, side="right") - 1, 0)
        return np.asarray(total[place] + (time - self.since[place]) * self.rate[place])


def _problem(name: str, what: str) -> InputError:
    return InputError.of(
        "INK0564", f"the table `{name}` {what}", notes=("INTENSITY has the rate from each time until the next",)
    )


Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SECOND = 1_000_000
"""A column has arrivals per second where times are timestamps, which count its millionths."""


def rate_of_keys(rows: pa.Table, key: Ints, n_keys: int, uncertainty: LostEvents, unit: TimeUnit) -> Floats:
    """Arrivals per unit of the clock, of each key; 0 where nothing says so."""
    if isinstance(uncertainty.rate, Rate):
        return np.full(n_keys, uncertainty.rate.count / unit(uncertainty.rate.per))
    if uncertainty.rate is None:
        return np.zeros(n_keys)
    highest = np.zeros(n_keys)
    given = pc.fill_null(rows[uncertainty.rate].cast(pa.float64()), 0.0).to_numpy()
    np.maximum.at(highest, key[key >= 0], given[key >= 0])
    return highest / (SECOND if unit.clock is Clock.TIMESTAMP else 1)


def open_ends(found: NumberedRows, key: Ints, n_keys: int) -> tuple[Mask, Mask]:
    """Which keys lost events before the first and after the last row with a time, without a bound."""
    of_gap = key[found.gaps[:-1]]
    heads, tails = np.zeros(n_keys, bool), np.zeros(n_keys, bool)
    heads[of_gap[found.low <= -FOREVER]] = True
    tails[of_gap[found.high >= FOREVER]] = True
    return heads, tails
