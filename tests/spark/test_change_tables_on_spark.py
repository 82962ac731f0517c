"""Tables of changes on Spark: results are those of the definition, rejects those of a local run."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.oracle import oracle
from tests.kit.programs import Options, random_program
from tests.kit.rows import Rows
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.kit.withdrawals import corrected, named, revisable, with_withdrawals
from tests.spark.one_job import rows_by_stage

import inkling
from inkling.errors import InklingError
from inkling.query import Program

EVENTS_PER_PROGRAM = 17
DATASETS = 4
WORLDS = {
    "points": [Declared(name, Kind.POINTS, True, "seq", "") for name in "ABC"],
    "ordered": [Declared(name, Kind.ORDERED, True, "seq", "x - PREV(x)" if name == "V" else "") for name in "VWU"],
    "intervals": [Declared(name, Kind.INTERVALS, True, "seq", "") for name in "LMN"],
}


def programs(rng: random.Random, streams: list[Declared]) -> tuple[Program, Program]:
    """Many events that all partition by the key, over streams with and without OP."""
    declared, events = "", []
    while len(events) < EVENTS_PER_PROGRAM:
        text = random_program(rng, streams, Options(partitioned=True, n_events=1))
        head, _, event = text.partition("EVENT e0")
        try:
            plan = inkling.parse(text).plan
        except InklingError:
            continue
        if [column.name for column in plan.events[0].partition] == ["k"]:
            declared = head
            events.append(f"EVENT e0{event}".replace("e0", f"e{len(events)}"))
    text = "\n".join([declared, *events])
    return inkling.parse(named(text)), inkling.parse(revisable(text))


def expected(program: Program, datasets: list[Rows], tables: Rows) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {event.name: [] for event in program.plan.events}
    for number, rows in enumerate(datasets):
        for name, results in oracle(program.plan, pack([{}] * number + [corrected(rows)]), tables).items():
            found[name].extend(results)
    return found


def rejected(rejects: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter((row["stream"], row["reason"], row["detail"], row["id"]) for row in rejects.to_pylist())


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_changes_eq_definition(world: str, spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(world)
    plain, program = programs(rng, WORLDS[world])
    datasets = [
        with_withdrawals(rng, random_rows(rng, WORLDS[world], n_events=6, bad_rows=False)) for _ in range(DATASETS)
    ]
    tables = random_tables(rng)
    wanted = expected(plain, datasets, tables)
    assert sum(map(len, wanted.values())) > 20, "these programs find too little to tell anything"
    given = arrow_streams(program.plan, pack(datasets))
    facts = arrow_tables(program.plan, tables)
    local = program.run_local(given, facts)
    assert {reason for _, reason, *_ in rejected(local.rejects)} == {
        "duplicate id",
        "nothing to withdraw",
        "withdrawn twice",
    }
    frames = {name: spark.createDataFrame(table) for name, table in given.items()}
    if world == "points":  # as text, which workers read
        for name, table in given.items():
            pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
        frames = {name: tmp_path / f"{name}.csv" for name in given}
    results = program.run(spark, frames, facts, partitions=3)
    same_results(plain.plan, wanted, rows_by_stage(results))
    assert rejected(results.rejects.toArrow()) == rejected(local.rejects)
    results.close()


def test_there_are_fifty_programs() -> None:
    assert len(WORLDS) * EVENTS_PER_PROGRAM >= 50
