"""MAXIMAL: of the matches with the same other events, those with the longest lists, on all runners and in worlds."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import oracle
from tests.kit.programs import Case
from tests.properties.lettered import ALL_OF_THEM, check_in_worlds, check_local, check_pushed, lettered_case

REPEATED = (
    "B b+", "B b+", "B b*", "B b{1,2}", "B b{2,}", "B b[x >= LAST(b).x]+", "B | D b+", "(SEQ(B b, D d))+",
    "(B b OR D d)+", "B b[x = a.x]+",
)  # fmt: skip
"""What is repeated; no other part of a pattern takes events of B and D."""


def pattern(rng: random.Random) -> str:
    repeated = f"{rng.choice(REPEATED)} MAXIMAL"
    others = rng.choice((["A a"], ["A a", "C c"], ["A a", "C c[x >= a.x]"], ["A a", "NOT E", "C c"], ["A a", "C c?"]))
    place = rng.randint(0, len(others)) if "a.x" not in repeated else rng.randint(1, len(others))
    parts = [*others[:place], repeated, *others[place:]]
    if rng.random() < 0.15 and "a.x" not in repeated:
        return " AND ".join(one for one in parts if one != "NOT E")
    whole = f"SEQ {rng.choice(('ANY', 'NEXT', 'NEXT', 'STRICT'))}({', '.join(parts)})"
    return rng.choice((whole, whole, f"({whole} WITHIN 5 TICKS)", f"SEQ({whole}, E e)"))


def random_case(rng: random.Random, *, lasting: bool = False, plainly: bool = False) -> Case:
    text = pattern(rng)
    clauses = rng.choice((" WITHIN 6 TICKS", " WITHIN 9 POINTS"))
    clauses += rng.choice(("", "", " HAVING COUNT(b) <= 2")) + rng.choice(("", " PARTITION BY k"))
    if not plainly:
        clauses += rng.choice(("", "", " KEEP FOR 9 TICKS", " CONSUME RESTART"))
        clauses += rng.choice(("", "", " PER END", " PER INTERVAL"))
    events = [
        f"EVENT {name} AS PATTERN {one}{clauses} {ALL_OF_THEM};"
        for name, one in (("maximal", text), ("every", text.replace(" MAXIMAL", "")))
    ]
    return lettered_case(rng, events, "AAABBBBBCCDE", lasting=lasting)


@pytest.mark.parametrize("seed", range(3))
def test_the_definition_keeps_the_longest_lists(seed: int) -> None:
    rng = random.Random(seed)
    n_found = n_dropped = 0
    for _ in range(40):
        case = random_case(rng, plainly=True)
        found = {name: {one.lineage for one in some} for name, some in oracle(case.plan, case.rows).items()}

        def divided(match: tuple[object, ...]) -> tuple[frozenset[object], tuple[object, ...]]:
            inside = frozenset(one for one in match if str(one)[0] in "BD")
            return inside, tuple(one for one in match if one not in inside)

        lists = {match: divided(match) for match in found["every"]}
        longer = {
            match
            for match, (inside, others) in lists.items()
            if not any(inside < more and others == same for more, same in lists.values())
        }
        assert found["maximal"] == longer, str(case)
        n_found += len(longer)
        n_dropped += len(found["every"]) - len(longer)
    assert n_found > 25
    assert n_dropped > 25


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    for number in range(30):
        check_local(random_case(rng, lasting=number % 3 == 0))


@pytest.mark.parametrize("seed", range(2))
def test_streams_eq_definition(seed: int) -> None:
    rng = random.Random(seed + 5)
    for _ in range(20):
        check_pushed(rng, random_case(rng))


@pytest.mark.parametrize("kind", ["probable", "imprecise"])
def test_worlds_eq_definition(kind: str) -> None:
    rng = random.Random(8)
    assert sum(check_in_worlds(rng, random_case(rng, plainly=True), kind) for _ in range(12)) > 3
