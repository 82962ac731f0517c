"""The cases of the fleet paper by the definition and pushed row by row, and that none of its ids lacks a test."""

from __future__ import annotations

import re

import pytest
from tests.kit.oracle import bound, oracle
from tests.kit.rows import word
from tests.oracles import test_wayeb_definition, test_wayeb_ink
from tests.oracles import wayeb_numbers as numbers
from tests.oracles.ink_case import Case, Found, in_order
from tests.oracles.wayeb_cases import CASES, LETTERS, MATCHED_PATTERNS
from tests.unit.automata import test_alphabet

from inkling import parse

ID = re.compile(r"O\d+")
ENUMERATED = [
    Case(
        f"O9 {name}",
        LETTERS,
        f"{MATCHED_PATTERNS[name]} WITHIN {numbers.DEMO_MATCHES[name][0]} EVENTS",
        word(numbers.DEMO),
        [],
        ("start", "end", "lineage"),
    )
    for name in numbers.DEMO_MATCHES
]

every_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


def by_definition(case: Case) -> Found:
    plan = bound(case.program)
    found = [
        {"start": one.start, "end": one.end, "lineage": " ".join(map(str, one.lineage))}
        for one in oracle(plan, case.inputs(), case.tables)["x"]
    ]
    return in_order(tuple(row[name] for name in case.columns) for row in found)


def row_by_row(case: Case) -> Found:
    stream = parse(case.program).open(case.tables, unbounded=True)
    found = [row for one in case.inputs()["V"] for row in stream.push({"V": [one]}).tables["x"].to_pylist()]
    found += stream.finish().tables["x"].to_pylist()
    for row in found:
        row["lineage"] = " ".join(map(str, row["lineage"]))
    return in_order(tuple(row[name] for name in case.columns) for row in found)


@every_case
def test_definition(case: Case) -> None:
    assert by_definition(case) == case.wanted()


@every_case
def test_row_by_row(case: Case) -> None:
    assert row_by_row(case) == case.wanted()


@pytest.mark.parametrize("case", ENUMERATED, ids=[case.id for case in ENUMERATED])
def test_O9_every_match_row_by_row(case: Case) -> None:
    """As many matches as the paper's engine lists, and the same ones as by the definition."""
    found = row_by_row(case)
    assert len(found) == numbers.DEMO_MATCHES[case.id.removeprefix("O9 ")][1]
    assert found == by_definition(case)


def test_every_id_has_a_test() -> None:
    """O13 needs a file of one vessel's positions that is not ours to ship."""
    names = [case.id for case in CASES]
    for module in (test_wayeb_ink, test_wayeb_definition, test_alphabet):
        names += [name for name in vars(module) if name.startswith("test_")]
    wanted = {f"O{number}" for number in range(1, 13)}
    assert wanted <= {id for name in names for id in ID.findall(name)}
