"""Names for the array types of this package; matrices have a row per step and a column per key."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Draws: TypeAlias = npt.NDArray[np.uint16]
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Marks: TypeAlias = npt.NDArray[np.bool_]
