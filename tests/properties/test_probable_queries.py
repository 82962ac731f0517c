"""Random queries over probable streams of every class: what a program finds is what the definition says.

Numbers are floats here, all other columns are exact; engines are compared in fractions beside them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.kit.exact_kernels import CHAINS_IN_FRACTIONS
from tests.kit.oracle import ProbableResult, probable_oracle
from tests.kit.probable_comparison import FoundResult, found_in, probable_differences
from tests.kit.queries import QueryCase, random_query
from tests.kit.query_runs import combined_answers, ready

import inkling
from inkling.analysis.query.strategy import Engine, Strategy, strategy_of
from inkling.evaluators.query.answers import joined
from inkling.evaluators.query.automaton.regular import Regular
from inkling.local_stream import LocalStream
from inkling.logical.plan import Per
from inkling.query import Program

SEEDS = range(4)
LONG_SEEDS = range(4, 12)
QUERIES_PER_SEED = 260
STREAMS_PER_SEED = 40
TOLERANCE = 1e-12


def strategy(program: Program) -> Strategy:
    found = strategy_of(program.plan.events[0], program.plan)
    assert found.conclusion is not None, found.reason
    return found.conclusion


def differences(
    program: Program, case: QueryCase, expected: Mapping[str, list[ProbableResult]], tables: Mapping[str, pa.Table]
) -> list[str]:
    """Safe plans do not tell where matches begin."""
    found: Mapping[str, list[FoundResult]] = found_in(program.plan, tables)
    if strategy(program).engine is Engine.SAFE:
        expected = {name: [replace(one, start=0) for one in some] for name, some in expected.items()}
        found = {name: [replace(one, start=0) for one in some] for name, some in found.items()}
    return probable_differences(program.plan, case.rows, expected, found, tolerance=TOLERANCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_local_eq_definition(seed: int) -> None:
    rng, engines = random.Random(seed), Counter[Engine]()
    for _ in range(QUERIES_PER_SEED):
        case = random_query(rng)
        program = inkling.parse(case.text)
        engines[strategy(program).engine] += 1
        results = program.run_local(case.rows)
        assert not len(results.rejects)
        assert set(results.tables["q"]["method"].to_pylist()) <= {"exact"}
        expected = probable_oracle(program.plan, case.rows)
        wrong = differences(program, case, expected, results.tables)
        assert not wrong, "\n".join([case.text, str(case.rows), *wrong])
    assert min(engines[one] for one in (Engine.CHAINS, Engine.SAFE, Engine.UNIVERSAL)) >= QUERIES_PER_SEED // 10


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_local_eq_definition_at_length(seed: int) -> None:
    test_local_eq_definition(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_chains_of_states_in_fractions(seed: int) -> None:
    rng, n_compared = random.Random(100 + seed), 0
    for _ in range(QUERIES_PER_SEED):
        case = random_query(rng, rng.choice(("regular", "extended")))
        program = inkling.parse(case.text)
        how = strategy(program)
        if how.engine is not Engine.CHAINS or how.query.head:
            continue
        given = ready(program.plan, case.rows)
        assert given is not None
        once = how.query.per is Per.VALUES
        chains = Regular.of(how.query, len(how.query.subgoals), how.variables, ever=once)
        chains = replace(chains, kernels=CHAINS_IN_FRACTIONS)
        state, found = chains.start(), {}
        cuts = sorted(rng.sample(given.times, k=min(len(given.times), rng.choice((0, 0, 1, 2)))))
        answers = []
        for block in given.blocks(cuts):
            state, some = chains.advance(state, block.events, block.predicates)
            answers.append(some)
        whole = joined(answers)
        found = combined_answers(whole, once=once)
        wanted = {one.end: one.probability for one in probable_oracle(program.plan, case.rows)["q"]}
        if once:
            found = {max(found): found[max(found)]} if found else {}
        assert {time: chance for time, chance in found.items() if chance} == wanted, case.text
        assert all(isinstance(one, Fraction | int) for one in found.values())
        n_compared += 1
    assert n_compared >= QUERIES_PER_SEED // 4


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_definition(seed: int) -> None:
    """Whatever the pieces, and with the state going through bytes now and then."""
    rng = random.Random(200 + seed)
    for _ in range(STREAMS_PER_SEED):
        case = random_query(rng)
        program = inkling.parse(case.text)
        stream = program.open(unbounded=True)
        times = sorted({row["t"] for rows in case.rows.values() for row in rows})
        tables: dict[str, list[pa.Table]] = {"q": []}
        for number in times:
            if rng.random() < 0.3:
                stream = LocalStream.restore(program, stream.snapshot())
            rows = {name: [row for row in some if row["t"] == number] for name, some in case.rows.items()}
            tables["q"].append(stream.push({name: some for name, some in rows.items() if some}).tables["q"])
        tables["q"].append(stream.finish().tables["q"])
        found = {"q": pa.concat_tables(tables["q"])}
        wrong = differences(program, case, probable_oracle(program.plan, case.rows), found)
        assert not wrong, "\n".join([case.text, str(case.rows), *wrong])


def test_late_rows_are_as_if_they_had_never_come() -> None:
    program = inkling.parse("""
        STREAM A(id STRING, v BIGINT, t BIGINT) ID id TIME t PROBABILITY p LATENESS 2 TICKS;
        EVENT q AS PATTERN SEQ NEXT(A a[v = 1], A b) HAVING b.v = 2 PER END;
    """)
    came = [(1, 1), (3, 2), (2, 1), (7, 2), (4, 1), (8, 2), (6, 1)]  # the row of 4 comes when 5 is complete
    rows = [{"id": f"a{number}", "t": t, "v": v, "p": 0.5} for number, (t, v) in enumerate(came)]
    stream = program.open(unbounded=True)
    found = [stream.push({"A": [row]}) for row in rows]
    found.append(stream.finish())
    late = [row["id"] for one in found for row in one.late.to_pylist()]
    assert late == ["a4"]
    told = {row["end"]: row["probability"] for one in found for row in one.tables["q"].to_pylist()}
    wanted = probable_oracle(program.plan, {"A": [row for row in rows if row["id"] not in late]})["q"]
    assert told == pytest.approx({one.end: float(one.probability) for one in wanted})
