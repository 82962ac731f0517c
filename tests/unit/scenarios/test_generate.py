"""Rows depend on the scenario, its size and its seed, and on nothing else."""

from collections.abc import Iterable
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.kit.seeds import first_of

from inkling.scenarios import SCENARIOS, Scenario, generate, scenario

pytestmark = pytest.mark.slow

EVERY_SCENARIO = pytest.mark.parametrize("name", first_of(SCENARIOS, 4))
MAIN = {
    "fleet": "Vehicle",
    "port": "Position",
    "cluster": "Cpu",
    "building": "Reading",
    "mixed": "Seen",
    "traffic": "Reading",
    "traffic_rdf": "triple",
    "alarms": "Observation",
    "heat": "Felt",
    "stocks": "Tick",
    "supply_chain": "Quote",
    "trades": "Offer",
    "flower": "Gps",
    "blizzard": "Weather",
    "tsunami": "Level",
    "approach": "Position",
    "funnel": "View",
    "motorway": "Report",
    "buses": "Ping",
}


def joined(chunks: Iterable[dict[str, pa.RecordBatch]]) -> dict[str, pa.Table]:
    pieces = list(chunks)
    return {stream: pa.Table.from_batches([piece[stream] for piece in pieces]) for stream in pieces[0]}


def drawn(source: Scenario) -> dict[str, pa.Table]:
    return joined(source.blocks())


@EVERY_SCENARIO
def test_same_seed_same_rows(name: str) -> None:
    assert drawn(scenario(name, events=30_000, seed=3)) == drawn(scenario(name, events=30_000, seed=3))


@EVERY_SCENARIO
def test_another_seed_other_rows(name: str) -> None:
    first, second = (drawn(scenario(name, events=5_000, keys=5, seed=seed))[MAIN[name]] for seed in (1, 2))
    assert first != second


@EVERY_SCENARIO
@pytest.mark.parametrize("chunk_rows", [1, 777, 4_096, 10_000_000])
def test_chunk_size_changes_no_row(name: str, chunk_rows: int) -> None:
    events = 700 if chunk_rows == 1 else 40_000
    source = scenario(name, events=events, keys=6, seed=4)
    whole = drawn(source)
    chunks = list(generate(name, events=events, keys=6, seed=4, chunk_rows=chunk_rows))
    assert joined(chunks) == whole
    assert all(chunk[source.main].num_rows == chunk_rows for chunk in chunks[:-1])


@EVERY_SCENARIO
def test_chunks_are_stretches_of_time(name: str) -> None:
    latest = -1
    for chunk in generate(name, events=60_000, keys=10, seed=9, chunk_rows=5_000):
        times = np.concatenate([rows["t"].cast(pa.int64()).to_numpy() for rows in chunk.values()])
        assert times.min() >= latest
        latest = int(chunk[MAIN[name]]["t"].cast(pa.int64())[-1].as_py())


@EVERY_SCENARIO
def test_more_events_only_add_rows(name: str) -> None:
    short = drawn(scenario(name, events=20_011, keys=8, seed=6))[MAIN[name]]
    long = drawn(scenario(name, events=90_000, keys=8, seed=6))[MAIN[name]]
    assert long.slice(0, short.num_rows) == short


@EVERY_SCENARIO
@pytest.mark.parametrize(("events", "keys"), [(1, 1), (1, 50), (999, 1), (10_007, 7), (300, 200)])
def test_size_is_as_asked(name: str, events: int, keys: int) -> None:
    source = scenario(name, events=events, keys=keys, seed=0)
    streams = drawn(source)
    assert streams[MAIN[name]].num_rows == events
    assert source.truth().rows == {stream: rows.num_rows for stream, rows in streams.items()}
    assert source.truth().keys == keys


@EVERY_SCENARIO
def test_streams_are_sorted_typed_and_without_nulls(name: str) -> None:
    source = scenario(name, events=50_000, seed=2)
    for stream, rows in drawn(source).items():
        assert rows.schema == source.streams[stream]
        never_null = [column for column in rows.column_names if column != "previous_zone"]
        assert sum(rows[column].null_count for column in never_null) == 0
        times = rows["t"].cast(pa.int64()).to_numpy()
        assert (np.diff(times) >= 0).all()
        told = rows.filter(pc.equal(rows["op"], "+")) if "op" in rows.column_names else rows
        if stream != "At":
            assert len(told["id"].unique()) == told.num_rows


def test_ids_of_a_program_are_told_apart() -> None:
    for name in SCENARIOS:
        streams = drawn(scenario(name, events=20_000)).values()
        ids = [str(one) for rows in streams for one in rows["id"].unique()]
        assert len(ids) == len(set(ids))


def test_integer_ids_follow_the_order_of_arrival() -> None:
    rows = drawn(scenario("fleet", events=10_000))["Vehicle"]
    np.testing.assert_array_equal(rows["id"].to_numpy(), np.arange(10_000))


def test_start_moves_everything() -> None:
    default = drawn(scenario("cluster", events=3_000, start=0))
    later = drawn(scenario("cluster", events=3_000, start=500))
    for stream, rows in default.items():
        for column in ("t", "lo", "hi"):
            shifted = rows[column].to_numpy() + 500
            np.testing.assert_array_equal(later[stream][column].to_numpy(), shifted)
    fleet = drawn(scenario("fleet", events=3_000, start=datetime(2030, 5, 1)))["Vehicle"]
    assert fleet["t"][0].as_py().date().isoformat() == "2030-05-01"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "zoo", "events": 1}, "unknown scenario 'zoo', expected one of fleet, port, cluster"),
        ({"name": "fleet", "events": 0}, "expected at least one event, found events=0"),
        ({"name": "fleet", "events": 1, "keys": 0}, "expected at least one key, found keys=0"),
        ({"name": "fleet", "events": 1, "seed": -1}, "expected a seed of zero or more, found seed=-1"),
        ({"name": "fleet", "events": 1, "chunk_rows": 0}, "expected at least one row per chunk"),
        ({"name": "cluster", "events": 1, "start": datetime(2024, 1, 1)}, "the cluster counts ticks"),
    ],
)
def test_nonsense_is_rejected(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate(**arguments)  # type: ignore[arg-type]
