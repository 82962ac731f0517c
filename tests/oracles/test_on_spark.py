"""The worked examples give the same results on Spark: one program per kind of stream, one event per example."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.kit.seeds import first_of
from tests.oracles import etalis_cases, language_cases, wayeb_cases
from tests.oracles.etalis_rule_sets import CASES as RULE_SETS
from tests.oracles.ink_case import Together, in_order, together
from tests.oracles.test_etalis_rules import shown
from tests.oracles.test_etalis_rules import together as rule_sets_together
from tests.spark.one_job import results_in_one_job, rows_by_stage

from inkling import parse

FEW = 4
"""Groups of fewer examples say little that the others do not, and each takes a second or two."""
WORD = "abcacbcab"
"""Of the small words one is enough: every event of a program is a job of its own."""

CASES = [
    *etalis_cases.CASES,
    *(case for case in wayeb_cases.CASES if case not in wayeb_cases.SMALL or WORD in case.id),
    *language_cases.CASES,
]
GROUPS = [group for group in together(CASES) if len(group.cases) >= FEW]


@pytest.mark.parametrize("group", first_of(GROUPS, 3), ids=lambda group: group.cases[0].id)
def test_in_one_program(group: Together, spark: SparkSession) -> None:
    found = parse(group.program).run(spark, group.inputs(), group.tables, partitions=2)
    assert group.found_in(results_in_one_job(found)) == group.wanted()


@pytest.mark.long
def test_rule_sets_in_one_program(spark: SparkSession) -> None:
    text, given = rule_sets_together()
    program = parse(text)
    results = program.run(spark, given, partitions=2)
    found = rows_by_stage(results)
    results.close()
    assert {case.id: shown(case, found) for case in RULE_SETS} == {case.id: case.wanted() for case in RULE_SETS}


@pytest.mark.long
def test_cases_with_streams_of_their_own(spark: SparkSession) -> None:
    """Joins and background tables: a stream or two for each case, all in one program."""
    cases = [case for group in together(etalis_cases.CASES) if len(group.cases) < FEW for case in group.cases]
    cases = [case for case in cases if case.id.startswith("O")]
    assert {"O29", "O31", "O40", "O41", "O42", "O43"} <= {case.id for case in cases}
    events = [case.event(f"x{n}", ["w", *case.own_head], ["w", *case.own_keys]) for n, case in enumerate(cases)]
    given = {name: rows for case in cases for name, rows in case.inputs().items()}
    tables = {name: rows for case in cases for name, rows in case.tables.items()}
    program = parse("\n".join([*(case.streams for case in cases), *events]))
    results = program.run(spark, given, tables, partitions=2)
    found = rows_by_stage(results)
    results.close()
    for n, case in enumerate(cases):
        assert in_order(tuple(row[name] for name in case.columns) for row in found[f"x{n}"]) == case.wanted(), case.id
