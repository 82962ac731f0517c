"""Equalities that the partition key answers: what is still compared, and null, which is a key but equals nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.oracle import bound, oracle

import inkling
from inkling.physical.planner import plan_program

STREAM = "STREAM A(id BIGINT, t BIGINT, k STRING, n BIGINT, v DOUBLE) ID id TIME t;"
PATTERNS = {
    "SEQ(A a, A b[k = a.k])": (1, 0),
    "SEQ(A a, A b[k = a.k AND n > a.n])": (1, 1),
    "(A a AND A b[k = a.k] AND A c[k = b.k])": (2, 0),
    "SEQ(A a, NOT A b[k = a.k AND n > a.n], A c[k = a.k])": (2, 1),
    "SEQ NEXT(A a, A b[n = a.n])": (1, 0),
    "SEQ(A a, A b[v = a.v])": (0, 1),
    "SEQ(A a, A b[k = a.k]?, A c[k = a.k])": (0, 2),
    "SEQ(A a, A b[k = a.k]{2})": (0, 1),
    "SEQ(A a, A b[k = a.k AND n = a.n])": (1, 1),
}
"""How many conditions the key answers, and how many are compared."""


def _program(pattern: str) -> str:
    return f"{STREAM}\nEVENT found AS PATTERN {pattern} PER MATCH;"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_condition_on_the_key_is_not_compared(pattern: str) -> None:
    (step,) = plan_program(bound(_program(pattern))).stages[0].steps
    counts = sum(len(leaf.by_key) for leaf in step.leaves), sum(len(leaf.across) for leaf in step.leaves)
    assert counts == PATTERNS[pattern]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_null_is_a_key_but_equals_nothing(pattern: str) -> None:
    rng, text = np.random.default_rng(3), _program(pattern)
    for _ in range(3):
        rows = [
            {
                "id": number,
                "t": int(time),
                "k": rng.choice(["x", "y", None]),
                "n": int(rng.integers(0, 3)) if rng.random() < 0.7 else None,
                "v": float(rng.integers(0, 2)) if rng.random() < 0.7 else None,
            }
            for number, time in enumerate(np.sort(rng.integers(0, 20, 14)))
        ]
        expected = oracle(bound(text), {"A": rows})["found"]
        found = inkling.parse(text).run_local({"A": rows}).tables["found"].to_pylist()
        assert sorted(tuple(one["lineage"]) for one in found) == sorted(tuple(one.lineage) for one in expected)
        assert expected
