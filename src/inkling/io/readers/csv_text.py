"""CSV as in RFC 4180: commas, double quotes, a header; every value is text, and an empty field is null.

White space around names in the header is removed, and blank lines are skipped. Records that are not UTF-8 are
malformed.
"""

import csv
import io
from collections.abc import Sequence

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


def read_csv(data: pa.Buffer) -> pa.Table | None:
    """All records of a file, or None when it has no header."""
    line, rest = _first_line(data)
    return None if line is None else parse_csv(rest, header_names(line))


def header_names(line: bytes) -> list[str]:
    utf8.require_utf8(line)
    header = pa.csv.read_csv(pa.BufferReader(line.removeprefix(BYTE_ORDER_MARK) + b"\n"))
    return [name.strip(WHITE_SPACE) for name in header.column_names]


def parse_lines(lines: pa.Array, names: Sequence[str]) -> pa.Table:
    """Records that were split into lines already."""
    return parse_csv(pa.py_buffer(b"\n".join(lines.cast(pa.binary()).to_pylist())), names)


def parse_csv(body: pa.Buffer, names: Sequence[str]) -> pa.Table:
    """Records without a header; those that are not UTF-8 or have too many or too few fields are malformed."""
    if utf8.is_utf8(body):
        return _parse_utf8(body, names)
    stand_ins = utf8.StandIns(body)
    return _decoded(_parse_utf8(stand_ins.written(), names), names, stand_ins)


def _parse_utf8(body: pa.Buffer, names: Sequence[str]) -> pa.Table:
    wrong: list[pa.csv.InvalidRow] = []
    rows = _parse(body, names, wrong)
    if wrong:
        wrong.clear()
        rows = _parse(body, names, wrong, threads=False)  # threads hide the positions of malformed records
    n_blank = 0
    malformed = {}
    for record in sorted(wrong, key=lambda record: record.number):
        if is_blank(record.text):
            n_blank += 1
            continue
        fault = f"expected {record.expected_columns} fields, found {record.actual_columns}"
        malformed[record.number - 1 - n_blank] = (fault, record.text)
    return with_malformed(rows, malformed)


def _parse(body: pa.Buffer, names: Sequence[str], wrong: list[pa.csv.InvalidRow], *, threads: bool = True) -> pa.Table:
    def skip(record: pa.csv.InvalidRow) -> str:
        wrong.append(record)
        return "skip"

    if body.size < BLOCK_BYTES and not body.to_pybytes().strip(WHITE_SPACE.encode()):
        return empty_text(names)
    places = [f"f{place}" for place in range(len(names))]  # names may be repeated or empty
    parsing = pa.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip)
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
    start = len(BYTE_ORDER_MARK) if data.slice(0, min(3, data.size)).to_pybytes() == BYTE_ORDER_MARK else 0
    while start < data.size:
        end, after = _line_end(data, start)
        line = data.slice(start, end - start).to_pybytes()
        if not is_blank(line.decode(errors="replace")):
            return line, data.slice(after)
        start = after
    return None, data


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


def _decoded(rows: pa.Table, names: Sequence[str], stand_ins: utf8.StandIns) -> pa.Table:
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
            originals[place] = utf8.shown(_record(values))
        else:
            originals[place] = utf8.shown(stand_ins.decoded(originals[place]))
        for column in kept:
            column[place] = None
    columns = [*(pa.array(column, TEXT) for column in kept), pa.array(faults, TEXT), pa.array(originals, TEXT)]
    return pa.table(columns, names=[*names, MALFORMED, ORIGINAL])


def _record(values: Sequence[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(values)
    return written.getvalue()
