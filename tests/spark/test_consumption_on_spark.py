"""Consumption policies on Spark: exactly what the definition gives, whatever the number of partitions."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.oracle import oracle
from tests.kit.programs import Options, random_program
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind

import inkling
from inkling.errors import InklingError
from inkling.query import Program

N_EVENTS, N_KEYS = 16, 6
POLICIES = frozenset({"CONSUME RECENT"})
WORLDS = {
    "points": [Declared(name, Kind.POINTS, True, "seq", "") for name in "ABC"],
    "ordered": [Declared(name, Kind.ORDERED, True, "seq", "") for name in "VWU"],
    "intervals": [Declared(name, Kind.INTERVALS, True, "seq", "") for name in "LMN"],
}


def _program(rng: random.Random, streams: Sequence[Declared]) -> Program:
    """A program with many events that all use up what they find."""
    declared, events = "", list[str]()
    while len(events) < N_EVENTS:
        text = random_program(rng, streams, Options(partitioned=True, n_events=1, needing=POLICIES))
        try:
            event = inkling.parse(text).plan.events[0]
        except InklingError:
            continue
        if event.consumption is not None and [column.name for column in event.partition] == ["k"]:
            declared, _, written = text.partition("EVENT e0")
            events.append(f"EVENT e{len(events)}{written}")
    return inkling.parse("\n".join([declared, *events]))


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_policies_on_spark_eq_definition(world: str, spark: SparkSession) -> None:
    rng = random.Random(world)
    program = _program(rng, WORLDS[world])
    rows = pack([random_rows(rng, WORLDS[world], n_events=6, bad_rows=False) for _ in range(N_KEYS)])
    tables = random_tables(rng)
    expected = oracle(program.plan, rows, tables)
    assert sum(map(len, expected.values())) > N_EVENTS, "these programs find too little to tell anything"
    given = arrow_streams(program.plan, rows), arrow_tables(program.plan, tables)
    for partitions in (1, 7):
        found = program.run(spark, *given, partitions=partitions)
        same_results(program.plan, expected, {name: frame.toArrow().to_pylist() for name, frame in found.items()})
        found.close()


def test_equalities_divide_the_work(spark: SparkSession) -> None:
    """A key that every pair has in common is the key of the stage; without one, nothing may be divided."""
    streams = "\n".join(f"STREAM {name}(id INT, k INT, t INT) ID id TIME t;" for name in "ABC")
    divided = inkling.parse(f"{streams} EVENT x AS PATTERN SEQ(A a, B b[k = a.k], C c[k = b.k]) CONSUME RECENT;")
    whole = inkling.parse(f"{streams} EVENT x AS PATTERN SEQ(A a, B b, C c[k = a.k AND k = b.k]) CONSUME RECENT;")
    assert len(divided.physical.stages[0].key_types) == 1
    assert len(whole.physical.stages[0].key_types) == 0
    rng = random.Random(3)
    rows = {
        name: [{"id": number, "k": rng.randint(1, 3), "t": rng.randint(1, 60)} for number in range(40)]
        for name in "ABC"
    }
    for program in (divided, whole):
        found = program.run(spark, arrow_streams(program.plan, rows), partitions=4)
        expected = oracle(program.plan, rows)
        assert expected["x"]
        same_results(program.plan, expected, {"x": found["x"].toArrow().to_pylist()})
        found.close()
