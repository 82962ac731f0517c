"""Automata of queries are as small as they can be."""

from __future__ import annotations

import pytest

import inkling
from inkling.analysis.query.chain_automaton import ChainAutomaton, fits
from inkling.analysis.query.normal_form import query_of

STREAMS = "".join(f"STREAM {name}(v BIGINT, t BIGINT) TIME t PROBABILITY p;" for name in "ABCDEFGHIJKL")


def automaton(pattern: str) -> ChainAutomaton:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern} PER END;")
    query = query_of(program.plan.events[0], program.plan).conclusion
    assert query is not None
    return ChainAutomaton.of(query, len(query.subgoals), ())


@pytest.mark.parametrize("n", range(1, 6))
def test_parts_over_streams_of_their_own_have_a_state_for_each_set_of_them(n: int) -> None:
    assert automaton(f"SEQ NEXT({', '.join('ABCDE'[:n])})").n_states == 2**n


@pytest.mark.parametrize("n", range(1, 6))
def test_stays_of_one_stream_have_a_state_for_each_part(n: int) -> None:
    parts = ", ".join(f"A x{number}" for number in range(n))
    same = " AND ".join(f"x{number}.v = 1" for number in range(n))
    assert automaton(f"SEQ NEXT({parts}) HAVING {same}").n_states == n + 1


@pytest.mark.parametrize(("n", "n_states"), [(2, 3), (3, 7), (4, 14), (5, 30)])
def test_one_repetition(n: int, n_states: int) -> None:
    sizes = set()
    for repeated in range(1, n):
        parts = [name + ("+" if place == repeated else "") for place, name in enumerate("ABCDE"[:n])]
        sizes.add(automaton(f"SEQ NEXT({', '.join(parts)})").n_states)
    assert n_states in sizes


def test_an_automaton_that_would_be_too_large() -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN SEQ NEXT({', '.join('ABCDEFGHIJKL')}) PER END;")
    query = query_of(program.plan.events[0], program.plan).conclusion
    assert query is not None
    assert fits(query, 4, ())
    assert not fits(query, 12, ())
