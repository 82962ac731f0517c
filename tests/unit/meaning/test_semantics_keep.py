"""The definition of KEEP FOR: what is known too late counts nowhere, and AT START looks back only so far."""

from __future__ import annotations

from tests.kit.oracle import bound, oracle
from tests.kit.plans import event, leaf, program, seq, ticks
from tests.kit.rows import points

from inkling.logical import plan as p
from inkling.meaning.semantics import Result

a, b, c = (leaf(slot, name) for slot, name in enumerate("ABC"))


def found(plan: p.EventPlan, words: str) -> list[str]:
    return [lineage(one) for one in oracle(program("ABC", plan), points(words))[plan.name]]


def lineage(result: Result) -> str:
    return " ".join(str(one) for one in result.lineage)


def test_the_limit_is_inclusive() -> None:
    assert found(event("e", seq(a, b), keep=ticks(3)), "a1 b4 b5") == ["a1 b4"]


def test_it_looks_at_the_moment_a_match_is_known() -> None:
    """`SEQ(a, b, NOT c) WITHIN 4` ends with b and is known 4 after a."""
    pattern = seq(a, b, p.Absent(c), within=ticks(4))
    assert found(event("e", pattern, within=ticks(4), keep=ticks(4)), "a1 b2") == ["a1 b2"]
    assert found(event("e", pattern, within=ticks(4), keep=ticks(3)), "a1 b2") == []


def test_a_match_that_comes_too_late_is_no_witness() -> None:
    plan = event("e", seq(a, b), per=p.Per.END, keep=ticks(2))
    assert found(plan, "a1 a3 b5") == ["a3 b5"]


def test_a_match_that_comes_too_late_restarts_nothing() -> None:
    assert found(event("e", seq(a, b), restart=True), "a1 b5 a5 b6") == ["a1 b5"]
    assert found(event("e", seq(a, b), restart=True, keep=ticks(2)), "a1 b5 a5 b6") == ["a5 b6"]


def test_at_start_looks_back_from_the_end_of_its_sequence() -> None:
    pattern = seq(p.StreamStart(ticks(3)), p.Absent(b), a, c)
    words = "b1 a2 c4 c5"
    assert found(event("e", pattern, keep=ticks(9)), words) == ["a2 c5"]


def test_at_start_and_a_wait_have_limits_of_their_own() -> None:
    """NOT b since 3 before the end, NOT c until 6 after the start."""
    pattern = seq(p.StreamStart(ticks(3)), p.Absent(b), a, p.Absent(c), within=ticks(6))
    assert found(event("e", pattern, keep=ticks(6)), "b1 a5 c12") == ["a5"]
    assert found(event("e", pattern, keep=ticks(6)), "b2 a5 c12") == []
    assert found(event("e", pattern, keep=ticks(6)), "b1 a5 c11") == []


def test_what_it_rests_on_may_be_known_late() -> None:
    """d ends at 1 and is known at 4; e starts at 1, ends at 2 and is known at 4 too."""
    text = """
        STREAM A(id STRING, t BIGINT) ID id TIME t;
        STREAM B(id STRING, t BIGINT) ID id TIME t;
        EVENT d AS PATTERN SEQ(A a, NOT B) WITHIN 3 TICKS;
        EVENT e AS PATTERN SEQ(d x, A a) KEEP FOR {} TICKS;
    """
    rows = points("a1 a2")
    assert [one.detected_at for one in oracle(bound(text.format(3)), rows)["e"]] == [4]
    assert oracle(bound(text.format(2)), rows)["e"] == ()
