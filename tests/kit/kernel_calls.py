"""Calls of kernels, each made twice: compiled, and as plain Python on a copy of its arguments."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import inkling.evaluators
import inkling.kernels

MOST_CALLS, MOST_NUMBERS = 6, 20_000
"""So many calls of a kernel are repeated, of so many numbers in all; plain Python is slow."""


def tracked(arguments: Any, found: Any) -> Any:
    """What `witness.track` has written: runs of the keys that are done, nodes and detections."""
    tables, _, _, after, nodes, detections = arguments
    _, progress = found
    return (
        after.offset[: progress.segment * len(tables.group) + 1],
        *(column[: progress.n_runs] for column in after[1:]),
        *(column[: progress.n_nodes] for column in nodes),
        *(column[: progress.n_found] for column in detections),
    )


WRITTEN: dict[str, Callable[[Any, Any], Any]] = {"automaton.witness.track": tracked}
"""Of kernels whose arrays have leftovers behind what they write: what they write."""


def kernel_modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(inkling.kernels.__path__, "inkling.kernels.")
    return [importlib.import_module(one.name) for one in found]


def is_kernel(value: object) -> bool:
    return hasattr(value, "py_func") and value.py_func.__module__.startswith("inkling.kernels.")


def name_of(kernel: Any) -> str:
    return f"{kernel.py_func.__module__.removeprefix('inkling.kernels.')}.{kernel.py_func.__name__}"


def all_kernels() -> dict[str, Any]:
    """Every compiled function by its name; those with an underscore are parts of others in their module."""
    return {name_of(one): one for module in kernel_modules() for one in vars(module).values() if is_kernel(one)}


def copied(value: Any) -> Any:
    """The same arguments, in arrays of their own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple):
        parts = [copied(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def numbers_in(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    return sum(numbers_in(one) for one in value) if isinstance(value, tuple) else 1


def assert_same(ours: Any, plain: Any, name: str) -> None:
    """Up to the last digits of doubles: compiled code may add in another order. Whole numbers and bits are equal."""
    if isinstance(ours, tuple):
        assert len(ours) == len(plain), name
        for one, other in zip(ours, plain, strict=True):
            assert_same(one, other, name)
    elif ours is None or plain is None:
        assert ours is plain, name
    elif "f" not in np.asarray(ours).dtype.kind + np.asarray(plain).dtype.kind:
        np.testing.assert_array_equal(ours, plain, err_msg=name)
    else:
        np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-12, err_msg=name)


@dataclass
class Calls:
    """How often each kernel was called from outside, and which ones ran as plain Python."""

    repeated: dict[str, int] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)

    def repeating(self, kernel: Any) -> Callable[..., Any]:
        name = name_of(kernel)

        def call(*arguments: Any) -> Any:
            done = self.repeated.get(name, 0)
            if done >= MOST_CALLS or numbers_in(arguments) > MOST_NUMBERS:
                return kernel(*arguments)
            self.repeated[name] = done + 1
            copies = copied(arguments)
            with np.errstate(all="ignore"):
                plain = self.plain(kernel)(*copies)
            found = kernel(*arguments)
            assert_same(found, plain, name)
            written = WRITTEN.get(name, lambda arguments, _: arguments)
            assert_same(written(arguments, found), written(copies, plain), name)
            return found

        return call

    @cache  # noqa: B019
    def plain(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as it is written, with everything that it calls; notes that it ran."""
        known = kernel.py_func.__globals__
        called = {
            name: self.plain(known[name]) for name in kernel.py_func.__code__.co_names if is_kernel(known.get(name))
        }
        code, name = kernel.py_func.__code__, name_of(kernel)
        written = FunctionType(code, {**known, **called}, kernel.py_func.__name__, kernel.py_func.__defaults__)

        def run(*arguments: Any) -> Any:
            self.reached.add(name)
            return written(*arguments)

        return run

    __hash__ = object.__hash__


def repeat_calls(patch: pytest.MonkeyPatch, calls: Calls) -> None:
    """Every call of a kernel by other modules goes through `calls` from now on."""
    wrapped = {id(kernel): calls.repeating(kernel) for kernel in all_kernels().values()}
    for module in _users():
        for name, value in list(vars(module).items()):
            if is_kernel(value):
                patch.setattr(module, name, wrapped[id(value)])
            elif isinstance(value, ModuleType) and value.__name__.startswith("inkling.kernels."):
                inside = {key: wrapped[id(one)] if is_kernel(one) else one for key, one in vars(value).items()}
                patch.setattr(module, name, SimpleNamespace(**inside))
            elif isinstance(value, SimpleNamespace):
                for key, one in list(vars(value).items()):
                    if is_kernel(one):
                        patch.setattr(value, key, wrapped[id(one)])


def _users() -> Iterator[ModuleType]:
    """Modules that call kernels, with the evaluators that are otherwise imported when a plan needs them."""
    for evaluator in pkgutil.walk_packages(inkling.evaluators.__path__, "inkling.evaluators."):
        importlib.import_module(evaluator.name)
    for name, module in list(sys.modules.items()):
        if name.startswith("inkling.") and not name.startswith("inkling.kernels") and module is not None:
            yield module
