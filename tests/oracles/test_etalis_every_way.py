"""The cases of the ETALIS thesis by the definition and pushed row by row, and that none of its ids lacks a test."""

from __future__ import annotations

import re

import pytest
from tests.kit.oracle import bound, oracle
from tests.oracles import etalis_cases, etalis_rule_sets, test_etalis_aggregates, test_etalis_ink, test_etalis_policies
from tests.oracles.ink_case import Case, in_order

from inkling import parse

CASES = etalis_cases.CASES
ID = re.compile(r"[FOCA]\d\d")

every_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


@every_case
def test_definition(case: Case) -> None:
    plan = bound(case.program)
    (event,) = plan.events
    names = [output.name for output in (*event.head, *event.returns)]
    found = [
        {
            **dict(zip(names, one.values, strict=True)),
            "start": one.start,
            "end": one.end,
            "lineage": " ".join(map(str, one.lineage)),
        }
        for one in oracle(plan, case.inputs(), case.tables)["x"]
    ]
    assert in_order(tuple(row[name] for name in case.columns) for row in found) == case.wanted()


@every_case
def test_row_by_row(case: Case) -> None:
    """Simultaneous rows in the order of their streams' names; one by one they prove what they prove together."""
    stream = parse(case.program).open(case.tables, unbounded=True)
    rows = [(name, row) for name, some in case.inputs().items() for row in some]
    rows.sort(key=lambda one: (_end(one[1]), one[0]))
    found = [row for name, one in rows for row in stream.push({name: [one]}).tables["x"].to_pylist()]
    found += stream.finish().tables["x"].to_pylist()
    for row in found:
        row["lineage"] = " ".join(map(str, row["lineage"]))
    assert in_order(tuple(row[name] for name in case.columns) for row in found) == case.wanted()


def _end(row: dict[str, object]) -> int:
    end = row["t"] if "t" in row else row["ended"]
    assert isinstance(end, int)
    return end


def listed() -> list[str]:
    """Every id of the thesis's operators, rules, policies and aggregates."""
    ranges = {"F": range(1, 12), "O": range(1, 51), "A": range(1, 9)}
    policies = (*range(1, 6), *range(10, 15), 20, 21, 30, 31)
    return [f"{letter}{n:02d}" for letter, numbers in {**ranges, "C": policies}.items() for n in numbers]


def ids_of_tests() -> set[str]:
    """The ids in the names of tests: those of cases, and those of functions."""
    names = [case.id for case in (*CASES, *etalis_rule_sets.CASES)]
    for module in (test_etalis_ink, test_etalis_policies, test_etalis_aggregates):
        names += [name.upper() for name in vars(module) if name.startswith("test_")]
    return {id for name in names for id in ID.findall(name)}


def test_every_id_has_a_test() -> None:
    assert not set(listed()) - ids_of_tests()
    assert len(listed()) == 83
