"""Random rule sets on Spark: exactly what the definition gives, whatever the number of partitions.

Many rule sets share a program and many small streams share its data as keys, so that one job checks hundreds of cases.
"""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.many_rules import many_rules
from tests.kit.oracle import oracle
from tests.kit.programs import Options
from tests.kit.rulesets import seeded_rule_sets
from tests.kit.seeds import for_long
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.spark.one_job import results_in_one_job, rows_by_stage

import inkling

RULE_SETS_IN_CI = 24
RULE_SETS_AT_LENGTH = 84
SEEDS = for_long(range(61))
DATASETS = 2
WORLDS = {
    "points": [Declared(name, Kind.POINTS, True, "seq", derive) for name, derive in (("A", ""), ("B", "x - PREV(x)"))],
    "intervals": [Declared(name, Kind.INTERVALS, True, "seq", "") for name in "LM"],
    "mixed": [
        Declared("V", Kind.ORDERED, True, "seq", "SINCE_CHANGE(s)"),
        Declared("A", Kind.POINTS, True, "seq", ""),
        Declared("L", Kind.INTERVALS, True, "seq", ""),
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_rules_on_spark_eq_definition(seed: int, spark: SparkSession) -> None:
    world, n_rule_sets = sorted(WORLDS)[(seed - 1) % 3], RULE_SETS_AT_LENGTH if seed else RULE_SETS_IN_CI
    rng = random.Random(f"rule sets over {world}: {seed}")
    streams = WORLDS[world]
    many = many_rules(rng, streams, n_rule_sets)
    program = many.program
    rows = many.rows(pack([random_rows(rng, streams, n_events=4, bad_rows=False) for _ in range(DATASETS)]))
    tables = random_tables(rng)
    expected = oracle(program.plan, rows, tables)
    assert sum(map(bool, expected.values())) > n_rule_sets // 2
    given = arrow_streams(program.plan, rows), arrow_tables(program.plan, tables)
    results = program.run(spark, *given, partitions=1 if seed % 4 else 2)
    same_results(program.plan, expected, rows_by_stage(results))
    results.close()


def test_the_number_of_rule_sets_is_what_it_says() -> None:
    assert 60 * RULE_SETS_AT_LENGTH >= 5000  # seeds 1 to 60 of `make test-long`


def test_across_keys(spark: SparkSession) -> None:
    """Rule sets that no key divides, and one that extends its stream."""
    options = Options(partitioned=False, bad_rows=False)
    for case in (*seeded_rule_sets(5, 3, options), *seeded_rule_sets(5, 1, options, extending=True)):
        expected = case.expected()
        given = arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)
        program = inkling.parse(case.text)
        same_results(case.plan, expected, results_in_one_job(program.run(spark, *given, partitions=3)))
