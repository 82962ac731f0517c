"""Alternatives as they were written, made ready for engines, and what about them has to be looked at more closely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.grounding import Mask
from inkling.kernels.packed_rows import settled, unfollowed
from inkling.model.batch import Ints
from inkling.model.weights import TOLERANCE

NEARLY = float(TOLERANCE)


def settled_chances(
    place: Ints, offsets: Ints, given: Hashes, value: Hashes, written: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Mask]:
    """Chances of the rows at `place` in the order of groups, those that nearly sum to 1 made whole; doubtful groups."""
    chance, suspect = np.empty(len(place)), np.zeros(len(offsets) - 1, bool)
    settled(place, offsets, given, value, np.ascontiguousarray(written), NEARLY, chance, suspect)
    return chance, suspect


def mark_unfollowed(
    streams: Ints, offsets: Ints, given: Hashes, value: Hashes, chance: NDArray[np.float64], suspect: Mask
) -> None:
    """Groups are doubtful that do not say what follows a value which may have been before."""
    unfollowed(streams, offsets, given, value, chance, NEARLY, suspect)
