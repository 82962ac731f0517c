"""Relations between segments with lost ends have the probability that the sum over all worlds gives."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from tests.kit.exact_events import relations_of
from tests.kit.lost_programs import LostCase, lost_case
from tests.kit.probable_oracle import ProbableResult, probable_oracle
from tests.kit.seeds import at_length

from inkling import Sampling, parse
from inkling.logical import plan as p

SEEDS = range(3)
LONG_SEEDS = at_length(range(3, 30))
CASES_PER_SEED = 40
EPSILON = 0.02

Shown = dict[tuple[object, ...], float]


def expected(results: tuple[ProbableResult, ...], least: float, *, strict: bool) -> Shown:
    chosen = {one.values: float(one.probability) for one in results}
    return {one: prob for one, prob in chosen.items() if prob > least or (prob == least and not strict)}


def shown(case: LostCase, event: str, table: list[dict[str, object]]) -> Shown:
    names = [output.name for one in case.plan.events if one.name == event for output in one.head]
    return {tuple(row[name] for name in names): float(str(row["probability"])) for row in table}


def overlapping(case: LostCase, event: p.EventPlan) -> bool:
    """Whether segments on the left side may overlap each other, so that orders cannot be summed over."""
    assert isinstance(event.pattern, p.Quantified)
    if event.pattern.left.leaf.sources != ("T",) or "s BIGINT" not in case.text:
        return False
    by_key: dict[object, list[tuple[int, int]]] = {}
    for row in case.rows["T"]:
        by_key.setdefault(row["g"], []).append((int(str(row["s"])), int(str(row["e"]))))
    return any(end > start for some in by_key.values() for (_, end), (start, _) in pairwise(sorted(some)))


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(f"lost programs {seed}")
    assert compare([lost_case(rng) for _ in range(CASES_PER_SEED)])


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_local_eq_definition_at_length(seed: int) -> None:
    test_local_eq_definition(seed)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_situations_eq_definition(seed: int) -> None:
    rng = random.Random(f"lost situations {seed}")
    compare([lost_case(rng, situations=True) for _ in range(CASES_PER_SEED // 2)])


def compare(cases: list[LostCase]) -> int:
    """How many results were sampled."""
    n_uncertain = n_apart = n_sampled = 0
    for case in cases:
        want = probable_oracle(case.plan, case.rows)
        got = parse(case.text).run_local(case.rows, sampling=Sampling(epsilon=EPSILON, exact_up_to=100_000))
        assert not len(got.rejects), f"{case}\n{got.rejects.to_pylist()}"
        n_apart += len(relations_of(case.plan))
        for event in (one for one in case.plan.events if one.name != "seg"):
            demand = event.confidence
            least, strict = (0.0, True) if demand is None else (demand.threshold, demand.strict)
            rows = got.tables[event.name].to_pylist()
            right = expected(want[event.name], least, strict=strict)
            if overlapping(case, event):
                n_sampled += len(rows)
                close = shown(case, event.name, rows)
                assert all(abs(close[one] - prob) <= 3 * EPSILON for one, prob in right.items() if one in close), case
                assert right.keys() <= close.keys() | {one for one, prob in right.items() if prob < 3 * EPSILON}, case
                continue
            mine = shown(case, event.name, rows)
            assert mine == pytest.approx(right, abs=1e-10), f"{event.name}\n{case}\n{mine}\n{right}"
            n_uncertain += sum(0 < prob < 1 for prob in right.values())
            assert {row["method"] for row in rows} <= {"exact"}
    assert n_apart == len(cases) * 6
    assert n_uncertain >= len(cases) // 4
    return n_sampled
