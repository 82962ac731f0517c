"""Queries of every class, answered state by state, are what the definition says; so are lanes that are all worlds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.oracle import ProbableResult, bound, probable_oracle
from tests.kit.queries import SHAPES, QueryCase, random_query
from tests.kit.query_runs import Block, Ready, combined_answers, ready, unit_of
from tests.oracles.probable_values import CASES, queries_of, streams_of, tables_of
from tests.reference.probable.best_world import most_probable_world
from tests.reference.probable.given_worlds import GivenWorlds
from tests.reference.probable.partly_sampled import answers_in, partly_sampled

from inkling import parse
from inkling.analysis.query.plans import (
    GroupSeqPlan,
    LastWinsPlan,
    NoSafePlan,
    PlanObstacle,
    ProjectPlan,
    QueryClass,
    RegPlan,
    SeqPlan,
    class_of,
    is_independent,
    plan_of,
)
from inkling.evaluators.query.answers import Answers
from inkling.evaluators.query.groundings import groundings_of
from inkling.evaluators.query.sets.sampled import SampledWorlds, WorldSampler
from inkling.evaluators.query.sets.steps import StreamMove, StreamOutcome
from inkling.evaluators.query.sets.universal import Universal, UniversalState
from inkling.evaluators.state import from_bytes, to_bytes
from inkling.kernels.query.live_sets import NEVER, alike, least_of, state_words
from inkling.logical.plan import Per, ProgramPlan
from inkling.meaning.worlds import independent_worlds, markov_worlds

pytestmark = pytest.mark.long

N_CASES = 1000
PARTS = 10
BY_ID = {case["id"]: case for case in CASES}

Found = dict[int, dict[int, tuple[Fraction | float, int]]]
"""By unit and time: the chance, and the earliest start."""


def advanced(evaluator: Universal, state: UniversalState, block: Block) -> tuple[UniversalState, Answers]:
    return evaluator.advance(state, block.events, block.predicates, block.tables)


def answered(evaluator: Universal, block: Block) -> Answers:
    return advanced(evaluator, evaluator.start(), block)[1]


def by_unit(answers: Answers) -> Found:
    found: Found = {}
    columns = (answers.grounding, answers.time, answers.chance, answers.start)
    for unit, time, chance, start in zip(*(column.tolist() for column in columns), strict=True):
        assert time not in found.setdefault(unit, {})
        found[unit][time] = chance, start
    return found


def as_results(found: Found, once: bool) -> Found:
    """With PER VALUES there is one result, whose end is the last that is possible."""
    if not once:
        return found
    return {
        unit: {max(at): (sum(chance for chance, _ in at.values()), min(start for _, start in at.values()))}
        for unit, at in found.items()
    }


def expected(results: Sequence[ProbableResult]) -> Found:
    found: Found = {}
    for one in results:
        found.setdefault(unit_of(one.values, pa.int64()), {})[one.end] = one.probability, one.start
    return found


@cache
def a_case(number: int) -> tuple[QueryCase, Ready]:
    worlds = 12 if number % 7 else 32
    case = random_query(random.Random(number), SHAPES[number % len(SHAPES)], worlds=worlds)
    asked = ready(planned(case.text), case.rows)
    assert asked is not None, case.text
    return case, asked


@lru_cache(maxsize=8)
def planned(text: str) -> ProgramPlan:
    return bound(text)


@cache
def results_of(number: int) -> Sequence[ProbableResult]:
    case, _ = a_case(number)
    return probable_oracle(planned(case.text), case.rows)["q"]


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_what_the_definition_says(part: int) -> None:
    for number in range(part, N_CASES, PARTS):
        case, asked = a_case(number)
        results = results_of(number)
        query, once = asked.query, asked.query.per is Per.VALUES
        block = asked.block()
        head = sorted(query.head)
        found = by_unit(answered(Universal(query, head, asked.context), block))
        assert as_results(found, once) == expected(results), f"{number}: {case.text} {case.rows}"
        for name in independent_ones(query) if not head else ():
            units = combined_answers(answered(Universal(query, (name,), asked.context), block), once=once)
            whole = {one.end: one.probability for one in results}
            last = {max(units): units[max(units)]} if once and units else units
            assert last == whole, f"{number} by {name}: {case.text} {case.rows}"


def independent_ones(query: Any) -> list[str]:
    return [one.name for one in query.variables if is_independent(query, one, len(query.subgoals))]


def test_cases_are_of_every_class_and_every_obstacle() -> None:
    classes: Counter[QueryClass] = Counter()
    plans: Counter[object] = Counter()
    features: Counter[str] = Counter()
    for number in range(300):
        case, asked = a_case(number)
        classes[class_of(asked.query).kind] += 1
        plan = plan_of(asked.query)
        plans[plan.obstacle if isinstance(plan, NoSafePlan) else type(plan)] += 1
        features += Counter(
            word
            for word in ("CHECK", "HAVING", "LAST", "+", "GIVEN", "KEY k, j", "PER VALUES", "PARTITION", "(SEQ")
            if word in case.text
        )
    assert min(classes[one] for one in QueryClass) > 15
    assert {PlanObstacle.NONLOCAL, PlanObstacle.JOIN_VAR, PlanObstacle.KLEENE_VAR} <= set(plans)
    assert {RegPlan, ProjectPlan, SeqPlan, LastWinsPlan, GroupSeqPlan} <= set(plans)
    assert min(features.values()) > 5
    assert len(features) == 9


def test_cutting_anywhere_and_storing_states_changes_nothing() -> None:
    for number in range(5, 75):
        case, asked = a_case(number)
        head = sorted(asked.query.head)
        exactly = number % 2 == 0
        whole = by_unit(answered(Universal(asked.query, head, asked.context), asked.block(exactly=exactly)))
        pieces: Found = {}
        state = Universal(asked.query, head, asked.context).start()
        for block in asked.blocks(asked.times[:-1], exactly=exactly):
            fresh = Universal(asked.query, head, asked.context)
            state, answers = advanced(fresh, from_bytes(to_bytes(state), UniversalState), block)
            for unit, at in by_unit(answers).items():
                pieces.setdefault(unit, {}).update(at)
        assert pieces == whole, f"{number}: {case.text} {case.rows}"


@pytest.mark.parametrize("cap", [0, 3])
def test_cutting_sampled_worlds_changes_nothing(cap: int) -> None:
    n_sampled = 0
    for number in range(30):
        case, asked = a_case(number)
        sampling = WorldSampler(70, 0.2, seed=number)
        universal = Universal(asked.query, (), asked.context, cap=cap, sampling=sampling)
        state, answers = advanced(universal, universal.start(), asked.block(exactly=False))
        n_sampled += sum(isinstance(one, SampledWorlds) for one in state.groundings.values())
        assert set(answers.error.tolist()) <= ({0.2} if cap == 0 else {0.0, 0.2})
        pieces: Found = {}
        later = universal.start()
        for block in asked.blocks(asked.times[:-1], exactly=False):
            later, some = advanced(universal, from_bytes(to_bytes(later), UniversalState), block)
            pieces.setdefault(0, {}).update(by_unit(some).get(0, {}))
        assert pieces.get(0, {}) == by_unit(answers).get(0, {}), f"{number}: {case.text} {case.rows}"
    assert n_sampled > 10


ONE = "STREAM A(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t PROBABILITY p;"
TWO = f"{ONE} STREAM B(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t PROBABILITY p;"
READ = [(1, 1, 1, 0.5), (1, 1, None, 0.25), (1, 2, 2, 0.5), (2, 1, 2, 0.25), (2, 2, 1, 0.5), (3, 1, 1, 0.5)]
ROWS = [{"t": t, "k": k, "v": v, "p": p} for t, k, v, p in READ]
LATER = [{"t": t + 1, "k": k, "v": v, "p": p} for t, k, v, p in READ[:4]]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{ONE} EVENT q AS PATTERN A a PARTITION BY v PER END;", id="no key, no partition"),
        pytest.param(f"{ONE} EVENT q AS PATTERN SEQ NEXT(A a+) PARTITION BY v PER END;", id="nor with repetition"),
        pytest.param(f"{ONE} EVENT q AS PATTERN SEQ NEXT(A a+ CHECK (a.k = 1)) PER END;", id="a check breaks"),
        pytest.param(f"{TWO} EVENT q AS PATTERN SEQ NEXT(A a, B b[k = a.k AND k = a.v]) PER END;", id="two for one"),
        pytest.param(
            f"{TWO} EVENT q AS PATTERN SEQ NEXT(A a, A b, B c[k = a.k AND k = b.v]) PER END;", id="known too late"
        ),
        pytest.param(
            f"{TWO} EVENT q AS PATTERN SEQ NEXT(A a, A b+, B c) HAVING LAST(b).v = 1 PER END;", id="last of some"
        ),
    ],
)
def test_what_a_query_asks_for(text: str) -> None:
    plan = bound(text)
    rows = {"A": ROWS, "B": LATER}
    asked = ready(plan, rows)
    assert asked is not None
    results = probable_oracle(plan, rows)["q"]
    chances: dict[int, tuple[Fraction, int]] = {}
    if plan.events[0].partition:  # results are distinguished by what they are partitioned by
        assert all(one.key != (None,) for one in results)
        together = bound(
            text.replace("A a PARTITION BY v", "A a[v IS NOT NULL]").replace(
                "A a+) PARTITION BY v", "A a[v IS NOT NULL]+)"
            )
        )
        results = probable_oracle(together, rows)["q"]
    for one in results:
        chances[one.end] = one.probability, one.start
    found = by_unit(answered(Universal(asked.query, (), asked.context), asked.block())).get(0, {})
    assert {at: chance for at, (chance, _) in found.items()} == {at: chance for at, (chance, _) in chances.items()}
    if not plan.events[0].partition:
        assert found == chances
    assert len(found) > 0


def test_having_that_asks_for_the_last_of_all_is_no_query() -> None:
    plan = bound(f"{TWO} EVENT q AS PATTERN SEQ NEXT(A a, B b+) HAVING LAST(b).v = 1 PER END;")
    assert ready(plan, {"A": ROWS, "B": LATER}) is None


class AllWorlds:
    """One lane for each world of the streams of a block."""

    def __init__(self, asked: Ready, block: Block, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        events, by_world = block.events, [(Fraction(1), frozenset[tuple[str, int]]())]
        for name in events.sources:
            schema, numbered = asked.schemas[name], [{**row, "row": at} for at, row in enumerate(rows.get(name, ()))]
            uncertainty = schema.uncertainty
            if uncertainty is None:
                worlds = [(Fraction(1), numbered)]
            else:
                all_worlds = markov_worlds if uncertainty.given else independent_worlds  # type: ignore[union-attr]
                worlds = list(all_worlds(numbered, uncertainty, schema))  # type: ignore[arg-type]
            by_world = [
                (prob * other, chosen | {(name, int(row["row"])) for row in some})
                for prob, chosen in by_world
                for other, some in worlds
            ]
        self.weights = [prob for prob, _ in by_world]
        self._chosen = [chosen for _, chosen in by_world]
        self._events = events
        sources = events.source[events.stream[events.group]]
        self._name = [(events.sources[one], int(row)) for one, row in zip(sources, events.row, strict=True)]

    def until(self, time: int, asked: Ready) -> dict[frozenset[tuple[str, int]], Fraction]:
        """The worlds of streams that some part looks at, up to a time, summed over all else."""
        events = self._events
        reads = groundings_of(asked.query, (), events, len(asked.query.subgoals)).reads.any(axis=0)
        rows = np.flatnonzero((np.asarray(reads)[events.stream] & (events.time <= time))[events.group])
        seen = frozenset(self._name[row] for row in rows.tolist())
        found: dict[frozenset[tuple[str, int]], Fraction] = {}
        for weight, chosen in zip(self.weights, self._chosen, strict=True):
            found[chosen & seen] = found.get(chosen & seen, Fraction(0)) + weight
        return found

    def draw(
        self, move: StreamMove, outcomes: Sequence[StreamOutcome], after: Mapping[int, range], before: np.ndarray
    ) -> np.ndarray:
        """The outcome whose row the world has; that of no event where it has none."""
        return np.array(
            [self._in(chosen, outcomes, after.get(int(v))) for chosen, v in zip(self._chosen, before, strict=True)]
        )

    def _in(self, chosen: frozenset[tuple[str, int]], outcomes: Sequence[StreamOutcome], some: range | None) -> int:
        nothing = -1
        for at in some or ():
            if outcomes[at].row < 0:
                nothing = at
            elif self._name[outcomes[at].row] in chosen:
                return at
        return nothing


def test_lanes_that_are_all_worlds_are_exact() -> None:
    for number in range(1, 150, 2):
        case, asked = a_case(number)
        if asked.query.head:
            continue
        results = results_of(number)
        block = asked.block()
        worlds = AllWorlds(asked, block, case.rows)
        weights = [float(one) for one in worlds.weights]
        evaluator = GivenWorlds(asked.query, (), asked.context, weights, worlds.draw)
        once = asked.query.per is Per.VALUES
        found = as_results(by_unit(answered(evaluator, block)), once).get(0, {})
        wanted = expected(results).get(0, {})
        assert {at: start for at, (_, start) in found.items()} == {at: start for at, (_, start) in wanted.items()}
        for at, (chance, _) in wanted.items():
            assert found[at][0] == pytest.approx(float(chance), abs=1e-12), f"{number}: {case.text} {case.rows}"


def lahar(name: str) -> Ready:
    case = BY_ID[name]
    _, written = streams_of(case)
    rows = {name: [{**row, "p": float(Fraction(str(row["p"])))} for row in some] for name, some in written.items()}
    asked = ready(parse(queries_of(case), name="x.lahar").plan, rows, tables_of(case))
    assert asked is not None
    return asked


@pytest.mark.parametrize("name", BY_ID)
def test_queries_of_lahar(name: str) -> None:
    asked = lahar(name)
    block = asked.block()
    plan = plan_of(asked.query)
    wanted = {at: Fraction(one) for at, one in enumerate(BY_ID[name]["expect"], start=1) if one != "0"}
    for variables in {(), tuple(sorted(plan.env)) if isinstance(plan, NoSafePlan) else ()}:
        found = combined_answers(answered(Universal(asked.query, variables, asked.context), block), once=False)
        assert {at: float(chance) for at, chance in found.items()} == pytest.approx(
            {at: float(chance) for at, chance in wanted.items()}, abs=1e-12
        )


def test_sampled_shares_are_off_no_more_often_than_allowed() -> None:
    """Of 400 repetitions with 150 worlds, less than a tenth are off by more than a tenth."""
    asked = lahar("L19")
    block = asked.block(exactly=False)
    shares = []
    for seed in range(400):
        found = answered(Universal(asked.query, (), asked.context, cap=0, sampling=WorldSampler(150, 0.1, seed)), block)
        shares.append(float(by_unit(found)[0][4][0]))
    wanted = 335 / 1024
    assert np.mean(np.abs(np.array(shares) - wanted) > 0.1) < 0.1
    assert np.mean(shares) == pytest.approx(wanted, abs=4 * (wanted * (1 - wanted) / 60_000) ** 0.5)


def test_a_unit_that_grows_too_large_is_sampled_from_what_is_known() -> None:
    asked = lahar("L20")
    block = asked.block(exactly=False)
    exact = by_unit(answered(Universal(asked.query, (), asked.context), block))[0]
    capped = Universal(asked.query, (), asked.context, cap=5, sampling=WorldSampler(64_000, 0.01, 1))
    state, answers = advanced(capped, capped.start(), block)
    assert isinstance(state.groundings[0], SampledWorlds)
    assert answers.error.tolist() == [0.01, 0.01]
    for at, (chance, start) in by_unit(answers)[0].items():
        assert float(chance) == pytest.approx(float(exact[at][0]), abs=0.01)
        assert start == exact[at][1]


@pytest.mark.parametrize(("time", "wanted"), [(1, None), (2, "3/16"), (3, "3/32"), (4, "3/64")])
def test_most_probable_world(time: int, wanted: str | None) -> None:
    """The one in which Joe is always in a and Sue in b."""
    asked = lahar("L10")
    block = asked.block(exactly=False)
    best = most_probable_world(asked.query, block.events, block.predicates, block.tables, asked.context, time)
    if wanted is None:
        assert best is None
        return
    assert best is not None
    assert best.probability == pytest.approx(float(Fraction(wanted)))
    rows = [block.tables[name].slice(row, 1).to_pylist()[0] for name, row in best.events]
    assert sorted((row["c0"], row["t"], row["c1"]) for row in rows) == [
        *(("Joe", at, "a") for at in range(1, time + 1)),
        *(("Sue", at, "b") for at in range(1, time + 1)),
    ]


def test_most_probable_worlds_are_the_best_of_all_worlds() -> None:
    n_found = 0
    for number in range(0, 150, 3):
        case, asked = a_case(number)
        if asked.query.head or asked.query.per is Per.VALUES:
            continue
        results = results_of(number)
        block = asked.block()
        worlds = AllWorlds(asked, block, case.rows)
        time = max((one.end for one in results), default=0)
        best = most_probable_world(asked.query, block.events, block.predicates, block.tables, asked.context, time)
        if not results:
            assert best is None
            continue
        assert best is not None
        n_found += 1
        prefixes = worlds.until(time, asked)
        assert prefixes[frozenset(best.events)] == best.probability
        plan = bound(case.text)
        for prefix, prob in prefixes.items():
            if prob > best.probability:
                seen = {name: [rows[at] for of, at in prefix if of == name] for name, rows in case.rows.items()}
                assert time not in {one.end for one in in_one_world(plan, seen)}, f"{number}: {case.text} {case.rows}"
    assert n_found > 10


def in_one_world(plan: Any, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Sequence[ProbableResult]:
    streams = tuple(replace(one, schema=replace(one.schema, uncertainty=None)) for one in plan.streams)
    return probable_oracle(replace(plan, streams=streams), rows)["q"]


def test_sampling_one_stream_varies_less() -> None:
    """103/1024 against 175/1024 where whole worlds are sampled."""
    asked = lahar("L21")
    block = asked.block()
    universal = Universal(asked.query, (), asked.context)
    events = block.events
    uncertain = events.source[events.stream] == events.sources.index("T")
    groups = np.flatnonzero(uncertain).tolist()
    rows = [range(events.offsets[one], events.offsets[one + 1]) for one in groups]
    chances = []
    for chosen in ((a, b, c) for a in rows[0] for b in rows[1] for c in rows[2]):
        given = answers_in(universal, events, block.predicates, block.tables, dict(zip(groups, chosen, strict=True)))
        chances.append(by_unit(given).get(0, {}).get(8, (Fraction(0), 0))[0])
    mean = sum(chances) / Fraction(8)
    assert mean == Fraction(25, 32)
    assert sum(one * one for one in chances) / Fraction(8) - mean**2 == Fraction(103, 1024)
    found = partly_sampled(universal, events, block.predicates, block.tables, ["T"], WorldSampler(4000, 0.05, 7))
    assert float(by_unit(found)[0][8][0]) == pytest.approx(25 / 32, abs=4 * (103 / 1024 / 4000) ** 0.5)


def test_equal_states_of_many_entries_are_found() -> None:
    rng = np.random.default_rng(1)
    for width in (0, 1, 21, 22, 43, 64, 70):
        n, chains = 60, width % 7
        old = np.where(rng.random((n, width)) < 0.05, 5, NEVER)
        taken = rng.random((n, width)) < 0.02
        new = np.where(rng.random((n, width)) < 0.02, 7, NEVER)
        done = np.where(rng.random((n, 1)) < 0.5, 3, NEVER)
        values = rng.integers(0, 2, (n, chains)).astype(np.uint16) * np.uint16(40_000)
        again = rng.integers(0, n, 2 * n)  # every state several times
        parts = [some[again] for some in (old, taken, new, done, values)]
        number, first = alike(state_words(*parts))
        rows = [tuple(bytes(one[at]) for one in parts) for at in range(2 * n)]
        assert len({*zip(number.tolist(), rows, strict=True)}) == len({*rows}) == len(first)
        starts = rng.integers(0, 9, (2 * n, 3))
        least = least_of(number, first, starts)
        assert all((least[at] == starts[number == at].min(axis=0)).all() for at in range(len(first)))
