"""ON TIMEOUT: the partial matches of a sequence that ran out of time."""

from __future__ import annotations

from random import Random

import pytest
from tests.kit.invariants import violations
from tests.kit.oracle import bound, oracle
from tests.kit.programs import Options, seeded_cases
from tests.kit.rows import Rows, points
from tests.kit.streams import random_rows, random_tables
from tests.kit.universe import TABLES, Declared, Kind

import inkling
from inkling.errors import ProgramError
from inkling.logical import plan as p
from inkling.meaning.semantics import Result

pytestmark = pytest.mark.slow

STREAMS = "\n".join(f"STREAM {name}(id STRING, x BIGINT, t BIGINT) ID id TIME t;" for name in "ABC")


def found(event: str, rows: Rows | str, name: str = "late") -> list[tuple[str, int, tuple[object, ...]]]:
    plan = bound(f"{STREAMS} {event}")
    assert violations(plan) == ()
    given = points(rows) if isinstance(rows, str) else rows
    return [(lineage(one), one.detected_at, one.values) for one in oracle(plan, given)[name]]


def lineage(result: Result) -> str:
    return " ".join(str(one) for one in result.lineage)


THREE = "EVENT e AS PATTERN SEQ(A a, B b, C c) WITHIN 5 TICKS ON TIMEOUT late;"


def test_every_prefix_that_goes_no_further() -> None:
    """a1 b2 waits for c until 6; a4 waits for b until 9."""
    assert found(THREE, "a1 b2 a4 c7") == [("a1 b2", 6, (2,)), ("a4", 9, (1,))]


def test_the_last_moment_of_the_window_is_in_time() -> None:
    assert found(THREE, "a1 b2 c6") == []
    assert found(THREE, "a1 b2 c7") == [("a1 b2", 6, (2,))]


def test_nothing_has_happened_before_the_first_part() -> None:
    assert found(THREE, "b1 c2") == []


def test_values_that_rest_on_missing_parts_are_null() -> None:
    event = """
        EVENT e(a.x AS ax, b.x AS bx) AS PATTERN SEQ(A a, B b, C c) WITHIN 5 TICKS
        RETURN a.x + b.x AS s, b.x IS NULL AS no_b, c.x AS cx, 7 AS seven ON TIMEOUT late;
    """
    rows = {"A": [{"id": "a1", "x": 3, "t": 1}, {"id": "a9", "x": 4, "t": 9}], "B": [{"id": "b2", "x": 5, "t": 2}]}
    assert found(event, {**rows, "C": []}) == [
        ("a1 b2", 6, (3, 5, 2, 8, False, None, 7)),
        ("a9", 14, (4, None, 1, None, None, None, 7)),
    ]


def test_a_condition_of_the_missing_part_may_look_at_what_happened() -> None:
    event = "EVENT e AS PATTERN SEQ(A a, B b[x = a.x]) WITHIN 5 TICKS ON TIMEOUT late;"
    rows = {"A": [{"id": "a1", "x": 3, "t": 1}, {"id": "a2", "x": 4, "t": 2}], "B": [{"id": "b3", "x": 4, "t": 3}]}
    assert found(event, {**rows, "C": []}) == [("a1", 6, (1,))]


def test_having_is_tested_where_all_it_looks_at_has_happened() -> None:
    event = "EVENT e AS PATTERN SEQ(A a, B b) WITHIN 5 TICKS HAVING a.x > 3 AND b.x > 3 ON TIMEOUT late;"
    rows = {"A": [{"id": "a1", "x": 3, "t": 1}, {"id": "a2", "x": 4, "t": 2}], "B": [], "C": []}
    assert found(event, rows) == [("a2", 7, (1,))]


def test_what_an_absence_ended_did_not_run_out_of_time() -> None:
    event = "EVENT e AS PATTERN SEQ(A a, NOT C, B b) WITHIN 5 TICKS ON TIMEOUT late;"
    assert found(event, "a1 c2 a9") == [("a9", 14, (1,))]


def test_a_part_that_can_be_left_out_is_not_waited_for() -> None:
    event = "EVENT e AS PATTERN SEQ(A a, B b?, C c) WITHIN 5 TICKS ON TIMEOUT late;"
    assert found(event, "a1 b2") == [("a1", 6, (2,)), ("a1 b2", 6, (2,))]


def test_of_a_repetition_as_many_as_are_needed_are_waited_for() -> None:
    event = "EVENT e AS PATTERN SEQ NEXT(A a, B b{2,}) WITHIN 5 TICKS ON TIMEOUT late;"
    assert found(event, "a1 b2 a10 b11 b12") == [("a1", 6, (1,))]


def test_clauses_about_results_do_not_reach_it() -> None:
    event = "EVENT e AS PATTERN SEQ(A a, B b) WITHIN 5 TICKS PER END CONSUME RESTART KEEP FOR 2 TICKS ON TIMEOUT late;"
    assert found(event, "a1 a2 b9") == [("a1", 6, (1,)), ("a2", 7, (1,))]


def test_other_events_can_use_it() -> None:
    """a1 ends at 1 and is known to be late at 3; c2 comes after it."""
    event = """
        EVENT alarm AS PATTERN SEQ(late l[reached = 1], C c);
        EVENT e AS PATTERN SEQ(A a, B b) WITHIN 2 TICKS ON TIMEOUT late;
    """
    assert found(event, "a1 c2", "alarm") == [("a1 c2", 3, ())]


WRITTEN_OUT = [
    ("SEQ", ("A a", "B b[x = a.x]", "C c[x >= b.x]"), "WITHIN 4 TICKS"),
    ("SEQ NEXT", ("A a[x > 0]", "B b+", "C c{2}"), "WITHIN 6 TICKS"),
    ("SEQ", ("A | B a", "(C c OR A d[x = 1])", "(SEQ(A e, B f) WITHIN 3 TICKS)"), "WITHIN 5 POINTS"),
    ("SEQ NEXT", ("(A a AND B b)", "C c[near(c.s, a.s)]", "A d"), "WITHIN 6 TICKS PARTITION BY k"),
    ("SEQ", ("A a[lim(s, top)]", "B b[x < top]", "C c[lim(s, more) AND more = top]"), "WITHIN 6 TICKS"),
]


@pytest.mark.parametrize(("sequence", "parts", "clauses"), WRITTEN_OUT, ids=lambda one: str(one)[:24])
def test_it_is_what_one_would_write(sequence: str, parts: tuple[str, ...], clauses: str) -> None:
    declared = [Declared(name, Kind.POINTS, True, "seq") for name in "ABC"]
    streams = "\n".join([*map(str, declared), TABLES])
    short = bound(f"{streams} EVENT e AS PATTERN {sequence}({', '.join(parts)}) {clauses} ON TIMEOUT late;")
    n_found = 0
    for seed in range(25):
        rng = Random(seed)
        rows, tables = random_rows(rng, declared, n_events=6), random_tables(rng)
        expected = set()
        for reached in range(1, len(parts)):
            cut = ", ".join([*parts[:reached], f"NOT {parts[reached]}"])
            written = bound(f"{streams} EVENT e AS PATTERN {sequence}({cut}) {clauses};")
            for one in oracle(written, rows, tables)["e"]:
                expected.add((one.lineage, one.start, one.end, one.detected_at, reached))
        results = oracle(short, rows, tables)["late"]
        assert {(r.lineage, r.start, r.end, r.detected_at, r.values[-1]) for r in results} == expected
        n_found += len(results)
    assert n_found > 5


def test_the_printed_program_says_so() -> None:
    program = inkling.parse(STREAMS + THREE)
    assert "ON TIMEOUT late" in program.to_ink()
    assert inkling.parse(program.to_ink()).plan == program.plan


@pytest.mark.long
def test_random_programs_keep_the_promises() -> None:
    n_events = 0
    for case in seeded_cases(417, 30, Options(needing=frozenset({"ON TIMEOUT"}))):
        assert violations(case.plan) == ()
        n_events += sum(isinstance(one.pattern, p.Disjunction) for one in case.plan.events if one.timeouts_of)
    assert n_events > 2


def test_an_error_in_the_event_is_told_once() -> None:
    text = f"""{STREAMS}
        EVENT e AS PATTERN SEQ(A a, B b[y = 1]) WITHIN 2 TICKS ON TIMEOUT late;
        EVENT f AS PATTERN late l[z = 1];
    """
    with pytest.raises(ProgramError) as caught:
        bound(text)
    assert len(caught.value.diagnostics) == 1
