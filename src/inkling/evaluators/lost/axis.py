"""The axis on which lost events are spread evenly: time, or how many arrivals a changing rate makes likely by then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class Axis:
    """A rate that holds from each time on until the next one; the first holds before it, too."""

    since: Ints
    rate: NDArray[np.float64]

    @classmethod
    def of(cls, table: pa.Table) -> Axis:
        """Of a table with times and rates."""
        since, rate = (table.column(place).combine_chunks() for place in (0, 1))
        times = since.cast(pa.int64()).to_numpy(zero_copy_only=False)
        order = np.argsort(times, kind="stable")
        return cls(times[order], rate.cast(pa.float64()).to_numpy(zero_copy_only=False)[order])

    def __call__(self, time: Ints) -> NDArray[np.float64]:
        """What adds up to each time, from the first one of the table."""
        total = np.concatenate([[0.0], np.cumsum(np.diff(self.since) * self.rate[:-1])])
        place = np.maximum(np.searchsorted(self.since, time, side="right") - 1, 0)
        return np.asarray(total[place] + (time - self.since[place]) * self.rate[place])
