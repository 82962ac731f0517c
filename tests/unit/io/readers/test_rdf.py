"""RDF files as raw tables, compared with pyoxigraph."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pyarrow as pa
import pyoxigraph
import pytest

from inkling.io.readers.formats import Format
from inkling.io.readers.rdf import NotRdfError, read_documents, read_rdf
from inkling.io.readers.rdf_lines import DOCUMENT
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.kernels.rdf.statements import NOTHING, STATEMENT, UNUSUAL, gathered, statements
from inkling.model.terms import MalformedTermError, canonical

EX, PROV, XSD = "http://ex.org/", "http://www.w3.org/ns/prov#", "http://www.w3.org/2001/XMLSchema#"


def read(kind: Format, text: str | bytes, scope: str = "kb.ttl") -> pa.Table:
    return read_rdf(kind, pa.py_buffer(text if isinstance(text, bytes) else text.encode()), scope)


def rows(table: pa.Table) -> list[tuple[str | None, ...]]:
    return [tuple(row[name] for name in ("s", "p", "o")) for row in table.to_pylist()]


def test_turtle_has_prefixes_lists_and_blank_nodes_of_its_own() -> None:
    text = f'@prefix ex: <{EX}> . ex:a ex:name "x"@EN, [ ex:n 05 ] . _:z ex:n [] .'
    found = read(Format.TURTLE, text)
    assert found.column_names == ["s", "p", "o"]
    blank = found["s"][1].as_py()
    assert rows(found) == [
        (f"<{EX}a>", f"<{EX}name>", '"x"@en'),
        (blank, f"<{EX}n>", f'"05"^^<{XSD}integer>'),
        (f"<{EX}a>", f"<{EX}name>", blank),
        (blank.replace("b0", "b1"), f"<{EX}n>", blank.replace("b0", "b2")),
    ]
    assert found == read(Format.TURTLE, text), "the same labels every time"
    assert blank != read(Format.TURTLE, text, "other.ttl")["s"][1].as_py()


def test_blank_nodes_of_lines_keep_their_labels_behind_a_prefix_of_the_file() -> None:
    one, other = (read(Format.N_TRIPLES, f"_:a <{EX}p> _:b .\n_:b <{EX}p> _:a .", file) for file in ("x.nt", "y.nt"))
    (s, _, o), swapped = rows(one)
    assert swapped == (o, f"<{EX}p>", s)
    assert s is not None
    assert s.startswith("_:f")
    assert s.endswith("_a")
    assert not set(one["s"].to_pylist()) & set(other["s"].to_pylist())


def test_rdf_xml() -> None:
    text = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="{EX}">
    <rdf:Description rdf:about="{EX}a"><ex:name>A &amp; B</ex:name></rdf:Description></rdf:RDF>"""
    assert rows(read(Format.RDF_XML, text)) == [(f"<{EX}a>", f"<{EX}name>", '"A & B"')]


def test_an_error_in_a_document_is_reported_with_its_line() -> None:
    with pytest.raises(NotRdfError, match="line 2"):
        read(Format.TURTLE, f"<{EX}a> <{EX}p> 1 .\n<{EX}a> <{EX}p .")


def test_the_time_of_a_graph_stands_in_the_default_graph() -> None:
    text = f"""
    <{EX}a> <{EX}p> "1" <{EX}g1> .
    <{EX}g1> <{PROV}generatedAtTime> "2020-01-01T00:00:00Z"^^<{XSD}dateTime> .
    <{EX}a> <{EX}p> "2" _:g .
    _:g <{PROV}startedAtTime> "5"^^<{XSD}integer> .
    _:g <{PROV}endedAtTime> "7"^^<{XSD}integer> .
    <{EX}a> <{EX}p> "3" <{EX}none> .
    <{EX}activity> <{PROV}endedAtTime> "9"^^<{XSD}integer> .
    <{EX}g1> <{EX}from> <{EX}sensor> .
    """
    for kind, document in (
        (Format.N_QUADS, text),
        (Format.TRIG, pyoxigraph.serialize(pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_QUADS), format=TRIG)),
    ):
        found = sorted(read(kind, document).to_pylist(), key=lambda row: (row["o"], row["s"]))
        assert [(row["o"], row["t"], row["started"], row["ended"]) for row in found] == [
            ('"1"', *["2020-01-01T00:00:00Z"] * 3),
            ('"2"', "7", "5", "7"),
            ('"3"', None, None, None),
            (f'"9"^^<{XSD}integer>', None, None, None),
            (f"<{EX}sensor>", None, None, None),
        ]


TRIG = pyoxigraph.RdfFormat.TRIG


def test_a_graph_with_two_times_is_malformed() -> None:
    times = "".join(f'<{EX}g> <{PROV}generatedAtTime> "{t}"^^<{XSD}integer> .\n' for t in (1, 2, 2))
    found = read(Format.N_QUADS, f'<{EX}a> <{EX}p> "1" <{EX}g> .\n<{EX}a> <{EX}p> "1" <{EX}h> .\n{times}')
    assert found[MALFORMED].to_pylist() == ["the graph has several values of prov:generatedAtTime", None]


def test_malformed_lines_stay_at_their_place_with_the_reason() -> None:
    text = f'<{EX}a> <{EX}p> "1" .\n<{EX}a> <{EX}p> 1 .\n# fine\n\n<{EX}a> <{EX}p> "\\u0032" .\r\n<{EX}a> .'.encode()
    found = read(Format.N_TRIPLES, text + b'\n<http://ex.org/a> <http://ex.org/p> "\xff" .')
    assert [row["o"] for row in found.to_pylist()] == ['"1"', None, '"\\u0032"', None, None]
    assert found[ORIGINAL].to_pylist()[1] == f"<{EX}a> <{EX}p> 1 ."
    reasons = found[MALFORMED].to_pylist()
    assert reasons[1].startswith("line 2: not a statement of N-Triples: The object of a triple must be")
    assert reasons[4] == "line 7: bytes that are not UTF-8"


def test_a_graph_in_n_triples_is_malformed() -> None:
    found = read(Format.N_TRIPLES, f"<{EX}a> <{EX}p> <{EX}o> <{EX}g> .")
    assert found[MALFORMED].null_count == 0


def test_empty_files() -> None:
    for kind in (Format.N_TRIPLES, Format.N_QUADS, Format.TURTLE, Format.TRIG):
        assert rows(read(kind, "")) == rows(read(kind, "# nothing\n\n")) == []


@pytest.mark.parametrize("kind", [Format.N_QUADS, Format.TRIG, Format.TURTLE])
def test_many_documents_are_read_as_each_alone(kind: Format) -> None:
    start, end = ("", "") if kind is Format.TURTLE else ("<http://ex.org/g> {", "}")
    texts = [
        f"<{EX}a> <{EX}p> _:x . _:x <{EX}q> _:y .",
        "",
        f"_:y <{EX}q> <{EX}a> . _:x <{EX}q> <{EX}a> .",
        f"<{EX}a> <{EX}p> <{EX}b> .",
    ]
    documents = [f"{start}{text}{end}" for text in texts]
    if kind is not Format.TURTLE:
        documents = [
            f'{text}\n<{EX}g> <{PROV}generatedAtTime> "{number}"^^<{XSD}integer> .'
            for number, text in enumerate(documents)
        ]
    if kind is Format.N_QUADS:
        documents = [
            pyoxigraph.serialize(pyoxigraph.parse(text, TRIG), format=pyoxigraph.RdfFormat.N_QUADS).decode()
            for text in documents
        ]
    scopes = [f"message {number}" for number in range(len(documents))]
    together, faults = read_documents(kind, [pa.py_buffer(one.encode()) for one in documents], scopes)
    alone = [read(kind, one, scope).to_pylist() for one, scope in zip(documents, scopes, strict=True)]
    assert not faults
    assert together.drop_columns([DOCUMENT]).to_pylist() == [row for some in alone for row in some]
    assert together[DOCUMENT].to_pylist() == [number for number, some in enumerate(alone) for _ in some]


def random_lines(rng: Random, n: int) -> Iterator[str]:
    """Statements in all spellings, many of them broken by a change of some characters."""
    names = ("a", "b", "é", "x%20y", r"\u00e9", "a b", "a|b")
    iris = [f"<{EX}{name}>" for name in names] + ["<a>", "<>", "<urn:x>"]
    labels = ["_:a", "_:b-1", "_:c.d", "_:1", "_:é", "_:"]
    bodies = ["", "x", "é🦀", r"\"", r"\\", r"\n\t", r"\u0041", r"\q", "\t", "a\\"]
    tails = ["", "", "@en", "@de-AT", "@", "@e_n", f"^^<{XSD}integer>", "^^<b>", "^^<", "^^"]
    for _ in range(n):
        text = rng.choice([" ", " ", "", "\t", "  "]).join(
            [
                rng.choice([*iris[:2], *iris[:2], *labels[:2], rng.choice(iris), rng.choice(labels)]),
                rng.choice([*iris[:2], *iris[:2], rng.choice([*iris, *labels])]),
                rng.choice([*iris, *labels, *(f'"{rng.choice(bodies)}"{rng.choice(tails)}' for _ in range(8))]),
                rng.choice(["", "", iris[0], labels[0], rng.choice(iris), rng.choice(labels)]),
                rng.choice([".", ".", ".", ". ", ".\r", ". # so", "", "..", "# x"]),
            ]
        )
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            place = rng.randrange(len(text) + 1)
            text = text[:place] + rng.choice(["", "<", ">", '"', "\\", " ", ".", "_", "é", "\x01"]) + text[place + 1 :]
        yield text.replace("\n", "")


def expected(line: str, kind: pyoxigraph.RdfFormat) -> tuple[str, ...] | bool | None:
    """The terms that pyoxigraph reads; None for no statement, False for an error."""
    try:
        quads = list(pyoxigraph.parse(line, kind))
    except SyntaxError:
        return False
    if not quads:
        return None
    return tuple(canonical(str(term)) for term in (quads[0].subject, quads[0].predicate, quads[0].object))


def in_canonical_form(row: dict[str, str | None]) -> tuple[str, ...] | bool:
    """The terms of a row as the columns of a stream would have them; False if the row would be rejected."""
    if row.get(MALFORMED) is not None:
        return False
    try:
        found = [canonical(str(row[name])) for name in ("s", "p", "o")]
        canonical(row["g"] or "<http://ex.org/>")
    except MalformedTermError:
        return False
    return tuple("_:" + term.split("_", 2)[2] if term.startswith("_:") else term for term in found)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_random_lines_eq_pyoxigraph(seed: int) -> None:
    lines = list(random_lines(Random(seed), 4_000))
    wanted = [(line, one) for line in lines if (one := expected(line, pyoxigraph.RdfFormat.N_QUADS)) is not None]
    found = read(Format.N_QUADS, "\n".join(lines)).to_pylist()
    assert len(found) == len(wanted)
    for (line, one), row in zip(wanted, found, strict=True):
        assert in_canonical_form(row) == one, line
    assert {kind for _, one in wanted for kind in [bool(one)]} == {True, False}


@pytest.mark.parametrize("only_ascii", [False, True])
def test_compiled_scanner_eq_plain_python(only_ascii: bool) -> None:
    lines = list(random_lines(Random(2), 300))
    content = np.frombuffer("\n".join(["", "# x", *lines]).encode(), np.uint8)
    compiled, plain = statements(content, only_ascii), statements.py_func(content, only_ascii)
    kinds = compiled[1]
    assert set(kinds.tolist()) == {STATEMENT, UNUSUAL}
    assert NOTHING not in kinds
    is_statement = kinds == STATEMENT
    for one, other in zip(compiled, plain, strict=True):
        assert (one[..., is_statement] == other[..., is_statement]).all()
    begins, ends = compiled[2][2, is_statement], compiled[3][2, is_statement]
    for one, other in zip(gathered(content, begins, ends), gathered.py_func(content, begins, ends), strict=True):
        assert (one == other).all()
