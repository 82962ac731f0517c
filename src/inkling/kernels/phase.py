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
"""Decorator of a long phase that is called seldom, and is not inlined into its caller."""

phase = njit(forceinline=True, **_OPTIONS)
"""Decorator of a phase, which works on the arrays of its kernel and creates none.

A phase does not count references to arrays, which would cost more than most of its work, so named tuples of arrays are
passed to it for free. Numba rejects a phase that creates an array. A phase may return arrays of its arguments to a
phase, but not to a kernel, which would release them.
"""
