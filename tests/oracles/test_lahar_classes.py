"""The class of small queries, and the operators that answer them or what stands in the way."""

from __future__ import annotations

import pytest
from tests.oracles.lahar_classes import ROWS, Row

from inkling import parse
from inkling.analysis.query.normal_form import query_of
from inkling.analysis.query.plans import (
    GroupSeqPlan,
    LastWinsPlan,
    NoSafePlan,
    ProjectPlan,
    RegPlan,
    SafePlan,
    SeqPlan,
    class_of,
    plan_of,
)
from inkling.analysis.query.query import Query

NAMES = {ProjectPlan: "PROJ", SeqPlan: "SEQ", LastWinsPlan: "COVER", GroupSeqPlan: "GROUPSEQ"}


def query(row: Row) -> Query:
    program = parse(row.queries, name="x.lahar").plan
    found = query_of(program.events[0], program).conclusion
    assert found is not None
    return found


def shape(plan: SafePlan) -> str:
    return "REG" if isinstance(plan, RegPlan) else f"{NAMES[type(plan)]} {shape(plan.child)}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_class(row: Row) -> None:
    assert class_of(query(row)).kind.value == (row.normal or row.printed)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_plan(row: Row) -> None:
    plan = plan_of(query(row))
    if isinstance(plan, NoSafePlan):
        distinguished = " ".join("PROJ" for _ in plan.env)
        assert (distinguished, plan.obstacle.name) == (row.plan, row.obstacle)
    else:
        assert (shape(plan), None) == (row.plan, row.obstacle)
