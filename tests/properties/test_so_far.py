"""Aggregates over earlier rounds of a repetition: runners agree with the definition, also in worlds."""

from __future__ import annotations

import random

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, probable_oracle
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.kit.seeds import at_length
from tests.properties.pushing import pushed, pushes_of

import inkling
from inkling import Sampling

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, *at_length(range(3, 19))))]
REPEATED = (
    "B b[x > AVG(b.x)]+",
    "B b[x >= MIN(b.x) AND x <= a.x + 1]{2,}",
    "B b[COUNT(b) > 0 OR x > a.x]+",
    "B b[COUNT(b.x) < 2 OR x = LAST(b).x]+",
    "B b[SUM(b.x) < 3]{1,3}",
    "B b[x <> MEDIAN(b.x) OR x > STDDEV(b.x)]+",
    "B b[(x > AVG(b.x) OR x IS NULL) AND COUNT(b) < 3]*",
    "B b[x < MAX(b.x) + COUNT(b)]{1,2}",
)


def pattern(rng: random.Random) -> str:
    policy, repeated = rng.choice(("ANY", "NEXT", "STRICT")), rng.choice(REPEATED)
    eager = " EAGER" if policy == "NEXT" and not repeated.endswith("*") and rng.random() < 0.5 else ""
    rest = rng.choice((", C c", ", C c[x >= LAST(b).x]", ", NOT D, C c", ", C c[x = a.x], D d", ""))
    return f"SEQ {policy}(A a, {repeated}{eager}{rest})"


def random_case(rng: random.Random, time: str = "TIME t") -> Case:
    columns = "id STRING, k BIGINT, x BIGINT" + (", lo BIGINT, hi BIGINT" if "lo" in time else ", t BIGINT")
    lines = [f"STREAM {name}({columns}) ID id KEY k {time};" for name in "ABCD"]
    clauses = rng.choice(("", " WITHIN 9 POINTS")) + rng.choice(("", " PARTITION BY k"))
    lines += [f"EVENT e{n} AS PATTERN {pattern(rng)}{clauses};" for n in range(3)]
    text = "\n".join(lines)
    rows: Rows = {name: [] for name in "ABCD"}
    for number in range(14 if time == "TIME t" else 8):
        begun = number if "PROBABILITY" in time else rng.randint(1, 12 if time == "TIME t" else 8)
        row = {"id": f"e{number}", "k": rng.randint(0, 1), "x": rng.choice((0, 1, 2, 3, None))}
        row |= {"lo": begun, "hi": begun + rng.randint(0, 1)} if "lo" in time else {"t": begun}
        rows[rng.choice("AABBBBCCD")].append(row | ({"p": 0.5} if "PROBABILITY" in time else {}))
    return Case(text, bound(text), rows, {})


@pytest.mark.parametrize("seed", SEEDS)
def test_certain_streams_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_long = 0
    for _ in range(40):
        case = random_case(rng)
        program, expected = inkling.parse(case.text), case.expected()
        tables = program.run_local(arrow_streams(case.plan, case.rows)).tables
        wrong = differences(case.plan, expected, {name: table.to_pylist() for name, table in tables.items()})
        wrong += differences(case.plan, expected, pushed(rng, program, case, pushes_of(rng, case, 0)))
        assert not wrong, "\n".join([str(case), *wrong])
        n_long += sum(len(one.lineage) > 3 for found in expected.values() for one in found)
    assert n_long > 10, "hardly any repetition had a second event"


@pytest.mark.parametrize("time", ["TIME BETWEEN lo AND hi", "TIME t PROBABILITY p"])
@pytest.mark.parametrize("seed", SEEDS)
def test_uncertain_streams_eq_definition(seed: int, time: str) -> None:
    rng = random.Random(seed)
    n_unsure = 0
    for _ in range(25):
        case = random_case(rng, time)
        program, expected = inkling.parse(case.text), probable_oracle(case.plan, case.rows)
        tables = program.run_local(arrow_streams(case.plan, case.rows), sampling=Sampling(exact_up_to=10**6)).tables
        wrong = probable_differences(case.plan, case.rows, expected, found_in(case.plan, tables), tolerance=1e-9)
        assert not wrong, "\n".join([str(case), *wrong])
        n_unsure += sum(one.probability < 1 for found in expected.values() for one in found)
    assert n_unsure > 5
