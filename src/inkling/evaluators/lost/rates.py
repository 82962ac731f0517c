"""How fast events come where nothing limits when lost ones happened."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.lost.numbered import NumberedRows
from inkling.model.batch import FOREVER, Ints
from inkling.model.clock import Measure
from inkling.model.time import Clock
from inkling.model.uncertainty import LostEvents, Rate

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SECOND = 1_000_000
"""A column has arrivals per second where times are timestamps, which count its millionths."""


def rate_of_keys(rows: pa.Table, key: Ints, n_keys: int, doubt: LostEvents, measure: Measure) -> Floats:
    """Arrivals per unit of the clock, of each key; 0 where nothing says so."""
    if isinstance(doubt.rate, Rate):
        return np.full(n_keys, doubt.rate.count / measure(doubt.rate.per))
    if doubt.rate is None:
        return np.zeros(n_keys)
    said = np.zeros(n_keys)
    given = pc.fill_null(rows[doubt.rate].cast(pa.float64()), 0.0).to_numpy()
    np.maximum.at(said, key[key >= 0], given[key >= 0])
    return said / (SECOND if measure.clock is Clock.TIMESTAMP else 1)


def open_ends(found: NumberedRows, key: Ints, n_keys: int) -> tuple[Mask, Mask]:
    """Which keys lost events before the first and after the last row that tells a time, without a bound."""
    of_gap = key[found.gaps[:-1]]
    heads, tails = np.zeros(n_keys, bool), np.zeros(n_keys, bool)
    heads[of_gap[found.low <= -FOREVER]] = True
    tails[of_gap[found.high >= FOREVER]] = True
    return heads, tails
