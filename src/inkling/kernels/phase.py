"""Phases of kernels: functions that are compiled into the kernel that calls them."""

from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,  # Python calls kernels only
    "no_cfunc_wrapper": True,
}

long_phase = njit(**_OPTIONS)
"""Decorator of a phase that is called seldom and does much, so that it need not be compiled into its caller again."""

phase = njit(forceinline=True, **_OPTIONS)
"""Decorator of a phase, which works on the arrays of its kernel and neither creates nor returns an array.

No references to arrays are counted in a phase (counting would cost more than most of its work), so that named tuples of
arrays are passed to it at no cost. Numba rejects a phase that makes an array. A phase may return arrays that it was
given to another phase, never to a kernel, which would release them.
"""
