"""Compiled kernels as plain Python, so that they can be run on fractions: the same lines, nothing rounded."""

from __future__ import annotations

from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any

from inkling.evaluators.chain.confidence import COMPILED
from inkling.evaluators.query.automaton.forward import COMPILED as CHAINS


@cache
def uncompiled(kernel: Any) -> FunctionType:
    """A kernel, and all that it calls, as they are written."""
    if isinstance(kernel, FunctionType):  # Numba is told not to compile
        return kernel
    plain: FunctionType = kernel.py_func
    known = plain.__globals__
    called = {name: uncompiled(known[name]) for name in plain.__code__.co_names if hasattr(known.get(name), "py_func")}
    return FunctionType(plain.__code__, {**known, **called}, plain.__name__, plain.__defaults__)


IN_FRACTIONS = SimpleNamespace(**{name: uncompiled(kernel) for name, kernel in vars(COMPILED).items()})

CHAINS_IN_FRACTIONS = SimpleNamespace(**{name: uncompiled(kernel) for name, kernel in vars(CHAINS).items()})
