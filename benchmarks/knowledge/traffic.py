"""Slow traffic for a cause of a class of an ontology: the traffic query of the thesis, with entailment and without."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import inkling
from benchmarks import etalis
from benchmarks.knowledge import peers
from benchmarks.knowledge.triples import (
    BELOW,
    PREFIXES,
    RDF_TYPE,
    STREAM,
    background,
    below,
    iri,
    iris,
    local_name,
    ontology,
    schema,
    stream,
)
from benchmarks.meter import Measured, best_of, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes

LEAST_SPARQL, LEAST_ETALIS, MOST_WITH_ENTAILMENT = 10, 100, 1.2
SPAN, CAUSES, TOP = 600, 2_000, 1
QUERY = f"""
SELECT ?road ?speed FROM <causes.nt> ENTAILMENT RDFS
WHERE {{ ?road :slowDueTo ?cause }} SEQ {{ ?road :slowDueTo ?cause }}
  AND {{ ?cause a :Class{TOP} ; :speed ?speed }}
FILTER (getDURATION() < "PT{SPAN}S"^^xsd:duration)
"""
SPARQL = f"""
SELECT ?road ?from ?to WHERE {{
  ?cause a/rdfs:subClassOf* :Class{TOP} ; :speed ?speed .
  ?a :of ?road ; :slowDueTo ?cause ; :at ?from . ?b :of ?road ; :slowDueTo ?cause ; :at ?to .
  FILTER (?from < ?to && ?to - ?from < {SPAN})
}}
"""
ETALIS_RULES = f"""
again(R, C, T1, T2) <- slow(R, C, T1) seq slow(R, C, T2).
jam(R, T1, T2, S) <- again(R, C, T1, T2) where (T2 - T1 < {SPAN}, a(C, K), below(K, class{TOP}), speed(C, S)).
below(K, K) :- true.
below(K, L) :- class(K, M), below(M, L).
"""


def reports(n: int, seed: int) -> pa.Table:
    """One report per second; half of the reports repeat an earlier one."""
    rng = np.random.default_rng(seed)
    roads, causes = rng.integers(0, 2_000, n), rng.integers(0, CAUSES, n)
    earlier = np.arange(n) - rng.integers(1, 2 * SPAN, n)
    again = (rng.random(n) < 0.5) & (earlier >= 0)
    roads, causes = (np.where(again, one[np.maximum(0, earlier)], one) for one in (roads, causes))
    return stream(iris("road", roads), "slowDueTo", iris("cause", causes), np.arange(n))


def causes(n_classes: int, seed: int, *, direct: bool) -> pa.Table:
    """The causes with their classes, and the classes above these; or with the class of concern, if they have it."""
    above = ontology(n_classes)
    kinds = np.random.default_rng(seed).integers(0, n_classes, CAUSES)
    counted = below(above, TOP)
    triples = [(iri(f"cause{one}"), iri("speed"), f'"{one % 90}"^^<{peers.INTEGER}>') for one in range(CAUSES)]
    if direct:
        return background([*triples, *_typed((one, TOP) for one, kind in enumerate(kinds) if counted[kind])])
    return background([*triples, *_typed(enumerate(kinds)), *schema(above)])


def run(sizes: Sizes) -> Iterator[Row]:
    entailed = inkling.parse(STREAM + PREFIXES + QUERY, name="traffic.epsparql")
    plain = inkling.parse(STREAM + PREFIXES + QUERY.replace(" ENTAILMENT RDFS", ""), name="traffic.epsparql")
    whole, direct = (causes(sizes.classes, sizes.seed, direct=one) for one in (False, True))
    warm = reports(100, sizes.seed)
    _found(entailed, warm, whole)
    _found(plain, warm, direct)
    for n in (sizes.triples // 5, 2 * sizes.triples):
        rows = reports(n, sizes.seed)
        own, other = best_of(
            sizes.repeats,
            lambda rows=rows: _found(entailed, rows, whole),
            lambda rows=rows: _found(plain, rows, direct),
        )
        assert own.answer.equals(other.answer)
        share = own.cpu_seconds / other.cpu_seconds
        goals = (Goal("× without entailment", share, most=MOST_WITH_ENTAILMENT),)
        name = f"traffic, entailment over {quantity(sizes.classes)} classes, {quantity(n)} triples"
        yield _row(name, n, own, Baseline.of("causes of the class itself, no entailment", other), goals)
    for engine, n in ((peers.pyoxigraph, sizes.sparql_triples * 10), (peers.rdflib, sizes.sparql_triples)):
        rows = reports(n, sizes.seed)
        (own,) = best_of(sizes.repeats, lambda rows=rows: _found(entailed, rows, whole))
        other = engine(peers.as_graph(rows, whole), SPARQL)
        peers.agree(own.answer, ("road", "start", "end"), other.answer)
        goal = Goal(f"× {engine.__name__}", other.cpu_seconds / own.cpu_seconds, least=LEAST_SPARQL)
        name = f"traffic beside SPARQL, {quantity(n)} triples"
        yield _row(name, n, own, Baseline.of(f"{engine.__name__}, a path along the classes", other), (goal,))
    if etalis.is_present("traffic"):
        n = sizes.sparql_triples * 5
        rows = reports(n, sizes.seed)
        (own,) = best_of(sizes.repeats, lambda: _found(entailed, rows, whole))
        other = etalis.etalis(ETALIS_RULES + "".join(_facts(whole)), _events(rows), "jam", 4, SPAN)
        found = frozenset(
            (road, start, end, f'"{speed}"^^<{peers.INTEGER}') for road, start, end, speed in other.answer
        )
        peers.agree(own.answer, ("road", "start", "end", "speed"), etalis.with_iris(found))
        goal = Goal("× ETALIS", other.cpu_seconds / own.cpu_seconds, least=LEAST_ETALIS)
        name = f"traffic beside ETALIS, {quantity(n)} triples"
        yield _row(name, n, own, Baseline.of(etalis.name(), other), (goal,))


def _events(rows: pa.Table) -> Iterator[tuple[str, int]]:
    for one in rows.to_pylist():
        yield f"slow({local_name(one['s'])}, {local_name(one['o'])}, {one['t']})", one["t"]


def _facts(table: pa.Table) -> Iterator[str]:
    """The background as facts of Prolog."""
    names = {RDF_TYPE: "a", BELOW: "class", iri("speed"): "speed"}
    for one in table.to_pylist():
        subject, value = local_name(one["s"]).lower(), one["o"]
        value = value.split('"')[1] if value.startswith('"') else local_name(value).lower()
        yield f"{names[one['p']]}({subject}, {value}).\n"


def once(sizes: Sizes) -> Iterator[Row]:
    """What entailment costs before the first triple."""
    program = inkling.parse(STREAM + PREFIXES + QUERY, name="traffic.epsparql")
    for n in (sizes.classes, sizes.plants):
        table, none = causes(n, sizes.seed, direct=False), reports(1, sizes.seed)
        _found(program, none, table)
        cost = min((measured(lambda: _found(program, none, table)) for _ in range(sizes.repeats)), key=_cpu)  # noqa: B023
        data = f"{quantity(n)} classes"
        yield Row(f"closure of {quantity(n)} classes", data, cost.seconds, cost.cpu_seconds, len(table), "")


def _cpu(cost: Measured[pa.Table]) -> float:
    return cost.cpu_seconds


def _row(name: str, n: int, own: Measured[pa.Table], other: Baseline, goals: tuple[Goal, ...]) -> Row:
    data = f"{quantity(n)} reports, {CAUSES:,} causes"
    return Row(name, data, own.seconds, own.cpu_seconds, n, f"{quantity(len(own.answer))} results", (other,), goals)


def _typed(pairs: Iterator[tuple[int, int]]) -> list[tuple[str, str, str]]:
    return [(iri(f"cause{one}"), RDF_TYPE, iri(f"Class{kind}")) for one, kind in pairs]


def _found(program: inkling.Program, rows: pa.Table, table: pa.Table) -> pa.Table:
    return program.run_local({"triple": rows}, {"background": table}).tables["query1"]
