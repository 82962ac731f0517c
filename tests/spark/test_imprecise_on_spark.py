"""Chains over imprecise times on Spark: the same rows for every number of partitions and every length of slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from inkling.analysis.clock import measure_for
from inkling.evaluators.stage import rows as r
from inkling.imprecise.program import ImpreciseProgram
from inkling.imprecise.run import answered
from inkling.io import normalize
from inkling.knowledge.materialize import surroundings
from inkling.logical import plan as p
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.planner import plan_program
from inkling.spark.imprecise.frames import ChainRun
from inkling.spark.imprecise.results import PROBABILITY
from inkling.spark.partitioning import Partitioning
from inkling.spark.worker import DETECTED, EVENT, LINEAGE
from inkling.testing.arrow import arrow_streams
from inkling.testing.chains import chain_cases

Row = dict[str, object]
Found = dict[str, dict[tuple[str, ...], tuple[int, int, int, float]]]

SURE = "C"
FAR_APART = 24
"""Ticks between cases that share a line of time; no window reaches so far."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Chains of many random programs over the same streams, and rows of many keys."""

    program: ImpreciseProgram
    rows: Mapping[str, pa.Table]

    @classmethod
    def of(cls, seed: int, n_programs: int, *, keyed: bool) -> Pack:
        cases = list(chain_cases(seed, n_programs, 4))
        every = [replace(case.chain, name=f"x{number}") for number, case in enumerate(cases)]
        if not keyed:
            every = [replace(one, partition=()) for one in every if one.within is not None]
        plan = p.ProgramPlan(tuple(map(_stream, ("A", "B", "C", "N"))), (), tuple(every))
        measure = measure_for(plan, dict.fromkeys((one.schema.name for one in plan.streams), Clock.TICKS))
        program = ImpreciseProgram.of(plan_program(plan), surroundings({}, measure), measure)
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
        run = ChainRun(self.program, sources, {}, Partitioning(2, partitions), length).frames()
        found: Found = {name: {} for name in run.events}
        for stage, frame in zip(self.program.physical.stages, run.cached, strict=True):
            for row in frame.toArrow().to_pylist():
                mine = found[stage.steps[row[EVENT]].event.name]
                assert tuple(row[LINEAGE]) not in mine, "found twice"
                mine[tuple(row[LINEAGE])] = row[r.START], row[r.END], row[DETECTED], row[PROBABILITY]
            frame.unpersist()
        return found


def _stream(name: str) -> p.StreamPlan:
    sure = name == SURE
    columns = (Column("id", Type.STRING), Column("k", Type.INTEGER), Column("v", Type.INTEGER))
    start, end = ("t", "t") if sure else ("lo", "hi")
    doubt = None if sure else ImpreciseTime("lo", "hi", "weights")
    return p.StreamPlan(
        StreamSchema(name, columns, "id", ("k",), start, end, time_type=Type.INTEGER, doubt=doubt)
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
    pack = Pack.of(1, 40, keyed=True)
    expected = pack.here()
    assert sum(map(len, expected.values())) > 3_000
    assert all(stage.key_types for stage in pack.program.physical.stages)
    for partitions in (1, 2, 7):
        _same(expected, pack.there(spark, partitions))


def test_random_chains_in_slices(spark: SparkSession) -> None:
    pack = Pack.of(2, 40, keyed=False)
    expected = pack.here()
    assert sum(map(len, expected.values())) > 3_000
    (stage,) = pack.program.physical.stages
    assert not stage.key_types
    policies = Counter(chain.policy for chain in pack.program.chains.values())
    assert min(policies[one] for one in (p.Policy.ANY, p.Policy.NEXT, p.Policy.STRICT)) > 3
    before = sum(any(one.before == 0 for one in chain.absences) for chain in pack.program.chains.values())
    assert before > 1, "no chain asks for what was before it"
    for partitions, length in ((7, 1), (2, 5), (3, 33), (2, None)):
        _same(expected, pack.there(spark, partitions, length))
