"""Statements of N-Triples and N-Quads, one per line: scanned in their usual form, otherwise read by pyoxigraph."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.extras import require
from inkling.io.readers.formats import Format
from inkling.io.readers.records import TEXT, with_malformed
from inkling.kernels.rdf.statements import UNUSUAL, gathered, statements

TERMS = ("s", "p", "o")
GRAPH = "g"
DOCUMENT = "@document"
"""The number of the document that a statement belongs to."""

PARSED_AS = {
    Format.TURTLE: "TURTLE",
    Format.TRIG: "TRIG",
    Format.RDF_XML: "RDF_XML",
    Format.N_TRIPLES: "N_TRIPLES",
    Format.N_QUADS: "N_QUADS",
}
Positions = NDArray[np.int64]


def library() -> Any:
    """The module `pyoxigraph`."""
    require("pyoxigraph", "INK0519")
    import pyoxigraph

    return pyoxigraph


def statements_of(kind: Format, documents: Sequence[bytes | pa.Buffer]) -> pa.Table:
    """The statements of all documents in their order, with the columns `s`, `p`, `o`, `g` and `DOCUMENT`."""
    data = documents[0] if len(documents) == 1 else b"\n".join(map(bytes, documents))
    content = np.frombuffer(data, np.uint8)
    lines, kinds, begins, ends = statements(content, not _is_utf8(content))
    unusual = np.flatnonzero(kinds == UNUSUAL)
    columns = {name: _texts(content, begins[place], ends[place]) for place, name in enumerate((*TERMS, GRAPH))}
    rows = pa.table(columns)
    if kind is Format.N_TRIPLES and rows[GRAPH].null_count < len(rows):
        unusual = np.union1d(unusual, np.flatnonzero(rows[GRAPH].is_valid().to_numpy()))
    starts = np.cumsum([0, *(len(one) + 1 for one in documents[:-1])])
    if len(unusual):
        rows = _with_unusual(kind, rows, content, lines, unusual, starts)
    return rows.append_column(DOCUMENT, pa.array(np.searchsorted(starts, lines[0], side="right") - 1))


def _is_utf8(content: NDArray[np.uint8]) -> bool:
    offsets = pa.py_buffer(np.array([0, len(content)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(content)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _texts(content: NDArray[np.uint8], begins: Positions, ends: Positions) -> pa.Array:
    offsets, found = gathered(content, begins, ends)
    valid = None if (ends >= 0).all() else pa.py_buffer(np.packbits(ends >= 0, bitorder="little"))
    buffers = pa.py_buffer(offsets), pa.py_buffer(found)
    return pa.LargeStringArray.from_buffers(len(begins), *buffers, valid).cast(TEXT)


def _with_unusual(
    kind: Format, rows: pa.Table, content: NDArray[np.uint8], lines: Positions, unusual: Positions, starts: Positions
) -> pa.Table:
    """The rows with those of unusual lines, which are read one by one."""
    read_line = _line_reader(kind)
    found: list[tuple[str, str, str, str | None]] = []
    places, malformed = [], {}
    for place in unusual.tolist():
        line = content[lines[0, place] : lines[1, place]].tobytes()
        try:
            statement = read_line(line.decode())
        except UnicodeDecodeError:
            reason = "bytes that are not UTF-8"
        except SyntaxError as problem:
            reason = f"not a statement of {kind.value}: {_reason(problem)}"
        else:
            found.append(statement)
            places.append(place)
            continue
        malformed[place] = reason, line.decode(errors="replace")
    if malformed:
        numbers = _line_numbers(content, starts, lines[0, list(malformed)]).tolist()
        malformed = {
            place: (f"line {number}: {reason}", text)
            for (place, (reason, text)), number in zip(malformed.items(), numbers, strict=True)
        }
    kept = np.ones(len(rows), bool)
    kept[unusual] = False
    others = pa.table(
        {name: pa.array(column, TEXT) for name, column in zip(rows.column_names, _turned(found), strict=True)}
    )
    together = pa.concat_tables([rows.filter(pa.array(kept)), others])
    order = np.argsort(np.concatenate([np.flatnonzero(kept), np.array(places, np.int64)]), kind="stable")
    return with_malformed(together.take(pa.array(order)), malformed)


def _line_numbers(content: NDArray[np.uint8], starts: Positions, places: Positions) -> Positions:
    """The numbers of the lines that begin at these places, from 1 in each document."""
    breaks = np.flatnonzero(content == ord("\n"))
    begins = starts[np.searchsorted(starts, places, side="right") - 1]
    return np.searchsorted(breaks, places) - np.searchsorted(breaks, begins) + 1


def _turned(rows: list[tuple[str, str, str, str | None]]) -> list[list[str | None]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]


def _line_reader(kind: Format) -> Callable[[str], tuple[str, str, str, str | None]]:
    pyoxigraph = library()
    as_kind = getattr(pyoxigraph.RdfFormat, PARSED_AS[kind])

    def statement(line: str) -> tuple[str, str, str, str | None]:
        quads = list(pyoxigraph.parse(input=line, format=as_kind))
        if len(quads) != 1:
            raise SyntaxError(f"a line has one statement, found {len(quads)}")
        (quad,) = quads
        graph = None if isinstance(quad.graph_name, pyoxigraph.DefaultGraph) else str(quad.graph_name)
        return str(quad.subject), str(quad.predicate), str(quad.object), graph

    return statement


_PLACE = re.compile(r"^Parser error at line [0-9]+[^:]*: ")


def _reason(problem: SyntaxError) -> str:
    """What pyoxigraph says, without the place in the line."""
    return _PLACE.sub("", str(problem.msg))
