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

_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def read_json_lines(data: pa.Buffer) -> pa.Table:
    """All records of a file; its columns are all names that occur."""
    lines = data.to_pybytes().removeprefix(BYTE_ORDER_MARK).splitlines()
    return parse_json_lines([text for line in lines if not is_blank(text := line.decode(errors="replace"))])


def parse_json_lines(lines: Sequence[str], names: Sequence[str] | None = None) -> pa.Table:
    """One record per line; columns are those that are named, or all that occur."""
    objects = [_object(line) for line in lines]
    is_malformed = [one is None for one in objects]
    records = [one or {} for one in objects]
    if names is None:
        names = list(dict.fromkeys(name for one in records for name in one))
    columns = {name: _texts([one.get(name) for one in records], name, lines) for name in names}
    columns[ORIGINAL] = pa.array(lines, TEXT)
    if any(is_malformed):
        columns[MALFORMED] = pa.array(["not a JSON object" if bad else None for bad in is_malformed], TEXT)
    return pa.table(columns)


def _object(line: str) -> dict[str, object] | None:
    try:
        found = _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _texts(values: Sequence[object], name: str, lines: Sequence[str]) -> pa.Array:
    try:
        return pa.array(values, TEXT)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        return pa.array([_text(value, name, line) for value, line in zip(values, lines, strict=True)], TEXT)


def _text(value: object, name: str, line: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(json.loads(line)[name], ensure_ascii=False)  # nested, with its numbers as numbers
