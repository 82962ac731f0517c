"""Streams of triples end to end: the same results from every format, and a defined outcome for every bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import inkling
from inkling.errors import InputError

EX, PROV = "http://ex.org/", "http://www.w3.org/ns/prov#"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
QUERY = f"""PREFIX : <{EX}>
SELECT ?a ?b FROM <kb.ttl> WHERE {{ ?a :p ?x }} SEQ {{ ?x :q ?b }} AND {{ ?a a :Known }};"""
TRIPLES = [{"s": f"<{EX}a>", "p": f"<{EX}p>", "o": "_:x", "t": 1}, {"s": "_:x", "p": f"<{EX}q>", "o": '"two"', "t": 2}]
TRIG = f"""@prefix : <{EX}> . @prefix prov: <{PROV}> .
:g1 {{ :a :p _:x }} :g1 prov:generatedAtTime 1 .
:g2 {{ _:x :q "two" }} :g2 prov:generatedAtTime 2 .
"""
BACKGROUND = {
    "kb.ttl": f"@prefix : <{EX}> . :a a :Known .",
    "kb.trig": f"@prefix : <{EX}> . :g {{ :a a :Known }}",
    "kb.nt": f"<{EX}a> {TYPE} <{EX}Known> .",
    "kb.rdf": f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{EX}">'
    f'<Known rdf:about="{EX}a"/></rdf:RDF>',
}


def nquads(triples: list[dict[str, object]]) -> str:
    lines = []
    for number, one in enumerate(triples):
        graph = f"<{EX}g{number}>"
        lines.append(f"{one['s']} {one['p']} {one['o']} {graph} .")
        lines.append(f'{graph} <{PROV}generatedAtTime> "{one["t"]}"^^<{INTEGER}> .')
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in BACKGROUND.items():
        Path(name).write_text(text)


def write(name: str) -> object:
    """The triples in a format, as what is passed to a run."""
    match name.rpartition(".")[2]:
        case "rows":
            return TRIPLES
        case "table":
            return pa.Table.from_pylist(TRIPLES)
        case "nq":
            Path(name).write_text(nquads(TRIPLES))
        case "trig":
            Path(name).write_text(TRIG)
        case "jsonl":
            Path(name).write_text("".join(json.dumps(one) + "\n" for one in TRIPLES))
        case "csv":
            quoted = '<{0}a>,<{0}p>,_:x,1\n_:x,<{0}q>,"""two""",2\n'
            Path(name).write_text("s,p,o,t\n" + quoted.format(EX))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(TRIPLES), name)
        case "folder":
            Path("many").mkdir()
            Path("many/1.nq").write_text(nquads(TRIPLES))
            return "many"
    return name


@pytest.mark.parametrize("source", ["rows", "table", "t.nq", "t.trig", "t.jsonl", "t.csv", "t.parquet", "folder"])
def test_every_format_of_a_stream_gives_the_same_results(source: str) -> None:
    found = inkling.parse(QUERY, name="q.epsparql").run_local({"triple": write(source)})
    assert [(row["a"], row["b"], row["start"], row["end"]) for row in found.tables["query1"].to_pylist()] == [
        (f"<{EX}a>", '"two"', 1, 2)
    ]
    assert len(found.rejects) == 0


@pytest.mark.parametrize("name", list(BACKGROUND))
def test_every_format_of_background_knowledge_gives_the_same_results(name: str) -> None:
    found = inkling.parse(QUERY.replace("kb.ttl", name), name="q.epsparql").run_local({"triple": TRIPLES})
    assert len(found.tables["query1"]) == 1


def test_triples_with_intervals() -> None:
    declared = "STREAM triple(s TERM, p TERM, o TERM, begins BIGINT, ends BIGINT) TIME FROM begins TO ends;\n"
    rows = [{"begins": one["t"], "ends": one["t"], **one} for one in TRIPLES]
    rows[0]["ends"] = 2  # the first triple ends when the second one starts
    program = inkling.parse(declared + QUERY, name="q.epsparql")
    assert len(program.run_local({"triple": rows}).tables["query1"]) == 0
    rows[1]["begins"], rows[1]["ends"] = 3, 4
    (found,) = program.run_local({"triple": rows}).tables["query1"].to_pylist()
    assert (found["start"], found["end"]) == (1, 4)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"s": "ex:a"}, "an IRI stands between `<` and `>`"),
        ({"o": '"open'}, "a literal ends with the quote that begins it"),
        ({"s": "<a>"}, "an IRI is absolute"),
        ({"o": '"x"@'}, "a language tag is words between `-`"),
    ],
)
def test_what_is_no_term_is_rejected_with_the_reason(bad: dict[str, object], reason: str) -> None:
    found = inkling.parse(QUERY, name="q.epsparql").run_local({"triple": [*TRIPLES, {**TRIPLES[0], **bad}]})
    assert len(found.tables["query1"]) == 1
    (detail,) = found.rejects["detail"].to_pylist()
    assert reason in detail


def test_a_literal_whose_text_does_not_fit_its_type_is_kept() -> None:
    query = f"PREFIX : <{EX}> SELECT ?v WHERE {{ ?x :n ?v }}; SELECT ?v WHERE {{ ?x :n ?v FILTER (?v > 0) }};"
    rows = [{"s": f"<{EX}a>", "p": f"<{EX}n>", "o": f'"{o}"^^<{INTEGER}>', "t": 1} for o in ("5", "4x")]
    found = inkling.parse(query, name="q.epsparql").run_local({"triple": rows})
    assert [len(found.tables[name]) for name in ("query1", "query2")] == [2, 1]
    assert len(found.rejects) == 0


def test_bad_lines_are_rejected_with_their_numbers() -> None:
    lines = nquads(TRIPLES).splitlines()
    Path("t.nq").write_text("\n".join([*lines[:2], "nonsense", *lines[2:], f'<{EX}a> <rel> "z" <{EX}g1> .']))
    found = inkling.parse(QUERY, name="q.epsparql").run_local({"triple": "t.nq"})
    assert len(found.tables["query1"]) == 1
    rejects = {row["reason"]: row["detail"] for row in found.rejects.to_pylist()}
    assert rejects["malformed"].startswith("line 3: not a statement of N-Quads")
    assert "an IRI is absolute" in rejects["bad value"]


@pytest.mark.parametrize(
    ("line", "reason"), [("ex:foo :p :q .", "prefix ex: has not been declared"), ("<foo> :p :q .", "No scheme found")]
)
def test_a_document_with_an_error_is_not_read_at_all(line: str, reason: str) -> None:
    Path("t.trig").write_text(TRIG + line)
    with pytest.raises(InputError, match=reason) as stream:
        inkling.parse(QUERY, name="q.epsparql").run_local({"triple": "t.trig"})
    assert "line 4" in str(stream.value)
    Path("kb.ttl").write_text(f"@prefix : <{EX}> .\n{line}")
    with pytest.raises(InputError, match=reason) as table:
        inkling.parse(QUERY, name="q.epsparql").run_local({"triple": TRIPLES})
    assert "line 2" in str(table.value)


def test_blank_nodes_of_two_files_are_different_nodes_and_those_of_columns_are_not() -> None:
    Path("rdf").mkdir()
    Path("rows").mkdir()
    for number, one in enumerate(TRIPLES):
        Path(f"rdf/{number}.nq").write_text(nquads([one]))
        Path(f"rows/{number}.jsonl").write_text(json.dumps(one) + "\n")
    program = inkling.parse(QUERY, name="q.epsparql")
    assert len(program.run_local({"triple": "rdf"}).tables["query1"]) == 0
    assert len(program.run_local({"triple": "rows"}).tables["query1"]) == 1


def test_entailment_follows_a_table_that_is_replaced() -> None:
    text = f"PREFIX : <{EX}> SELECT ?x FROM <kb.ttl> ENTAILMENT RDFS WHERE {{ ?x a :Top }};"
    first, second = ({"s": f"<{EX}{one}>", "p": BELOW, "o": f"<{EX}{other}>"} for one, other in ("CB", ("B", "Top")))
    stream = inkling.parse(text, name="q.epsparql").open(tables={"background": [first]})
    row = {"s": f"<{EX}one>", "p": TYPE, "o": f"<{EX}C>"}
    stream.push({"triple": [row | {"t": 1}]})
    stream.replace_tables({"background": [first, second]})
    found = stream.push({"triple": [row | {"t": 2}]}), stream.finish()
    assert [row["start"] for one in found for row in one["query1"].to_pylist()] == [2]


def test_what_is_optional_in_the_background_follows_a_table_that_is_replaced() -> None:
    """Rules over the table are solved again: a limit is known from the second row on."""
    text = f"""PREFIX : <{EX}> SELECT ?x ?limit FROM <kb.ttl>
    WHERE {{ {{ ?x :speed ?v }} OPTIONAL {{ GRAPH <kb.ttl> {{ ?x :limit ?limit }} FILTER (?v > ?limit) }} }};"""
    limit = {"s": f"<{EX}x>", "p": f"<{EX}limit>", "o": "40"}
    stream = inkling.parse(text, name="q.epsparql").open(tables={"background": [limit | {"o": "60"}]})
    row = {"s": f"<{EX}x>", "p": f"<{EX}speed>", "o": "50"}
    first = stream.push({"triple": [row | {"t": 1}]})
    stream.replace_tables({"background": [limit]})
    found = first, stream.push({"triple": [row | {"t": 2}]}), stream.finish()
    rows = [(row["start"], row["limit"] is None) for one in found for row in one["query1"].to_pylist()]
    assert rows == [(1, True), (2, False)]
