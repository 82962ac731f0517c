"""RDF files as raw tables: one row per statement, with its terms as text.

Columns are `s`, `p`, `o`; files with several graphs also have `g`, the graph, and the time of the graph in `t`,
`started` and `ended`. Statements of the default graph about these times are not rows themselves. Blank nodes belong to
their file: their labels get a prefix that differs between files. Lines of N-Triples and N-Quads in their usual form
are scanned; pyoxigraph reads everything else.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.io.readers.formats import Format
from inkling.io.readers.records import MALFORMED, TEXT, with_malformed
from inkling.io.readers.utf8 import BYTE_ORDER_MARK
from inkling.kernels.rdf.statements import UNUSUAL, gathered, statements
from inkling.model.terms import read

TERMS = ("s", "p", "o")
GRAPH, TIME, STARTED, ENDED = "g", "t", "started", "ended"
PROVENANCE = "http://www.w3.org/ns/prov#"
TIMES = {f"<{PROVENANCE}{name}>": name for name in ("generatedAtTime", "startedAtTime", "endedAtTime")}

_PARSED_AS = {
    Format.TURTLE: "TURTLE",
    Format.TRIG: "TRIG",
    Format.RDF_XML: "RDF_XML",
    Format.N_TRIPLES: "N_TRIPLES",
    Format.N_QUADS: "N_QUADS",
}
RDF_FORMATS = frozenset(_PARSED_AS)
BY_LINES = (Format.N_TRIPLES, Format.N_QUADS)
WITH_GRAPHS = (Format.N_QUADS, Format.TRIG)


class NotRdfError(ValueError):
    """A file that is not in its format, with the first error in it."""


Positions = NDArray[np.int64]


def read_rdf(kind: Format, data: pa.Buffer, scope: str) -> pa.Table:
    """All statements of a file; `scope` names the file to which its blank nodes belong.

    A line that is no statement is a malformed record; an error in a Turtle, TriG or RDF/XML file raises `NotRdfError`.
    """
    prefix = f"f{zlib.crc32(scope.encode()):08x}_"
    if kind in BY_LINES:
        rows = _labelled(_lines(kind, data), prefix)
    else:
        rows = _renumbered(_lines(Format.N_QUADS, _as_quads(kind, data)), prefix)
    return _timed(rows) if kind in WITH_GRAPHS else rows.drop_columns([GRAPH])


def _as_quads(kind: Format, data: pa.Buffer) -> pa.Buffer:
    """A document as N-Quads."""
    pyoxigraph = library()
    quads = pyoxigraph.parse(input=data.to_pybytes(), format=getattr(pyoxigraph.RdfFormat, _PARSED_AS[kind]))
    try:
        return pa.py_buffer(pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS))
    except SyntaxError as problem:
        raise NotRdfError(str(problem.msg)) from None


def library() -> Any:
    """The module `pyoxigraph`."""
    try:
        import pyoxigraph
    except ImportError:
        raise InputError.of(
            "INK0519",
            "the package `pyoxigraph`, which reads RDF files, is not installed",
            helps=("install it with `pip install 'inkling[rdf]'`",),
        ) from None
    return pyoxigraph


def _lines(kind: Format, data: pa.Buffer) -> pa.Table:
    """The statements of N-Triples or N-Quads."""
    content = np.frombuffer(data, np.uint8)
    if data.size >= 3 and bytes(content[:3]) == BYTE_ORDER_MARK:
        content = content[3:]
    lines, kinds, begins, ends = statements(content, not _is_utf8(content))
    unusual = np.flatnonzero(kinds == UNUSUAL)
    columns = {name: _texts(content, begins[place], ends[place]) for place, name in enumerate((*TERMS, GRAPH))}
    rows = pa.table(columns)
    if kind is Format.N_TRIPLES and rows[GRAPH].null_count < len(rows):
        unusual = np.union1d(unusual, np.flatnonzero(rows[GRAPH].is_valid().to_numpy()))
    return rows if not len(unusual) else _with_unusual(kind, rows, content, lines, unusual)


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
    kind: Format, rows: pa.Table, content: NDArray[np.uint8], lines: Positions, unusual: Positions
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
            malformed[place] = "bytes that are not UTF-8", line.decode(errors="replace")
        except SyntaxError as problem:
            malformed[place] = f"not a statement of {kind.value}: {_reason(problem)}", line.decode()
        else:
            found.append(statement)
            places.append(place)
    kept = np.ones(len(rows), bool)
    kept[unusual] = False
    others = pa.table(
        {name: pa.array(column, TEXT) for name, column in zip(rows.column_names, _turned(found), strict=True)}
    )
    together = pa.concat_tables([rows.filter(pa.array(kept)), others])
    order = np.argsort(np.concatenate([np.flatnonzero(kept), np.array(places, np.int64)]), kind="stable")
    return with_malformed(together.take(pa.array(order)), malformed)


def _turned(rows: list[tuple[str, str, str, str | None]]) -> list[list[str | None]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]


def _line_reader(kind: Format) -> Callable[[str], tuple[str, str, str, str | None]]:
    pyoxigraph = library()
    as_kind = getattr(pyoxigraph.RdfFormat, _PARSED_AS[kind])

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


def _labelled(rows: pa.Table, prefix: str) -> pa.Table:
    """The rows with a prefix to all labels of blank nodes."""
    for name in ("s", "o", GRAPH):
        column = rows[name]
        if pc.any(pc.starts_with(column, "_:")).as_py():
            changed = pc.replace_substring_regex(column, "^_:", f"_:{prefix}")
            rows = rows.set_column(rows.column_names.index(name), name, changed)
    return rows


def _renumbered(rows: pa.Table, prefix: str) -> pa.Table:
    """The rows with blank nodes numbered in the order of the document, whose own labels may be random."""
    names = ("s", "o", GRAPH)
    is_blank = {name: pc.fill_null(pc.starts_with(rows[name], "_:"), False) for name in names}
    if not any(pc.any(mask).as_py() for mask in is_blank.values()):
        return rows
    in_turn = np.concatenate(
        [np.flatnonzero(mask.to_numpy()) * 3 + place for place, mask in enumerate(is_blank.values())]
    )
    labels = pa.concat_arrays([rows[name].filter(mask).combine_chunks() for name, mask in is_blank.items()])
    known = labels.take(pa.array(np.argsort(in_turn, kind="stable"))).unique()
    numbers = pa.array([f"_:{prefix}b{number}" for number in range(len(known))], TEXT)
    for name, mask in is_blank.items():
        changed = numbers.take(pc.index_in(rows[name], value_set=known).combine_chunks())
        rows = rows.set_column(rows.column_names.index(name), name, pc.if_else(mask, changed, rows[name]))
    return rows


def _timed(rows: pa.Table) -> pa.Table:
    """The rows with the times of their graphs, without the statements that give them."""
    in_default = pc.is_null(rows[GRAPH])
    is_time = pc.and_(in_default, pc.fill_null(pc.is_in(rows["p"], pa.array(list(TIMES), TEXT)), False))
    places = np.flatnonzero(is_time.to_numpy())
    about = rows.take(pa.array(places))
    kept = np.ones(len(rows), bool)
    if len(places):  # a file may have as many graphs as statements
        concerns = pc.is_in(about["s"], value_set=rows[GRAPH].unique().drop_null())
        about = about.filter(concerns)
        kept[places[concerns.to_numpy()]] = False
    rows = rows.filter(pa.array(kept))
    moments = {name: about.filter(pc.equal(about["p"], iri)) for iri, name in TIMES.items()}
    generated, started, ended = (_looked_up(rows[GRAPH], _by_graph(found)) for found in moments.values())
    rows = rows.append_column(TIME, pc.coalesce(generated, ended))
    rows = rows.append_column(STARTED, pc.coalesce(started, generated))
    rows = rows.append_column(ENDED, pc.coalesce(ended, generated))
    return _without_ambiguous(rows, moments)


def _by_graph(found: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Graphs and their times as text, as their literals have it."""
    spellings = found["o"].combine_chunks().dictionary_encode()
    texts = [read(text).text if text.startswith('"') else text for text in spellings.dictionary.to_pylist()]
    return found["s"].combine_chunks(), pa.array(texts, TEXT).take(spellings.indices)


def _looked_up(graphs: pa.ChunkedArray, known: tuple[pa.Array, pa.Array]) -> pa.ChunkedArray:
    names, times = known
    if not len(names):
        return pa.chunked_array([pa.nulls(len(graphs), TEXT)])
    return pa.chunked_array([times.take(pc.index_in(graphs, value_set=names).combine_chunks())])


def _without_ambiguous(rows: pa.Table, moments: Mapping[str, pa.Table]) -> pa.Table:
    """The rows, where graphs with several different times are malformed."""
    for name, found in moments.items():
        different = (
            found.select(["s", "o"]).group_by(["s", "o"]).aggregate([]).group_by("s").aggregate([("o", "count")])
        )
        ambiguous = different.filter(pc.greater(different["o_count"], 1))["s"]
        if len(ambiguous):
            faults = pa.scalar(f"the graph has several values of prov:{name}", TEXT)
            mask = pc.fill_null(pc.is_in(rows[GRAPH], value_set=ambiguous.combine_chunks()), False)
            before = rows[MALFORMED] if MALFORMED in rows.column_names else pa.nulls(len(rows), TEXT)
            changed = pc.coalesce(before, pc.if_else(mask, faults, pa.scalar(None, TEXT)))
            rows = rows.drop_columns([MALFORMED]) if MALFORMED in rows.column_names else rows
            rows = rows.append_column(MALFORMED, changed)
    return rows
