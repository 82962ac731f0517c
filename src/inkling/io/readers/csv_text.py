"""CSV as in RFC 4180: commas or another separator, double quotes; every value is text, and an empty field is null.

White space around names in the header is removed, and blank lines are skipped. Records that are not UTF-8 are
malformed.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from inkling.io.readers import utf8
from inkling.io.readers.records import MALFORMED, ORIGINAL, TEXT, empty_text, with_malformed
from inkling.io.readers.utf8 import BYTE_ORDER_MARK
from inkling.io.spellings import WHITE_SPACE, is_blank

BLOCK_BYTES = 1 << 23
LARGEST_BLOCK = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dialect:
    """What separates the fields of a CSV file, whether its first line is a header, and names to use instead of it."""

    separator: str = ","
    has_header: bool = True
    names: tuple[str, ...] = ()


COMMAS, TABS = Dialect(), Dialect("\t")


class HeaderError(ValueError):
    """A header that has another number of columns than there are names."""


def read_csv(data: pa.Buffer, dialect: Dialect = COMMAS) -> pa.Table | None:
    """All records of a file, or None when it should have a header and has none."""
    if not dialect.has_header:
        return parse_csv(data.slice(_mark_bytes(data)), dialect.names, dialect.separator)
    line, rest = _first_line(data)
    return None if line is None else parse_csv(rest, header_names(line, dialect), dialect.separator)


def header_names(line: bytes, dialect: Dialect = COMMAS) -> list[str]:
    """The names of columns in a header, or those to use instead."""
    utf8.require_utf8(line)
    text = pa.BufferReader(line.removeprefix(BYTE_ORDER_MARK) + b"\n")
    header = pa.csv.read_csv(text, parse_options=pa.csv.ParseOptions(delimiter=dialect.separator)).column_names
    if not dialect.names:
        return [name.strip(WHITE_SPACE) for name in header]
    if len(header) != len(dialect.names):
        raise HeaderError(f"its header has {len(header)} columns, and `columns` names {len(dialect.names)}")
    return list(dialect.names)


def parse_lines(lines: pa.Array, names: Sequence[str], separator: str = ",") -> pa.Table:
    """Records that were split into lines already."""
    return parse_csv(pa.py_buffer(b"\n".join(lines.cast(pa.binary()).to_pylist())), names, separator)


def parse_csv(body: pa.Buffer, names: Sequence[str], separator: str = ",") -> pa.Table:
    """Records without a header; those that are not UTF-8 or have too many or too few fields are malformed."""
    if utf8.is_utf8(body):
        return _parse_utf8(body, names, separator)
    stand_ins = utf8.StandIns(body)
    return _decoded(_parse_utf8(stand_ins.written(), names, separator), names, stand_ins, separator)


def _parse_utf8(body: pa.Buffer, names: Sequence[str], separator: str) -> pa.Table:
    wrong: list[pa.csv.InvalidRow] = []
    rows = _parse(body, names, separator, wrong)
    if wrong:
        wrong.clear()
        rows = _parse(body, names, separator, wrong, threads=False)  # threads hide the positions of malformed records
    n_blank = 0
    malformed = {}
    for record in sorted(wrong, key=lambda record: record.number):
        if is_blank(record.text):
            n_blank += 1
            continue
        fault = f"expected {record.expected_columns} fields, found {record.actual_columns}"
        malformed[record.number - 1 - n_blank] = (fault, record.text)
    return with_malformed(rows, malformed)


def _parse(
    body: pa.Buffer, names: Sequence[str], separator: str, wrong: list[pa.csv.InvalidRow], *, threads: bool = True
) -> pa.Table:
    def skip(record: pa.csv.InvalidRow) -> str:
        wrong.append(record)
        return "skip"

    if body.size < BLOCK_BYTES and not body.to_pybytes().strip(WHITE_SPACE.replace(separator, "").encode()):
        return empty_text(names)
    places = [f"f{place}" for place in range(len(names))]  # names may be repeated or empty
    parsing = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=skip)
    as_text = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(places, TEXT),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    for block_bytes in (BLOCK_BYTES, min(body.size + 1, LARGEST_BLOCK)):
        reading = pa.csv.ReadOptions(column_names=places, use_threads=threads, block_size=block_bytes)
        try:
            rows = pa.csv.read_csv(
                pa.BufferReader(body), read_options=reading, parse_options=parsing, convert_options=as_text
            )
        except pa.ArrowInvalid as problem:
            # a record larger than a block
            if "straddl" not in str(problem) or block_bytes > BLOCK_BYTES:
                raise
            wrong.clear()
            continue
        return rows.rename_columns(list(names))
    raise AssertionError("the last block is as large as the data")


def _first_line(data: pa.Buffer) -> tuple[bytes | None, pa.Buffer]:
    """The first line that is not blank, and the rest of the data."""
    start = _mark_bytes(data)
    while start < data.size:
        end, after = _line_end(data, start)
        line = data.slice(start, end - start).to_pybytes()
        if not is_blank(line.decode(errors="replace")):
            return line, data.slice(after)
        start = after
    return None, data


def _mark_bytes(data: pa.Buffer) -> int:
    """The length of the byte order mark, if there is one."""
    mark = len(BYTE_ORDER_MARK)
    return mark if data.slice(0, min(mark, data.size)).to_pybytes() == BYTE_ORDER_MARK else 0


def _line_end(data: pa.Buffer, start: int) -> tuple[int, int]:
    """The end of the line that starts at `start`, and the start of the next line."""
    size = 1 << 12
    while True:
        text = data.slice(start, min(size, data.size - start)).to_pybytes()
        ends = [place for place in (text.find(b"\n"), text.find(b"\r")) if place >= 0]
        if ends and min(ends) + 1 < len(text):
            end = start + min(ends)
            is_pair = text[min(ends) : min(ends) + 2] == b"\r\n"
            return end, end + (2 if is_pair else 1)
        if start + len(text) >= data.size:
            return (start + min(ends), data.size) if ends else (data.size, data.size)
        size *= 2


def _decoded(rows: pa.Table, names: Sequence[str], stand_ins: utf8.StandIns, separator: str) -> pa.Table:
    """The records, with a fault for each that has bytes that are not UTF-8."""
    n = len(rows)
    is_faulty = np.zeros(n, bool)
    for column in rows.columns:
        found = pc.fill_null(pc.match_substring_regex(column, stand_ins.pattern), False)
        is_faulty |= found.combine_chunks().to_numpy(zero_copy_only=False)
    faults, originals = np.full(n, None, object), np.full(n, None, object)
    for name, texts in ((MALFORMED, faults), (ORIGINAL, originals)):
        if name in rows.column_names:
            texts[:] = rows[name].to_pylist()
    fields = rows.select(range(len(names)))
    kept = [np.array(column.to_pylist(), object) for column in fields.columns]
    for place in np.flatnonzero(is_faulty):
        if originals[place] is None:
            values = [stand_ins.decoded(column[place] or "") for column in kept]
            faults[place] = utf8.fault_in("".join(values), dict(zip(names, values, strict=True)))
            originals[place] = utf8.shown(_record(values, separator))
        else:
            originals[place] = utf8.shown(stand_ins.decoded(originals[place]))
        for column in kept:
            column[place] = None
    columns = [*(pa.array(column, TEXT) for column in kept), pa.array(faults, TEXT), pa.array(originals, TEXT)]
    return pa.table(columns, names=[*names, MALFORMED, ORIGINAL])


def _record(values: Sequence[str], separator: str) -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="").writerow(values)
    return written.getvalue()
