"""Random chains and partial orders over imprecise times, pushed piece by piece: the results of one run over all rows.

No more rows are kept than needed. Rows come late, but not too late. The state goes through bytes now and then.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.chains import ChainCase, chain_cases
from tests.kit.look_back import require_all
from tests.kit.partial_orders import over_events_cases, partial_order_cases
from tests.properties.test_imprecise_exact import program_of

from inkling.analysis.choice import Evaluator
from inkling.analysis.clock import time_unit
from inkling.evaluators.certain import run_plan
from inkling.evaluators.chain.program import answered
from inkling.evaluators.sampling import Sampling
from inkling.io import normalize
from inkling.knowledge.materialize import expression_context
from inkling.logical import plan as p
from inkling.model.time import Clock, Duration
from inkling.model.watermarks import Watermarks
from inkling.physical.planner import plan_program
from inkling.results import result_table
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.stream import StreamProgram, StreamState

SEEDS = range(4)
PROGRAMS_PER_SEED = 24
KEYS = 12
APART = 9
"""Ticks between the rows of one key and those of the next one."""

Rows = dict[str, list[dict[str, Any]]]
Made = Callable[[int, int, int], Iterator[ChainCase]]


def together(case: ChainCase) -> Rows:
    """The rows of all keys, one key after the other, so that time continues."""
    names = [one.schema.name for one in case.plan.streams]
    times = ("lo", "hi", "t")
    return {
        name: [
            {column: value + key * APART if column in times else value for column, value in row.items()}
            for key, rows in enumerate(case.keys)
            for row in rows[name]
        ]
        for name in names
    }


def with_lateness(plan: p.ProgramPlan, late: int) -> p.ProgramPlan:
    span = Duration(Fraction(late), "TICKS")
    return replace(plan, streams=tuple(replace(one, schema=replace(one.schema, late=span)) for one in plan.streams))


def pieces(rng: random.Random, rows: Rows, late: int) -> Iterator[Rows]:
    every = [
        (row.get("lo", row.get("t")) + rng.randrange(late + 1), rng.random(), name, row)
        for name in rows
        for row in rows[name]
    ]
    every.sort(key=lambda one: one[:2])
    n_cuts = rng.choice([1, 3, 8, len(every)])
    cuts = sorted(rng.randrange(len(every) + 1) for _ in range(n_cuts))
    for begin, end in zip([0, *cuts], [*cuts, len(every)], strict=True):
        piece: Rows = {}
        for _, _, name, row in every[begin:end]:
            piece.setdefault(name, []).append(row)
        yield piece


def lines(tables: dict[str, list[pa.Table]]) -> Counter[str]:
    return Counter(str(sorted(row.items())) for some in tables.values() for table in some for row in _rounded(table))


def _rounded(table: pa.Table) -> list[dict[str, Any]]:
    return [{**row, "probability": round(row["probability"], 12)} for row in table.to_pylist()]


def check(seed: int, tally: Counter[str], made: Made = chain_cases) -> None:
    tally["seeds"] += 1
    rng = random.Random(seed)
    for case in made(seed + 1000, PROGRAMS_PER_SEED, KEYS):
        rows, late = together(case), rng.choice([0, 2, 6])
        plan = with_lateness(case.plan, late)
        unit = time_unit(plan, dict.fromkeys(rows, Clock.TICKS))
        clocks = dict.fromkeys(rows, Clock.TICKS)
        operators = Operators(plan_program(plan), clocks, {}, expression_context({}, unit), unit, Sampling())
        live = StreamProgram(operators, Clock.TICKS)
        state, heard = live.start(), list[pa.Table]()
        for piece in pieces(rng, rows, late):
            if rng.random() < 0.2:
                state = live.from_bytes(live.to_bytes(state), state.n_read, state.newest)
            state, outcome = live.step(
                state,
                arrow_streams(
                    replace(plan, streams=tuple(one for one in plan.streams if one.schema.name in piece)), piece
                ),
            )
            heard += [outcome.tables["x"]] if "x" in outcome.tables else []
            assert not len(outcome.late)
            tally["kept at most"] = max(tally["kept at most"], n_kept(state))
            assert_needed(case, state)
        tally["told before the end"] += sum(map(len, heard))
        state, outcome = live.step(state, {}, Watermarks(finished=True))
        heard += [outcome.tables["x"]] if "x" in outcome.tables else []
        assert n_kept(state) == 0
        given = arrow_streams(case.plan, rows)
        whole = {one.schema.name: normalize(given[one.schema.name], one.schema).rows for one in case.plan.streams}
        wanted = answered(program_of(case), whole, {})
        assert lines({"x": heard}) == lines({"x": [wanted["x"]]}), case.chain
        tally["results"] += len(wanted["x"])
        tally["cases"] += 1


def n_kept(state: StreamState) -> int:
    return sum(map(len, state.operators[-1][0].evaluators[Evaluator.CHAIN].stages))


def assert_needed(case: ChainCase, state: StreamState) -> None:
    """Nothing is kept that ended longer ago than a window and the longest interval; twice that before NOT."""
    within = case.chain.within
    if within is None:
        return
    assert isinstance(within, p.Points)
    widest = 4
    kept = state.operators[-1][0].evaluators[Evaluator.CHAIN]
    for rows in kept.stages:
        if len(rows):
            assert np.all(rows["@end"].to_numpy() >= kept.until - 2 * within.count - widest)


@pytest.fixture(scope="module")
def tally() -> Counter[str]:
    return Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_one_run(seed: int, tally: Counter[str]) -> None:
    check(seed, tally)


def test_enough_was_told_early(tally: Counter[str]) -> None:
    require_all(tally["seeds"], len(SEEDS))
    assert tally["results"] > 1_000
    assert tally["told before the end"] > tally["results"] / 2


@pytest.mark.parametrize("seed", range(3))
def test_pushes_of_partial_orders_eq_one_run(seed: int) -> None:
    tally = Counter[str]()
    check(seed, tally, partial_order_cases)
    assert tally["results"] > 150
    assert tally["told before the end"] > tally["results"] / 2


@pytest.mark.parametrize("seed", range(2))
def test_pushes_of_events_over_events_eq_one_run(seed: int) -> None:
    tally = Counter[str]()
    check(seed, tally, over_events_cases)
    assert tally["results"] > 50


@pytest.mark.parametrize("seed", range(2))
def test_intervals_of_one_tick_are_certain(seed: int) -> None:
    """Zero-width intervals give the matches of the evaluators for certain streams, with probability 1."""
    n_results = 0
    for case in chain_cases(seed + 2000, PROGRAMS_PER_SEED, KEYS):
        narrow = ChainCase(case.plan, tuple(narrowed(rows) for rows in case.keys))
        given = arrow_streams(narrow.plan, together(narrow))
        whole = {one.schema.name: normalize(given[one.schema.name], one.schema).rows for one in narrow.plan.streams}
        found = answered(program_of(narrow), whole, {})["x"]
        certain = replace(
            narrow.plan,
            streams=tuple(
                replace(one, schema=replace(one.schema, uncertainty=None, end=one.schema.start))
                for one in narrow.plan.streams
            ),
        )
        unit = time_unit(certain, dict.fromkeys(whole, Clock.TICKS))
        matches = run_plan(plan_program(certain), whole, {}, expression_context({}, unit))["x"]
        wanted = result_table(certain.events[0], matches, Clock.TICKS)
        assert lines({"x": [found]}) == lines({"x": [wanted]}), case.chain
        n_results += len(wanted)
    assert n_results > 100


def narrowed(rows: Rows) -> Rows:
    return {
        name: [{**row, "hi": row["lo"], "weights": None} if "lo" in row else row for row in some]
        for name, some in rows.items()
    }
