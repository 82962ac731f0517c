"""Sliding windows over events that may be lost have the probabilities that the sum over all worlds gives."""

from __future__ import annotations

import random

import pytest
from tests.kit.lost_windows import LostWindows, Row, lost_windows
from tests.kit.oracle import bound
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.probable_oracle import probable_oracle
from tests.kit.seeds import first_of

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.local_stream import LocalStream

SEEDS = first_of(range(12), 1)
CASES_PER_SEED = 12
SAMPLED = Sampling(epsilon=0.1, delta=0.1, seed=3, exact_up_to=0, budget=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_of_events_eq_definition(seed: int) -> None:
    rng = random.Random(f"lost windows {seed}")
    n_uncertain = 0
    for _ in range(CASES_PER_SEED):
        case = lost_windows(rng)
        plan = bound(case.text)
        expected = probable_oracle(plan, case.rows)
        found = inkling.parse(case.text).run_local(case.rows, sampling=Sampling(exact_up_to=100_000))
        wrong = probable_differences(plan, case.rows, expected, found_in(plan, found.tables), tolerance=1e-10)
        assert not wrong, "\n".join([case.text, str(case.rows), *wrong])
        n_uncertain += sum(one.probability < 1 for some in expected.values() for one in some)
    assert n_uncertain > 10 * CASES_PER_SEED


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_one_run(seed: int) -> None:
    """On a stream all worlds are sampled: they are those of a run that samples all worlds."""
    rng = random.Random(f"lost windows pushed {seed}")
    for _ in range(CASES_PER_SEED // 2):
        case = lost_windows(rng, ("1 EVENTS", "3 EVENTS", "4 TICKS", "9 TICKS"))
        expected = inkling.parse(case.text).run_local(case.rows, sampling=SAMPLED)
        said = pushed(rng, case)
        for name, table in expected.tables.items():
            assert sorted(map(repr, said[name])) == sorted(map(repr, table.to_pylist())), f"{name}\n{case}"


def pushed(rng: random.Random, case: LostWindows) -> dict[str, list[Row]]:
    program = inkling.parse(case.text)
    live = program.open(unbounded=True, sampling=SAMPLED)
    every = sorted(
        ((row["t"], name, row) for name, rows in case.rows.items() for row in rows), key=lambda one: str(one)
    )
    every.sort(key=lambda one: int(str(one[0])))
    said: dict[str, list[Row]] = {event.name: [] for event in program.plan.events}
    while every:
        some, every = every[: (cut := rng.randrange(1, 6))], every[cut:]
        push: dict[str, list[Row]] = {}
        for _, name, row in some:
            push.setdefault(name, []).append(row)
        for name, table in live.push(push).tables.items():
            said[name] += table.to_pylist()
        if rng.random() < 0.3:
            live = LocalStream.restore(program, live.snapshot(), sampling=SAMPLED)
    for name, table in live.finish().tables.items():
        said[name] += table.to_pylist()
    return said


@pytest.mark.parametrize(("length", "chances"), [(4, {1: 0.36, 2: 0.48, 3: 0.16}), (10, {4: 1.0})])
def test_how_many_events_lie_in_a_stretch_of_time(length: int, chances: dict[int, float]) -> None:
    """Two events were lost between 0 and 10: each lies in the last 4 ticks with probability 0.4."""
    program = inkling.parse(f"""
        STREAM G(id STRING, n BIGINT, t BIGINT) ID id TIME t NUMBERED BY n;
        EVENT busy(COUNT(w) AS c) AS PATTERN WINDOW G w LAST {length} TICKS HAVING LAST(w).n = 4;
    """)
    rows = [{"id": "a", "n": 1, "t": 0}, {"id": "b", "n": 4, "t": 10}]
    found = program.run_local(rows, sampling=Sampling(epsilon=0.02))["busy"].to_pylist()
    assert {row["c"]: row["probability"] for row in found} == pytest.approx(chances, abs=0.02)
