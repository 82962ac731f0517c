"""The definition gives the matches and confidences of patterns over imprecise times, in exact fractions.

Each line of `imprecise_times.jsonl` lists all results of one pattern: ids, range of times, confidence.
A repetition under NEXT is one that takes the earliest of one more and the next part: `EAGER`.
"""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle, probable_oracle
from tests.kit.plans import column, compare, event, leaf, plus, program
from tests.oracles.imprecise_times import CASES, CERTAIN, expected, imprecise, rows_of

from inkling.logical import plan as p
from inkling.meaning.worlds import joint_worlds
from inkling.model.types import Type


def part(slot: int, text: str, policy: p.Policy) -> p.Part:
    """`!B` is absent, `B+` repeated, `B|Z` either, `B@k` has the `k` of the first event."""
    name, _, joined = text.strip("!+").partition("@")
    same_key = (compare(column(slot, "k", Type.INTEGER), "=", column(0, "k", Type.INTEGER)),)
    one = leaf(slot, *name.split("|"), conditions=same_key if joined else ())
    if text.startswith("!"):
        return p.Absent(one)
    return plus(one, eager=policy is p.Policy.NEXT) if text.endswith("+") else one


def plan_of(case: dict, names: list[str]) -> p.ProgramPlan:
    within, policy = p.Points(case["points"]), p.Policy[case["policy"]]
    parts = tuple(part(slot, text, policy) for slot, text in enumerate(case["pattern"]))
    pattern = p.Sequence(policy, parts, within)
    return program(tuple(imprecise(name) for name in names), event("x", pattern, within=within, over=tuple(names)))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_confidence(case: dict) -> None:
    rows = rows_of(case)
    plan = plan_of(case, sorted(rows))
    worlds = list(joint_worlds(rows, (stream.schema for stream in plan.streams)))
    assert len(worlds) == case["worlds"]
    assert sum(prob for prob, _ in worlds) == 1
    found = {one.lineage: (one.start, one.end, one.probability) for one in probable_oracle(plan, rows)["x"]}
    assert found == expected(case)


@pytest.mark.parametrize("case", CERTAIN, ids=[case["id"] for case in CERTAIN])
def test_intervals_of_one_tick_are_certain_streams(case: dict) -> None:
    rows = rows_of(case)
    results = oracle(plan_of(case, sorted(rows)), rows)["x"]
    assert {one.lineage: (one.start, one.end, 1) for one in results} == expected(case)
