"""Random sequences over uncertain streams, cut somewhere: their open matches are those of the definition.

Chains over imprecise times have exact probabilities; in sampled worlds they may be off by the error that is stated.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.chains import ChainCase, chain_cases
from tests.kit.context import expression_context
from tests.kit.look_back import require_all
from tests.kit.open_oracle import Begun, OpenShare, open_oracle, without_conditions
from tests.kit.probable_oracle import base_event, certain_worlds, events_of
from tests.kit.programs import Options, random_program
from tests.kit.uncertain import Uncertainties, uncertain_cases
from tests.kit.universe import Declared, Kind, Uncertain

from inkling.analysis.clock import time_unit
from inkling.errors import NotSupportedYet
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.sampling import Sampling
from inkling.knowledge import materialize
from inkling.logical import plan as p
from inkling.meaning.open_matches import is_covered, open_in_world, until
from inkling.meaning.semantics import derive
from inkling.model.time import Clock, Duration
from inkling.model.watermarks import NEVER
from inkling.physical.planner import plan_program
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.stream import StreamProgram

pytestmark = pytest.mark.long

SEEDS = range(4)
PROGRAMS_PER_SEED = 40
KEYS = 3
SAMPLING = Sampling(epsilon=0.1, delta=1e-7, seed=5)

Rows = dict[str, list[dict[str, Any]]]

tally: Counter[str] = Counter()


def some_chains(seed: int) -> Iterator[tuple[ChainCase, Rows]]:
    """Chains, each with the first rows of a key."""
    rng = random.Random(seed)
    for case in chain_cases(seed + 500, PROGRAMS_PER_SEED, KEYS):
        if is_covered(case.chain):
            names = [one.schema.name for one in case.plan.streams]
            for rows in case.keys:
                now = rng.randrange(1, 9)
                yield case, {name: [row for row in rows[name] if _begin(row) <= now] for name in names}


def _begin(row: Mapping[str, Any]) -> int:
    return int(row["t"] if "t" in row else row["lo"])


def pushed(plan: p.ProgramPlan, rows: Rows) -> tuple[int, int, list[OpenMatch]]:
    """The latest time, the watermark, and what is open after rows that came in the order of their times."""
    unit = time_unit(plan, dict.fromkeys(rows, Clock.TICKS))
    clocks = {one.schema.name: Clock.TICKS for one in plan.streams}
    context = materialize.expression_context({}, unit)
    live = StreamProgram(Operators(plan_program(plan), clocks, {}, context, unit, SAMPLING), Clock.TICKS)
    state = live.start()
    every = sorted(((_begin(row), name, row) for name, some in rows.items() for row in some), key=lambda one: one[:2])
    for _, name, row in every:
        given = tuple(one for one in plan.streams if one.schema.name == name)
        state, _ = live.step(state, arrow_streams(replace(plan, streams=given), {name: [row]}))
    now = max((time for time, _, _ in every), default=NEVER)
    return now, live.watermark(state), live.open_matches(state, "x")


def by_events(plan: p.ProgramPlan, rows: Rows, found: list[OpenMatch]) -> dict[Begun, OpenMatch]:
    """Open matches by the events that their ids stand for."""
    events = {
        row["id"]: base_event(stream.schema, row, 0) for stream in plan.streams for row in rows[stream.schema.name]
    }
    pattern = plan.events[-1].pattern
    is_conjunction = isinstance(pattern, p.Conjunction)
    return {
        (
            one.reached,
            without_conditions(one.awaits) if is_conjunction else "",
            tuple(events[each] for each in one.lineage),
        ): one
        for one in found
    }


def agree(wanted: Mapping[Begun, OpenShare], found: Mapping[Begun, OpenMatch], missed: float = 0.0) -> None:
    """Probabilities are right up to the stated errors; matches up to a probability may be missed."""
    for begun in wanted.keys() | found.keys():
        share = wanted[begun].probability if begun in wanted else Fraction(0)
        if begun not in found:
            assert share <= missed, begun
            continue
        one = found[begun]
        assert abs(float(share) - one.probability) <= one.error + 1e-12, (begun, share, one)


def with_late_rows(plan: p.ProgramPlan, late: int) -> p.ProgramPlan:
    span = Duration(Fraction(late), "TICKS")
    return replace(plan, streams=tuple(replace(one, schema=replace(one.schema, late=span)) for one in plan.streams))


@pytest.mark.parametrize("seed", SEEDS)
def test_chains_over_imprecise_times(seed: int) -> None:
    rng = random.Random(seed)
    tally["seeds"] += 1
    for case, rows in some_chains(seed):
        plan = with_late_rows(case.plan, rng.choice([0, 0, 3]))
        now, watermark, found = pushed(plan, rows)
        wanted = open_oracle(plan, rows, "x", now, watermark)
        named = by_events(plan, rows, found)
        is_eager = any(isinstance(part, p.Repetition) and part.eager for part in case.chain.pattern.parts)  # type: ignore[union-attr]
        agree(wanted, named, SAMPLING.epsilon if is_eager else 0.0)
        if is_eager:
            tally["eager open"] += len(found)
            assert {one.method for one in found} <= {"sampled"}
            continue
        for begun, one in named.items():
            hull = wanted[begun]
            assert (one.start, one.end, one.latest) == (hull.start, hull.end, hull.latest), (begun, case.chain)
            assert (one.method, one.error) == ("exact", 0.0)
        policy = case.chain.pattern.policy  # type: ignore[union-attr]
        tally[f"{policy.value} open"] += len(found)
        tally["uncertain"] += sum(one.probability < 1 for one in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_in_sampled_worlds(seed: int) -> None:
    n_seen = 0
    for case, rows in list(some_chains(seed + 70))[:40]:
        (event,) = case.plan.events
        plan = replace(case.plan, events=(replace(event, demand=p.Demand.SAMPLED),))
        try:
            now, watermark, found = pushed(plan, rows)
        except NotSupportedYet:
            continue
        agree(open_oracle(plan, rows, "x", now, watermark), by_events(plan, rows, found), SAMPLING.epsilon)
        assert {one.method for one in found} <= {"sampled"}
        n_seen += len(found)
    assert n_seen


@pytest.mark.parametrize("seed", SEEDS)
def test_results_were_open_before_in_their_world(seed: int) -> None:
    """Of the definition itself: what is half done at a moment, and becomes a result, is open then.

    Repetitions are left out: part of one is no part that has happened.
    """
    n_seen = 0
    for case, rows in some_chains(seed + 30):
        if any(isinstance(part, p.Repetition) for part in case.chain.pattern.parts):  # type: ignore[union-attr]
            continue
        context = expression_context(case.plan, {}, Clock.TICKS)
        for _, program, world in certain_worlds(case.plan, rows, {}, context):
            (event,) = program.events
            results = [one.result for one in derive(event, world, context, {})]
            for now in range(8):
                happened = until(world, now)
                listed = {events_of(one.result.lineage) for one in open_in_world(event, happened, now - 1, context)}
                here = {name for one in happened.events for name in events_of(one.ids)}
                for result in results:
                    begun = tuple(one for one in events_of(result.lineage) if one in here)
                    if begun and len(begun) < len(events_of(result.lineage)):
                        n_seen += 1
                        assert begun in listed, (case.chain, rows, result, now)
    assert n_seen


MIXED = Uncertainties(
    options=Options(kinds=(Kind.POINTS, Kind.ORDERED), n_events=1, bad_rows=False),
    uncertain=(Uncertain.VALUE, Uncertain.VALUE, Uncertain.CHAIN, Uncertain.TIME),
    most_worlds=(8, 16, 32),
    accept=lambda plan: (
        len(plan.events) == 1 and is_covered(plan.events[0]) and all(one.schema.id for one in plan.streams)
    ),
)


def conjunction_program(rng: random.Random, streams: Sequence[Declared], options: Options) -> str:
    """A random program that has AND outside of brackets."""
    while True:
        text = random_program(rng, streams, options)
        _, pattern = re.sub(r"\[.*?\]", "", text).split(" PATTERN ", 1)
        if re.match(r"[^(;]* AND ", re.split(r"WHERE|HAVING|WITHIN|BETWEEN", pattern)[0]):
            return text


CONJUNCTIONS = replace(
    MIXED,
    options=replace(MIXED.options, kinds=(Kind.POINTS, Kind.POINTS, Kind.ORDERED)),
    uncertain=(Uncertain.VALUE, Uncertain.TIME),
    accept=lambda plan: MIXED.accept(plan) and isinstance(plan.events[0].pattern, p.Conjunction),
    write=conjunction_program,
)


@pytest.mark.parametrize("seed", SEEDS)
def test_sequences_over_alternatives(seed: int) -> None:
    compare(seed, 900, 60, MIXED)


@pytest.mark.parametrize("seed", SEEDS)
def test_items_of_and(seed: int) -> None:
    compare(seed, 1300, 15, CONJUNCTIONS)


def compare(seed: int, first: int, n_programs: int, uncertainties: Uncertainties) -> None:
    n_seen, rng = 0, random.Random(seed)
    for case in uncertain_cases(seed + first, n_programs, uncertainties=uncertainties):
        (event,) = case.plan.events
        starts = {one.schema.name: one.schema.start for one in case.plan.streams}
        every = sorted({row[starts[name]] for name in event.sources for row in case.rows[name]})  # type: ignore[type-var]
        now = rng.choice(every) if every else 0
        rows = {name: [row for row in case.rows[name] if row[starts[name]] <= now] for name in event.sources}  # type: ignore[operator]
        stream = case.program.open(arrow_tables(case.plan, case.tables), unbounded=True, sampling=SAMPLING)
        for name in rng.sample(event.sources, len(event.sources)):
            stream.push({name: rows[name]})
        try:
            found = stream.open_matches(event.name).to_pylist()
        except NotSupportedYet:
            continue
        known = {**{name: [] for name in starts}, **rows}
        watermark = NEVER if stream.watermark is None else stream.watermark
        wanted = open_oracle(case.plan, known, event.name, now, watermark, case.tables)  # type: ignore[arg-type]
        named = by_events(case.plan, known, [OpenMatch(**one) for one in found])
        assert len(named) == len(found)
        agree(wanted, named, SAMPLING.epsilon)
        n_seen += len(found)
        if isinstance(event.pattern, p.Conjunction):
            tally["items of AND open"] += len(found)
            tally["exact items of AND open"] += sum(one["method"] == "exact" for one in found)
    assert n_seen >= 5


def test_every_policy_was_seen() -> None:
    require_all(tally["seeds"], len(SEEDS))
    assert min(tally[f"{policy.value} open"] for policy in p.Policy) >= 20
    assert tally["uncertain"] >= 100
    assert tally["eager open"] >= 20
    assert tally["items of AND open"] >= 40
    assert tally["exact items of AND open"] >= 4
