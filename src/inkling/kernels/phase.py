"""Phases of kernels: functions that are compiled into the kernel that calls them."""

from __future__ import annotations

from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "forceinline": True, "_nrt": False}

phase = njit(**_OPTIONS)
"""Decorator of a phase, which works on the arrays of its kernel and neither creates nor returns an array.

A phase does not count references to arrays, which would cost more than most of its work, so named tuples of arrays are
passed to it for free. Numba rejects a phase that creates an array.
"""
