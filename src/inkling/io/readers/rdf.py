"""RDF files as raw tables: one row per statement, with its terms as text.

Columns are `s`, `p`, `o`; files with several graphs also have `g`, the graph, and the time of the graph in `t`,
`started` and `ended`. Statements of the default graph about these times are not rows themselves. Blank nodes belong to
their file: their labels get a prefix that differs between files.
"""

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.readers.formats import Format
from inkling.io.readers.rdf_lines import DOCUMENT, GRAPH, PARSED_AS, library, statements_of
from inkling.io.readers.records import MALFORMED, TEXT
from inkling.io.readers.utf8 import BYTE_ORDER_MARK
from inkling.model.terms import read

TIME, STARTED, ENDED = "t", "started", "ended"
PROVENANCE = "http://www.w3.org/ns/prov#"
TIMES = {f"<{PROVENANCE}{name}>": name for name in ("generatedAtTime", "startedAtTime", "endedAtTime")}

RDF_FORMATS = frozenset(PARSED_AS)
BY_LINES = (Format.N_TRIPLES, Format.N_QUADS)
WITH_GRAPHS = (Format.N_QUADS, Format.TRIG)
WITH_BLANKS = ("s", "o", GRAPH)
"""Columns in which blank nodes may stand."""


class NotRdfError(ValueError):
    """A document that is not in its format, with the first error in it."""


def read_rdf(kind: Format, data: pa.Buffer, scope: str) -> pa.Table:
    """All statements of a file; `scope` names the file to which its blank nodes belong.

    A line that is no statement is a malformed record; an error in a Turtle, TriG or RDF/XML file raises `NotRdfError`.
    """
    rows, faults = read_documents(kind, [data], [scope])
    if faults:
        raise NotRdfError(faults[0])
    return rows.drop_columns([DOCUMENT])


def read_documents(
    kind: Format, documents: Sequence[pa.Buffer], scopes: Sequence[str]
) -> tuple[pa.Table, dict[int, str]]:
    """The statements of many documents, with the number of each in `DOCUMENT`, and why some cannot be read."""
    prefixes = pa.array([f"_:f{zlib.crc32(scope.encode()):08x}_" for scope in scopes], TEXT)
    faults: dict[int, str] = {}
    if kind in BY_LINES:
        contents = [one.slice(3) if bytes(one[:3]) == BYTE_ORDER_MARK else one for one in documents]
        rows = _labelled(statements_of(kind, contents), prefixes)
    else:
        quads = []
        for number, document in enumerate(documents):
            try:
                quads.append(as_quads(kind, document))
            except NotRdfError as problem:
                faults[number] = str(problem)
                quads.append(b"")
        rows = _renumbered(statements_of(Format.N_QUADS, quads), prefixes)
    return _timed(rows) if kind in WITH_GRAPHS else rows.drop_columns([GRAPH]), faults


def as_quads(kind: Format, data: pa.Buffer) -> bytes:
    """A document as N-Quads."""
    pyoxigraph = library()
    quads = pyoxigraph.parse(input=data.to_pybytes(), format=getattr(pyoxigraph.RdfFormat, PARSED_AS[kind]))
    try:
        found: bytes = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS)
    except SyntaxError as problem:
        raise NotRdfError(str(problem.msg)) from None
    return found


def _labelled(rows: pa.Table, prefixes: pa.Array) -> pa.Table:
    """The rows with the prefix of its document before the label of each blank node."""
    for name, mask in _blanks(rows).items():
        own = prefixes.take(rows[DOCUMENT].filter(mask).combine_chunks())
        labels = pc.utf8_slice_codeunits(rows[name].filter(mask).combine_chunks(), 2)
        rows = _replaced(rows, name, mask, pc.binary_join_element_wise(own, labels, ""))
    return rows


def _renumbered(rows: pa.Table, prefixes: pa.Array) -> pa.Table:
    """The rows with blank nodes numbered in the order of each document, whose own labels may be random."""
    masks = _blanks(rows)
    if not masks:
        return rows
    places = [np.flatnonzero(mask.to_numpy()) for mask in masks.values()]
    labels = pa.concat_arrays([rows[name].filter(mask).combine_chunks() for name, mask in masks.items()])
    documents = rows[DOCUMENT].to_numpy()[np.concatenate(places)]
    order = np.argsort(np.concatenate([some * 3 + turn for turn, some in enumerate(places)]), kind="stable")
    keys = _keyed(pa.array(documents), labels).take(pa.array(order)).dictionary_encode()
    codes = keys.indices.to_numpy()
    document_of = np.empty(len(keys.dictionary), np.int64)
    document_of[codes] = documents[order]
    numbers = np.arange(len(document_of)) - np.searchsorted(document_of, document_of)
    words = pc.binary_join_element_wise(prefixes.take(pa.array(document_of)), "b", pa.array(numbers).cast(TEXT), "")
    code_at = np.empty(len(codes), np.int64)
    code_at[order] = codes
    first = 0
    for (name, mask), some in zip(masks.items(), places, strict=True):
        rows = _replaced(rows, name, mask, words.take(pa.array(code_at[first : first + len(some)])))
        first += len(some)
    return rows


def _blanks(rows: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Masks of blank nodes in the columns that have some."""
    masks = {name: pc.fill_null(pc.starts_with(rows[name], "_:"), False) for name in WITH_BLANKS}
    return {name: mask for name, mask in masks.items() if pc.any(mask).as_py()}


def _replaced(rows: pa.Table, name: str, mask: pa.ChunkedArray, values: pa.Array) -> pa.Table:
    changed = pc.replace_with_mask(rows[name].combine_chunks(), mask.combine_chunks(), values)
    return rows.set_column(rows.column_names.index(name), name, changed)


def _keyed(documents: pa.Array | pa.ChunkedArray, terms: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Terms of many documents, distinct between documents."""
    if not pc.any(pc.not_equal(documents, 0)).as_py():
        return terms
    return pc.binary_join_element_wise(documents.cast(TEXT), terms, " ")


def _timed(rows: pa.Table) -> pa.Table:
    """The rows with the times of their graphs, without the statements that give them."""
    in_default = pc.is_null(rows[GRAPH])
    is_time = pc.and_(in_default, pc.fill_null(pc.is_in(rows["p"], pa.array(list(TIMES), TEXT)), False))
    places = np.flatnonzero(is_time.to_numpy())
    graphs = _keyed(rows[DOCUMENT], rows[GRAPH])
    about = rows.take(pa.array(places))
    about = about.set_column(0, "s", _keyed(about[DOCUMENT], about["s"]))
    kept = np.ones(len(rows), bool)
    if len(places):  # a file may have as many graphs as statements
        concerns = pc.is_in(about["s"], value_set=graphs.unique().drop_null())
        about = about.filter(concerns)
        kept[places[concerns.to_numpy()]] = False
    rows, graphs = rows.filter(pa.array(kept)), graphs.filter(pa.array(kept))
    moments = {name: about.filter(pc.equal(about["p"], iri)) for iri, name in TIMES.items()}
    generated, started, ended = (_looked_up(graphs, _by_graph(found)) for found in moments.values())
    rows = rows.append_column(TIME, pc.coalesce(generated, ended))
    rows = rows.append_column(STARTED, pc.coalesce(started, generated))
    rows = rows.append_column(ENDED, pc.coalesce(ended, generated))
    return _without_ambiguous(rows, graphs, moments)


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


def _without_ambiguous(rows: pa.Table, graphs: pa.ChunkedArray, moments: Mapping[str, pa.Table]) -> pa.Table:
    """The rows, where graphs with several different times are malformed."""
    for name, found in moments.items():
        different = (
            found.select(["s", "o"]).group_by(["s", "o"]).aggregate([]).group_by("s").aggregate([("o", "count")])
        )
        ambiguous = different.filter(pc.greater(different["o_count"], 1))["s"]
        if len(ambiguous):
            faults = pa.scalar(f"the graph has several values of prov:{name}", TEXT)
            mask = pc.fill_null(pc.is_in(graphs, value_set=ambiguous.combine_chunks()), False)
            before = rows[MALFORMED] if MALFORMED in rows.column_names else pa.nulls(len(rows), TEXT)
            changed = pc.coalesce(before, pc.if_else(mask, faults, pa.scalar(None, TEXT)))
            rows = rows.drop_columns([MALFORMED]) if MALFORMED in rows.column_names else rows
            rows = rows.append_column(MALFORMED, changed)
    return rows
