"""Random queries over random triples give the rows of the algebra; at one instant, those of a SPARQL engine."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.kit.seeds import at_length
from tests.kit.sparql_queries import STREAM, QueryMaker, rows_of, stream_of, wanted_rows
from tests.reference import ep_sparql as a

from inkling.query import parse

_HIDDEN = {"event", "detected_at", "probability", "method", "error", "op", "lineage"}


def found_rows(texts: Sequence[str], stream: a.Stream, n: int) -> list[frozenset[tuple[object, ...]]]:
    """The rows of the last `n` queries of a file."""
    program = parse(STREAM + ";\n".join(texts), name="random.epsparql")
    tables = program.run_local({"triple": rows_of(stream)}).tables
    names = [f"query{number}" for number in range(len(texts) - n + 1, len(texts) + 1)]
    return [
        frozenset(
            tuple(value for column, value in row.items() if column not in _HIDDEN) for row in tables[name].to_pylist()
        )
        for name in names
    ]


def check(seed: int, n_queries: int, *, plain: bool = False, closed: bool = False) -> None:
    rng = random.Random(seed)
    maker = QueryMaker(rng, plain=plain)
    stream = stream_of(rng, 5 if closed else 8, at_once=plain)
    constructs = [maker.construct() for _ in range(rng.choice((1, 2)))] if closed else []
    queries = [maker.query() for _ in range(n_queries)]
    texts = [one.text for one in constructs] + [one.query for one in queries]
    all_triples = a.closure(stream, constructs)
    for query, found in zip(queries, found_rows(texts, stream, n_queries), strict=True):
        assert found == wanted_rows(query, all_triples), f"seed {seed}: {texts[: len(constructs)]} {query.query}"


@pytest.mark.parametrize("seed", at_length(range(8)))
def test_rows_are_those_of_the_algebra(seed: int) -> None:
    for part in range(4):
        check(seed * 1000 + part, 5)


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
