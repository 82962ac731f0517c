"""Queries over probable streams on Spark: the same results as in one process, for every number of partitions."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from functools import reduce

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import inkling
from inkling.analysis.probable.strategy import Engine, strategies_of
from inkling.errors import InputError
from inkling.query import Program
from inkling.spark.batch import SparkResults
from inkling.testing.arrow import arrow_streams
from inkling.testing.queries import random_query
from inkling.testing.rows import Rows

pytestmark = pytest.mark.spark

SHAPES = ("regular", "extended", "extended", "extended", "safe", "overlap", "unsafe")

Row = dict[str, object]
Found = dict[str, list[Row]]


def _packed(seed: int, n_cases: int) -> tuple[Program, Rows]:
    """Random queries as events of one program, each over streams of its own, with something to find."""
    rng, texts, rows = random.Random(seed), [], {}
    while len(texts) < n_cases:
        case = random_query(rng, rng.choice(SHAPES), worlds=512)
        alone = inkling.parse(case.text)
        if strategies_of(alone.plan)["q"].engine is Engine.SAFE or not _here(alone, case.rows)["q"]:
            continue
        number = len(texts)
        text = re.sub(r"\b([ABC])(?=\(t | x\d)", rf"\g<1>{number}", case.text)
        texts.append(text.replace("EVENT q", f"EVENT q{number}"))
        rows |= {f"{name}{number}": some for name, some in case.rows.items()}
    return inkling.parse("\n".join(texts)), rows


def _in_one_job(results: SparkResults) -> Found:
    """A job for each event would take far longer than the rows do."""
    written = [
        frame.select(F.lit(name).alias("name"), F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row"))
        for name, frame in results.frames.items()
    ]
    found: Found = {name: [] for name in results.frames}
    for row in reduce(DataFrame.unionByName, written).coalesce(2).toArrow().to_pylist():
        found[row["name"]].append(json.loads(row["row"]))
    results.close()
    return found


def _agree(expected: Mapping[str, list[Row]], found: Found) -> None:
    assert expected.keys() == found.keys()
    for name, rows in expected.items():
        one, other = ({repr({**row, "probability": 0, "error": 0}): row for row in some} for some in (rows, found[name]))
        assert len(one) == len(rows), name
        assert len(found[name]) == len(rows), name
        assert one.keys() == other.keys(), name
        for key, row in one.items():
            assert other[key]["probability"] == pytest.approx(row["probability"], abs=1e-12), (name, key)
            assert other[key]["error"] == pytest.approx(row["error"], abs=1e-12), (name, key)


def _here(program: Program, inputs: Mapping[str, object]) -> Found:
    return {name: table.to_pylist() for name, table in program.run_local(inputs).tables.items()}


def test_random_queries(spark: SparkSession) -> None:
    program, rows = _packed(8, 16)
    strategies = strategies_of(program.plan)
    assert strategies.keys() == {event.name for event in program.plan.events}
    engines = Counter((one.engine, bool(one.variables)) for one in strategies.values())
    assert engines[Engine.CHAINS, True] > 3
    assert engines[Engine.CHAINS, False] > 1
    assert engines[Engine.UNIVERSAL, False] > 1
    assert sum(one.is_combined for one in strategies.values()) > 1
    inputs = arrow_streams(program.plan, rows)
    expected = _here(program, inputs)
    assert sum(map(len, expected.values())) > 40
    for partitions in (1, 2, 7):
        _agree(expected, _in_one_job(program.run(spark, inputs, partitions=partitions)))
