"""Segments: which events open and close them, what results depend on, and who may use such results."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from inkling import ProgramError, parse
from inkling.evaluators.segments.operands import opened_and_closed, turns_of_roles
from inkling.evaluators.segments.relations import needed_comparisons, truth_table

Pair = tuple[int, int]


def pairs(key: list[int], time: list[int], **given: list[int]) -> list[Pair]:
    arrays = {name: np.array(values) for name, values in given.items()}
    opening, closing = opened_and_closed(np.array(key, np.int64), np.array(time, np.int64), **arrays)
    return list(zip(opening.tolist(), closing.tolist(), strict=True))


def test_events_of_a_key_take_turns() -> None:
    assert pairs([0, 1, 0, 1, 0], [1, 2, 3, 4, 5]) == [(0, 2), (1, 3)]
    assert pairs([], []) == []
    assert pairs([0], [1]) == []


def test_time_tells_the_order_and_not_the_rows() -> None:
    assert pairs([0, 0, 0, 0], [4, 1, 3, 2]) == [(1, 3), (2, 0)]


def test_simultaneous_events_follow_their_numbers() -> None:
    assert pairs([0, 0, 0, 0], [1, 5, 5, 9], number=[1, 3, 2, 4]) == [(0, 2), (1, 3)]


def test_a_role_that_does_not_follow_pairs_nothing() -> None:
    turns = turns_of_roles(pa.array(["end", "START", "open", "Close", "resume", "nap", "suspend", None]))
    assert turns.tolist() == [-1, 1, 1, -1, 1, 0, -1, 0]
    assert pairs([0] * 8, list(range(8)), turns=turns.tolist()) == [(2, 3)]


@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_many_keys_are_those_of_each_key(seed: int) -> None:
    rng = random.Random(seed)
    n_rows = rng.randrange(60)
    key = [rng.randrange(4) for _ in range(n_rows)]
    time = [rng.randrange(12) for _ in range(n_rows)]
    turns = [rng.choice((1, -1, 0)) for _ in range(n_rows)]
    expected = []
    for one in range(4):
        rows = sorted((row for row in range(n_rows) if key[row] == one), key=lambda row: time[row])
        expected += [pair for pair in pairwise(rows) if (turns[pair[0]], turns[pair[1]]) == (1, -1)]
    assert pairs(key, time, turns=turns) == expected


@pytest.mark.parametrize(
    ("relations", "expected"),
    [
        (("PRECEDES",), [False, False, True, False]),
        (("STARTS_BEFORE",), [True, False, False, False]),
        (("INTERSECTS",), [False, True, True, False]),
        (("DURING",), [True, False, False, True]),
        (("OVERLAPS",), [True, False, True, True]),
    ],
)
def test_as_few_comparisons_as_tell(relations: tuple[str, ...], expected: list[bool]) -> None:
    """Of start and end with start, then with end: starts, start and end, end and start, ends."""
    assert needed_comparisons(relations).tolist() == expected


def test_relations_share_cases_only_through_points() -> None:
    names = ("PRECEDES", "MEETS", "OVERLAPS", "CONTAINS", "DURING", "OVERLAPPED_BY", "MET_BY", "PRECEDED_BY")
    tables = {name: set(np.flatnonzero(truth_table((name,))).tolist()) for name in names}
    shared = {(one, other) for one in names for other in names if one < other and tables[one] & tables[other]}
    assert shared == {("MEETS", "MET_BY")}  # two equal points


SHARES = """
STREAM S(id STRING, k STRING, s BIGINT, e BIGINT) ID id KEY k TIME FROM s TO e;
EVENT share(x.k AS one, y.k AS other) AS PATTERN AT LEAST 2 S x INTERSECTS SOME S y;
"""
ROWS = [
    {"id": id, "k": k, "s": s, "e": e}
    for id, k, s, e in (("a1", "a", 0, 2), ("a2", "a", 4, 6), ("a3", "a", 9, 9), ("b1", "b", 1, 5), ("c1", "c", 8, 9))
]


def test_a_result_rests_on_the_left_segments_that_qualify() -> None:
    (found,) = parse(SHARES).run_local({"S": ROWS}).tables["share"].to_pylist()
    assert (found["one"], found["other"], found["lineage"]) == ("a", "b", ["a1", "a2"])
    assert (found["start"], found["end"], found["detected_at"]) == (0, 9, 9)


def test_other_events_can_use_the_results() -> None:
    program = parse(
        SHARES + "EVENT later(a.one AS one, c.k AS third) AS PATTERN share a AND S c[s >= 8] HAVING c.k <> a.one;"
    )
    at_once = program.run_local({"S": ROWS}).tables["later"].to_pylist()
    assert [(row["one"], row["third"], row["lineage"]) for row in at_once] == [("a", "c", ["a1", "a2", "c1"])]
    stream = program.open(unbounded=True)
    for row in sorted(ROWS, key=lambda row: int(str(row["e"]))):
        assert not stream.push({"S": [row]}).n_results
    finished = stream.finish()
    assert finished.tables["later"].to_pylist() == at_once
    assert len(finished.tables["share"]) == 1


def test_a_stream_without_an_end_is_rejected() -> None:
    with pytest.raises(ProgramError, match="INK0605"):
        parse(SHARES).open()
