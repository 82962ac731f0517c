"""The example programs find exactly the episodes that the generator put into their data."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from pathlib import Path

import pyarrow as pa
import pytest

from inkling import load
from inkling.results import Results
from inkling.scenarios import SCENARIOS, Truth, scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
EVENTS = 30_000
SEED = 4  # one with which every kind of episode occurs
NO_COUNTS = {"building", "mixed", "approach", "cluster", "funnel", "motorway", "buses"}
"""In uncertainty there are no counts, and a program with forecasts needs a model: `test_approach.py` learns it."""
IN_SPARQL = {"traffic_rdf"}


def drawn(name: str, program_name: str | None = None) -> tuple[Results, Truth, dict[str, pa.Table]]:
    """The results of an example program over generated data, what the data hold by construction, and the data."""
    notation = "epsparql" if name in IN_SPARQL else "ink"
    program = load(EXAMPLES / name / f"{program_name or name}.{notation}")
    declared = {stream.schema.name for stream in program.plan.streams}
    source = scenario(name, events=EVENTS, seed=SEED)
    blocks = list(source.blocks())
    streams = {
        stream: pa.Table.from_batches([block[stream] for block in blocks], schema)
        for stream, schema in source.streams.items()
        if stream in declared
    }
    return program.run_local(streams, source.tables()), source.truth(), streams


CERTAIN = [
    *((name, name) for name in SCENARIOS if name not in NO_COUNTS),
    ("building", "doors"),
    ("motorway", "reports"),
]


@pytest.mark.parametrize(("name", "program_name"), CERTAIN)
def test_the_injected_episodes_are_found(name: str, program_name: str) -> None:
    results, truth, _ = drawn(name, program_name)
    assert results.rejects.num_rows == 0
    found = {event: results.tables[event].num_rows for event in truth.matches}
    assert found == truth.matches
    assert all(n > 0 for n in (*truth.matches.values(), *truth.episodes.values())), "nothing was put in"
    by_chance = set(truth.episodes) - set(truth.matches)
    assert all(results.tables[event].num_rows >= truth.episodes[event] for event in by_chance)


def test_maxed_out_tasks_counted_one_by_one() -> None:
    """Other tasks of a node also meet high loads by chance, so that the generator cannot tell this number."""
    results, truth, streams = drawn("cluster", "load")
    finished = {row["task"]: row["t"] for row in streams["TaskFinish"].to_pylist()}
    high: dict[str, list[int]] = {}
    low: dict[str, list[int]] = {}
    for row in sorted(streams["Cpu"].to_pylist(), key=lambda row: row["t"]):
        if row["value"] > 95:
            high.setdefault(row["node"], []).append(row["t"])
        elif row["value"] <= 70:
            low.setdefault(row["node"], []).append(row["t"])
    expected = 0
    for start in streams["TaskStart"].to_pylist():
        if start["task"] not in finished:
            continue
        end, limit = finished[start["task"]], start["t"] + 150
        while_running, afterward = high.get(start["node"], []), low.get(start["node"], [])
        n_high = max(0, bisect_left(while_running, end) - bisect_right(while_running, start["t"]))
        n_low = max(0, bisect_right(afterward, limit) - bisect_right(afterward, end))
        expected += n_high * n_low
    assert results.tables["maxed_out"].num_rows == expected >= truth.episodes["maxed_out"] > 0
    assert all(results.tables[event].num_rows > 0 for event in results.tables), "an event of the example finds nothing"
