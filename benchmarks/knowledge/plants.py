"""Whether each triple of a stream is about an instance of a class: the thesis's test with 40,080 classes of plants."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import inkling
from benchmarks.knowledge.triples import (
    PREFIXES,
    RDF_TYPE,
    STREAM,
    background,
    below,
    iri,
    iris,
    ontology,
    schema,
    stream,
)
from benchmarks.meter import best_of
from benchmarks.results import Goal, Row, quantity
from benchmarks.sizes import Sizes

TOP = 1
MOST_PUSH_MS = 1.0
QUERY = f"""
SELECT ?plant ?place FROM <plants.nt> ENTAILMENT RDFS WHERE {{ ?plant :seenAt ?place }} AND {{ ?plant a :Class{TOP} }}
"""


def run(sizes: Sizes) -> Iterator[Row]:
    program = inkling.parse(STREAM + PREFIXES + QUERY, name="plants.epsparql")
    above = ontology(sizes.plants)
    kinds = np.random.default_rng(sizes.seed).integers(0, sizes.plants, sizes.plants)
    typed = [(iri(f"plant{one}"), RDF_TYPE, iri(f"Class{kind}")) for one, kind in enumerate(kinds)]
    table = background([*typed, *schema(above)])
    rows = _seen(sizes.triples, sizes)
    _found(program, rows.slice(0, 100), table)
    own, empty = best_of(
        sizes.repeats, lambda: _found(program, rows, table), lambda: _found(program, rows.slice(0, 1), table)
    )
    wanted = below(above, TOP)[kinds]
    assert len(own.answer) == int(np.count_nonzero(wanted[_plants(sizes.triples, sizes)]))
    data = f"{quantity(sizes.plants)} classes, as many instances"
    found = (
        f"{quantity(len(own.answer))} results; {1e6 * (own.cpu_seconds - empty.cpu_seconds) / len(rows):.2f} µs each"
    )
    yield Row("plants, at once", data, own.seconds, own.cpu_seconds, len(rows), found)
    n = sizes.push_singles // 20
    pushed = program.open(tables={"background": table}, unbounded=True)
    single = rows.slice(0, n).to_pylist()
    delays = []
    for one in single:
        started = time.process_time()
        pushed.push_event("triple", one)
        delays.append(time.process_time() - started)
    median, last = (1e3 * float(np.quantile(delays, share)) for share in (0.5, 0.99))
    total = float(np.sum(delays))
    found = f"median {median:.3f} ms, 99 of 100 within {last:.3f} ms"
    goal = Goal("ms per triple", median, most=MOST_PUSH_MS)
    yield Row("plants, one by one", data, total, total, n, found, (), (goal,))


def _plants(n: int, sizes: Sizes) -> np.ndarray:
    return np.random.default_rng(sizes.seed + 1).integers(0, sizes.plants, n)


def _seen(n: int, sizes: Sizes) -> pa.Table:
    places = np.random.default_rng(sizes.seed + 2).integers(0, 500, n)
    return stream(iris("plant", _plants(n, sizes)), "seenAt", iris("place", places), np.arange(n))


def _found(program: inkling.Program, rows: pa.Table, table: pa.Table) -> pa.Table:
    return program.run_local({"triple": rows}, {"background": table}).tables["query1"]
