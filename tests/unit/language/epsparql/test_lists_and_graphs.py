"""Lists, literals of several lines and named graphs: at one instant, the answer is that of a SPARQL engine."""

from __future__ import annotations

import pytest

import inkling

pyoxigraph = pytest.importorskip("pyoxigraph")

DATA = """
@prefix : <http://e/> .
:one { :a :says "two\\nlines"@en ; :path (1 "b" :c) . :b :path () . }
:two { :a :val 5 . :b :path (1 (2 3)) ; :says \"\"\"a "quote"
and more\"\"\" . (7) :p :q . }
"""
PREFIXES = "PREFIX : <http://e/>\n"
QUERIES = [
    "SELECT ?x WHERE { ?x :path (1 ?y :c) }",
    "SELECT ?x ?y WHERE { ?x :path (1 ?y :c) }",
    "SELECT ?x ?y ?z WHERE { ?x :path (1 (?y ?z)) }",
    "SELECT ?x WHERE { ?x :path () }",
    "SELECT ?x ?y WHERE { (?y) ?x :q }",
    'SELECT ?x WHERE { ?x :says """two\nlines"""@en }',
    'SELECT ?x WHERE { ?x :says "a \\"quote\\"\\nand more" }',
    "SELECT ?x WHERE { ?x :says ?y FILTER (?y = '''a \"quote\"\nand more''') }",
    'SELECT ?x WHERE { ?x :says ?y FILTER (REGEX(STR(?y), "two\\nlines")) }',
]
GRAPHS = [
    "SELECT ?g ?x WHERE { GRAPH ?g { ?x :path ?l } }",
    "SELECT ?g ?x ?v WHERE { GRAPH ?g { ?x :says ?y . ?x :path ?v } }",
    "SELECT ?x ?g ?h WHERE { GRAPH ?g { ?x :path ?y } GRAPH ?h { ?x :says ?z } }",
    "SELECT ?x ?g WHERE { GRAPH ?g { ?x :path (1 ?y :c) } }",
    "SELECT ?x ?g WHERE { GRAPH ?g { { ?x :val ?y } UNION { ?x :path () } } }",
    "SELECT ?x ?g ?v WHERE { GRAPH ?g { ?x :path ?y } GRAPH ?g { ?x :says ?z } OPTIONAL { GRAPH ?h { ?x :val ?v } } }",
]


def rows_of(query: str) -> set[tuple[str | None, ...]]:
    store = pyoxigraph.Store()
    store.bulk_load(input=DATA, format=pyoxigraph.RdfFormat.TRIG)
    if "GRAPH" in query:
        found = store.query(PREFIXES + query)
    else:
        found = store.query(PREFIXES + query, use_default_graph_as_union=True)
    return {tuple(None if one is None else str(one) for one in row) for row in found}


def comparable(rows: set[tuple[str | None, ...]]) -> set[tuple[str | None, ...]]:
    """The rows with blank nodes, whose labels are those of a file, alike."""
    return {tuple("_:" if one and one.startswith("_:") else one for one in row) for row in rows}


@pytest.mark.parametrize("query", QUERIES + GRAPHS)
def test_at_one_instant_as_in_sparql(query: str) -> None:
    quads = pyoxigraph.parse(input=DATA, format=pyoxigraph.RdfFormat.TRIG)
    triples = [
        {"s": str(one.subject), "p": str(one.predicate), "o": str(one.object), "g": str(one.graph_name), "t": 0}
        for one in quads
    ]
    program = inkling.parse(PREFIXES + query, name="q.epsparql")
    table = program.run_local({"triple": triples}).tables["query1"]
    names = [name.removeprefix("?") for name in query.split("WHERE")[0].split()[1:]]
    found = {tuple(row[name] for name in names) for row in table.to_pylist()}
    assert found
    assert comparable(found) == comparable(rows_of(query))


def test_a_constructed_list_can_be_matched() -> None:
    program = inkling.parse(
        PREFIXES + "CONSTRUCT { ?x :pair (?y :end) } WHERE { ?x :val ?y };SELECT ?x ?y WHERE { ?x :pair (?y :end) };",
        name="q.epsparql",
    )
    rows = [{"s": f"<http://e/{s}>", "p": "<http://e/val>", "o": o, "t": 1} for s, o in (("a", "1"), ("b", "2"))]
    found = program.run_local({"triple": rows}).tables["query2"].to_pylist()
    assert {(row["x"], row["y"][1]) for row in found} == {("<http://e/a>", "1"), ("<http://e/b>", "2")}


def test_constructed_triples_are_in_no_graph() -> None:
    text = "CONSTRUCT { ?x :p ?y } WHERE { ?x :val ?y }; SELECT ?x ?g WHERE { GRAPH ?g { ?x :p ?y } };"
    program = inkling.parse(PREFIXES + text, name="q.epsparql")
    rows = [
        {"s": "<http://e/a>", "p": "<http://e/val>", "o": "1", "g": "<http://e/one>", "t": 1},
        {"s": "<http://e/b>", "p": "<http://e/p>", "o": "1", "g": "<http://e/two>", "t": 2},
        {"s": "<http://e/c>", "p": "<http://e/p>", "o": "1", "g": None, "t": 2},
    ]
    found = program.run_local({"triple": rows}).tables["query2"].to_pylist()
    assert {(row["x"], row["g"]) for row in found} == {("<http://e/b>", "<http://e/two>")}
