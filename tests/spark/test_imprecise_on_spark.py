"""Chains over imprecise times on Spark: the same rows for every number of partitions and every length of slices."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams
from tests.kit.chains import ChainCase, chain_cases
from tests.kit.partial_orders import partial_order_cases

import inkling
from inkling.analysis.clock import time_unit
from inkling.evaluators.chain.division import chain_parts
from inkling.evaluators.chain.program import ChainProgram, answered
from inkling.evaluators.division import ByTime
from inkling.evaluators.result_rows import DETECTED, EVENT, LINEAGE, PROBABILITY
from inkling.evaluators.stage.rows import format as r
from inkling.io import normalize
from inkling.knowledge.materialize import expression_context
from inkling.logical import plan as p
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.planner import plan_program
from inkling.results import Results
from inkling.spark.partitioning import Partitioning
from inkling.spark.parts import part_frames

Row = dict[str, object]
Made = Callable[[int, int, int], Iterator[ChainCase]]
Found = dict[str, dict[tuple[str, ...], tuple[int, int, int, float]]]

SURE = "C"
FAR_APART = 24
"""Ticks between cases that share a line of time; no window reaches so far."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Chains of many random programs over the same streams, and rows of many keys."""

    program: ChainProgram
    rows: Mapping[str, pa.Table]

    @classmethod
    def of(cls, seed: int, n_programs: int, made: Made = chain_cases, *, keyed: bool) -> Pack:
        cases = list(made(seed, n_programs, 4))
        every = [replace(case.chain, name=f"x{number}") for number, case in enumerate(cases)]
        if not keyed:
            every = [replace(one, partition=()) for one in every if one.within is not None]
        plan = p.ProgramPlan(tuple(map(_stream, ("A", "B", "C", "N"))), (), tuple(every))
        unit = time_unit(plan, dict.fromkeys((one.schema.name for one in plan.streams), Clock.TICKS))
        program = ChainProgram.of(plan_program(plan), expression_context({}, unit), unit)
        assert program is not None
        given: dict[str, list[Row]] = {name: [] for name in ("A", "B", "C", "N")}
        for key, rows in enumerate(rows for case in cases for rows in case.keys):
            for name, some in rows.items():
                given[name] += [_told(name, row, key, 0 if keyed else FAR_APART * key) for row in some]
        tables = arrow_streams(plan, given)
        schemas = {one.schema.name: one.schema for one in plan.streams}
        return cls(program, {name: normalize(tables[name], schema).rows for name, schema in schemas.items()})

    def here(self) -> Found:
        found: Found = {}
        for name, table in answered(self.program, self.rows, {}).items():
            found[name] = {
                tuple(row["lineage"]): (row["start"], row["end"], row["detected_at"], row["probability"])
                for row in table.to_pylist()
            }
            assert len(found[name]) == len(table)
        return found

    def there(self, spark: SparkSession, partitions: int, length: int | None = None) -> Found:
        sources = {name: spark.createDataFrame(table) for name, table in self.rows.items()}
        found: Found = {}
        for part in chain_parts(self.program, {}):
            if isinstance(part.division, ByTime):
                part = replace(part, division=replace(part.division, length=length))
            run = part_frames(part, sources, self.program.context, Partitioning(2, partitions))
            (frame,) = run.cached
            found |= {event.name: {} for event in part.events}
            for row in frame.toArrow().to_pylist():
                mine = found[part.events[row[EVENT]].name]
                assert tuple(row[LINEAGE]) not in mine, "found twice"
                mine[tuple(row[LINEAGE])] = row[r.START], row[r.END], row[DETECTED], row[PROBABILITY]
            frame.unpersist()
        return found


def _stream(name: str) -> p.StreamPlan:
    sure = name == SURE
    columns = (Column("id", Type.STRING), Column("k", Type.INTEGER), Column("v", Type.INTEGER))
    start, end = ("t", "t") if sure else ("lo", "hi")
    uncertainty = None if sure else ImpreciseTime("lo", "hi", "weights")
    return p.StreamPlan(
        StreamSchema(name, columns, "id", ("k",), start, end, time_type=Type.INTEGER, uncertainty=uncertainty)
    )


def _told(name: str, row: Row, key: int, later: int) -> Row:
    """A row of a case as a row of its stream in the pack."""
    lo = row["lo"] if "lo" in row else row["t"]
    hi = row["hi"] if "hi" in row else row["t"]
    assert isinstance(lo, int)
    assert isinstance(hi, int)
    same: Row = {"id": f"{key}/{row['id']}", "k": key, "v": row["v"]}
    if name == SURE:
        return {**same, "t": lo + later}
    return {**same, "lo": lo + later, "hi": hi + later, "weights": row.get("weights")}


def _same(one: Found, other: Found) -> None:
    assert one.keys() == other.keys()
    for name, rows in one.items():
        assert rows.keys() == other[name].keys(), name
        for ids, (*times, chance) in rows.items():
            *again, probability = other[name][ids]
            assert again == times, (name, ids)
            assert probability == pytest.approx(chance, abs=1e-12)
            assert (probability == 1) == (chance == 1)


def test_random_chains_by_key(spark: SparkSession) -> None:
    pack = Pack.of(1, 24, keyed=True)
    expected = pack.here()
    assert sum(map(len, expected.values())) > 1_500
    assert all(stage.key_types for stage in pack.program.physical.stages)
    for partitions in (1, 2, 7):
        _same(expected, pack.there(spark, partitions))


@pytest.mark.long
def test_random_chains_in_slices(spark: SparkSession) -> None:
    pack = Pack.of(4, 20, keyed=False)
    expected = pack.here()
    assert sum(map(len, expected.values())) > 1_500
    (stage,) = pack.program.physical.stages
    assert not stage.key_types
    policies = Counter(chain.policy for chain in pack.program.chains.values())
    assert min(policies[one] for one in (p.Policy.ANY, p.Policy.NEXT, p.Policy.STRICT)) > 3
    before = sum(any(one.before == 0 for one in chain.absences) for chain in pack.program.chains.values())
    assert before > 1, "no chain asks for what was before it"
    for partitions, length in ((7, 9), (2, 35), (3, None)):
        _same(expected, pack.there(spark, partitions, length))


def test_random_partial_orders_by_key(spark: SparkSession) -> None:
    pack = Pack.of(7, 24, partial_order_cases, keyed=True)
    expected = pack.here()
    assert sum(map(len, expected.values())) > 50
    for partitions in (1, 7):
        _same(expected, pack.there(spark, partitions))


def test_random_partial_orders_in_slices(spark: SparkSession) -> None:
    pack = Pack.of(8, 24, partial_order_cases, keyed=False)
    expected = pack.here()
    assert sum(map(len, expected.values())) > 50
    for partitions, length in ((7, 9), (2, 35)):
        _same(expected, pack.there(spark, partitions, length))


PROGRAM = """
    STREAM Vague(id STRING, k STRING, v DOUBLE) ID id KEY k TIME BETWEEN lo AND hi WEIGHTS w;
    STREAM Seen(who STRING, v DOUBLE) KEY who TIME t ± 2 TICKS AT MOST 4 TICKS;
    STREAM Sure(id STRING, k STRING, v DOUBLE, t BIGINT) ID id TIME t DERIVE old = PREV(v);
    EVENT rise(k, b.v AS v) AS PATTERN SEQ(Vague a[v < 0.4], Vague b[v > 0.6]) WITHIN 9 TICKS PARTITION BY k;
    EVENT likely(a.id AS first) AS PATTERN SEQ NEXT(Vague a, Sure s[v > 0.3], Vague b[v > 0.2]) WITHIN 12 TICKS
        PARTITION BY k CONFIDENCE > 0.3;
    EVENT best(a.id AS first) AS PATTERN SEQ(Vague a, NOT Sure[v < 0.3], Seen b[who = a.k]) WITHIN 9 TICKS TOP 7;
    EVENT same(a.id AS first) AS PATTERN SEQ(Vague a, Seen b) WHERE a.k = b.who WITHIN 6 TICKS CONFIDENCE >= 0.25;
    EVENT anybody(a.k AS one, b.k AS other) AS PATTERN SEQ NEXT(Vague a[v < 0.5], Vague b[v > 0.5]) WITHIN 6 TICKS
        RETURN b.v - a.v AS by;
    EVENT fell(s.id AS id) AS PATTERN SEQ(Vague a[v > 0.7], Sure s[old > v]) WITHIN 4 POINTS EXACT;
    EVENT endless(a.id AS first) AS PATTERN SEQ NEXT(Vague a[v < 0.1], Vague b[v > 0.9]);
"""


def _inputs(seed: int) -> dict[str, list[Row]]:
    rng = random.Random(seed)
    vague, seen, sure = [], [], []
    keys = ["k0", "k1", "k2", "k3", "k4"]
    for number in range(150):
        at, width = rng.randrange(400), rng.choice((1, 2, 4, 5))
        weights = [rng.choice((0.0, 1.0, 2.5)) for _ in range(width)] if rng.random() < 0.5 else None
        if weights is not None and not any(weights):
            weights = None
        key = rng.choice(keys)
        vague.append({"id": f"a{number}", "k": key, "v": rng.random(), "lo": at, "hi": at + width - 1, "w": weights})
        seen.append({"who": rng.choice(keys), "v": rng.random(), "t": rng.randrange(400)})
        sure.append({"id": f"s{number}", "k": rng.choice(keys), "v": rng.random(), "t": rng.randrange(400)})
    vague += [
        {"id": "long", "k": "k1", "v": 0.9, "lo": 4, "hi": 6, "w": [1.0]},
        {"id": "none", "k": "k2", "v": 0.9, "lo": 4, "hi": 5, "w": [0.0, 0.0]},
        {"id": "minus", "k": "k2", "v": 0.9, "lo": 4, "hi": 5, "w": [2.0, -1.0]},
        {"id": "back", "k": "k2", "v": 0.9, "lo": 5, "hi": 4, "w": None},
        {**vague[0], "v": 0.05},
        {**vague[1], "v": 0.95},
        dict(vague[2]),
    ]
    # not KEY k: rows with one id are one event, in whichever partitions they fall
    sure += [{"id": "twice", "k": key, "v": 0.1, "t": 3} for key in keys]
    for rows in (vague, seen, sure):
        rng.shuffle(rows)
    return {"Vague": vague, "Seen": seen, "Sure": sure}


def _rows(results: Results, name: str) -> Iterator[tuple[str, float]]:
    """Results of an event, in an order of their own, and their probabilities."""
    for row in results.tables[name].to_pylist():
        chance = row.pop("probability")
        yield repr(row), chance


def _agree(one: Results, other: Results) -> None:
    assert one.worlds is None
    assert other.worlds is None
    assert one.tables.keys() == other.tables.keys()
    for name in one.tables:
        expected, found = (dict(_rows(results, name)) for results in (one, other))
        assert found == {row: pytest.approx(chance, abs=1e-12) for row, chance in expected.items()}, name
        assert expected, name


def test_all_that_programs_say(spark: SparkSession) -> None:
    program = inkling.parse(PROGRAM)
    inputs = _inputs(4)
    expected = program.run_local(inputs)
    assert len(expected.tables["best"]) == 7
    reasons = Counter(row["reason"] for row in expected.rejects.to_pylist())
    assert len(reasons) >= 5, reasons
    results = program.run(spark, inputs, partitions=3)
    assert results.notes is None
    found = results.collect()
    results.close()
    _agree(expected, found)
    assert _rejected(found) == _rejected(expected)


def _rejected(results: Results) -> list[tuple[str, str, str]]:
    return sorted((row["stream"], row["reason"], row["id"]) for row in results.rejects.to_pylist())


@pytest.mark.long
def test_ticks_of_timestamps(spark: SparkSession) -> None:
    """Slices count ticks, not microseconds."""
    program = inkling.parse("""
        STREAM Door(k STRING, node STRING, t TIMESTAMP) TICK 1 MINUTES
            TIME t CLOCK node ERROR 2 MINUTES, 5 TICKS FOR 'gate' AT MOST 10 MINUTES;
        STREAM Bell(id STRING, t TIMESTAMP) ID id TICK 1 MINUTES TIME t;
        EVENT rung(d.node AS node) AS PATTERN SEQ NEXT(Door d, Bell b, Door e) WITHIN 9 MINUTES;
        EVENT quiet(d.k AS k) AS PATTERN SEQ(NOT Bell, Door d, NOT Bell) WITHIN 3 POINTS;
    """)
    rng, start = random.Random(8), datetime(1969, 12, 31, 12, tzinfo=UTC)
    door = [
        {"k": f"k{number}", "node": rng.choice(("gate", "hall", None)), "t": start + timedelta(seconds=37 * number)}
        for number in range(1, 1500)
    ]
    bell = [{"id": f"b{number}", "t": start + timedelta(seconds=301 * number)} for number in range(200)]
    rng.shuffle(door)
    given = {"Door": door, "Bell": bell}
    _agree(program.run_local(given), program.run(spark, given).collect())


def test_estimates_are_the_same_on_every_runner(spark: SparkSession) -> None:
    """Matches for which sums would take too long are estimated in the same worlds, however rows are divided."""
    program = inkling.parse("""
        STREAM A(id STRING, k STRING, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;
        STREAM B(id STRING, k STRING, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;
        EVENT next AS PATTERN SEQ NEXT(A a, B b) WITHIN 9000 POINTS PARTITION BY k;
        EVENT both AS PATTERN SEQ((A a AND B b), A c) WITHIN 9000 POINTS PARTITION BY k;
    """)
    rng = random.Random(9)
    given: dict[str, list[Row]] = {"A": [], "B": []}
    for number in range(16):
        at, key = 2_000 * number, rng.choice("xy")
        given[rng.choice("AB")].append({"id": f"e{number}", "k": key, "lo": at, "hi": at + 5_000})
    expected = program.run_local(given)
    stream = program.open()
    heard: dict[str, list[pa.Table]] = {name: [] for name in expected.tables}
    rows = sorted((row["lo"], name, row) for name, some in given.items() for row in some)
    for found in (*(stream.push({name: [row]}) for _, name, row in rows), stream.finish()):
        for name, table in found.tables.items():
            heard[name].append(table)
    there = program.run(spark, given, partitions=2).collect()
    for name, table in expected.tables.items():
        assert "sampled" in table["method"].to_pylist(), name
        wanted = sorted(map(str, table.to_pylist()))
        assert sorted(map(str, pa.concat_tables(heard[name]).to_pylist())) == wanted
        assert sorted(map(str, there.tables[name].to_pylist())) == wanted


@pytest.mark.parametrize("by", ["PARTITION BY k", ""])
def test_no_rows_at_all(by: str, spark: SparkSession) -> None:
    program = inkling.parse(f"""
        STREAM Vague(id STRING, k STRING, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;
        EVENT pair(a.id AS first) AS PATTERN SEQ(Vague a, Vague b) WITHIN 3 TICKS {by} EXACT;
        EVENT one() AS PATTERN Vague a {by} CONFIDENCE > 0.5 TOP 3;
    """)
    expected, found = program.run_local({"Vague": []}), program.run(spark, {"Vague": []}).collect()
    for name, table in expected.tables.items():
        assert table.num_rows == found.tables[name].num_rows == 0
        assert found.tables[name].column_names == table.column_names
