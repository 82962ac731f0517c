"""Random relations between segments: the local runner gives exactly what the definition gives, however rows come."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.kit.arrival import arrivals
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle
from tests.kit.segments import SegmentsCase, segments_cases

import inkling

SEEDS = range(4)
CASES_PER_SEED = 100

Found = dict[str, list[dict[str, object]]]


def in_one_go(case: SegmentsCase) -> Found:
    plan = bound(case.text)
    results = inkling.parse(case.text).run_local(arrow_streams(plan, case.rows))
    return {name: table.to_pylist() for name, table in results.tables.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_segments_eq_definition(seed: int) -> None:
    n_results: Counter[str] = Counter()
    for case in segments_cases(seed, CASES_PER_SEED):
        plan = bound(case.text)
        expected = oracle(plan, case.rows)
        n_results.update({name: len(some) for name, some in expected.items()})
        wrong = differences(plan, expected, in_one_go(case))
        assert not wrong, "\n".join([str(case), *wrong])
    assert min(n_results.values()) > CASES_PER_SEED // 2


def test_segments_pushed_piece_by_piece_eq_definition() -> None:
    rng = random.Random(7)
    n_results = 0
    for case in segments_cases(77, 60):
        plan = bound(case.text)
        given = arrow_streams(plan, case.rows)
        pieces = arrivals(rng, plan, given, 3, lateness=0)
        stream = inkling.parse(case.text).open(unbounded=True)
        pushed: Found = {name: [] for name in given}
        found: Found = {event.name: [] for event in plan.events}
        for number in range(3):
            push = {name: parts[number] for name, parts in pieces.items()}
            for name, part in push.items():
                pushed[name] += part.to_pylist()
            early = stream.push(push)
            assert not any(len(table) for table in early.tables.values())
        for name, table in stream.finish().tables.items():
            found[name] += table.to_pylist()
        expected = oracle(plan, pushed)
        n_results += sum(map(len, expected.values()))
        wrong = differences(plan, expected, found)
        assert not wrong, "\n".join([str(case), *wrong])
    assert n_results > 60
