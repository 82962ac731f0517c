"""Random numbers that depend only on a seed and a position in the data, not on the size of blocks.

Names for the array types of this package; matrices have a row per step and a column per key.
"""

from __future__ import annotations

from typing import TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

Draws: TypeAlias = npt.NDArray[np.uint16]
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]


Shape = tuple[int, ...]


class BlockRandom:
    """The random numbers of one block of a scenario.

    Drawn from the raw bits of the generator, whose sequence NumPy promises to keep, so that a seed
    means the same data with every version. Sixteen bits are plenty for a sensor reading.

    >>> first, again = BlockRandom(7, "fleet", 3), BlockRandom(7, "fleet", 3)
    >>> bool((first.unit((2, 3)) == again.unit((2, 3))).all())
    True
    """

    def __init__(self, seed: int, scenario: str, block: int) -> None:
        place = (crc32(scenario.encode()), block)
        self._bits = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=place))

    def bits(self, shape: Shape) -> Draws:
        """Integers from 0 to 65 535, all equally likely."""
        n = int(np.prod(shape))
        words = np.asarray(self._bits.random_raw(-(-n // 4)), dtype="<u8")
        draws: Draws = words.view("<u2")[:n].reshape(shape)
        return draws

    def unit(self, shape: Shape) -> Floats:
        """Numbers in [0, 1)."""
        return self.bits(shape).astype(np.float64) / 65536.0

    def signed(self, shape: Shape) -> Floats:
        """Numbers in [-1, 1)."""
        return self.bits(shape).astype(np.float64) / 32768.0 - 1.0


def drawn_below(limit: int | Integers, unit: Floats) -> Integers:
    """Whole numbers from 0 to `limit` - 1, given numbers in [0, 1)."""
    return np.floor(limit * unit).astype(np.int64)
