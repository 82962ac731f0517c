"""What a stream keeps per key: the bounds hold while programs run, and each advice gives a bound."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.kit.oracle import expression_context

import inkling
from inkling.analysis.bounds.bounded import StateBound, advice, bound_text, forgetting_text, longest_match, state_bound
from inkling.analysis.choice import Evaluator
from inkling.automata.run.state import AutomatonState
from inkling.evaluators.certain import rows_of
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.rows.batches import event_batch, key_codes
from inkling.io import normalize, read_table
from inkling.model.time import Clock
from inkling.query import Program

pytestmark = pytest.mark.slow

STREAMS = """
    STREAM V(id STRING, k STRING, s STRING, t BIGINT, n BIGINT) ID id KEY k TIME t ORDER BY n LATENESS 3 TICKS;
    STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;
    STREAM B(id STRING, x BIGINT, at TIMESTAMP) ID id TIME at LATENESS 90 SECONDS;
    STREAM C(id STRING, x BIGINT, at TIMESTAMP) ID id TIME at LATENESS 1 MINUTES DERIVE d = x - PREV(x);
"""


def bound_of(event: str) -> tuple[StateBound | None, str]:
    program = inkling.parse(STREAMS + event)
    (*_, last) = program.physical.program.events
    verdict = state_bound(last, program.physical.program, is_automaton(program, last.name))
    return verdict.conclusion, verdict.reason


def is_automaton(program: Program, event: str) -> bool:
    steps = {step.event.name: step for stage in program.physical.stages for step in stage.steps}
    return steps[event].evaluator is Evaluator.AUTOMATON


KEPT = {
    "EVENT e AS PATTERN A a[x > 1];": "nothing",
    "EVENT e AS PATTERN B b;": "the events buffered for LATENESS 90 SECONDS",
    "EVENT e AS PATTERN SEQ(A a, A b) WITHIN 5 TICKS;": "the events of the last 5 TICKS",
    "EVENT e AS PATTERN SEQ(B b, C c) WITHIN 5 MINUTES;": (
        "the events of the last 5 MINUTES + LATENESS 90 SECONDS, and the last row of C for DERIVE"
    ),
    "EVENT d AS PATTERN A a; EVENT e AS PATTERN SEQ(d a, A b) KEEP FOR 7 TICKS;": (
        "the events of the last 7 TICKS, and the state of d"
    ),
    "EVENT e AS PATTERN SEQ(V[s = 'a'], V[s = 'b'], V[s = 'c']) PARTITION BY k PER END;": (
        "at most 2 events of each open match, one match per state of the automaton, "
        "and the events buffered for LATENESS 3 TICKS"
    ),
    "EVENT e AS PATTERN V[s = 'a'] PARTITION BY k PER END;": "the events buffered for LATENESS 3 TICKS",
    "EVENT e AS PATTERN SEQ(A a, A b);": "unlimited, every event of the key",
    "EVENT e AS PATTERN SEQ(A a, A b, A c) CONSUME RECENT;": (
        "at most 3 events that wait for a partner, per value of the columns that parts share"
    ),
    "EVENT e AS PATTERN A a AND A b CONSUME CHRONOLOGICAL;": (
        "at most 2 events that wait for a partner, per value of the columns that parts share"
    ),
    "EVENT e AS PATTERN SEQ(A a, A b) WITHIN 5 TICKS CONSUME RECENT KEEPING;": "the events of the last 5 TICKS",
    "EVENT e AS PATTERN SEQ(A a, A b) CONSUME RECENT KEEPING;": "unlimited, every event of the key",
    "EVENT e AS PATTERN SEQ(A a, NOT A c, A b) CONSUME RECENT;": "unlimited, every event of the key",
}


@pytest.mark.parametrize("event", KEPT)
def test_what_is_kept(event: str) -> None:
    assert bound_text(bound_of(event)[0]) == KEPT[event]


def test_when_a_key_is_forgotten() -> None:
    assert forgetting_text(bound_of("EVENT e AS PATTERN A a;")[0]) == "every key immediately"
    assert forgetting_text(bound_of("EVENT e AS PATTERN B a;")[0]) == "a key when these events have expired"
    assert "may never happen" in forgetting_text(
        bound_of("EVENT e AS PATTERN SEQ(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;")[0]
    )
    assert "DERIVE" in forgetting_text(bound_of("EVENT e AS PATTERN C c;")[0])


LONGEST = {
    "SEQ(V a, V b)": 2,
    "SEQ STRICT(V a{2,5}, V b?)": 6,
    "V a OR SEQ(V b, V c, V d)": 3,
    "SEQ STRICT(V a, COMPLEMENT(V), V b)": 2,
    "SEQ(V a, NOT V[s = 'x']{3}, V b)": 2,
    "SEQ STRICT((SEQ(V a, V b)){1,3}, V c)": 7,
    "SEQ STRICT(V a, V b+, V c)": None,
    "SEQ STRICT(V a, _*, V c)": None,
    "SEQ STRICT(V a, V b+, V c) WITHIN 9 EVENTS": 9,
    "SEQ STRICT(V a, (SEQ STRICT(V b+) WITHIN 4 EVENTS), V c)": 6,
    "SEQ STRICT(V a{3,})": None,
    "SEQ STRICT(V a{3,}) CONSUME RESTART": 3,
    "SEQ STRICT(V a{3,}, V b?) CONSUME RESTART": 3,
    "SEQ STRICT(V a, V b*) CONSUME RESTART": 1,
    "SEQ STRICT(V a?, V b*) CONSUME RESTART": 2,
    "SEQ STRICT(V a{3,}, V b) CONSUME RESTART": None,
    "SEQ STRICT((SEQ STRICT(V a+, V b)){2,}) CONSUME RESTART": None,
}


@pytest.mark.parametrize("pattern", LONGEST)
def test_longest_match(pattern: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern} PARTITION BY k PER END;")
    assert longest_match(program.physical.program.events[0]) == LONGEST[pattern]


REPAIRED = {
    "SEQ(A a, A b)": {
        "WITHIN 100 TICKS": "SEQ(A a, A b) WITHIN 100 TICKS",
        "KEEP FOR 100 TICKS": "SEQ(A a, A b) KEEP FOR 100 TICKS",
    },
    "SEQ(A a, A b[x = a.x]) WITHIN 3 EVENTS": {
        "KEEP FOR 100 TICKS": "SEQ(A a, A b[x = a.x]) WITHIN 3 EVENTS KEEP FOR 100 TICKS"
    },
    "SEQ(AT START, NOT A c, A b)": {"KEEP FOR 100 TICKS": "SEQ(AT START, NOT A c, A b) KEEP FOR 100 TICKS"},
    "SEQ(A a, A b) WITHIN 9 TICKS PER VALUES": {
        "PER END": "SEQ(A a, A b) WITHIN 9 TICKS PER END",
        "PER INTERVAL": "SEQ(A a, A b) WITHIN 9 TICKS PER INTERVAL",
    },
    "SEQ(A a, A b) CONSUME CHRONOLOGICAL KEEPING": {
        "WITHIN 100 TICKS": "SEQ(A a, A b) WITHIN 100 TICKS CONSUME CHRONOLOGICAL KEEPING"
    },
    "SEQ STRICT(V a{3,}) PARTITION BY k PER END": {
        "CONSUME RESTART": "SEQ STRICT(V a{3,}) PARTITION BY k PER END CONSUME RESTART",
        "{1,20}": "SEQ STRICT(V a{3,20}) PARTITION BY k PER END",
        "WITHIN 20 EVENTS": "SEQ STRICT(V a{3,}) PARTITION BY k PER END WITHIN 20 EVENTS",
        "KEEP FOR 100 TICKS": "SEQ STRICT(V a{3,}) PARTITION BY k PER END KEEP FOR 100 TICKS",
    },
}


@pytest.mark.parametrize("event", REPAIRED)
def test_each_advice_is_enough(event: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {event};")
    (plan,) = program.physical.program.events
    given = " ".join(advice(plan, program.physical.program, is_automaton(program, "e")))
    assert bound_of(f"EVENT e AS PATTERN {event};")[0] is None
    assert set(given.split("`")[1::2]) - {"+"} == set(REPAIRED[event])
    for repaired in REPAIRED[event].values():
        assert bound_of(f"EVENT e AS PATTERN {repaired};")[0] is not None


def test_restart_is_not_advised_where_it_does_not_help() -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN SEQ STRICT(V a+, V b) PARTITION BY k PER END;")
    (plan,) = program.physical.program.events
    assert not any("RESTART" in line for line in advice(plan, program.physical.program, regular=True))


RUNNING = [
    "SEQ(V[s = 'a'], V[s = 'b'], V[s = 'c'])",
    "SEQ NEXT(V[s = 'a'], NOT V[s = 'x'], V[s = 'b'], V[s = 'c'])",
    "SEQ STRICT(V[s = 'a']{2,4}, V[s = 'b']?, V[s = 'c'])",
    "SEQ(V[s = 'a'], V[s = 'b']+, V[s = 'c']) WITHIN 5 EVENTS",
    "SEQ STRICT(V[s = 'a'], COMPLEMENT(SEQ STRICT(_*, V[s = 'b'], _*)), V[s = 'c'])",
    "SEQ STRICT(V[s = 'a']{3,}) CONSUME RESTART",
    "SEQ(V[s = 'a'], V[s = 'b']{2,}, V[s = 'c']?) CONSUME RESTART",
    "SEQ(V[s = 'a'], V[s = 'b']) OR SEQ NEXT(V[s = 'b'], V[s = 'c'], V[s = 'a'], V[s = 'a'])",
]


@pytest.mark.parametrize("pattern", RUNNING)
def test_open_matches_hold_no_more_events_than_said(pattern: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern} PARTITION BY k PER END;")
    (event,) = program.physical.program.events
    bound = state_bound(event, program.physical.program, is_automaton(program, "e")).conclusion
    assert bound is not None
    assert bound.n_open is not None
    fullest = 0
    for seed in range(20):
        for runs in _runs_over_time(program, Random(seed)):
            fullest = max(fullest, *_lengths(runs), 0)
            assert fullest <= bound.n_open
            assert (runs.counts <= MAX_RUNS).all()
    assert fullest == bound.n_open


MAX_RUNS = 40
"""More than the states of any of these automata, and far fewer than the events that are read."""


def _runs_over_time(program: Program, rng: Random) -> list[AutomatonState]:
    """The open matches after each of many events of two keys."""
    context = expression_context(program.plan, {}, Clock.TICKS)
    words = [{"id": f"v{n}", "k": rng.choice("pq"), "s": rng.choice("abcx"), "t": n, "n": n} for n in range(60)]
    (stage,) = program.physical.stages
    stream = program.plan.stream("V")
    assert stream is not None
    ready = {"V": normalize(read_table(words, what="V"), stream.schema).rows}
    rows = rows_of(stage, ready, {}, context)
    codes, _ = key_codes(rows, len(stage.key_types))
    (automaton,) = StageEngine(stage, {}, context).automata
    carry = automaton.start()
    found = []
    for row in range(len(rows)):
        carry, _ = automaton.step(carry, event_batch(stage, rows.slice(row, 1), codes[row : row + 1]))
        found.append(carry.runs)
    return found


def _lengths(state: AutomatonState) -> np.ndarray:
    """Events of each open match."""
    depth = np.zeros(len(state.nodes.event), np.int64)
    for node, parent in enumerate(state.nodes.parent):
        depth[node] = 1 if parent < 0 else depth[parent] + 1
    return np.array([0 if node < 0 else depth[node] for node in state.runs.node], np.int64)
