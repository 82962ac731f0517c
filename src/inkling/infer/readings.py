"""Readings: rows with a key, a time and what a reader reported, checked and sorted."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.errors import InputError, nearest
from inkling.infer.model import Model
from inkling.infer.settings import Names
from inkling.io.casting import cast_column, clock_of, is_readable
from inkling.io.rejects import python_value
from inkling.model.time import Clock
from inkling.model.types import Type

NOTHING_READ = -1


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings sorted by key and time; the rows of key k are keys[k]:keys[k + 1]."""

    names: pa.Table  # the key columns, one row per key
    keys: NDArray[np.int64]
    time: NDArray[np.int64]
    outcome: NDArray[np.int32]  # number of the outcome in the model, or NOTHING_READ
    row: NDArray[np.int64]  # position of the row in the input

    def __len__(self) -> int:
        return len(self.names)


def clock_of_readings(table: pa.Table, names: Names) -> Clock:
    require_columns(table.column_names, names)
    return clock_of(table[names.time])


def require_columns(columns: list[str], names: Names) -> None:
    for name in (*names.key, names.time, names.reader):
        if name not in columns:
            close = nearest(name, columns, n=1)
            raise InputError.of(
                "INK0664",
                f"the readings have no column `{name}`",
                notes=(f"their columns are {', '.join(columns) or 'none'}",),
                helps=(f"did you mean `{close[0]}`?",) if close else (),
            )


def readings_of(table: pa.Table, model: Model, names: Names, clock: Clock) -> Readings:
    """The readings in a table; a row without a reader means that the key existed and no reader detected it."""
    require_columns(table.column_names, names)
    time = _read(table, names.time, Type.TIME, clock, "whole numbers" if clock is Clock.TICKS else "timestamps")
    keyed = pa.table({name: _key_column(table, name) for name in names.key})
    outcome = _outcomes(table, model, names)
    return in_order(keyed, time.to_numpy(zero_copy_only=False), outcome)


def in_order(keyed: pa.Table, time: NDArray[np.int64], outcome: NDArray[np.int32]) -> Readings:
    sorted_by = [(name, "ascending") for name in keyed.column_names]
    order = pc.sort_indices(
        keyed.append_column("@time", pa.array(time)), sort_keys=[*sorted_by, ("@time", "ascending")]
    ).to_numpy()
    keyed = keyed.take(pa.array(order)).combine_chunks()
    begins = np.zeros(len(keyed), bool)
    begins[:1] = True
    for name in keyed.column_names:
        column = keyed[name]
        begins[1:] |= pc.not_equal(column.slice(1), column.slice(0, max(0, len(column) - 1))).to_numpy()
    first = np.flatnonzero(begins)
    keys = np.append(first, len(keyed)).astype(np.int64)
    return Readings(keyed.take(pa.array(first)), keys, time[order], outcome[order], order.astype(np.int64))


def _key_column(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    if pa.types.is_nested(column.type):
        raise _unreadable(f"the key column `{name}` of the readings holds {column.type}, expected plain values")
    _require_none_missing(column, name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _read(table: pa.Table, name: str, kind: Type, clock: Clock, expected: str) -> pa.Array:
    column = table[name]
    if not is_readable(column.type, kind, clock):
        raise _unreadable(f"the column `{name}` of the readings has the type {column.type}, expected {expected}")
    cast = cast_column(column, kind, clock)
    if cast.bad.any():
        row = int(cast.bad.argmax())
        value = python_value(column[row])
        raise _unreadable(f"row {row + 1} of the readings: `{name}` is {value!r}, expected {expected}")
    if kind is Type.TIME:
        _require_none_missing(cast.values, name)
    return cast.values


def _require_none_missing(column: pa.ChunkedArray | pa.Array, name: str) -> None:
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise _unreadable(f"row {row + 1} of the readings: `{name}` is missing")


def _outcomes(table: pa.Table, model: Model, names: Names) -> NDArray[np.int32]:
    reader = _read(table, names.reader, Type.STRING, Clock.TICKS, "texts")
    if model.has_values:
        if names.value not in table.column_names:
            raise _unreadable(
                f"the readers of the model report values, but the readings have no column `{names.value}`"
            )
        value = _read(table, names.value, Type.STRING, Clock.TICKS, "texts")
        pairs = pa.StructArray.from_arrays([reader, value], ["reader", "value"])
        texts = pc.binary_join_element_wise(reader, value, "\x00")
        known = pa.array([f"{name}\x00{value}" for name, value in model.outcomes], pa.string())
    else:
        pairs, texts = reader, reader
        known = pa.array([name for name, _ in model.outcomes], pa.string())
    found = pc.fill_null(pc.index_in(texts, known), NOTHING_READ).to_numpy(zero_copy_only=False)
    unknown = (found == NOTHING_READ) & reader.is_valid().to_numpy(zero_copy_only=False)
    if unknown.any():
        _reject_outcome(pairs[int(unknown.argmax())].as_py(), int(unknown.argmax()), model)
    return found.astype(np.int32)


def _reject_outcome(given: str | dict[str, str | None], row: int, model: Model) -> None:
    reader = given if isinstance(given, str) else str(given["reader"])
    if not isinstance(given, str) and reader in model.readers:
        known = [str(value) for name, value in model.outcomes if name == reader]
        raise InputError.of(
            "INK0663",
            f"row {row + 1} of the readings: reader `{reader}` reports {given['value']!r}",
            notes=(f"the model knows {', '.join(known)}",),
        )
    close = nearest(reader, model.readers, n=1)
    raise InputError.of(
        "INK0663",
        f"row {row + 1} of the readings: the model has no reader `{reader}`",
        notes=(f"its readers are {', '.join(model.readers[:10])}{' …' if len(model.readers) > 10 else ''}",),
        helps=(f"did you mean `{close[0]}`?",) if close else (),
    )


def _unreadable(message: str) -> InputError:
    return InputError.of("INK0664", message)
