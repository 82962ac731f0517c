"""OPTIONAL: an outer join of the matches with the part and those without it, on all runners and in worlds."""

from __future__ import annotations

import random

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle, probable_oracle
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.properties.pushing import pushed, pushes_of

import inkling
from inkling.model.event import Value

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


def random_case(rng: random.Random, time: str = "t BIGINT", ends: str = "t", letters: str = "AAABBBCCCDE") -> Case:
    lines = [f"STREAM {name}(id STRING, k BIGINT, x BIGINT, {time}) ID id KEY k TIME {ends};" for name in "ABCDE"]
    clauses = (
        rng.choice((" WITHIN 6 TICKS", " WITHIN 9 POINTS"))
        + rng.choice(("", " PARTITION BY k"))
        + " OVER (A, B, C, D, E)"
    )
    for name, text in zip(("optional", "present", "without"), outer_join(rng), strict=True):
        lines.append(f"EVENT {name} AS PATTERN {text}{clauses};")
    text = "\n".join(lines)
    rows: Rows = {name: [] for name in "ABCDE"}
    for number in range(18):
        letter = rng.choice(letters)
        moment = rng.randint(1, 18)
        when: dict[str, Value] = {"t": moment}
        if ends == "since TO until":
            when = {"since": moment, "until": moment + rng.choice((0, 0, 1, 3))}
        row = {"id": f"{letter}{number}", "k": rng.randint(0, 1), "x": rng.choice((0, 1, None)), **when}
        rows[letter].append(row)
    return Case(text, bound(text), rows, {})


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
        times = ("since BIGINT, until BIGINT", "FROM since TO until") if number % 3 == 0 else ("t BIGINT", "t")
        case = random_case(rng, *times)
        tables = inkling.parse(case.text).run_local(arrow_streams(case.plan, case.rows)).tables
        wrong = differences(case.plan, case.expected(), {name: table.to_pylist() for name, table in tables.items()})
        assert not wrong, "\n".join([str(case), *wrong])


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for _ in range(15):
        case = random_case(rng)
        found = pushed(rng, inkling.parse(case.text), case, pushes_of(rng, case, 0))
        wrong = differences(case.plan, case.expected(), found)
        assert not wrong, "\n".join([str(case), *wrong])


@pytest.mark.parametrize(
    ("stream", "more"),
    [
        ("id STRING, k BIGINT, x BIGINT, t BIGINT) ID id KEY k TIME t PROBABILITY p", {"p": 0.25}),
        ("id STRING, k BIGINT, x BIGINT, t BIGINT, late BIGINT) ID id KEY k TIME BETWEEN t AND late", {"late": 2}),
    ],
)
def test_worlds_eq_definition(stream: str, more: dict[str, float]) -> None:
    rng = random.Random(8)
    n_uncertain = 0
    for _ in range(12):
        case = random_case(rng)
        certain = "STREAM B(id STRING, k BIGINT, x BIGINT, t BIGINT) ID id KEY k TIME t"
        text = case.text.replace(certain, f"STREAM B({stream}")
        rows = {name: list(some) for name, some in case.rows.items()}
        apart = {(row["k"], row["t"]): row for row in rows["B"]}
        rows["B"] = [
            row | more | ({"late": row["t"] + rng.randint(0, 2)} if "late" in more else {})
            for row in [*apart.values()][:5]
        ]
        plan = bound(text)
        expected = probable_oracle(plan, rows)
        found = found_in(plan, inkling.parse(text).run_local(arrow_streams(plan, rows)).tables)
        wrong = probable_differences(plan, rows, expected, found, tolerance=1e-9)
        assert not wrong, "\n".join([text, str(rows), *wrong])
        n_uncertain += any(0 < one.probability < 1 for one in expected["optional"])
    assert n_uncertain > 3
