"""Blizzards at weather stations whose places stand in RDF descriptions: the use case of the thesis's section 13.2."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

import inkling
from benchmarks.knowledge.triples import background, iri
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Row, quantity
from benchmarks.sizes import Sizes
from inkling.examples import FOLDER
from inkling.scenarios.catalog import SCENARIOS

DESCRIBED = """TABLE described(s TERM, p TERM, o TERM) FROM 'stations.nt';
RULE stations(station, lat, lon) IF
  described(x, iri('http://example.org/id'), id) AND described(x, iri('http://example.org/lat'), y)
  AND described(x, iri('http://example.org/lon'), z) AND station = str(id) AND lat = number(y) AND lon = number(z);"""
PRINTED = 3_900
"""Events per second of pattern (13.23) with ETALIS, as the thesis prints it; 24,696 and 37,437 for its parts."""


def run(sizes: Sizes) -> Iterator[Row]:
    text = (FOLDER / "blizzard" / "blizzard.ink").read_text()
    declared = "TABLE stations(station STRING, lat DOUBLE, lon DOUBLE) FROM 'stations.csv';"
    assert declared in text
    program = inkling.parse(text.replace(declared, DESCRIBED))
    events = sizes.triples // 2
    made = SCENARIOS["blizzard"](events=events, keys=None, seed=sizes.seed, start=None)
    rows = pa.concat_tables([pa.Table.from_batches([block["Weather"]]) for block in made.blocks()])
    table = _descriptions(made.tables()["stations"])
    program.run_local({"Weather": rows.slice(0, 100)}, {"described": table})
    (own,) = best_of(sizes.repeats, lambda: program.run_local({"Weather": rows}, {"described": table}).tables)
    printed = len(rows) / PRINTED
    truth = made.truth().matches["blizzard_area"]
    assert len(own.answer["blizzard_area"]) == truth
    yield Row(
        "blizzards, all patterns",
        f"{quantity(len(rows))} readings",
        own.seconds,
        own.cpu_seconds,
        len(rows),
        f"{quantity(truth)} areas",
        (Baseline(f"ETALIS as printed in 2011: {PRINTED:,} events/s, on other data", printed, printed),),
    )


def _descriptions(stations: pa.Table) -> pa.Table:
    """Each station with its name, its place and five sensors."""
    triples = []
    double = "http://www.w3.org/2001/XMLSchema#double"
    for number, one in enumerate(stations.to_pylist()):
        node = iri(f"station{number}")
        triples.append((node, iri("id"), f'"{one["station"]}"'))
        triples += [(node, iri(name), f'"{one[name]!r}"^^<{double}>') for name in ("lat", "lon")]
        triples += [(node, iri("sensor"), iri(f"sensor{number}_{kind}")) for kind in range(5)]
    return background(triples)
