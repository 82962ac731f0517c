"""JSON lines: one object per line; every value is kept as the text that spells it.

So a number may be longer than any type of number, and means what its column is declared to be.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from inkling.io.csv_text import BYTE_ORDER_MARK
from inkling.io.records import MALFORMED, ORIGINAL, TEXT
from inkling.io.spellings import is_blank


class _Spelled(str):
    """A number or constant as it was written."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_float=_Spelled, parse_int=_Spelled, parse_constant=_Spelled)


def read_json_lines(data: pa.Buffer) -> pa.Table:
    """All records of a file; its columns are all names that occur."""
    lines = data.to_pybytes().removeprefix(BYTE_ORDER_MARK).splitlines()
    return parse_json_lines([text for line in lines if not is_blank(text := line.decode(errors="replace"))])


def parse_json_lines(lines: Sequence[str], names: Sequence[str] | None = None) -> pa.Table:
    """One record per line; columns are those that are named, or all that occur."""
    objects = [_object(line) for line in lines]
    present = dict.fromkeys(name for one in objects if one is not None for name in one)
    faults = [None if one is not None else "not a JSON object" for one in objects]
    columns = {
        name: pa.array([None if one is None else _text(one.get(name)) for one in objects], TEXT)
        for name in (present if names is None else names)
    }
    columns[ORIGINAL] = pa.array(lines, TEXT)
    if any(faults):
        columns[MALFORMED] = pa.array(faults, TEXT)
    return pa.table(columns)


def _object(line: str) -> dict[str, object] | None:
    try:
        found = _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return str(value)
        case _:
            return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: object) -> object:
    """A nested value with its numbers as numbers."""
    match value:
        case _Spelled():
            return json.loads(value)
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value
