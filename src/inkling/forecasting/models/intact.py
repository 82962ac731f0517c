"""Whether the table of a model is intact: its description, its counts and their checksum."""

import json
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.forecasting.models import counts, gaps
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.gaps import GapCounts


def checksum(about: Mapping[str, Any], words: WordCounts, between: GapCounts) -> int:
    """CRC-32 of a description and its counts, in their own order; the checksum in the description does not count."""
    described = {name: value for name, value in about.items() if name != "checksum"}
    found = crc32(json.dumps(described, sort_keys=True).encode())
    for groups, columns in (
        (words.group, (words.group_of, words.state, words.length, words.code, words.count)),
        (between.group, (between.group_of, between.symbol, between.gap_low, between.gap_high, between.count)),
    ):
        found = crc32(json.dumps(groups).encode(), found)
        for column in columns:
            found = crc32(column.astype(column.dtype.newbyteorder("<")).tobytes(), found)
    return found


def require_description(about: Mapping[str, Any], formats: range) -> None:
    """Reject a description that is of another format, incomplete or impossible."""
    if about.get("format") not in formats:
        raise ValueError(
            f"the model has the format {about.get('format')}; this version of inkling reads "
            f"{' and '.join(map(str, formats))}"
        )
    wanted: dict[str, Callable[[Any], bool]] = {
        "event": lambda value: isinstance(value, str),
        "alphabet": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
        "fingerprint": lambda value: isinstance(value, str),
        "n_states": lambda value: _is_whole(value) and value > 0,
        "order": lambda value: _is_whole(value) and value >= 0,
        "learning": _is_learning,
        "version": lambda value: _is_whole(value) and value >= 0,
    }
    missing = sorted(wanted.keys() - about.keys())
    if missing:
        raise ValueError(f"the model is damaged: it lacks its {', '.join(missing)}")
    for name, is_fine in wanted.items():
        if not is_fine(about[name]):
            raise ValueError(f"the model is damaged: its {name} is {json.dumps(about[name])[:80]}")


def require_words(table: pa.Table, n_symbols: int, order: int, n_states: int) -> None:
    """Reject counts of words that no stream can have."""
    _require_columns(table, counts.SCHEMA)
    state, length, code = (table[name].to_numpy() for name in ("state", "length", "code"))
    fits = (state >= 0) & (state < n_states) & (length >= 1) & (length <= order + 1) & (code >= 0)
    fits &= code < np.array([n_symbols**one for one in range(order + 2)], np.float64)[np.clip(length, 0, order + 1)]
    if not fits.all():
        raise ValueError("the model is damaged: it counts words that its symbols do not form")


def require_gaps(table: pa.Table, n_symbols: int) -> None:
    """Reject counts of gaps that no stream can have."""
    _require_columns(table, gaps.SCHEMA)
    symbol, low, high = (table[name].to_numpy() for name in ("symbol", "gap_low", "gap_high"))
    fits = (symbol >= 0) & (symbol < n_symbols) & (low >= 0)
    if not fits.all() or not all(np.array_equal(*pair) for pair in zip((low, high), gaps.quantized(low), strict=True)):
        raise ValueError("the model is damaged: it counts gaps that no events have")


def _require_columns(table: pa.Table, schema: pa.Schema) -> None:
    for column in schema:
        if column.name not in table.column_names or not _is_like(table[column.name].type, column.type):
            raise ValueError(f"the model is damaged: it has no column `{column.name}` of type {column.type}")
        if table[column.name].null_count:
            raise ValueError(f"the model is damaged: its column `{column.name}` has missing values")
    if len(table) and not pc.all(pc.and_(pc.is_finite(table["count"]), pc.greater_equal(table["count"], 0.0))).as_py():
        raise ValueError("the model is damaged: a count is negative or not finite")


def _is_like(have: pa.DataType, want: pa.DataType) -> bool:
    """Whether a column has the wanted type, or a wider one after it was stored in another format."""
    t = pa.types
    checks = (t.is_integer, t.is_floating, lambda kind: t.is_string(kind) or t.is_large_string(kind))
    return bool(t.is_null(have)) or any(is_kind(have) and is_kind(want) for is_kind in checks)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_learning(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    missing = {"shrinkage", "symbols"}
    numbers = (one for name, one in value.items() if name != "kind" and not (name in missing and one is None))
    return isinstance(value.get("kind"), str) and all(map(_is_number, numbers))
