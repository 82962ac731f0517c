"""Relations between segments with lost ends have the probability that the sum over all worlds gives."""

from __future__ import annotations

import random

import pytest

from inkling import Sampling, parse
from inkling.analysis.lost import relations_of
from inkling.testing.lost_programs import LostCase, lost_case
from inkling.testing.probable_oracle import ProbableResult, probable_oracle

SEEDS = range(8)
CASES_PER_SEED = 40

Shown = dict[tuple[object, ...], float]


def expected(results: tuple[ProbableResult, ...], least: float, *, strict: bool) -> Shown:
    chosen = {one.values: float(one.probability) for one in results}
    return {one: prob for one, prob in chosen.items() if prob > least or (prob == least and not strict)}


def shown(case: LostCase, event: str, table: list[dict[str, object]]) -> Shown:
    names = [output.name for one in case.plan.events if one.name == event for output in one.head]
    return {tuple(row[name] for name in names): float(str(row["probability"])) for row in table}


@pytest.mark.parametrize("seed", SEEDS)
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(f"lost programs {seed}")
    n_doubtful = n_apart = 0
    for _ in range(CASES_PER_SEED):
        case = lost_case(rng)
        want = probable_oracle(case.plan, case.rows)
        got = parse(case.text).run_local(case.rows, sampling=Sampling(exact_up_to=100_000))
        assert not len(got.rejects), f"{case}\n{got.rejects.to_pylist()}"
        n_apart += len(relations_of(case.plan))
        for event in case.plan.events:
            demand = event.confidence
            least, strict = (0.0, True) if demand is None else (demand.threshold, demand.strict)
            mine = shown(case, event.name, got.tables[event.name].to_pylist())
            right = expected(want[event.name], least, strict=strict)
            assert mine == pytest.approx(right, abs=1e-10), f"{event.name}\n{case}\n{mine}\n{right}"
            n_doubtful += sum(0 < prob < 1 for prob in right.values())
            assert set(got.tables[event.name]["method"].to_pylist()) <= {"exact"}
    assert n_apart == CASES_PER_SEED * 6
    assert n_doubtful >= CASES_PER_SEED
