"""Rule sets give the events of the ETALIS thesis: by the definition, at once, and pushed row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from tests.kit.oracle import bound, oracle
from tests.kit.rows import Rows
from tests.oracles.etalis_rule_sets import CASES, STREAMS, RuleSetCase

from inkling import parse

HIDDEN = {"event", "w", "detected_at", "probability", "method", "error", "op", "lineage"}

Found = dict[str, list[tuple[object, ...]]]

every_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


def shown(case: RuleSetCase, results: Mapping[str, Iterable[Mapping[str, object]]]) -> Found:
    """The results of a case among those of all: values of the head, start and end."""
    return {
        name: sorted(
            (
                tuple(value for column, value in row.items() if column not in HIDDEN)
                for row in results[name]
                if row["w"] == case.id
            ),
            key=repr,
        )
        for name in case.expected
    }


@every_case
def test_definition(case: RuleSetCase) -> None:
    plan = bound(case.program)
    outputs = {event.name: [output.name for output in event.head] for event in plan.events}
    results = {
        name: [
            {**dict(zip(outputs[name], one.values, strict=True)), "start": one.start, "end": one.end} for one in some
        ]
        for name, some in oracle(plan, case.inputs()).items()
    }
    assert shown(case, results) == case.wanted()


@every_case
def test_at_once(case: RuleSetCase) -> None:
    results = parse(case.program).run_local(case.inputs())
    assert shown(case, {name: table.to_pylist() for name, table in results.tables.items()}) == case.wanted()


@every_case
def test_row_by_row(case: RuleSetCase) -> None:
    program = parse(case.program)
    stream = program.open(unbounded=True)
    results: dict[str, list[dict[str, object]]] = {event.name: [] for event in program.plan.events}
    rows = [(name, row) for name, some in case.inputs().items() for row in some]
    for name, row in sorted(rows, key=lambda one: (one[1].get("t") or one[1].get("ended") or 0, one[0])):
        for event, table in stream.push({name: [row]}).tables.items():
            results[event] += table.to_pylist()
    for event, table in stream.finish().tables.items():
        results[event] += table.to_pylist()
    assert shown(case, results) == case.wanted()


def together() -> tuple[str, Rows]:
    """All cases as one program over all of their rows."""
    given: Rows = {}
    for case in CASES:
        for name, some in case.inputs().items():
            given.setdefault(name, []).extend(some)
    return "\n".join([STREAMS, *(case.events for case in CASES)]), given


def test_in_one_program() -> None:
    program, given = together()
    tables = parse(program).run_local(given).tables
    results = {name: table.to_pylist() for name, table in tables.items()}
    assert {case.id: shown(case, results) for case in CASES} == {case.id: case.wanted() for case in CASES}
