"""The codec of states: trees of dataclasses as bytes that are the same on every machine, read back by type hints.

A state may hold frozen dataclasses, named tuples, mappings with text or integer keys, tuples, sets, Arrow tables and
arrays, NumPy arrays, numbers, text, bytes and None. The bytes are a JSON header with the tree, followed by the tables
and arrays, each aligned to 8 bytes, in the container of `inkling.stored`. They contain no code.

A class with another stored form has a method `as_stored`, whose return hint is the stored type, and a class method
`from_stored`.

>>> from inkling.evaluators.state import from_bytes, to_bytes
>>> from_bytes(to_bytes((1, {"a": None})), tuple[int, dict[str, float | None]])
(1, {'a': None})
"""

import json
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from functools import cache
from math import prod
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.stored import Stored, opened, readable, sealed

_HOW = b"inkling"  # key of the schema metadata that describes a compact table
_WIDTHS = (np.uint8, np.uint16, np.uint32)
_WHOLE = pa.int64()


def compact(table: pa.Table) -> pa.Table:
    """A smaller table, which `restored` turns back: equal columns once, integers as narrow offsets from the least."""
    if not len(table):
        return table
    columns: dict[str, pa.Array] = {}
    kept: dict[str, pa.Array] = {}
    how: dict[str, list[object]] = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        same = next(
            (other for other, held in columns.items() if held.type == column.type and held.equals(column)), None
        )
        columns[name] = column
        if same is not None:
            how[name] = ["same", same]
            continue
        base, kept[name] = _narrowed_column(column)
        how[name] = ["plain"] if base is None else ["above", base]
    about = {_HOW: json.dumps(how).encode()}
    return pa.table(kept, metadata=about) if kept else table


def restored(table: pa.Table) -> pa.Table:
    """The original of a table from `compact`."""
    metadata = table.schema.metadata or {}
    if _HOW not in metadata:
        return table
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name, (kind, *more) in json.loads(metadata[_HOW]).items():
        match kind:
            case "same":
                columns[name] = columns[more[0]]
            case "above":
                columns[name] = pa.array(table[name].to_numpy().astype(np.int64) + more[0])
            case _:
                columns[name] = table[name]
    return pa.table(columns)


def _narrowed_column(column: pa.Array) -> tuple[int | None, pa.Array]:
    """The least integer of a column and the offsets from it; None and the column itself if that is not smaller."""
    if column.type != _WHOLE or column.null_count or not len(column):
        return None, column
    numbers = column.to_numpy()
    least, most = int(numbers.min()), int(numbers.max())
    for width in _WIDTHS:
        if most - least <= np.iinfo(width).max:
            return least, pa.array((numbers - least).astype(width))
    return None, column


_LENGTH = struct.Struct("<q")
_PLAIN = frozenset({int, float, str, bool, NoneType})
_NARROWER = (np.int8, np.int16, np.int32)
_IS_LITTLE = sys.byteorder == "little"
_WORTH_NARROWING = 32
"""Shorter arrays of whole numbers are written as they are."""
_FRACTIONS = "fractions"

State = TypeVar("State")

Write = Callable[[Any, "_Parts"], Any]
"""Writes a value: returns its JSON, and appends tables and arrays to the parts."""
Read = Callable[[Any, memoryview], Any]
"""Reads a value from its JSON and the parts."""


def to_bytes(state: Any) -> bytes:
    """The bytes of a state; equal states give equal bytes."""
    parts = _Parts()
    header = json.dumps(state, default=parts.described, separators=(",", ":"), check_circular=False).encode()
    header += b" " * (-len(header) % 8)
    return sealed(_LENGTH.pack(len(header)), Stored.STATE, header, *parts.data)


def from_bytes(data: bytes | memoryview, kind: type[State]) -> State:
    """The state of a type from its bytes; tables point into the bytes, arrays are copies."""
    contents, wanted = opened(data, Stored.STATE), cast(Any, kind)
    with readable(Stored.STATE):
        (length,) = _LENGTH.unpack_from(contents)
        at = _LENGTH.size + length
        tree = json.loads(bytes(contents[_LENGTH.size : at]))
        found: State = _reader(wanted)(tree, contents[at:])
    return found


def table_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    return bytes(_stream(table))


def table_of(data: bytes | memoryview) -> pa.Table:
    """The table from the bytes of `table_bytes`, or of a state."""
    return restored(pa.ipc.open_stream(pa.py_buffer(data)).read_all())


def _stream(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


class _Parts:
    """The bytes of tables and arrays, in order."""

    __slots__ = ("data", "size")

    def __init__(self) -> None:
        self.data: list[bytes | memoryview | pa.Buffer] = []
        self.size = 0

    def described(self, value: Any) -> Any:
        """The JSON of a value that is no JSON type; tables and arrays become parts."""
        kind: Any = type(value)
        return _writer(kind)(value, self)

    def add(self, data: bytes | memoryview | pa.Buffer, size: int) -> int:
        """Appends a part; returns its offset."""
        at, padding = self.size, -size % 8
        self.data.append(data)
        if padding:
            self.data.append(b"\0" * padding)
        self.size += size + padding
        return at


@cache
def _writer(kind: Any) -> Write:
    if hasattr(kind, "as_stored"):
        return lambda value, parts: value.as_stored()
    if is_dataclass(kind):
        name, names = _name(kind), [field.name for field in fields(kind)]
        return lambda value, parts: {name: [getattr(value, one) for one in names]}
    if issubclass(kind, Mapping):
        return lambda value, parts: dict(value)
    if issubclass(kind, frozenset | set):
        return lambda value, parts: sorted(value)
    if issubclass(kind, pa.Table):
        return _write_table
    if issubclass(kind, pa.Array):
        return lambda value, parts: _write_table(pa.table({"": value}), parts)
    if issubclass(kind, np.ndarray | np.generic):
        return _write_array
    if issubclass(kind, bytes):
        return lambda value, parts: [parts.add(value, len(value)), len(value)]
    raise TypeError(f"a state cannot hold values of {kind.__name__}")


def _write_table(table: pa.Table, parts: _Parts) -> list[int]:
    data = _stream(compact(table))
    return [parts.add(data, data.size), data.size]


def _write_array(value: NDArray[Any], parts: _Parts) -> list[Any]:
    """Offset of the numbers, their type, the type in which they are written, and the shape."""
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.hasobject:
        data = json.dumps([str(Fraction(one)) for one in array.flat]).encode()
        return [parts.add(data, len(data)), _FRACTIONS, len(data), *array.shape]
    narrow = _narrowed(array)
    data = narrow.tobytes() if _IS_LITTLE else narrow.astype(narrow.dtype.newbyteorder("<")).tobytes()
    return [parts.add(data, len(data)), array.dtype.str[1:], narrow.dtype.str[1:], *array.shape]


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the narrowest integer type that holds all its values."""
    if array.size < _WORTH_NARROWING or array.dtype.kind != "i":
        return array
    least, most = int(array.min()), int(array.max())
    for kind in _NARROWER:
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return array.astype(kind, copy=False)
    return array


def _plain(node: Any, parts: memoryview) -> Any:
    return node


@cache
def _reader(kind: Any) -> Read:
    """The reader of values of a type."""
    origin = get_origin(kind) or kind
    if kind in _PLAIN or kind is None:
        return _plain
    if kind is Any:
        return _read_any
    if origin in (Union, UnionType):
        return _union_reader(get_args(kind))
    if not isinstance(origin, type):
        raise TypeError(f"a state cannot hold values of {kind}")
    if hasattr(origin, "as_stored"):
        inner = _reader(get_type_hints(origin.as_stored)["return"])
        return lambda node, parts: origin.from_stored(inner(node, parts))  # type: ignore[attr-defined]
    if is_dataclass(origin):
        return _dataclass_reader(origin, kind)
    if issubclass(origin, Mapping):
        return _mapping_reader(*get_args(kind))
    if issubclass(origin, tuple):
        return _tuple_reader(origin, get_args(kind))
    if issubclass(origin, frozenset):
        return lambda node, parts: frozenset(node)
    if issubclass(origin, np.ndarray):
        return _read_array
    if issubclass(origin, pa.Table):
        return lambda node, parts: table_of(_part(node, parts))
    if issubclass(origin, pa.Array):
        return lambda node, parts: table_of(_part(node, parts))[0].combine_chunks()
    if issubclass(origin, bytes):
        return lambda node, parts: bytes(_part(node, parts))
    raise TypeError(f"a state cannot hold values of {kind}")


def _part(node: list[int], parts: memoryview) -> memoryview:
    at, size = node
    return parts[at : at + size]


def _read_array(node: list[Any], parts: memoryview) -> NDArray[Any]:
    at, kind, stored, *shape = node
    if kind == _FRACTIONS:
        listed = json.loads(bytes(parts[at : at + stored]))
        exact: NDArray[Any] = np.empty(len(listed), object)
        exact[:] = [Fraction(one) for one in listed]
        return exact.reshape(shape)
    found = np.frombuffer(parts, _little(stored), prod(shape), at).astype(_native(kind))
    return found if len(shape) == 1 else found.reshape(shape)


@cache
def _little(kind: str) -> np.dtype[Any]:
    return np.dtype(f"<{kind}")


@cache
def _native(kind: str) -> np.dtype[Any]:
    return np.dtype(kind)


def _read_any(node: Any, parts: memoryview) -> Any:
    """Values that need no type: mappings with text keys, arrays, and plain values."""
    if isinstance(node, dict):
        return {key: _read_any(one, parts) for key, one in node.items()}
    return _read_array(node, parts) if isinstance(node, list) else node


def _dataclass_reader(cls: type, kind: Any) -> Read:
    """Bytes of an earlier patch version may lack the last fields, if these have a default."""
    name = cls.__name__
    readers: list[Read] = []
    n_required = sum(field.default is MISSING and field.default_factory is MISSING for field in fields(cls))

    def read(node: Any, parts: memoryview) -> Any:
        if not isinstance(node, dict) or name not in node:
            found = next(iter(node)) if isinstance(node, dict) and len(node) == 1 else type(node).__name__
            raise ValueError(f"this is a state of {found}, expected {name}")
        if not readers:  # late, because a type may contain itself
            readers.extend(map(_reader, _field_types(cls, kind)))
        if not n_required <= len(node[name]) <= len(readers):
            raise ValueError(f"a {name} has {len(readers)} fields, found {len(node[name])}")
        return cls(*[one(part, parts) for one, part in zip(readers, node[name], strict=False)])

    return read


def _field_types(cls: type, kind: Any) -> list[Any]:
    hints = get_type_hints(cls)
    named = dict(zip(getattr(cls, "__parameters__", ()), get_args(kind), strict=False))
    return [_with(hints[field.name], named) for field in fields(cls)]


def _with(hint: Any, named: Mapping[Any, Any]) -> Any:
    """A type hint with its type variables replaced."""
    if isinstance(hint, TypeVar):
        return named[hint]
    variables = getattr(hint, "__parameters__", ())
    return hint[tuple(named[one] for one in variables)] if variables and named else hint


def _mapping_reader(key: Any, value: Any) -> Read:
    read = _reader(value)
    if key is str:
        return lambda node, parts: {name: read(one, parts) for name, one in node.items()}
    return lambda node, parts: {int(number): read(one, parts) for number, one in node.items()}


def _tuple_reader(cls: type, args: tuple[Any, ...]) -> Read:
    if hasattr(cls, "_fields"):
        readers = [_reader(one) for one in get_type_hints(cls).values()]
        return lambda node, parts: cls(*[one(part, parts) for one, part in zip(readers, node, strict=True)])
    if len(args) == 2 and args[1] is Ellipsis:
        each = _reader(args[0])
        if each is _plain:
            return lambda node, parts: tuple(node)
        return lambda node, parts: tuple([each(part, parts) for part in node])
    every = [_reader(one) for one in args]
    return lambda node, parts: tuple([one(part, parts) for one, part in zip(every, node, strict=True)])


def _union_reader(kinds: tuple[Any, ...]) -> Read:
    """A union may hold several dataclasses, which the JSON names, plain values, and one further type."""
    arrays = [one for one in kinds if get_origin(one) is np.ndarray]  # each is written with the type of its elements
    others = [one for one in kinds if one not in _PLAIN and one not in arrays[1:]]
    if not others:
        return _plain
    named = {name: _reader(one) for one in others if (name := _name(one)) is not None}
    rest = [_reader(one) for one in others if _name(one) is None]
    if len(rest) > 1 or len(named) + len(rest) < len(others):
        raise TypeError(f"what is written does not distinguish {kinds}")

    def read(node: Any, parts: memoryview) -> Any:
        if not isinstance(node, dict | list):
            return node
        found = named.get(next(iter(node), "")) if isinstance(node, dict) and len(node) == 1 else None
        if found is not None:
            return found(node, parts)
        if not rest:
            raise ValueError(f"this is a state of {'/'.join(map(str, node))}, expected {' or '.join(named)}")
        return rest[0](node, parts)

    return read


def _name(kind: Any) -> str | None:
    """The name of a dataclass in the JSON; None for other types."""
    origin = get_origin(kind) or kind
    while hasattr(origin, "as_stored"):
        origin = get_type_hints(origin.as_stored)["return"]
        origin = get_origin(origin) or origin
    return origin.__name__ if is_dataclass(origin) and isinstance(origin, type) else None
