"""Kernels as plain Python (``NUMBA_DISABLE_JIT=1``): NumPy warns of overflow there, compiled code does not."""

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

import numpy as np

_Kernel = TypeVar("_Kernel", bound=Callable[..., object])


def wraps_around(kernel: _Kernel) -> _Kernel:
    """A kernel whose integers overflow on purpose, as hashes do: without a warning when it is not compiled."""
    return np.errstate(over="ignore")(kernel) if isinstance(kernel, FunctionType) else kernel
