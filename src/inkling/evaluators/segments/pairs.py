"""From events that open and close to segments: which row opens each, and which row closes it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.model.batch import Ints
from inkling.model.lost_worlds import CLOSING, OPENING

Turns = NDArray[np.int8]
"""Per event: 1 if it opens a segment, -1 if it closes one, 0 if it does neither."""


def turns_of_roles(roles: pa.Array) -> Turns:
    """What events do whose roles are words."""
    words = pc.utf8_lower(roles)
    opens = pc.is_in(words, value_set=pa.array(sorted(OPENING))).to_numpy(zero_copy_only=False)
    closes = pc.is_in(words, value_set=pa.array(sorted(CLOSING))).to_numpy(zero_copy_only=False)
    return opens.astype(np.int8) - closes.astype(np.int8)


def opened_and_closed(
    key: Ints, time: Ints, number: Ints | None = None, turns: Turns | None = None
) -> tuple[Ints, Ints]:
    """Rows that open segments and the rows that close them, sorted by (key, time).

    An event that closes follows right after the one that opened, among those of its key. Simultaneous events stand
    in the order of their numbers, then of the rows. Without `turns`, odd numbers open; without numbers, the events
    of a key take turns.
    """
    order = np.lexsort((time, key)) if number is None else np.lexsort((number, time, key))
    key = key[order]
    same = key[1:] == key[:-1]
    if turns is not None:
        opens, closes = turns[order] == 1, turns[order] == -1
    elif number is not None:
        opens = number[order] % 2 == 1
        closes = ~opens
    else:
        firsts = np.flatnonzero(np.append(True, ~same)) if len(key) else np.empty(0, np.int64)
        place = np.arange(len(key)) - np.repeat(firsts, np.diff(np.append(firsts, len(key))))
        opens = place % 2 == 0
        closes = ~opens
    opening = np.flatnonzero(same & opens[:-1] & closes[1:])
    return order[opening], order[opening + 1]
