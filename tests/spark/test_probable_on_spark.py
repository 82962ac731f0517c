"""Queries over probable streams on Spark: the same results as in one process, for every number of partitions."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping
from functools import reduce

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.kit.arrow import arrow_streams

import inkling
from inkling.analysis.clock import time_unit
from inkling.errors import InputError
from inkling.evaluators.query.division import query_parts
from inkling.evaluators.query.program import QueryProgram
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.sampling import worlds_needed
from inkling.io import normalize
from inkling.knowledge.materialize import expression_context
from inkling.model.time import Clock
from inkling.query import Program
from inkling.spark.batch import SparkResults
from inkling.spark.partitioning import Partitioning
from inkling.spark.parts import part_frames
from inkling.spark.results import public_frame

pytestmark = pytest.mark.spark

Row = dict[str, object]
Found = dict[str, list[Row]]


def _in_one_job(results: SparkResults) -> Found:
    """A job for each event would take far longer than the rows do."""
    written = [
        frame.select(F.lit(name).alias("name"), F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row"))
        for name, frame in results.items()
    ]
    found: Found = {name: [] for name in results}
    for row in reduce(DataFrame.unionByName, written).coalesce(2).toArrow().to_pylist():
        found[row["name"]].append(json.loads(row["row"]))
    results.close()
    return found


def _shown(row: Row) -> str:
    return repr({**row, "probability": 0, "error": 0})


def _agree(expected: Mapping[str, list[Row]], found: Found) -> None:
    assert expected.keys() == found.keys()
    for name, rows in expected.items():
        one, other = ({_shown(row): row for row in some} for some in (rows, found[name]))
        assert len(one) == len(rows), name
        assert len(found[name]) == len(rows), name
        assert one.keys() == other.keys(), name
        for key, row in one.items():
            assert other[key]["probability"] == pytest.approx(row["probability"], abs=1e-12), (name, key)
            assert other[key]["error"] == pytest.approx(row["error"], abs=1e-12), (name, key)


def _here(program: Program, inputs: Mapping[str, object]) -> Found:
    return {name: table.to_pylist() for name, table in program.run_local(inputs).tables.items()}


STREAMS = """
    STREAM At(id STRING, who STRING, room STRING, t BIGINT) ID id KEY who TIME t PROBABILITY p;
    STREAM Walk(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p GIVEN previous;
    STREAM Badge(id STRING, who STRING, door BIGINT, t BIGINT) ID id TIME t DERIVE twice = door * 2;
"""

PROGRAM = f"""{STREAMS}
    EVENT coffee(who) AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[room = 'kitchen']) PARTITION BY who PER END;
    EVENT likely(who) AS PATTERN SEQ NEXT(At a[room = 'hall'], At b+ CHECK (b.room <> 'desk')) PARTITION BY who
        PER END CONFIDENCE > 0.4;
    EVENT anyone AS PATTERN SEQ NEXT(At a[room = 'desk'], At b[room = 'kitchen' AND who = a.who]) PER END;
    EVENT best(who) AS PATTERN SEQ NEXT(At a[room = 'desk'], At b[room = 'hall']) PARTITION BY who PER END TOP 9;
    EVENT ever(who) AS PATTERN SEQ NEXT(At a[room = 'desk'], At b[room = 'kitchen']) PARTITION BY who PER VALUES;
    EVENT ever_anyone AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[room = 'hall' AND who = a.who]) PER VALUES;
    EVENT walked(who) AS PATTERN SEQ NEXT(Walk a[room = 'hall'], Walk b[room = 'kitchen']) PARTITION BY who PER END;
    EVENT direct(who) AS PATTERN (SEQ STRICT(Walk[room = 'hall'], Walk[room = 'desk'])) OR (Walk[room = 'kitchen'])
        PARTITION BY who PER END;
    EVENT walked_ever AS PATTERN SEQ NEXT(Walk a[room = 'hall'], Walk b[room = 'desk' AND who = a.who]) PER VALUES;
    EVENT both(who) AS PATTERN SEQ NEXT(Walk a[room = 'hall'], At b[room = 'hall'], Walk c) PARTITION BY who PER END;
    EVENT one AS PATTERN SEQ NEXT(Walk a[who = 'w3'], Walk b[who = 'w3' AND room = 'desk']) PER END EXACT;
    EVENT badge(who) AS PATTERN SEQ NEXT(Badge a[twice > 4], At b[room = 'kitchen']) PARTITION BY who PER END;
"""

ROOMS = ("hall", "kitchen", "desk")


def _inputs(seed: int) -> dict[str, list[Row]]:
    rng = random.Random(seed)
    at: list[Row] = []
    walk: list[Row] = []
    for who in (f"w{number}" for number in range(12)):
        for time in range(1, 12):
            cuts = sorted(rng.random() for _ in range(3))
            chances = [cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1]]
            for room, chance in zip(ROOMS, chances, strict=True):
                at.append({"id": f"{who}/{time}/{room}", "who": who, "room": room, "t": time, "p": chance})
            for before in (None, *ROOMS) if time > 1 else (None,):
                cuts = sorted(rng.random() for _ in range(2))
                chances = [cuts[0], cuts[1] - cuts[0], 1 - cuts[1]]
                for room, chance in zip(ROOMS, chances, strict=True):
                    walk.append({"who": who, "room": room, "t": time, "p": chance, "previous": before})
    for row in rng.sample(at, 3):
        row["p"] = rng.choice((1.2, -0.3))
    at[7]["p"] = None
    at.append({**at[100], "p": 0.001})
    at += [{**at[200], "room": f"r{number}", "p": 0.4} for number in range(3)]
    del walk[600:603]
    walk[400]["p"] = 0.99
    badge: list[Row] = [
        {"id": f"b{number}", "who": f"w{rng.randrange(12)}", "door": rng.randrange(5), "t": rng.randrange(12)}
        for number in range(60)
    ]
    badge.append({**badge[0], "door": 9})
    for rows in (at, walk, badge):
        rng.shuffle(rows)
    return {"At": at, "Walk": walk, "Badge": badge}


def _rejected(rejects: list[Row]) -> list[tuple[object, ...]]:
    return sorted(
        (row["stream"], row["reason"], row["stream"] != "Badge" and row["detail"], row["id"]) for row in rejects
    )


@pytest.mark.long
def test_all_that_programs_say(spark: SparkSession) -> None:
    program = inkling.parse(PROGRAM)
    inputs = arrow_streams(program.plan, _inputs(5))
    here = program.run_local(inputs)
    expected = {name: table.to_pylist() for name, table in here.tables.items()}
    assert min(map(len, expected.values())) > 0
    assert len(expected["best"]) == 9
    reasons = {row["reason"] for row in here.rejects.to_pylist()}
    assert len(reasons) >= 6, reasons
    results = program.run(spark, inputs, partitions=3)
    assert results.notes is None
    assert _rejected(results.rejects.toArrow().to_pylist()) == _rejected(here.rejects.to_pylist())
    _agree(expected, _in_one_job(results))


@pytest.mark.parametrize("name", ["coffee", "walked_ever", "both"])
def test_rows_are_packed_where_that_is_possible(name: str, spark: SparkSession) -> None:
    """And give the same results as rows that travel as they are."""
    program = inkling.parse(PROGRAM)
    unit = time_unit(program.plan, dict.fromkeys(("At", "Walk", "Badge"), Clock.TICKS))
    queries = QueryProgram.of(program.physical, expression_context({}, unit), unit, WorldSampler())
    assert queries is not None
    tables = arrow_streams(program.plan, _inputs(6))
    event, found = queries.evaluators[name].event, []
    for may_pack in (True, False):
        (part,) = (
            one for one in query_parts(queries, may_pack=may_pack) if name in {event.name for event in one.events}
        )
        assert all((one.packing is not None) == may_pack for one in part.carried)
        schemas = {one.name: one.stream.schema for one in part.carried}
        sources = {one: spark.createDataFrame(normalize(tables[one], schemas[one]).rows) for one in schemas}
        frames = part_frames(part, sources, queries.context, Partitioning(2, 3)).events
        rows = public_frame(event, frames[name], Clock.TICKS).toArrow().to_pylist()
        found.append({repr({**row, "probability": 0}): row["probability"] for row in rows})
    assert found[0] == {row: pytest.approx(chance, abs=1e-12) for row, chance in found[1].items()}
    assert found[0]


HARD = f"""{STREAMS}
    EVENT again AS PATTERN SEQ NEXT(At a[who = 'x'], At b[who = 'y' AND room = a.room]) PER END"""


def test_exact_is_rejected_where_it_cannot_be_had(spark: SparkSession) -> None:
    rows: list[Row] = [
        {"id": f"{time}", "who": "x" if time < 17 else "y", "room": f"r{time % 17}", "t": time, "p": 0.5}
        for time in range(20)
    ]
    inputs = arrow_streams(inkling.parse(STREAMS + "EVENT e AS PATTERN At a;").plan, {"At": rows})
    sampled = _here(inkling.parse(f"{HARD};"), inputs)
    assert {row["method"] for row in sampled["again"]} == {"sampled"}
    _agree(sampled, _in_one_job(inkling.parse(f"{HARD};").run(spark, inputs)))
    program, said = inkling.parse(f"{HARD} EXACT;"), []
    for run in (lambda: program.run_local(inputs), lambda: program.run(spark, inputs)):
        with pytest.raises(InputError) as rejected:
            run()
        said.append(str(rejected.value))
    assert "INK0655" in said[0]
    assert said[1] == said[0]


def test_automata_need_no_worlds(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The large library that bounds the number of worlds cannot even be loaded here."""
    worlds_needed.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    program = inkling.parse("""
        STREAM A(k STRING, v BIGINT, t BIGINT) KEY k TIME t PROBABILITY p;
        EVENT q(k) AS PATTERN SEQ NEXT(A a[v = 1], A b[v = 2]) PARTITION BY k PER END;
    """)
    rows = [{"k": "x", "v": 1, "t": 1, "p": 0.5}, {"k": "x", "v": 2, "t": 2, "p": 0.5}]
    (row,) = program.run(spark, {"A": rows})["q"].toArrow().to_pylist()
    assert (row["k"], row["end"], row["probability"]) == ("x", 2, 0.25)
