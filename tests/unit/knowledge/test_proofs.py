"""Each fact of a rule has a derivation, step by step from rows of tables."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.knowledge.test_materialize import links

import inkling
from inkling.knowledge.materialize import known
from inkling.knowledge.proofs import DEEPEST, Fact, Proofs
from inkling.model.event import Value
from inkling.model.time import Clock, TimeUnit

TICKS = TimeUnit(Clock.TICKS)
REACH = """STREAM S(a INTEGER, b INTEGER) TIME t;
TABLE link(a INTEGER, b INTEGER) FROM 'link.csv';
-- one link
RULE reach(a, b) IF link(a, b);
-- through a middle
RULE reach(a, c) IF reach(a, b) AND reach(b, c);
EVENT there AS PATTERN S p WHERE reach(p.a, p.b);
"""


def proofs(text: str, *pairs: tuple[int, int]) -> Proofs:
    plan = inkling.parse(text).plan
    return Proofs(plan, known(plan, {"link": links(*pairs)}, TICKS), TICKS)


def outline(fact: Fact) -> object:
    values = (fact.table, *fact.values.values())
    return (values, [outline(one) for one in fact.parts]) if fact.parts else values


def is_path(fact: Fact, pairs: set[tuple[Value, ...]]) -> bool:
    """Whether the leaves of a derivation are links that form a path from its first to its second value."""
    if fact.table == "link":
        return tuple(fact.values.values()) in pairs
    if fact.note == "one link":
        return is_path(fact.parts[0], pairs)
    (a, c), (left, right) = fact.values.values(), fact.parts
    (one, middle), (same, last) = left.values.values(), right.values.values()
    assert fact.note == "through a middle"
    return (a, middle, c) == (one, same, last) and is_path(left, pairs) and is_path(right, pairs)


@pytest.mark.parametrize("seed", range(3))
def test_derivations_are_paths_in_cyclic_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 6, (9, 2))}
    found = proofs(REACH, *pairs)
    rows = found.facts["reach"].to_pylist()
    assert len(rows) >= len(pairs)
    assert all(is_path(found.of("reach", row), pairs) for row in rows)


def test_a_copy_of_a_table_is_its_row() -> None:
    text = REACH.replace("-- one link\n", "")
    assert outline(proofs(text, (1, 2), (2, 3)).of("reach", {"a": 1, "c": 3})) == (
        ("reach", 1, 3),
        [("link", 1, 2), ("link", 2, 3)],
    )


def test_computed_values_wildcards_and_nulls() -> None:
    text = """STREAM S(a INTEGER) TIME t;
    TABLE link(a INTEGER, b INTEGER) FROM 'link.csv';
    RULE far(a, n, NULL) IF link(a, _) AND n = a * 2 AND NOT link(n, a);
    RULE near(2.5, n) IF far(_, n, _);
    RULE near(a, a) IF link(a, 7);
    EVENT e AS PATTERN S p WHERE near(p.a, 2);"""
    found = proofs(text, (1, 5), (3, 7))
    (wide, narrow) = sorted(found.facts["near"].to_pylist(), key=lambda row: -row["n"])[:2]
    assert outline(found.of("near", wide)) == (("near", 2.5, 6), [(("far", 3, 6, None), [("link", 3, 7)])])
    assert outline(found.of("near", narrow)) == (("near", 3.0, 3), [("link", 3, 7)])


def test_long_derivations_are_cut() -> None:
    text = REACH.replace("reach(a, b) AND reach(b, c)", "reach(a, b) AND link(b, c)")
    fact = proofs(text, *((n, n + 1) for n in range(30))).of("reach", {"a": 0, "b": 30})
    depth = 0
    while fact.parts:
        fact, depth = fact.parts[0], depth + 1
    assert depth == DEEPEST
    assert fact.table == "reach"
