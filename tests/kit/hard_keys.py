"""Keys that are easily taken for others, or for different ones: rows, and which of them have the same key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

NANS = np.array([0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1, (0xFFFF << 48) + 7], np.uint64).view(np.float64)
"""Not a number, four times: other signs and other last bits."""

Groups: TypeAlias = frozenset[tuple[int, ...]]
"""Rows of one key, in order, of every key."""


@dataclass(frozen=True, slots=True)
class HardKeys:
    rows: pa.Table
    groups: Groups


def _keys(kinds: Sequence[pa.DataType], *same: Sequence[tuple[Any, ...]]) -> HardKeys:
    """Keys of which each is spelled in several ways: first the first spelling of all, then the second, and so on."""
    order = sorted((turn, key) for key, spellings in enumerate(same) for turn in range(len(spellings)))
    spelled = [same[key][turn] for turn, key in order]
    columns = map(_column, zip(*spelled, strict=True), kinds)
    rows = {f"@key{place}": column for place, column in enumerate(columns)}
    groups = (tuple(row for row, (_, of) in enumerate(order) if of == key) for key in range(len(same)))
    return HardKeys(pa.table(rows), frozenset(groups))


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind != pa.float64():
        return pa.array(values, kind)
    # by way of NumPy, which leaves the bits of NaN as they are
    numbers = np.array([0.0 if value is None else value for value in values], np.float64)
    return pa.array(numbers, mask=np.array([value is None for value in values]))


WHOLE, DOUBLE, TEXT, TIME, TRUTH = pa.int64(), pa.float64(), pa.string(), pa.timestamp("us", "UTC"), pa.bool_()
TIME_0 = 1_780_000_000_000_000

_TWICE = 2
_WHOLE = (0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), None)
_TEXTS = ("", "a", "A", "0", "0.0", "None", "nan", "\u00e9", "e\u0301", "a\0", None)
_TIMES = (0, -1, TIME_0, TIME_0 + 1, None)
_ZEROS, _NULLS = ((0.0,), (-0.0,), (0.0,)), ((None,), (None,))
_OTHERS = tuple(((number,),) * _TWICE for number in (1.0, 0.3, 0.1 + 0.2, 5e-324, -5e-324, 2.0**53, float("inf")))


HARD_KEYS = {
    "whole": _keys([WHOLE], *([(value,)] * _TWICE for value in _WHOLE)),
    "whole without null": _keys([WHOLE], *([(value,)] * _TWICE for value in _WHOLE[:-1])),
    "double": _keys([DOUBLE], _ZEROS, _NULLS, [(nan,) for nan in NANS], *_OTHERS),
    "double without null": _keys([DOUBLE], _ZEROS[::-1], *_OTHERS),
    "text": _keys([TEXT], *([(value,)] * _TWICE for value in _TEXTS)),
    "time": _keys([TIME], *([(value,)] * _TWICE for value in _TIMES)),
    "truth": _keys([TRUTH], *([(value,)] * _TWICE for value in (True, False, None))),
    "text and double": _keys(
        [TEXT, DOUBLE],
        [("a", 0.0), ("a", -0.0)],
        [("b", -0.0), ("b", 0.0)],
        [("a", nan) for nan in NANS],
        [("a", None)] * _TWICE,
        [(None, 0.0), (None, -0.0)],
        [(None, None)] * _TWICE,
        [(None, nan) for nan in NANS],
    ),
    "three columns": _keys(
        [WHOLE, TEXT, TIME],
        *([key] * _TWICE for key in [(0, "", 0), (0, None, 0), (None, "", 0), (0, "", None), (1, "", 0), (0, "", 1)]),
        [(None, None, None)] * _TWICE,
    ),
    "two texts": _keys([TEXT, TEXT], *([key] * _TWICE for key in [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", "")])),
    "two numbers": _keys(
        [WHOLE, WHOLE], *([key] * _TWICE for key in [(0, 1), (1, 0), (0, 0), (1, 1), (None, 0), (0, None)])
    ),
}
"""By kind of key. Infinities, which no column holds after reading, are keys like others."""
