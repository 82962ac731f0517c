"""Random programs on Spark: exactly what the definition gives, whatever the number of partitions.

Many events share a program and many small streams share its data as keys, so that one job checks thousands of cases.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.oracle import oracle
from tests.kit.programs import Options, random_program, seeded_cases
from tests.kit.rows import Rows
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.spark.one_job import results_in_one_job, rows_by_stage

import inkling
from inkling.errors import InklingError
from inkling.logical.plan import ProgramPlan
from inkling.meaning.semantics import Result
from inkling.query import Program

EVENTS_PER_PROGRAM = 17
STREAMS_PER_PROGRAM = 4
WORLDS = {
    "points": [
        Declared(name, Kind.POINTS, True, "seq", derive)
        for name, derive in zip("ABC", ("", "x - PREV(x)", ""), strict=True)
    ],
    "ordered": [
        Declared(name, Kind.ORDERED, True, "seq", derive)
        for name, derive in zip("VWU", ("SINCE_CHANGE(s)", "", ""), strict=True)
    ],
    "texts": [Declared(name, Kind.ORDERED, True, "id", "") for name in "VWU"],
    "intervals": [Declared(name, Kind.INTERVALS, True, "seq", "") for name in "LMN"],
    "mixed": [
        Declared("A", Kind.POINTS, True, "seq", ""),
        Declared("V", Kind.ORDERED, True, "seq", "x - PREV(x)"),
        Declared("L", Kind.INTERVALS, True, "seq", ""),
    ],
    "mixed once more": [
        Declared("A", Kind.POINTS, True, "seq", "SINCE_CHANGE(s)"),
        Declared("V", Kind.ORDERED, True, "seq", ""),
        Declared("L", Kind.INTERVALS, True, "seq", ""),
    ],
}


def _programs(rng: random.Random, streams: Sequence[Declared]) -> Program:
    """A program with many events that all partition by the key."""
    declared: list[str] = []
    events: list[str] = []
    while len(events) < EVENTS_PER_PROGRAM:
        text = random_program(rng, streams, Options(partitioned=True, n_events=1))
        head, _, event = text.partition("EVENT e0")
        try:
            plan = inkling.parse(text).plan
        except InklingError:
            continue
        if all(column.name == "k" for column in plan.events[0].partition) and plan.events[0].partition:
            declared = [head]
            events.append(f"EVENT e0{event}".replace("e0", f"e{len(events)}"))
    return inkling.parse("\n".join([*declared, *events]))


def _expected(plan: ProgramPlan, datasets: Sequence[Rows], tables: Rows) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {event.name: [] for event in plan.events}
    for number, rows in enumerate(datasets):
        alone = pack([{}] * number + [rows])
        for name, results in oracle(plan, alone, tables).items():
            found[name].extend(results)
    return found


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_spark_eq_definition(world: str, spark: SparkSession) -> None:
    rng = random.Random(world)
    streams = WORLDS[world]
    program = _programs(rng, streams)
    datasets = [random_rows(rng, streams, n_events=5, bad_rows=False) for _ in range(STREAMS_PER_PROGRAM)]
    tables = random_tables(rng)
    expected = _expected(program.plan, datasets, tables)
    assert sum(map(len, expected.values())) > 20, "these programs find too little to tell anything"
    given = arrow_streams(program.plan, pack(datasets)), arrow_tables(program.plan, tables)
    for partitions in (1, 7):
        results = program.run(spark, *given, partitions=partitions)
        same_results(program.plan, expected, rows_by_stage(results))
        results.close()
    same_results(program.plan, expected, results_in_one_job(program.run(spark, *given, partitions=2)))


def test_there_are_a_hundred_programs() -> None:
    assert len(WORLDS) * EVENTS_PER_PROGRAM >= 100


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_without_a_key(seed: int, spark: SparkSession) -> None:
    """Programs that run by slices of time, by pattern, in several stages, or in one piece."""
    for case in seeded_cases(seed, 3, Options(partitioned=False, bad_rows=False)):
        results = inkling.parse(case.text).run(
            spark, arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables), partitions=3
        )
        same_results(case.plan, case.expected(), {name: frame.toArrow().to_pylist() for name, frame in results.items()})
        results.close()


def test_a_derived_column_is_tested_and_returned(spark: SparkSession) -> None:
    """One event tests a derived column, another one returns it: both read what the worker computed."""
    program = inkling.parse("""
        STREAM B(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t DERIVE d = x - PREV(x);
        EVENT tested(k) AS PATTERN B b[d > 0] PARTITION BY k;
        EVENT returned(k, b.d AS d) AS PATTERN B b PARTITION BY k;
    """)
    rows: Rows = {"B": [{"id": f"b{n}", "k": "pq"[n % 2], "x": n * 7 % 5, "t": n} for n in range(10)]}
    expected = oracle(program.plan, rows)
    assert len(expected["tested"]) >= 2
    results = program.run(spark, rows, partitions=2)
    same_results(program.plan, expected, {name: frame.toArrow().to_pylist() for name, frame in results.items()})
    results.close()
