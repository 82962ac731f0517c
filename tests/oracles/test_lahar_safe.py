"""Safe queries of Lahar in fractions: answers at every time, and the tables of intervals behind them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.context import expression_context
from tests.kit.exact_kernels import uncompiled
from tests.kit.interval_table import interval_table
from tests.oracles.probable_values import CASES, queries_of, streams_of, tables_of

from inkling import parse
from inkling.analysis.query.normal_form import query_of
from inkling.analysis.query.plans import RegPlan, SafePlan, SeqPlan, plan_of
from inkling.analysis.query.query import Query
from inkling.evaluators.query.event import predicates_of
from inkling.evaluators.query.probable_events import ProbableEvents, probable_events_of
from inkling.evaluators.query.safe.plan import COMPILED, Safe
from inkling.io.normalize import START
from inkling.model.batch import Ints
from inkling.model.time import Clock

IN_FRACTIONS = SimpleNamespace(**{name: uncompiled(kernel) for name, kernel in vars(COMPILED).items()})
BY_ID = {case["id"]: case for case in CASES}
SAFE = ["L12", "L13", "L14a", "L14b", "L14c", "L15a", "L15b", "L15c", "L16a", "L16b", "L16c"]


def prepared(case: dict[str, Any], query: str | None = None) -> tuple[Query, SafePlan, ProbableEvents, Ints]:
    """A case with chances as they are written, not as floats."""
    program = parse(queries_of({**case, "query": query or case["query"]}), name="x.lahar").plan
    asked = query_of(program.events[0], program).conclusion
    assert asked is not None
    _, written = streams_of(case)
    rows = {name: [{**row, "p": float(Fraction(str(row["p"])))} for row in some] for name, some in written.items()}
    tables = {name: one.append_column(START, one["t"]) for name, one in arrow_streams(program, rows).items()}
    schemas = {stream.schema.name: stream.schema for stream in program.streams}
    events = probable_events_of(asked, schemas, tables, exact_numbers=True)
    predicates = predicates_of(asked, events, tables, expression_context(program, tables_of(case), Clock.TICKS))
    chances = np.array([one.limit_denominator(1000) for one in events.chance], object)
    plan = plan_of(asked)
    assert isinstance(plan, SafePlan)
    return asked, plan, replace(events, chance=chances), predicates


def intervals(case: dict[str, Any], query: str | None = None) -> dict[tuple[int, int], Fraction]:
    return interval_table(*prepared(case, query), IN_FRACTIONS)


@pytest.mark.parametrize("case", SAFE)
def test_probability_at_every_time(case: str) -> None:
    query, plan, events, predicates = prepared(BY_ID[case])
    safe = Safe(query, plan, kernels=IN_FRACTIONS)
    assert not isinstance(plan, RegPlan)
    _, answers = safe.advance(safe.start(), events, predicates)
    left: dict[int, Fraction] = {}
    for time, chance in zip(answers.time, answers.chance, strict=True):
        left[int(time)] = left.get(int(time), Fraction(1)) * (1 - chance)
    found = [1 - left.get(time, Fraction(1)) for time in range(1, BY_ID[case]["T"] + 1)]
    assert found == [Fraction(one) for one in BY_ID[case]["expect"]]


def of_key(case: dict[str, Any], key: str) -> dict[str, Any]:
    kept = [one for one in case["streams"] if one["key"] == [key] or one["type"] == "T"]
    return {**case, "streams": kept}


BEFORE = {
    "c1": "1/4 1/2 1/2 | 1/4 1/2 1/2 | 5/16 5/16",
    "c2": "2/9 2/9 2/9 | 2/9 2/9 2/9 | 0 0",
    "both": "5/12 11/18 11/18 | 5/12 11/18 11/18 | 5/16 5/16",
}
"""The first two parts of L12: ends 2 to 4 for the starts 1, 2, and ends 3, 4 for the start 3; nothing else."""


@pytest.mark.parametrize("key", BEFORE)
def test_chances_of_the_parts_before(key: str) -> None:
    case = BY_ID["L12"] if key == "both" else of_key(BY_ID["L12"], key)
    query, plan, events, predicates = prepared(case)
    assert isinstance(plan, SeqPlan)
    found = interval_table(query, plan.child, events, predicates, IN_FRACTIONS)
    places = [(1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4)]
    wanted = dict(zip(places, map(Fraction, BEFORE[key].replace("|", "").split()), strict=True))
    assert found == {place: wanted.get(place, 0) for place in found}
    assert set(found) == {(start, end) for end in range(1, 5) for start in range(1, end + 1)}


def test_chances_of_the_whole() -> None:
    found = intervals(BY_ID["L12"])
    wanted = dict.fromkeys(((1, 3), (2, 3), (3, 3)), Fraction(5, 24))
    wanted |= dict.fromkeys(((1, 4), (2, 4), (3, 4)), Fraction(49, 96))
    wanted[4, 4] = Fraction(133, 384)
    assert found == {place: wanted.get(place, 0) for place in found}
    assert len(found) == 10


def test_an_event_does_not_follow_a_simultaneous_one() -> None:
    found = intervals(BY_ID["L12"])
    assert [found[time, time] for time in (1, 2, 3)] == [0, 0, Fraction(5, 24)]  # not 0, 5/48, 11/36
