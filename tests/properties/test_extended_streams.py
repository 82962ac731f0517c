"""Events named like a stream, on random rows: patterns find rows and derived events, as the definition says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle, probable_oracle
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.kit.seeds import at_length
from tests.properties.pushing import as_arrived, pushed, pushes_of

import inkling

CASES_PER_SEED = 40
UNCERTAIN_PER_SEED = 25
ARRIVALS = 2

CERTAIN = "STREAM S(k STRING, v BIGINT, t BIGINT) KEY k TIME t;\nSTREAM T(k STRING, v BIGINT, t BIGINT) KEY k TIME t;\n"
UNCERTAIN = {
    "probable": CERTAIN.replace("S(", "S(id STRING, ", 1).replace(
        "KEY k TIME t;", "ID id KEY k TIME t PROBABILITY p;", 1
    ),
    "imprecise": CERTAIN.replace(
        "S(k STRING, v BIGINT, t BIGINT) KEY k TIME t;",
        "S(id STRING, k STRING, v BIGINT, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;",
    ),
}
EXTENSIONS = (
    "EVENT S(k, s.v + 1 AS v) AS PATTERN S s[v < 3] PARTITION BY k PER INTERVAL;",
    "EVENT S(k, b.v AS v) AS PATTERN SEQ(S a, S b) WHERE b.v > a.v WITHIN 3 TICKS PARTITION BY k PER INTERVAL;",
    "EVENT S(k, 0 AS v) AS PATTERN SEQ(T a, T b) WITHIN 4 TICKS PARTITION BY k;",
    "EVENT S(k, t.v AS v) AS PATTERN T t[v > 0] PARTITION BY k;\n"
    "EVENT S(k, t.v - 1 AS v) AS PATTERN T t PARTITION BY k;",
    "EVENT S(k, t.v AS v) AS PATTERN T t PARTITION BY k PER INTERVAL;\n"
    "EVENT S(k, a.v + 1 AS v) AS PATTERN SEQ(S a, S b) WHERE a.v = b.v WITHIN 4 TICKS PARTITION BY k PER INTERVAL;",
)  # fmt: skip
READERS = (
    "EVENT r0(k, s.v AS v) AS PATTERN S s[v > 0] PARTITION BY k PER INTERVAL;",
    "EVENT r1(k, a.v AS x, b.v AS y) AS PATTERN SEQ(S a, S b) WITHIN 4 TICKS PARTITION BY k PER INTERVAL;",
    "EVENT r2(k, b.v AS y) AS PATTERN SEQ NEXT(T a, S b[v <> a.v]) WITHIN 6 TICKS PARTITION BY k PER INTERVAL;",
    "EVENT r3(k) AS PATTERN SEQ(T a, NOT S, T b) WITHIN 6 TICKS PARTITION BY k PER INTERVAL;",
    "EVENT r4(k) AS PATTERN S_derived d PARTITION BY k PER END;",
    "EVENT r5(k) AS PATTERN SEQ(T a, S b+) WITHIN 4 TICKS HAVING SUM(b.v) > 2 PARTITION BY k PER INTERVAL;",
)
WINDOW = "EVENT r6(k, SUM(w.v) AS v) AS PATTERN WINDOW S w LAST 3 TICKS PARTITION BY k;"


def _rows(rng: random.Random) -> list[dict[str, object]]:
    return [
        {"k": rng.choice("ab"), "v": rng.randrange(4), "t": rng.randrange(10)} for _ in range(rng.choice((2, 4, 6)))
    ]


def _program(rng: random.Random, streams: str, readers: tuple[str, ...]) -> str:
    return "\n".join([streams, rng.choice(EXTENSIONS), *rng.sample(readers, 3)])


def _cases(seed: int) -> Iterator[Case]:
    rng = random.Random(seed)
    for _ in range(CASES_PER_SEED):
        text = _program(rng, CERTAIN, (*READERS, WINDOW))
        yield Case(text, bound(text), {"S": _rows(rng), "T": _rows(rng)}, {})


@pytest.mark.parametrize("seed", [0, *at_length(range(1, 9))])
def test_in_batch_eq_definition(seed: int) -> None:
    n_results: Counter[str] = Counter()
    for case in _cases(seed):
        expected = case.expected()
        n_results.update({name: len(found) for name, found in expected.items()})
        results = inkling.parse(case.text).run_local(arrow_streams(case.plan, case.rows))
        wrong = differences(case.plan, expected, {name: found.to_pylist() for name, found in results.tables.items()})
        assert not wrong, "\n".join([str(case), *wrong])
    assert n_results.keys() == {"S_derived", *(f"r{number}" for number in range(7))}
    assert min(n_results.values()) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20, *at_length(range(21, 28))])
def test_pushed_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    for case in _cases(seed):
        program = inkling.parse(case.text)
        for _ in range(ARRIVALS):
            pushes = pushes_of(rng, case, lateness=0)
            wanted = oracle(case.plan, as_arrived(case.plan, pushes))
            wrong = differences(case.plan, wanted, pushed(rng, program, case, pushes))
            assert not wrong, "\n".join([str(case), *wrong])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [40, *at_length(range(41, 48))])
@pytest.mark.parametrize("kind", UNCERTAIN)
def test_over_uncertain_rows_eq_definition(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    n_uncertain = 0
    for _ in range(UNCERTAIN_PER_SEED):
        text = _program(rng, UNCERTAIN[kind], READERS)
        rows: Rows = {"S": list(_uncertain(rng, kind)), "T": _rows(rng)}
        plan = bound(text)
        expected = probable_oracle(plan, rows)
        n_uncertain += sum(0 < one.probability < 1 for found in expected.values() for one in found)
        found = found_in(plan, inkling.parse(text).run_local(arrow_streams(plan, rows)).tables)
        wrong = probable_differences(plan, rows, expected, found, tolerance=1e-9)
        assert not wrong, "\n".join([text, str(rows), *wrong])
    assert n_uncertain > UNCERTAIN_PER_SEED


def _uncertain(rng: random.Random, kind: str) -> Iterator[dict[str, object]]:
    for number, time in enumerate(rng.sample(range(10), 3)):
        value = rng.randrange(4)
        row = {"id": f"e{number}", "k": rng.choice("ab"), "v": value}
        if kind == "imprecise":
            yield {**row, "lo": time, "hi": time + rng.randrange(3)}
        else:
            share = rng.choice((0.25, 0.5))
            yield {**row, "t": time, "p": share}
            yield {**row, "id": f"f{number}", "v": (value + 1) % 4, "t": time, "p": 0.5}
