"""Random queries over random triples give the rows of the algebra; at one instant, those of a SPARQL engine."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from tests.conformance.runners import LocalBatch, Pushed
from tests.kit.seeds import at_length
from tests.kit.sparql_cases import RESULT_COLUMNS, case_of, cases, wrong
from tests.kit.sparql_queries import BASE, POINTS, STREAM, QueryMaker, rows_of, stream_of, wanted_rows
from tests.reference import ep_sparql as a
from tests.reference import rdfs
from tests.reference.rdf_terms import Iri

from inkling.query import parse


def found_rows(
    texts: Sequence[str],
    stream: a.Stream,
    n: int,
    background: Mapping[str, list[dict[str, str]]] | None = None,
    declared: str = STREAM,
) -> list[frozenset[tuple[object, ...]]]:
    """The rows of the last `n` queries of a file."""
    program = parse(declared + ";\n".join(texts), name="random.epsparql")
    tables = program.run_local({"triple": rows_of(stream)}, background).tables
    names = [f"query{number}" for number in range(len(texts) - n + 1, len(texts) + 1)]
    return [
        frozenset(
            tuple(value for column, value in row.items() if column not in RESULT_COLUMNS)
            for row in tables[name].to_pylist()
        )
        for name in names
    ]


def check(seed: int, n_queries: int, *, plain: bool = False, closed: bool = False) -> None:
    rng = random.Random(seed)
    maker = QueryMaker(rng, plain=plain)
    points = seed % 2 == 1
    stream = stream_of(rng, 5 if closed else 8, at_once=plain, points=points)
    constructs = [maker.construct() for _ in range(rng.choice((1, 2)))] if closed else []
    queries = [maker.query() for _ in range(n_queries)]
    texts = [one.text for one in constructs] + [one.query for one in queries]
    declared = POINTS if points else STREAM
    all_triples = a.closure(stream, constructs)
    for query, found in zip(queries, found_rows(texts, stream, n_queries, declared=declared), strict=True):
        assert found == wanted_rows(query, all_triples), f"seed {seed}: {texts[: len(constructs)]} {query.query}"


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_rows_are_those_of_the_algebra(seed: int) -> None:
    for part in range(4):
        check(seed * 1000 + part, 5)


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_limits_of_time_change_no_row(seed: int) -> None:
    """Limits of a group are passed to its parts, so that a stream forgets their events."""
    limits = 0
    for part in range(8):
        case = case_of(seed * 1000 + part, limited=True, n_triples=12)
        assert not wrong(LocalBatch(), case)
        limits += case.program.to_ink().count("WITHIN")
    assert limits > 40, "hardly any limit was passed on"


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_pushed_rows_are_those_of_the_algebra(seed: int) -> None:
    """Triples come late and in pieces, with a snapshot between them now and then."""
    for case in cases("pushed", 40, first=seed * 1000):
        assert not wrong(Pushed(case.seed), case)


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_keys_are_inferred_from_shared_variables(seed: int) -> None:
    """Parts that share a subject, also through an optional part, run by its value; the rows are the same."""
    n_keyed = 0
    for part in range(8):
        case = case_of(seed * 1000 + part, star=True, n_triples=12)
        assert not wrong(LocalBatch(), case)
        assert not wrong(Pushed(part), case)
        stages = case.program.physical.stages
        n_keyed += sum(len(stage.steps) for stage in stages if stage.key_types)
    assert n_keyed > 30, "hardly any query is divided by a key"


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_background_triples_and_what_follows_from_them(seed: int) -> None:
    """Groups of background triples have all that SPARQL has, also where triples are constructed or follow by RDFS."""
    n_rules = 0
    for part in range(6):
        case = case_of(seed * 1000 + part, closed=part % 3 == 2, background=True, entails=part % 2 == 1)
        assert not wrong(LocalBatch(), case)
        assert not wrong(Pushed(part), case)
        n_rules += case.program.to_ink().count("RULE query")
    assert n_rules > 20, "hardly any group of background triples is more than triples"


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_rows_are_those_of_the_closed_stream(seed: int) -> None:
    for part in range(4):
        check(seed * 1000 + part, 3, closed=True)


def asked(query: a.Projected, stream: a.Stream) -> frozenset[tuple[object, ...]]:
    """The rows of a query by a SPARQL engine, without times."""
    ox = pytest.importorskip("pyoxigraph")
    store = ox.Store()
    text = "\n".join(f"{one.subject} {one.predicate} {one.object} ." for one in stream)
    store.load(text.encode(), format=ox.RdfFormat.N_TRIPLES)
    return frozenset(
        tuple(None if row[name] is None else str(row[name]) for name in query.names) for row in store.query(query.query)
    )


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_rows_at_one_instant_are_those_of_sparql(seed: int) -> None:
    """All triples at one time: the answer of EP-SPARQL is that of SPARQL."""
    for part in range(4):
        rng = random.Random(seed * 1000 + part)
        maker = QueryMaker(rng, plain=True)
        stream = stream_of(rng, 8, at_once=True)
        queries = [maker.query() for _ in range(5)]
        found = found_rows([one.query for one in queries], stream, len(queries))
        for query, rows in zip(queries, found, strict=True):
            assert frozenset(row[:-2] for row in rows) == asked(query, stream), f"{seed}: {query.query}"


@pytest.mark.parametrize("seed", range(6))
def test_triples_that_follow_by_rdfs(seed: int) -> None:
    """A query for all triples finds those of the stream, and those that follow from each of them and the schema."""
    rng = random.Random(seed)
    names = [Iri(BASE + name) for name in "pqrCDE"]
    schema = frozenset((rng.choice(names), rng.choice(rdfs.RELATIONS), rng.choice(names)) for _ in range(6))
    observed = [
        one if rng.random() < 0.7 else a.Occurrence(one.subject, rdfs.TYPE, rng.choice(names), one.start, one.end)
        for one in stream_of(rng, 5)
    ]
    wanted = frozenset((*map(str, one.terms), one.start, one.end) for one in rdfs.followed(observed, schema))
    text = "SELECT * FROM <schema.ttl> ENTAILMENT RDFS WHERE { ?x ?y ?z }"
    background = {"background": [dict(zip("spo", map(str, triple), strict=True)) for triple in schema]}
    assert found_rows([text], frozenset(observed), 1, background) == [wanted]
    stored = "SELECT ?x ?y ?z FROM <schema.ttl> ENTAILMENT RDFS WHERE { ?s ?p ?o } AND { ?x ?y ?z }"
    (found,) = found_rows([stored], frozenset(observed), 1, background)
    assert {row[:3] for row in found} == {tuple(map(str, triple)) for triple in rdfs.closed(schema)}
