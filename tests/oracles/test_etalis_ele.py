"""Rule files give the events of the ETALIS thesis, by the ids of its tables.

O36 is not among them: its rule is printed only in part. O45 and O46 are formulas without events.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kit.oracle import oracle
from tests.oracles.ele_case import RuleCase, in_order, plain
from tests.oracles.etalis_rules import JOINS, KNOWLEDGE, OPERATORS, POLICIES, RECURSION, TRANSFORMATION, WINDOWS

from inkling.language import format_program
from inkling.language import parse as parse_text

CASES = [*OPERATORS, *JOINS, *TRANSFORMATION, *KNOWLEDGE, *RECURSION, *POLICIES, *WINDOWS]
BY_ID = [pytest.param(case, id=case.id) for case in CASES]


@pytest.mark.parametrize("case", BY_ID)
def test_by_definition(case: RuleCase) -> None:
    results = oracle(case.program.plan, case.inputs())
    found = {
        name: in_order((*map(plain, result.values), result.start, result.end) for result in results[name])
        for name in case.expected
    }
    assert found == case.wanted()


@pytest.mark.parametrize("case", BY_ID)
def test_in_one_run(case: RuleCase) -> None:
    assert case.found([case.program.run_local(case.inputs()).tables]) == case.wanted()


@pytest.mark.parametrize("case", BY_ID)
def test_pushed_one_by_one(case: RuleCase) -> None:
    stream = case.program.open(unbounded=True)
    rows = sorted(_timed(case), key=lambda row: row[0])
    found = [stream.push({name: [row]}).tables for _, name, row in rows]
    assert case.found([*found, stream.finish().tables]) == case.wanted()


def _timed(case: RuleCase) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Rows with the time at which they are complete."""
    for name, rows in case.inputs().items():
        for row in rows:
            end = row["end"] if "end" in row else row["t"]
            assert isinstance(end, int)
            yield end, name, row


@pytest.mark.parametrize("case", BY_ID)
def test_as_a_program(case: RuleCase) -> None:
    tree = case.program.syntax
    assert parse_text(format_program(tree), f"{case.id}.ink") == tree
