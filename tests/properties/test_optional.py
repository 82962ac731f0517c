"""OPTIONAL: an outer join of the matches with the part and those without it, on all runners and in worlds."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import oracle
from tests.kit.programs import Case
from tests.properties.lettered import ALL_OF_THEM, check_in_worlds, check_local, check_pushed, lettered_case

PARTS = ("B b", "B b", "B b[x = a.x]", "B | D b", "B b+", "(SEQ(B b, D d))", "(B b OR D d)", "(B b AND D d)")
"""What may be optional; no other part of a sequence takes events of B and D."""


def outer_join(rng: random.Random) -> tuple[str, str, str]:
    """A sequence with an optional part, the sequence where it must be there, and the one without it."""
    part = rng.choice(PARTS)
    others = rng.choice((["A a"], ["A a", "C c"], ["A a", "C c[x >= a.x]"], ["A a", "NOT E", "C c"]))
    place = rng.randint(0, len(others)) if "a.x" not in part else rng.randint(1, len(others))
    policy = "ANY" if place in (0, len(others)) else rng.choice(("ANY", "ANY", "NEXT", "STRICT"))
    texts = [
        f"SEQ {policy}({', '.join([*others[:place], *between, *others[place:]])})"
        for between in ([f"OPTIONAL {part}"], [part], [])
    ]
    return texts[0], texts[1], texts[2]


def random_case(rng: random.Random, *, lasting: bool = False) -> Case:
    clauses = rng.choice((" WITHIN 6 TICKS", " WITHIN 9 POINTS")) + rng.choice(("", " PARTITION BY k"))
    patterns = zip(("optional", "present", "without"), outer_join(rng), strict=True)
    events = [f"EVENT {name} AS PATTERN {text}{clauses} {ALL_OF_THEM};" for name, text in patterns]
    return lettered_case(rng, events, "AAABBBCCCDE", lasting=lasting)


@pytest.mark.parametrize("seed", range(3))
def test_the_definition_is_an_outer_join(seed: int) -> None:
    rng = random.Random(seed)
    n_with = n_without = 0
    for _ in range(40):
        case = random_case(rng)
        found = {name: {one.lineage for one in some} for name, some in oracle(case.plan, case.rows).items()}
        extended = {tuple(one for one in match if str(one)[0] in "AC") for match in found["present"]}
        assert found["optional"] == found["present"] | (found["without"] - extended), str(case)
        n_with += len(found["present"])
        n_without += len(found["without"] - extended)
    assert n_with > 25
    assert n_without > 25


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    for number in range(30):
        check_local(random_case(rng, lasting=number % 3 == 0))


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for _ in range(15):
        check_pushed(rng, random_case(rng))


@pytest.mark.parametrize("kind", ["probable", "imprecise"])
def test_worlds_eq_definition(kind: str) -> None:
    rng = random.Random(8)
    assert sum(check_in_worlds(rng, random_case(rng), kind) for _ in range(20)) > 3
