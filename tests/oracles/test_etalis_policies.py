"""The consumption policies of the ETALIS thesis: its traces, its preferences among intervals, and closed forms."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from tests.kit.oracle import bound, oracle

from inkling import parse

Rows = dict[str, list[dict[str, object]]]
Matches = list[tuple[int, ...]]

LETTERS = "\n".join(f"STREAM {name}(id INT, t INT) ID id TIME t;" for name in "ABC")
LASTING = "\n".join(
    f"STREAM {name}(id INT, v INT, begun INT, ended INT) ID id TIME FROM begun TO ended;" for name in "AB"
)
RECENT, RECENT_KEEPING = "CONSUME RECENT", "CONSUME RECENT KEEPING"
CHRONOLOGICAL, CHRONOLOGICAL_KEEPING = "CONSUME CHRONOLOGICAL", "CONSUME CHRONOLOGICAL KEEPING"

THREE = {
    "C01": ("", [(1, 4, 6), (2, 4, 6), (3, 4, 6), (1, 5, 6), (2, 5, 6), (3, 5, 6)]),
    "C02": (RECENT, [(3, 4, 6)]),
    "C03": (RECENT_KEEPING, [(2, 5, 6)]),
    "C04": (CHRONOLOGICAL, [(1, 4, 6)]),
    "C05": (CHRONOLOGICAL_KEEPING, [(1, 4, 6)]),
}
TWO = {
    "C10": (RECENT, [(2, 3)]),
    "C11": ("", [(1, 3), (2, 3), (1, 4), (2, 4)]),
    "C12": (RECENT_KEEPING, [(2, 3), (1, 4)]),
    "C13": (CHRONOLOGICAL_KEEPING, [(1, 3), (2, 4)]),
    "C14": (CHRONOLOGICAL, [(1, 3)]),
}


def both_ways(program: str, rows: Rows) -> Matches:
    """The lineages of all matches, by the definition and by the local runner, which must agree."""
    defined = sorted(tuple(map(int, map(str, one.lineage))) for one in oracle(bound(program), rows)["x"])
    ran = parse(program).run_local(rows).tables["x"].to_pylist()
    assert sorted(tuple(row["lineage"]) for row in ran) == defined
    return defined


def word(text: str) -> Rows:
    """`a1 b2` as rows whose ids are their times."""
    rows: Rows = {name: [] for name in "ABC"}
    for one in text.split():
        rows[one[0].upper()].append({"id": int(one[1:]), "t": int(one[1:])})
    return rows


@pytest.mark.parametrize("case", THREE)
def test_C01_C05_three_parts(case: str) -> None:
    policy, expected = THREE[case]
    program = f"{LETTERS} EVENT x AS PATTERN SEQ(A a, B b, C c) {policy};"
    assert both_ways(program, word("a1 a2 a3 b4 b5 c6")) == sorted(expected)


@pytest.mark.parametrize("case", TWO)
def test_C10_C14_two_parts(case: str) -> None:
    policy, expected = TWO[case]
    program = f"{LETTERS} EVENT x AS PATTERN SEQ(A a, B b) {policy};"
    assert both_ways(program, word("a1 a2 b3 b4")) == sorted(expected)


@pytest.mark.parametrize(("prefer", "chosen"), [("LONGER", 1), ("SHORTER", 2), ("a.v", 2)])
@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_C20_recent_intervals_of_one_end(prefer: str, chosen: int, order: tuple[int, int]) -> None:
    lasting = {1: (1, 1000), 2: (15, 10000)}
    rows: Rows = {
        "A": [{"id": one, "v": lasting[one][1], "begun": lasting[one][0], "ended": 30} for one in order],
        "B": [{"id": 3, "v": 0, "begun": 35, "ended": 50}],
    }
    program = f"{LASTING} EVENT x AS PATTERN SEQ(A a, B b) CONSUME RECENT PREFER {prefer};"
    assert both_ways(program, rows) == [(chosen, 3)]


@pytest.mark.parametrize(("prefer", "chosen"), [("LONGER", 2), ("SHORTER", 1)])
@pytest.mark.parametrize("keeping", ["", "KEEPING"])
def test_C21_chronological_intervals_of_one_start(prefer: str, chosen: int, keeping: str) -> None:
    rows: Rows = {
        "A": [{"id": 1, "v": 0, "begun": 1, "ended": 10}, {"id": 2, "v": 0, "begun": 1, "ended": 30}],
        "B": [{"id": 3, "v": 0, "begun": 35, "ended": 50}],
    }
    program = f"{LASTING} EVENT x AS PATTERN SEQ(A a, B b) CONSUME CHRONOLOGICAL {keeping} PREFER {prefer};"
    assert both_ways(program, rows) == [(chosen, 3)]


def adjacent(letters: str) -> Matches:
    return [(time, time + 1) for time in range(len(letters) - 1) if letters[time : time + 2] == "ab"]


def first_of_runs(letters: str) -> Matches:
    found: Matches = []
    first = None
    for time, letter in enumerate(letters):
        if letter == "a":
            first = time if first is None else first
        elif first is not None:
            found.append((first, time))
            first = None
    return found


def brackets(letters: str) -> Matches:
    found: Matches = []
    opened: list[int] = []
    for time, letter in enumerate(letters):
        if letter == "a":
            opened.append(time)
        elif opened:
            found.append((opened.pop(), time))
    return found


def in_turn(letters: str) -> Matches:
    lefts = [time for time, letter in enumerate(letters) if letter == "a"]
    served: list[int] = []
    for time, letter in enumerate(letters):
        if letter == "b" and len(served) < sum(left < time for left in lefts):
            served.append(time)
    return list(zip(lefts, served, strict=False))


CLOSED_FORMS: Sequence[tuple[str, Callable[[str], Matches]]] = (
    (RECENT, adjacent),
    (CHRONOLOGICAL, first_of_runs),
    (RECENT_KEEPING, brackets),
    (CHRONOLOGICAL_KEEPING, in_turn),
)


@pytest.mark.parametrize(("policy", "closed_form"), CLOSED_FORMS, ids=[policy for policy, _ in CLOSED_FORMS])
def test_closed_forms_on_random_words(policy: str, closed_form: Callable[[str], Matches]) -> None:
    """500 words of one policy as one program: each is a key of its own."""
    rng = random.Random(4)
    words = ["".join(rng.choices("ab", k=rng.randint(0, 12))) for _ in range(500)]
    streams = "\n".join(f"STREAM {name}(w INT, t INT) KEY w TIME t;" for name in "AB")
    program = (
        f"{streams} EVENT x(w, START(a) AS one, START(b) AS other) AS PATTERN SEQ(A a, B b) PARTITION BY w {policy};"
    )
    rows: Rows = {name: [] for name in "AB"}
    for number, letters in enumerate(words):
        for time, letter in enumerate(letters):
            rows[letter.upper()].append({"w": number, "t": time})
    found = parse(program).run_local(rows).tables["x"].to_pylist()
    expected = [(number, *match) for number, letters in enumerate(words) for match in closed_form(letters)]
    assert sorted((row["w"], row["one"], row["other"]) for row in found) == sorted(expected)


def test_tests_come_before_selection() -> None:
    """D11: a partner that fails a condition, or comes too late, is neither chosen nor used up."""
    program = f"""{LETTERS}
    EVENT x AS PATTERN SEQ(A a, B b) WHERE b.t - a.t > 2 CONSUME CHRONOLOGICAL;"""
    assert both_ways(program, word("a1 b2 b5")) == [(1, 5)]


def test_an_old_left_makes_room() -> None:
    program = f"{LETTERS} EVENT x AS PATTERN SEQ(A a, B b) WITHIN 3 TICKS CONSUME CHRONOLOGICAL;"
    assert both_ways(program, word("a1 a3 b5 a6 b9")) == [(6, 9)]


def test_everything_waits_apart_for_each_key() -> None:
    streams = "\n".join(f"STREAM {name}(id INT, k INT, t INT) ID id TIME t;" for name in "AB")
    program = f"{streams} EVENT x AS PATTERN SEQ(A a, B b[k = a.k]) CONSUME RECENT;"
    rows: Rows = {
        "A": [{"id": 1, "k": 7, "t": 1}, {"id": 2, "k": 8, "t": 2}, {"id": 3, "k": None, "t": 3}],
        "B": [{"id": 4, "k": 7, "t": 4}, {"id": 5, "k": None, "t": 5}],
    }
    assert both_ways(program, rows) == [(1, 4)]
