"""Agents who deliver goods ask for routes, some of which are blocked: the thesis's application with 1 to 10 agents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import inkling
from benchmarks.knowledge.triples import PREFIXES, STREAM, background, iri, iris
from benchmarks.meter import Measured, best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes

PLACES, STOPS, SPAN = 200, 20, 600
AGENTS = (1, 2, 5, 10)
MOST_GROWTH = 1.5
NARROWER = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
QUERY = f"""
# an agent asks for a route that was blocked shortly before; any other route to the same place helps
REGISTER QUERY detour AS
SELECT ?agent ?route ?other FROM <routes.nt> ENTAILMENT RDFS
WHERE
  {{ ?route :blockedBy ?jam }}
  SEQ {{ ?agent :asksFor ?route }}
  AND {{ ?from :start ?route . ?route :to ?to . ?other :to ?to . ?from :start ?other }}
  FILTER (?other != ?route && getDURATION() < "PT{SPAN}S"^^xsd:duration)
"""


def run(sizes: Sizes) -> Iterator[Row]:
    program = inkling.parse(STREAM + PREFIXES + QUERY, name="delivery.epsparql")
    table = _routes()
    rounds = max(1, sizes.triples // (10 * AGENTS[-1] * STOPS))
    one: Measured[pa.Table] | None = None
    _found(program, _days(1, 1, sizes.seed), table)
    for agents in AGENTS:
        rows = _days(agents, rounds, sizes.seed)
        (own,) = best_of(sizes.repeats, lambda rows=rows: _found(program, rows, table))
        one = one or own
        growth = own.cpu_seconds / one.cpu_seconds / agents
        yield Row(
            f"goods delivery, {agents} agent{'s' if agents > 1 else ''}",
            f"{quantity(rounds)} days with {STOPS} stops each, more than half of the routes blocked",
            own.seconds,
            own.cpu_seconds,
            len(rows),
            f"{quantity(len(own.answer))} results",
            (Baseline.of("one agent", one),),
            (Goal("growth per agent", growth, most=MOST_GROWTH),),
        )


def _routes() -> pa.Table:
    """Two highways and three streets from each place to the next; both kinds are routes that start there."""
    triples = [(iri(name), NARROWER, iri("start")) for name in ("highway", "street")]
    for place in range(PLACES):
        for number in range(5):
            route = iri(f"route{place * 5 + number}")
            triples.append((iri(f"place{place}"), iri("highway" if number < 2 else "street"), route))
            triples.append((route, iri("to"), iri(f"place{(place + 1 + number // 4) % PLACES}")))
    return background(triples)


def _days(agents: int, rounds: int, seed: int) -> pa.Table:
    """Each second an agent asks for a route, of which 60 % were blocked within the last minutes."""
    rng = np.random.default_rng(seed)
    n = agents * rounds * STOPS
    at = np.arange(n) * (SPAN // 5)
    routes = rng.integers(0, PLACES * 5, n)
    blocked = rng.random(n) < 0.6
    jams = pa.table(
        {
            "s": iris("route", routes[blocked]),
            "p": pa.array([iri("blockedBy")] * int(blocked.sum())),
            "o": iris("jam", np.flatnonzero(blocked)),
            "t": at[blocked] - rng.integers(1, SPAN // 6, int(blocked.sum())) + SPAN,
        }
    )
    asked = pa.table(
        {
            "s": iris("agent", np.arange(n) % agents),
            "p": pa.array([iri("asksFor")] * n),
            "o": iris("route", routes),
            "t": at + SPAN,
        }
    )
    return pa.concat_tables([jams, asked]).sort_by("t")


def _found(program: inkling.Program, rows: pa.Table, table: pa.Table) -> pa.Table:
    return program.run_local({"triple": rows}, {"background": table}).tables["detour"]
