"""Partial matches that outgrow the memory end the run with a message, and joins in slices find the same matches."""

import random
import resource

import numpy as np
import pyarrow as pa
import pytest

import inkling
from inkling.errors import ResourceError
from inkling.evaluators.memory import VARIABLE, require_room
from inkling.evaluators.network import slices
from inkling.machine import memory_bytes, used_bytes

STREAM = "STREAM A(k INT, t INT) TIME t;"
BOMBS = {
    "pairs": ("SEQ(A a, A b)", 1_000_000, 2),
    "pairs with a condition": ("SEQ(A a, A b[k > a.k])", 100_000, 2),
    "repetition": ("A a+", 60, 99),
    "three in any order": ("A a AND A b AND A c", 3_000, 3),
}


def rows(n: int) -> pa.Table:
    return pa.table({"k": np.arange(n), "t": np.arange(n)})


def imprecise_rows(n: int) -> pa.Table:
    return pa.table({"id": np.arange(n), "lo": np.arange(n), "hi": np.arange(n) + 3})


def probable_rows(n: int) -> pa.Table:
    return pa.table({"who": np.arange(n) % 50, "k": np.arange(n) % 7, "t": np.arange(n), "p": np.full(n, 0.5)})


def numbered_rows(n: int) -> pa.Table:
    keys = np.repeat([f"k{number}" for number in range(n)], 2)
    roles = np.tile(["open", "close"], n)
    return pa.table({"key": keys, "n": np.tile([1, 2], n), "what": roles, "t": np.arange(2 * n)})


IMPRECISE = "STREAM A(id INT, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;"
PROBABLE = "STREAM A(who INT, k INT, t INT) KEY who TIME t PROBABILITY p;"
NUMBERED = "STREAM A(key STRING, n BIGINT, what STRING, t BIGINT) KEY key TIME t NUMBERED BY n SEGMENTS ROLE what;"
OF_EVALUATORS: dict[str, tuple[str, str, pa.Table]] = {
    "automaton": (STREAM, "bomb AS PATTERN SEQ NEXT(A a[k % 2 = 0], A b+) PER MATCH", rows(30_000)),
    "results": (STREAM, "bomb(k) AS PATTERN A a PARTITION BY k", rows(6_000_000)),
    "chain": (IMPRECISE, "bomb AS PATTERN SEQ(A a, A b)", imprecise_rows(30_000)),
    "repetition in a chain": (IMPRECISE, "bomb AS PATTERN SEQ(A a, A b+)", imprecise_rows(60)),
    "partial order": (IMPRECISE, "bomb AS PATTERN A a AND A b", imprecise_rows(30_000)),
    "worlds": (PROBABLE, "bomb AS PATTERN SEQ(A a, A b+)", probable_rows(60)),
    "query": (PROBABLE, "bomb AS PATTERN SEQ(A a, A b[who = a.who], A c[who = a.who])", probable_rows(60_000)),
    "relation": (
        NUMBERED,
        "bomb(x.key AS one, y.key AS other) AS PATTERN SOME A x PRECEDES SOME A y",
        numbered_rows(10_000),
    ),
}
"""Bombs whose partial matches an evaluator does not count in advance, or counts in its own way."""


SLOW = {"automaton", "relation"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=pytest.mark.long if one in SLOW else ()) for one in OF_EVALUATORS]
)
def test_every_evaluator_stays_within_its_budget(case: str) -> None:
    stream, event, many = OF_EVALUATORS[case]
    program = inkling.parse(f"{stream} EVENT {event};")
    program.run_local(many.slice(0, 6))  # compiles what it needs
    before, room = used_bytes(), 600_000_000
    with pytest.raises(ResourceError, match=r"INK0590.*`bomb` needs more memory than the run may take"):
        program.run_local(many, memory=before + room)
    assert used_bytes() - before < 1.1 * room
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY


def test_a_run_that_fits_restores_the_limit_of_its_process() -> None:
    program = inkling.parse(f"{STREAM} EVENT one AS PATTERN A a;")
    assert len(program.run_local(rows(3), memory="4GB")["one"]) == 3
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY


@pytest.mark.slow
@pytest.mark.parametrize("case", BOMBS)
def test_a_bomb_ends_with_a_message(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, n, _ = BOMBS[case]
    program = inkling.parse(f"{STREAM} EVENT bomb AS PATTERN {pattern};")
    program.run_local(rows(5))  # compiles what it needs
    room = 600_000_000
    monkeypatch.setenv(VARIABLE, str(used_bytes() + room))
    before = used_bytes()
    with pytest.raises(
        ResourceError, match=r"INK0590.*`bomb` needs more memory.*\n.*partial matches would take"
    ) as caught:
        program.run_local(rows(n))
    assert "WITHIN" in str(caught.value)
    assert used_bytes() - before < room


@pytest.mark.parametrize("case", BOMBS)
def test_a_bomb_is_announced(case: str) -> None:
    pattern, _, degree = BOMBS[case]
    program = inkling.parse(f"{STREAM} EVENT bomb AS PATTERN {pattern};")
    found = [one.message for one in program.growth_warnings()]
    if "condition" in case or degree == 2:
        assert found == ["the number of matches of `bomb` grows with the 2nd power of the rows"]
    else:
        assert len(found) == 1


LIMITED = [
    "SEQ(A a, A b) WITHIN 10 TICKS",
    "SEQ(A a, A b) KEEP FOR 10 TICKS",
    "SEQ(A a, A b) PARTITION BY k",
    "SEQ(A a, A b[k = a.k])",
    "SEQ NEXT(A a, A b)",
    "SEQ NEXT(A a, A b+)",
    "A a OR A b",
    "A a",
    "SEQ(A a, A b) CONSUME RECENT",
]


@pytest.mark.parametrize("pattern", LIMITED)
def test_a_limited_event_is_not_announced(pattern: str) -> None:
    assert inkling.parse(f"{STREAM} EVENT fine AS PATTERN {pattern};").growth_warnings() == ()


@pytest.mark.parametrize("seed", range(3))
def test_slices_find_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        EVENT pairs(a.k AS x, b.k AS y) AS PATTERN SEQ(A a, A b[k >= a.k]);
        EVENT next(a.k AS x, b.k AS y) AS PATTERN SEQ NEXT(A a, A b[k >= a.k]);
        EVENT many AS PATTERN SEQ(A a, A b{1,2}, A c) WITHIN 9 TICKS;
        EVENT both AS PATTERN A a[k = 1] AND A b[k = 2];
        EVENT keyed AS PATTERN SEQ(A a, A b, A c[k = a.k]) WITHIN 12 TICKS;"""
    draw = random.Random(seed)
    data = [{"k": draw.randrange(4), "t": draw.randrange(40)} for _ in range(30)]
    program = inkling.parse(STREAM + text)
    whole = program.run_local(data)
    monkeypatch.setattr(slices, "TESTED_AT_ONCE", 5)
    sliced = program.run_local(data)
    for name, table in whole.tables.items():
        assert table.num_rows
        assert sliced.tables[name].equals(table), name


def test_small_requests_are_never_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    require_room("e", 1000, 1000)
    with pytest.raises(ResourceError):
        require_room("e", 1_000_000, 1000)


def test_the_memory_of_the_machine() -> None:
    assert 10 << 20 < used_bytes() < memory_bytes()
