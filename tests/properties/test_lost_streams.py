"""Relations between segments with lost ends, pushed piece by piece: what one run over all rows gives, told in time."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from tests.kit.lost_programs import LostCase, Row, lost_case

import inkling
from inkling.evaluators.relation.bounds import bounds_by
from inkling.evaluators.relation.forward import Limits
from inkling.evaluators.relation.program import RelationProgram
from inkling.evaluators.sampling import Sampling
from inkling.local import ingest
from inkling.local_stream import LocalStream
from inkling.query import Program

pytestmark = pytest.mark.long

SEEDS = range(3)
CASES_PER_SEED = 20

Pushes = list[dict[str, list[Row]]]


def time_of(row: Row) -> int:
    return int(str(row["e"] if "e" in row else row["t"]))


def pushes_of(rng: random.Random, case: LostCase) -> Pushes:
    """Rows in the order of their times, cut at random."""
    every = sorted(((time_of(row), rng.random(), name, row) for name, rows in case.rows.items() for row in rows))
    pushes: Pushes = [{}]
    before = None
    for time, _, name, row in every:
        if time != before and rng.random() < 0.4:
            pushes.append({})
        pushes[-1].setdefault(name, []).append(row)
        before = time
    return [push for push in pushes if push]


def as_arrived(case: LostCase, pushes: Pushes) -> dict[str, list[Row]]:
    """Rows without an id are called by their numbers."""
    return {name: [row for push in pushes for row in push.get(name, [])] for name in case.rows}


def early(case: LostCase) -> str:
    """The program in which results are told as soon as they are certain."""
    lines = case.text.splitlines()
    return "\n".join(_early(line) if line.startswith("EVENT") else line for line in lines)


def _early(event: str) -> str:
    return event.replace(";", " EARLY;" if "CONFIDENCE" in event else " CONFIDENCE > 0.2 EARLY;")


def late(case: LostCase) -> str:
    """The same program without haste."""
    return early(case).replace(" EARLY;", ";")


def heard(rng: random.Random, program: Program, pushes: Pushes) -> tuple[dict[str, list[Row]], int]:
    """All results, and how many came before the end."""
    live = program.open(unbounded=True)
    said: dict[str, list[Row]] = {}
    n_early = 0
    for push in pushes:
        found = live.push(push)
        assert not len(found.rejects)
        assert not len(found.late)
        for name, table in found.tables.items():
            said.setdefault(name, []).extend(table.to_pylist())
            n_early += len(table)
        if rng.random() < 0.3:
            live = LocalStream.restore(program, live.snapshot())
    for name, table in live.finish().tables.items():
        said.setdefault(name, []).extend(table.to_pylist())
    return said, n_early


def lines(rows: list[Row]) -> list[str]:
    return sorted(repr(sorted((name, _rounded(value)) for name, value in row.items())) for row in rows)


def _rounded(value: object) -> object:
    return round(value, 10) if isinstance(value, float) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_one_run(seed: int) -> None:
    rng = random.Random(f"lost streams {seed}")
    n_early = n_bounds = 0
    for _ in range(CASES_PER_SEED):
        case = lost_case(rng)
        program = inkling.parse(early(case))
        pushes = pushes_of(rng, case)
        expected = program.run_local(as_arrived(case, pushes))
        said, told_early = heard(rng, program, pushes)
        n_early += told_early
        for name, table in expected.tables.items():
            assert lines(said.get(name, [])) == lines(table.to_pylist()), f"{name}\n{case}"
            n_bounds += table["method"].to_pylist().count("bounds")
    assert n_early > CASES_PER_SEED // 4
    assert n_bounds > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_early_results_are_the_results(seed: int) -> None:
    """The same pairs, with bounds around the probability, never later."""
    rng = random.Random(f"lost early {seed}")
    for _ in range(CASES_PER_SEED):
        case = lost_case(rng)
        plain = inkling.parse(late(case)).run_local(case.rows).tables
        told = inkling.parse(early(case)).run_local(case.rows).tables
        for name, table in plain.items():
            heads = [output.name for event in case.plan.events if event.name == name for output in event.head]
            finally_ = {_key(row, heads): row for row in table.to_pylist()}
            soon = {_key(row, heads): row for row in told[name].to_pylist()}
            assert finally_.keys() == soon.keys(), f"{name}\n{case}"
            for key, row in soon.items():
                last = finally_[key]
                assert abs(row["probability"] - last["probability"]) <= row["error"] + 1e-10
                assert row["detected_at"] <= last["detected_at"] or row["method"] != "bounds"


def _key(row: Mapping[str, object], heads: list[str]) -> tuple[object, ...]:
    return tuple(row[name] for name in heads)


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_never_get_worse_and_meet(seed: int) -> None:
    rng = random.Random(f"lost bounds {seed}")
    n_open = 0
    for _ in range(CASES_PER_SEED):
        case = lost_case(rng)
        program = inkling.parse(case.text)
        ingested = ingest(program, case.rows)
        lost = RelationProgram.of(
            program.physical, ingested.context, ingested.unit, Limits.of(Sampling()), ingested.facts
        )
        assert lost is not None
        for evaluator in lost.evaluators.values():
            sides = evaluator.operands(ingested.sources)
            for ones, others in evaluator.pairs(sides):
                final = evaluator.found(sides, ones, others)
                chance = {
                    (int(one), int(other), int(k)): float(p)
                    for one, other, k, p, error in zip(
                        final.ones, final.others, final.quantity, final.chance, final.error, strict=True
                    )
                    if error == 0
                }
                sampled = {
                    (int(one), int(other))
                    for one, other, e in zip(final.ones, final.others, final.error, strict=True)
                    if e
                }
                lower = upper = None
                for time in range(18):
                    low, high = bounds_by(sides.left, sides.right, ones, others, evaluator.query, ones * 0 + time)
                    assert lower is None or (low >= lower - 1e-12).all(), f"{evaluator.event.name} {time}\n{case}"
                    assert upper is None or (high <= upper + 1e-12).all(), f"{evaluator.event.name} {time}\n{case}"
                    lower, upper = low, high
                    for place, (one, other) in enumerate(zip(ones.tolist(), others.tolist(), strict=True)):
                        if (one, other) in sampled:
                            continue
                        for k in evaluator.quantities.tolist():
                            p = chance.get((one, other, k), 0.0)
                            assert low[place, k] - 1e-10 <= p <= high[place, k] + 1e-10, (
                                f"{evaluator.event.name}\n{case}"
                            )
                            n_open += low[place, k] < high[place, k] - 1e-10
    assert n_open > CASES_PER_SEED
