"""Sound plans keep every promise, and a broken promise is named."""

from dataclasses import replace

import pytest
from tests.kit.invariants import violations
from tests.kit.oracle import bound

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.schema import Column
from inkling.model.types import Type

PLAN = bound(
    "STREAM A(x INT, k STRING) TIME t DERIVE d = x - PREV(x);"
    "STREAM B(x INT, k STRING) TIME t;"
    "TABLE m(k STRING, z INT) FROM 'm.csv';"
    "EVENT first(a.x) AS PATTERN SEQ(A a, NOT B n[x = c.x], B b[x > LAST(b).x]+, A c)"
    " WHERE m(a.k, z) AND c.x > z PARTITION BY k;"
    "EVENT second AS PATTERN SEQ(first f, A a) WITHIN 5 TICKS;"
)
FIRST, SECOND = PLAN.events
X0 = e.ColumnOf(0, "x", Type.INTEGER)
SEQUENCE = FIRST.pattern
assert isinstance(SEQUENCE, p.Sequence)


def with_first(**changes: object) -> p.ProgramPlan:
    return replace(PLAN, events=(replace(FIRST, **changes), SECOND))  # type: ignore[arg-type]


def with_leaf(slot: int, **changes: object) -> p.ProgramPlan:
    def changed(part: p.Part) -> p.Part:
        match part:
            case p.Leaf():
                return replace(part, **changes) if part.slot == slot else part  # type: ignore[arg-type]
            case p.Absent(pattern=inner) | p.Repetition(pattern=inner):
                return replace(part, pattern=changed(inner))  # type: ignore[arg-type]
            case _:
                return part

    return with_first(pattern=replace(SEQUENCE, parts=tuple(changed(part) for part in SEQUENCE.parts)))


def with_eager(policy: p.Policy, *parts: p.Part) -> p.ProgramPlan:
    """The first part, an eager repetition, and more."""
    eager = replace(SEQUENCE.parts[2], eager=True)  # type: ignore[call-arg,type-var]
    return with_first(pattern=p.Sequence(policy, (SEQUENCE.parts[0], SEQUENCE.parts[1], eager, *parts)))


def test_bound_plans_are_sound() -> None:
    assert violations(PLAN) == ()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (replace(PLAN, events=(SECOND, FIRST)), "it reads first before they exist"),
        (with_first(scope=()), "its scope is empty"),
        (with_first(partition=(Column("k", Type.INTEGER),)), "partition column `k` differs"),
        (with_first(head=()), "its schema is not its head and RETURN"),
        (with_first(slots=FIRST.slots[::-1]), "slots are not numbered in order"),
        (with_first(pattern=replace(SEQUENCE, parts=SEQUENCE.parts[::-1])), "slots are filled in the order"),
        (with_first(having=(X0,)), "a condition has type INTEGER"),
        (with_first(having=(e.Compare("=", X0, e.Literal("q", Type.STRING)),)), "INTEGER is compared with STRING"),
        (with_first(having=(e.IsNull(e.ColumnOf(2, "x", Type.INTEGER)),)), "slot 2 is a list where `x` is read"),
        (with_first(having=(e.IsNull(e.ColumnOf(1, "x", Type.INTEGER)),)), "outside the part that hides it"),
        (with_first(having=(e.IsNull(e.Aggregate("SUM", 0, "x", Type.INTEGER)),)), "slot 0 is no finished list"),
        (with_first(having=(e.IsNull(e.KeyColumn("x", Type.INTEGER)),)), "`x` is no partition column"),
        (with_first(having=(e.IsNull(e.PreviousColumn("x", Type.INTEGER)),)), "belong to streams"),
        (with_first(having=(e.InTable("m", (None,)),)), "table `m` is not declared so"),
        (with_leaf(0, conditions=(e.IsNull(e.ColumnOf(3, "x", Type.INTEGER)),)), "slot 3 is read before"),
        (with_leaf(0, conditions=(e.IsNull(e.ColumnOf(0, "q", Type.INTEGER)),)), "no column `q`"),
        (with_leaf(0, atoms=()), "look-up 0 is used before it is made"),
        (with_eager(p.Policy.ANY, SEQUENCE.parts[3]), "an eager repetition is part of a sequence ANY"),
        (with_eager(p.Policy.NEXT, p.Repetition(SEQUENCE.parts[3], 0, 1)), "before what may be left out"),  # type: ignore[arg-type]
        (with_leaf(0, sources=("B",)), "slot 0 does not describe its leaf"),
        (with_first(slots=(replace(FIRST.slots[0], repeated=True), *FIRST.slots[1:])), "what encloses it"),
        (with_first(pattern=replace(SEQUENCE, parts=SEQUENCE.parts[:2]), slots=FIRST.slots[:2]), "has no limit"),
        (with_first(pattern=replace(SEQUENCE, parts=(*SEQUENCE.parts, p.StreamStart()))), "start of the stream"),
        (
            replace(PLAN, streams=(replace(PLAN.streams[0], derived=(p.DerivedColumn("d", X0),)), PLAN.streams[1])),
            "`x` is not a column known here",
        ),
    ],
)  # fmt: skip
def test_broken_promises_are_named(plan: p.ProgramPlan, words: str) -> None:
    assert any(words in one for one in violations(plan)), violations(plan)
