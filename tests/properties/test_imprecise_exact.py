"""Random chains and partial orders over imprecise times: sums over ticks, in fractions, eq the definition.

Every key of a program is a case of its own: it has its own worlds. The kernels run twice, on fractions and compiled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.chains import ChainCase, chain_cases
from tests.kit.exact_kernels import IN_FRACTIONS
from tests.kit.look_back import require_all
from tests.kit.oracle import probable_oracle
from tests.kit.partial_orders import over_events_cases, partial_order_cases
from tests.kit.seeds import at_length

from inkling.analysis.chain import ChainPattern
from inkling.analysis.clock import time_unit
from inkling.evaluators.chain.confidence import COMPILED
from inkling.evaluators.chain.program import ChainProgram, events_of
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.io import normalize
from inkling.knowledge.materialize import expression_context
from inkling.logical import plan as p
from inkling.model.time import Clock
from inkling.physical.planner import plan_program

PROGRAMS_PER_SEED = 40
KEYS = 20
SEEDS = range(7)
LONG_SEEDS = at_length(range(7, 87))

Answers = dict[tuple[str, ...], tuple[int, int, Fraction]]


def program_of(case: ChainCase) -> ChainProgram:
    unit = time_unit(case.plan, dict.fromkeys((one.schema.name for one in case.plan.streams), Clock.TICKS))
    found = ChainProgram.of(plan_program(case.plan), expression_context({}, unit), unit)
    assert found is not None, "it is no chain"
    return found


def rows_of(case: ChainCase) -> dict[str, pa.Table]:
    names = [one.schema.name for one in case.plan.streams]
    together = {name: [row for rows in case.keys for row in rows[name]] for name in names}
    given = arrow_streams(case.plan, together)
    return {one.schema.name: normalize(given[one.schema.name], one.schema).rows for one in case.plan.streams}


def answers(case: ChainCase, *, exact: bool, by_tables: bool = False, most_steps: float | None = None) -> Answers:
    program = program_of(case)
    (stage,) = program.physical.stages
    evaluator = program.evaluators(stage)["x"]
    rows = all_derived(program.physical.program.streams, rows_of(case), program.context)
    events = events_of(program, stage, rows, {}, exact=exact)
    found: Answers = {}
    kernels = IN_FRACTIONS if exact else COMPILED
    options: dict[str, Any] = {"by_tables": True} if by_tables else {}
    if most_steps is not None:
        options["most_steps"] = most_steps
    for some in evaluator.evaluate(events.batch, events.moments, events.n_keys, kernels=kernels, **options):
        for row, ids in enumerate(some.matches.lineage.to_pylist()):
            assert tuple(ids) not in found
            found[tuple(ids)] = int(some.matches.start[row]), int(some.matches.end[row]), some.chance[row]
    return found


def defined(case: ChainCase) -> Answers:
    return {
        one.lineage: (one.start, one.end, one.probability)
        for rows in case.keys
        for one in probable_oracle(case.plan, rows)["x"]
    }


@pytest.fixture(scope="module")
def tally() -> Counter[str]:
    return Counter()


def check(cases: Iterable[ChainCase], tally: Counter[str]) -> None:
    tally["seeds"] += 1
    for case in cases:
        wanted = defined(case)
        assert answers(case, exact=True) == wanted, case.chain
        chain = program_of(case).chains["x"]
        tally[type(chain).__name__] += 1
        if isinstance(chain, ChainPattern) and chain.policy is p.Policy.NEXT:
            assert answers(case, exact=True, by_tables=True) == wanted, case.chain
        rounded = answers(case, exact=False)
        assert rounded.keys() == wanted.keys()
        for name, (start, end, chance) in rounded.items():
            assert (start, end) == wanted[name][:2]
            assert chance == pytest.approx(float(wanted[name][2]), abs=1e-12)
            assert (chance == 1) == (wanted[name][2] == 1)
        tally["cases"] += len(case.keys)
        tally["results"] += len(wanted)
        tally["uncertain results"] += sum(one[2] < 1 for one in wanted.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_over_ticks_eq_definition(seed: int, tally: Counter[str]) -> None:
    check(chain_cases(seed, PROGRAMS_PER_SEED, KEYS), tally)


def test_enough_was_tried(tally: Counter[str]) -> None:
    require_all(tally["seeds"], len(SEEDS))
    assert tally["cases"] >= 5_000
    assert tally["uncertain results"] >= 2_000


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_more_sums_over_ticks_eq_definition(seed: int) -> None:
    check(chain_cases(seed, PROGRAMS_PER_SEED, KEYS), Counter())


@pytest.fixture(scope="module")
def tally_of_orders() -> Counter[str]:
    return Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_over_the_ticks_of_partial_orders_eq_definition(seed: int, tally_of_orders: Counter[str]) -> None:
    check(partial_order_cases(seed, PROGRAMS_PER_SEED, KEYS), tally_of_orders)


def test_enough_partial_orders_were_tried(tally_of_orders: Counter[str]) -> None:
    require_all(tally_of_orders["seeds"], len(SEEDS))
    assert tally_of_orders["PartialOrders"] >= 150
    assert tally_of_orders["uncertain results"] >= 2_000


@pytest.mark.parametrize("seed", SEEDS)
def test_events_over_events_eq_definition(seed: int) -> None:
    tally = Counter[str]()
    check(over_events_cases(seed, PROGRAMS_PER_SEED // 2, KEYS), tally)
    assert tally["PartialOrders"] == PROGRAMS_PER_SEED // 2
    assert tally["uncertain results"] >= 20


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_more_events_over_events_eq_definition(seed: int) -> None:
    check(over_events_cases(seed, PROGRAMS_PER_SEED // 2, KEYS), Counter())


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_more_partial_orders_eq_definition(seed: int) -> None:
    check(partial_order_cases(seed, PROGRAMS_PER_SEED, KEYS), Counter())
