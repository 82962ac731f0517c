"""The worked examples give the same results on Spark: one program per kind of stream, one event per example."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.oracles import etalis_cases, language_cases, wayeb_cases
from tests.oracles.etalis_rule_sets import CASES as RULE_SETS
from tests.oracles.ink_case import Together, together
from tests.oracles.test_etalis_rules import shown
from tests.oracles.test_etalis_rules import together as rule_sets_together

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


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.cases[0].id)
def test_in_one_program(group: Together, spark: SparkSession) -> None:
    found = parse(group.program).run(spark, group.inputs(), group.tables, partitions=2)
    assert group.found(found.collect()) == group.wanted()
    found.close()


def test_rule_sets_in_one_program(spark: SparkSession) -> None:
    program, given = rule_sets_together()
    results = parse(program).run(spark, given, partitions=2)
    frames = {name: results.frames[name].toArrow().to_pylist() for case in RULE_SETS for name in case.expected}
    results.close()
    assert {case.id: shown(case, frames) for case in RULE_SETS} == {case.id: case.wanted() for case in RULE_SETS}
