"""Prices that fall: the stock workload of the thesis (11.2), two prices of a company with a limit and a filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

import inkling
from benchmarks import etalis
from benchmarks.knowledge import peers
from benchmarks.knowledge.triples import PREFIXES, STREAM, decimals, iris, local_name, stream
from benchmarks.meter import Measured, best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes

LEAST_SPARQL, LEAST_ETALIS = 10, 100
SPAN, COMPANIES = 2_000, 100
QUERY = f"""
SELECT ?company ?before ?after
WHERE {{ ?company :price ?before }} SEQ {{ ?company :price ?after }}
FILTER (?after < ?before * 0.5 && getDURATION() < "PT{SPAN}S"^^xsd:duration)
"""
SPARQL = f"""
SELECT ?company ?from ?to WHERE {{
  ?a :of ?company ; :price ?before ; :at ?from . ?b :of ?company ; :price ?after ; :at ?to .
  FILTER (?from < ?to && ?to - ?from < {SPAN} && ?after < ?before * 0.5)
}}
"""
ETALIS_RULES = f"""
pair(C, P1, P2, T1, T2) <- price(C, P1, T1) seq price(C, P2, T2).
fall(C, T1, T2) <- pair(C, P1, P2, T1, T2) where (H is P1 / 2, P2 < H, T2 - T1 < {SPAN}).
"""
RULES = f"""
event(C, P, T) :- check(C, P, T), assertz(goal(C, P, T)).
check(C, P, T) :- clause(goal(C, P1, T1), true, R),
  ( T - T1 >= {SPAN} -> erase(R) ; T1 < T, P < P1 * 0.5 -> found ; true ), fail.
check(_, _, _).
"""


def prices(n: int, seed: int, companies: int = COMPANIES) -> pa.Table:
    """One price per second, of random companies."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.gamma(20, 2.5, n).clip(1, 199), 2)
    return stream(iris("company", rng.integers(0, companies, n)), "price", decimals(values), np.arange(n))


def run(sizes: Sizes) -> Iterator[Row]:
    program = inkling.parse(STREAM + PREFIXES + QUERY, name="stocks.epsparql")
    _found(program, prices(1_000, sizes.seed))
    for engine, n in ((peers.pyoxigraph, sizes.sparql_triples), (peers.rdflib, sizes.sparql_triples // 10)):
        rows = prices(n, sizes.seed)
        (own,) = best_of(sizes.repeats, lambda rows=rows: _found(program, rows))
        other = engine(peers.as_graph(rows), SPARQL)
        peers.agree(own.answer, ("company", "start", "end"), other.answer)
        yield _row(n, own, Baseline.of(engine.__name__, other), LEAST_SPARQL)
    n = sizes.sparql_triples * 5
    rows = prices(n, sizes.seed)
    (own,) = best_of(sizes.repeats, lambda: _found(program, rows))
    if peers.has_prolog():
        by_hand = peers.prolog(RULES, (f"e({company}, {price}, {at})." for company, price, at in _facts(rows)))
        assert by_hand.answer == len(own.answer), (by_hand.answer, len(own.answer))
        yield _row(n, own, Baseline.of(f"{peers.PROLOG} {peers.prolog_version()}", by_hand))
    if etalis.is_present("stocks"):
        events = ((f"price({company}, {price}, {at})", at) for company, price, at in _facts(rows))
        other = etalis.etalis(ETALIS_RULES, events, "fall", 3, SPAN)
        peers.agree(own.answer, ("company", "start", "end"), etalis.with_iris(other.answer))
        yield replace(
            _row(n, own, Baseline.of(etalis.name(), other), LEAST_ETALIS),
            name=f"stocks beside ETALIS, {quantity(n)} triples",
        )


def _row(n: int, own: Measured[pa.Table], other: Baseline, least: float | None = None) -> Row:
    ratio = other.cpu_seconds / own.cpu_seconds
    goals = () if least is None else (Goal(f"× {other.name.split(',')[0]}", ratio, least=least),)
    data = f"{quantity(n)} prices of {COMPANIES} companies"
    found = f"{quantity(len(own.answer))} results"
    return Row(f"stocks, {quantity(n)} triples", data, own.seconds, own.cpu_seconds, n, found, (other,), goals)


def _found(program: inkling.Program, rows: pa.Table) -> pa.Table:
    return program.run_local({"triple": rows}).tables["query1"]


def _facts(rows: pa.Table) -> Iterator[tuple[str, str, int]]:
    for one in rows.to_pylist():
        yield local_name(one["s"]), one["o"].split('"')[1], one["t"]
