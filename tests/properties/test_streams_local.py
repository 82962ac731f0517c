"""Random programs pushed piece by piece: what the definition gives, however the rows are cut and disordered.

Where keys never meet, many small streams run at once, each under keys of its own: every one of them is a case.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.kit.arrival import with_lateness
from tests.kit.comparison import differences
from tests.kit.oracle import oracle
from tests.kit.packed_programs import packed_programs
from tests.kit.programs import Options, seeded_cases
from tests.properties.pushing import Push, as_arrived, pushed, pushes_of

import inkling

SEEDS = range(4)
LONG_SEEDS = range(4, 12)
PROGRAMS_PER_SEED = 40
ARRIVALS_PER_PROGRAM = 4
PACKED_PER_SEED = 32
ARRIVALS_PER_PACK = 3
DATASETS = 12
LATENESS = (0, 2, 5)
ANY = Options(without=frozenset({"ties with order"}))
KEYS_APART = replace(ANY, partitioned=True, bad_rows=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_results = 0
    for case in seeded_cases(seed + 1000, PROGRAMS_PER_SEED, ANY):
        lateness = rng.choice(LATENESS)
        program = inkling.parse(with_lateness(case.text, lateness))
        has_ids = all(stream.schema.id is not None for stream in case.plan.streams)
        expected = case.expected()
        n_results += sum(map(len, expected.values()))
        for _ in range(ARRIVALS_PER_PROGRAM):
            pushes = pushes_of(rng, case, lateness)
            if not has_ids:
                expected = oracle(case.plan, as_arrived(case.plan, pushes), case.tables)
            wrong = differences(case.plan, expected, pushed(rng, program, case, pushes))
            assert not wrong, "\n".join([f"{lateness=}", str(case), *map(str, map(_readable, pushes)), *wrong])
    assert n_results > PROGRAMS_PER_SEED // 2


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_of_many_streams_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_results = 0
    for case in packed_programs(seed + 2000, PACKED_PER_SEED, DATASETS, KEYS_APART):
        lateness = rng.choice(LATENESS)
        program = inkling.parse(with_lateness(case.text, lateness))
        expected = case.expected()
        n_results += sum(map(len, expected.values()))
        for _ in range(ARRIVALS_PER_PACK):
            pushes = pushes_of(rng, case, lateness)
            wrong = differences(case.plan, expected, pushed(rng, program, case, pushes))
            assert not wrong, "\n".join([f"{lateness=}", str(case), *map(str, map(_readable, pushes)), *wrong])
    assert n_results > PACKED_PER_SEED * DATASETS // 2


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_pushes_eq_definition_at_length(seed: int) -> None:
    test_pushes_eq_definition(seed)


def _readable(push: Push) -> dict[str, list[dict[str, object]]]:
    return {name: part.to_pylist() for name, part in push.items()}


TWO_STREAMS = """
STREAM A(id STRING, k STRING, t INT) ID id KEY k TIME t LATENESS 2 TICKS;
STREAM B(id STRING, k STRING, t INT) ID id KEY k TIME t;
EVENT pair(k) AS PATTERN SEQ ANY (A a, B b) WITHIN 6 TICKS PARTITION BY k;
"""
LATENESS_OF = {"A": 2, "B": 0}


@pytest.mark.parametrize("seed", range(40))
def test_late_rows_are_those_behind_the_watermark(seed: int) -> None:
    """In any order at all: late rows are reported with their delay, and the others are what results depend on."""
    rng = random.Random(seed)
    program = inkling.parse(TWO_STREAMS)
    stream = program.open()
    latest: dict[str, int] = {}
    idle: set[str] = set()
    watermark: int | None = None
    in_time: dict[str, list[dict[str, object]]] = {"A": [], "B": []}
    results: list[dict[str, object]] = []
    n_late = 0
    for number in range(30):
        now = number // 2
        push = {
            name: [
                {"id": f"{name}{number}.{i}", "k": rng.choice("pq"), "t": now + rng.randint(-4, 2)}
                for i in range(rng.randint(1, 3))
            ]
            for name in "AB"
            if rng.random() < 0.6
        }
        found = stream.push(push)
        late = {
            (name, row["id"], row["t"], latest[name] - row["t"] if name in latest else watermark - row["t"])
            for name, rows in push.items()
            for row in rows
            if watermark is not None and row["t"] <= watermark
        }
        assert {(row["stream"], row["id"], row["time"], row["delay"]) for row in found.late.to_pylist()} == late
        n_late += len(late)
        gone = {identity for _, identity, _, _ in late}
        for name, rows in push.items():
            in_time[name] += [row for row in rows if row["id"] not in gone]
            latest[name] = max([latest.get(name, -100), *(row["t"] for row in rows)])
        idle -= push.keys()
        results += found["pair"].to_pylist()
        if rng.random() < 0.1:
            name = rng.choice("AB")
            results += stream.idle(name)["pair"].to_pylist()
            idle.add(name)
        told = [name for name in "AB" if name not in idle] or list(latest)
        if told and all(name in latest for name in told):
            reached = min(latest[name] - LATENESS_OF[name] - 1 for name in told)
            watermark = reached if watermark is None else max(watermark, reached)
        assert stream.watermark == watermark
    results += stream.finish()["pair"].to_pylist()
    assert n_late
    assert not differences(program.plan, oracle(program.plan, in_time, {}), {"pair": results})


def test_the_number_of_cases_is_what_it_says() -> None:
    alone = PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM
    packed = PACKED_PER_SEED * DATASETS * ARRIVALS_PER_PACK
    assert len(SEEDS) * (alone + packed) >= 5000
