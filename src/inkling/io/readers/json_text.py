"""JSON lines: one object per line; every value stays text, so that the declared type of its column decides its meaning.

A number may therefore have more digits than any numeric type.
"""

import json
import re
import sys
from collections.abc import Sequence

import pyarrow as pa

from inkling.io.readers import utf8
from inkling.io.readers.records import MALFORMED, ORIGINAL, TEXT
from inkling.io.readers.utf8 import BYTE_ORDER_MARK
from inkling.io.spellings import is_blank

_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_NESTED_INTEGER = sys.int_info.default_max_str_digits
_MANY_DIGITS = re.compile(rf"\d{{{_LONGEST_NESTED_INTEGER + 1}}}")
_SURELY_SHALLOW = 500  # a line of at most this many characters is not nested too deeply


def read_json_lines(data: pa.Buffer) -> pa.Table:
    """All records of a file; its columns are all names that occur."""
    return parse_json_lines(lines_in(data))


def lines_in(data: pa.Buffer) -> list[str]:
    """The lines of a file that are not blank, as `utf8.texts` decodes them."""
    lines = data.to_pybytes().removeprefix(BYTE_ORDER_MARK).splitlines()
    if lines:
        utf8.reject_other_encodings(lines[0])
    return [line for line in utf8.texts(lines) if not is_blank(line)]


def parse_json_lines(lines: Sequence[str], names: Sequence[str] | None = None) -> pa.Table:
    """One record per line, as `utf8.texts` decodes it, with the columns `names`, by default all that occur."""
    found = [_object(line) for line in lines]
    records = [{} if isinstance(one, str) else one for one in found]
    if names is None:
        names = list(dict.fromkeys(name for one in records for name in one))
    columns = {name: _texts([one.get(name) for one in records], name, lines) for name in names}
    columns[ORIGINAL] = _originals(lines)
    if any(isinstance(one, str) for one in found):
        columns[MALFORMED] = pa.array([one if isinstance(one, str) else None for one in found], TEXT)
    return pa.table(columns)


def _object(line: str) -> dict[str, object] | str:
    """The object of a line, or the fault of the line."""
    try:
        found = _DECODER.decode(line)
    except ValueError:
        return "not a JSON object"
    except RecursionError:
        return "JSON that is nested too deeply"
    if not isinstance(found, dict):
        return "not a JSON object"
    if not line.isascii() and (fault := utf8.fault_in(line, found)):
        return fault
    if _HALF_A_CHARACTER.search(line) and not _is_text(found):
        return "JSON with an unpaired surrogate"
    return found if len(line) <= _SURELY_SHALLOW else _fault_of_long(line) or found


def _originals(lines: Sequence[str]) -> pa.Array:
    try:
        return pa.array(lines, TEXT)
    except UnicodeEncodeError:
        return pa.array([utf8.shown(line) for line in lines], TEXT)


def _is_text(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _fault_of_long(line: str) -> str | None:
    """The fault of a line whose lists or objects cannot be serialized again, or None."""
    if line.count("[") + line.count("{") <= _SURELY_SHALLOW // 2 and not _MANY_DIGITS.search(line):
        return None
    try:
        json.dumps([value for value in _NESTED.decode(line).values() if isinstance(value, list | dict)])
    except RecursionError:
        return "JSON that is nested too deeply"
    except TypeError:
        return f"JSON with a number of more than {_LONGEST_NESTED_INTEGER} digits inside a list or an object"
    return None


def _integer(digits: str) -> object:
    """An integer; with more digits than Python converts, an object that `json.dumps` rejects."""
    return int(digits) if len(digits) <= _LONGEST_NESTED_INTEGER else object()


_NESTED = json.JSONDecoder(parse_int=_integer)


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
    return json.dumps(_NESTED.decode(line)[name], ensure_ascii=False)  # nested, with its numbers as numbers
