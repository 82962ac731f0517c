"""Random regular patterns over a stream of alternatives: an automaton gives exactly what the definition gives.

The kernel runs on fractions, where nothing may differ, and compiled, over rows that come in several blocks with the
state put away in between.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.kit.exact_kernels import uncompiled
from tests.kit.look_back import require_all
from tests.kit.oracle import bound, expression_context, probable_oracle
from tests.kit.regular_queries import RegularCase, random_regular
from tests.kit.seeds import at_length

import inkling
from inkling.analysis.query.strategy import Engine, strategy_of
from inkling.evaluators.query.automaton import forward as alone
from inkling.evaluators.query.automaton.forward import ForwardState
from inkling.evaluators.query.automaton.patterns import MatchEnds, PatternEvaluator
from inkling.evaluators.state import from_bytes, to_bytes
from inkling.io.normalize import START, normalize
from inkling.logical import plan as p
from inkling.model.time import Clock

IN_FRACTIONS = SimpleNamespace(**{name: uncompiled(kernel) for name, kernel in vars(alone.COMPILED).items()})
PROGRAMS_PER_SEED = 30
SEEDS = range(5)
LONG_SEEDS = at_length(range(5, 60))

Answers = dict[tuple[object, int], tuple[int, Fraction | float]]


def table_of(case: RegularCase, plan: p.ProgramPlan) -> pa.Table:
    found = normalize(pa.Table.from_pylist(case.rows), plan.streams[0].schema)
    assert not len(found.rejects)
    return found.rows


def evaluator_of(plan: p.ProgramPlan, *, exact: bool) -> PatternEvaluator:
    (event,), (stream,) = plan.events, plan.streams
    strategy = strategy_of(event, plan).conclusion
    assert strategy is not None
    kernels = IN_FRACTIONS if exact else alone.COMPILED
    context = expression_context(plan, {}, Clock.TICKS)
    return PatternEvaluator(event, strategy, {stream.schema.name: stream.schema}, context, kernels)


def answers(rows: pa.Table, ends: MatchEnds) -> Answers:
    keys = rows["k"].take(pa.array(ends.row)).to_pylist()
    found = zip(keys, ends.time.tolist(), ends.start.tolist(), ends.chance.tolist(), strict=True)
    return {(key, time): (start, chance) for key, time, start, chance in found}


def in_blocks(plan: p.ProgramPlan, rows: pa.Table, cuts: list[int]) -> Answers:
    """The same from block to block; of PER VALUES added up as runners do."""
    evaluator = evaluator_of(plan, exact=False)
    state, found = evaluator.start(), Answers()
    once = plan.events[0].per is p.Per.VALUES
    for after, until in zip([-1, *cuts], [*cuts, 10**6], strict=True):
        block = rows.filter(pc.and_(pc.greater(rows[START], after), pc.less_equal(rows[START], until)))
        state, ends = evaluator.ends(from_bytes(to_bytes(state), ForwardState), {"S": block})
        for (key, time), (start, chance) in answers(block, ends).items():
            before = [place for place in found if place[0] == key] if once else []
            for place in before:
                earlier, part = found.pop(place)
                start, chance = min(start, earlier), chance + part
            found[key, time] = start, chance
    return found


def check(case: RegularCase, rng: random.Random, tally: Counter[str]) -> None:
    plan = bound(case.text)
    strategy = strategy_of(plan.events[0], plan).conclusion
    assert strategy is not None, case.text
    if strategy.engine is not Engine.AUTOMATON:
        tally["chains"] += 1
        return
    tally["cases"] += len(case.keys)
    by_key = [probable_oracle(plan, {"S": rows})["q"] for rows in case.keys]
    wanted = {(one.key[0], one.end): (one.start, one.probability) for some in by_key for one in some}
    rows = table_of(case, plan)
    evaluator = evaluator_of(plan, exact=True)
    _, ends = evaluator.ends(evaluator.start(), {"S": rows}, exact=True)
    assert answers(rows, ends) == wanted, case
    times = case.times
    found = in_blocks(plan, rows, sorted(rng.sample(times, rng.randint(0, min(3, len(times))))))
    assert {place: one[0] for place, one in found.items()} == {place: one[0] for place, one in wanted.items()}, case
    assert all(abs(chance - float(wanted[place][1])) < 1e-12 for place, (_, chance) in found.items()), case
    tally["results"] += sum(map(bool, by_key))
    tally["uncertain"] += sum(any(one.probability < 1 for one in some) for some in by_key)
    tally["chained"] += len(case.keys) * ("GIVEN" in case.text)
    for word in (
        "STRICT",
        "NEXT",
        "SEQ (",
        "OR",
        "NOT",
        "COMPLEMENT",
        "EVENTS",
        "{",
        "+",
        "*",
        "?",
        "RESTART",
        "VALUES",
    ):
        tally[word] += sum(map(bool, by_key)) * (word in case.text)


@pytest.fixture(scope="module")
def tally() -> Counter[str]:
    return Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_automata_eq_definition(seed: int, tally: Counter[str]) -> None:
    tally["seeds"] += 1
    rng = random.Random(seed)
    for _ in range(PROGRAMS_PER_SEED):
        check(random_regular(rng), rng, tally)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_automata_eq_definition_at_length(seed: int, tally: Counter[str]) -> None:
    rng = random.Random(seed)
    for _ in range(PROGRAMS_PER_SEED * 4):
        check(random_regular(rng, worlds=96), rng, tally)


def test_the_cases_are_of_all_kinds(tally: Counter[str]) -> None:
    require_all(tally.pop("seeds", 0), len(SEEDS))
    assert tally["cases"] >= 500
    assert tally["uncertain"] >= 250
    assert min(tally.values()) >= 15, tally


def test_the_row_that_a_result_names_can_be_the_last() -> None:
    """The likelier `c` ends no match, because there never was a `b`."""
    text = """
    STREAM S(id STRING, t BIGINT, k STRING, v STRING) ID id KEY k TIME t PROBABILITY p;
    EVENT q AS PATTERN (S[v = 'a']) OR (SEQ STRICT(S[v = 'b'], S[v = 'c'])) PARTITION BY k PER END;
    """
    rows = [
        {"id": "1", "t": 1, "k": "x", "v": "d", "p": 1.0},
        {"id": "2a", "t": 2, "k": "x", "v": "a", "p": 0.25},
        {"id": "2c", "t": 2, "k": "x", "v": "c", "p": 0.75},
    ]
    (found,) = inkling.parse(text).run_local({"S": rows}).tables["q"].to_pylist()
    assert (found["lineage"], found["probability"], found["method"]) == (["2a"], 0.25, "exact")


def test_what_samples_say_on_demand() -> None:
    text = """
    STREAM S(t BIGINT, k STRING, v STRING) KEY k TIME t PROBABILITY p;
    EVENT q AS PATTERN SEQ STRICT(S[v = 'a'], S[v = 'b']) PARTITION BY k PER END{};
    """
    rng = np.random.default_rng(1)
    rows = [
        {"t": t, "k": k, "v": v, "p": chance}
        for k in ("x", "y")
        for t in range(30)
        for v, chance in (("a", round(float(rng.uniform(0.2, 0.6)), 3)), ("b", 0.3))
    ]
    exact = inkling.parse(text.format("")).run_local({"S": rows}).tables["q"]
    sampled = inkling.parse(text.format(" SAMPLED")).run_local({"S": rows}).tables["q"]
    assert set(exact["method"].to_pylist()) == {"exact"}
    assert set(sampled["method"].to_pylist()) == {"sampled"}
    by_place = {(row["k"], row["end"]): row["probability"] for row in exact.to_pylist()}
    for row in sampled.to_pylist():
        assert abs(row["probability"] - by_place[row["k"], row["end"]]) <= row["error"]
