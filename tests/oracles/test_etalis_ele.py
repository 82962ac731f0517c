"""Rule files give the events of the ETALIS thesis, by the ids of its tables."""

from __future__ import annotations

import pytest
from tests.oracles.ele_case import RuleCase
from tests.oracles.etalis_rules import JOINS, KNOWLEDGE, OPERATORS, POLICIES, RECURSION

from inkling.language import format_program
from inkling.language import parse as parse_text

CASES = [*OPERATORS, *JOINS, *KNOWLEDGE, *RECURSION, *POLICIES]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_alone(case: RuleCase) -> None:
    assert case.found(case.program.run_local(case.inputs()).tables) == case.wanted()


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_as_ink(case: RuleCase) -> None:
    tree = case.program.syntax
    assert parse_text(format_program(tree), f"{case.id}.ink") == tree
