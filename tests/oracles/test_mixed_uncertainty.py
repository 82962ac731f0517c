"""Programs over streams with different kinds of uncertainty, and their probabilities worked out by hand.

Every number is checked twice: against the definition, which goes through all worlds, and against a run.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.kit.oracle import probable_oracle

from inkling import parse

Rows = dict[str, list[dict[str, object]]]

AT = "STREAM At(person STRING, room STRING, t BIGINT) KEY person TIME t PROBABILITY p;"
RING = "STREAM Ring(t BIGINT) TIME t;"


def at(time: int, room: str, prob: float, **given: str) -> dict[str, object]:
    return {"person": "ada", "room": room, "t": time, "p": prob, **given}


def probabilities(text: str, rows: Rows, event: str) -> list[Fraction]:
    """Those of all results of an event by the definition, with which a run agrees, from small to large."""
    program = parse(text)
    exact = sorted(one.probability for one in probable_oracle(program.plan, rows)[event])
    found = program.run_local(rows).tables[event]
    assert set(found["method"].to_pylist()) <= {"exact"}
    assert sorted(found["probability"].to_pylist()) == pytest.approx([float(one) for one in exact], abs=1e-12)
    return exact


def probability(text: str, rows: Rows, event: str) -> Fraction:
    (prob,) = probabilities(text, rows, event)
    return prob


def test_an_imprecise_clock_and_a_probable_place() -> None:
    """The door opens at 1, 2, 3 or 4. Before 3, Ada may be in the lab at 2 (6/10); before 4, at 2 or at 3 (5/10).

    So the probability is (0 + 0 + 6/10 + (1 - 4/10 · 5/10)) / 4 = 7/20.
    """
    program = f"""
        {AT}
        STREAM Door(lo BIGINT, hi BIGINT) TIME BETWEEN lo AND hi;
        EVENT seen(a.person AS person) AS PATTERN SEQ(At a[room = 'lab'], Door d) PER VALUES;
    """
    rows: Rows = {"At": [at(2, "lab", 0.6), at(3, "lab", 0.5)], "Door": [{"lo": 1, "hi": 4}]}
    assert probability(program, rows, "seen") == Fraction(7, 20)


def test_the_alternatives_of_an_event_are_one_event() -> None:
    """Ada is in the lab (3/10) or in the hall (5/10) at 1: one match with 8/10, but two places."""
    rows: Rows = {"At": [at(1, "lab", 0.3), at(1, "hall", 0.5)], "Ring": [{"t": 2}]}
    program = f"{AT} {RING} EVENT x(a.person AS person) AS PATTERN SEQ(At a, Ring r);"
    assert probability(program, rows, "x") == Fraction(8, 10)
    places = f"{AT} {RING} EVENT x(a.room AS room) AS PATTERN SEQ(At a, Ring r);"
    assert probabilities(places, rows, "x") == [Fraction(3, 10), Fraction(5, 10)]


@pytest.mark.parametrize(("last", "expected"), [(3, Fraction(3, 10)), (4, Fraction(9, 100))])
def test_a_lossy_sensor_under_negation(last: int, expected: Fraction) -> None:
    """Alarms were recorded at 2 and at 12, and one or two between them were lost.

    There was none from 3 to 10 if each of the lost ones was from 2 to 3 or from 10 to 12: 3 of 10 parts.
    """
    program = """
        STREAM Open(t BIGINT) TIME t; STREAM Close(t BIGINT) TIME t;
        STREAM Alarm(t BIGINT, n BIGINT) TIME t NUMBERED BY n;
        EVENT quiet AS PATTERN SEQ(Open o, NOT Alarm, Close c);
    """
    rows: Rows = {"Open": [{"t": 3}], "Close": [{"t": 10}], "Alarm": [{"t": 2, "n": 1}, {"t": 12, "n": last}]}
    assert probability(program, rows, "quiet") == expected


def test_a_chain_of_places_and_certain_events() -> None:
    """From the hall, Ada goes to the lab with 1/2; in the lab she stays with 8/10. The bell rings at 25.

    In the lab at 20 and at 30: 1/2 · 8/10 = 4/10. At 30 alone she is there with 4/10 + 1/4, so that taking the two
    for independent would give 1/2 · 65/100.
    """
    stream = AT.replace("PROBABILITY p", "PROBABILITY p GIVEN before")
    program = f"""
        {stream} {RING}
        EVENT x AS PATTERN SEQ(At a[room = 'lab'], Ring r, At b[room = 'lab']);
        EVENT late AS PATTERN At b[room = 'lab'] PER END;
    """
    rows: Rows = {
        "At": [
            at(10, "hall", 1.0),
            at(20, "lab", 0.5, before="hall"),
            at(20, "hall", 0.5, before="hall"),
            at(30, "lab", 0.8, before="lab"),
            at(30, "hall", 0.2, before="lab"),
            at(30, "lab", 0.5, before="hall"),
            at(30, "hall", 0.5, before="hall"),
        ],
        "Ring": [{"t": 25}],
    }
    rows["At"] = [{"before": None, **row} for row in rows["At"]]
    assert probability(program, rows, "x") == Fraction(4, 10)
    assert probabilities(program, rows, "late") == [Fraction(1, 2), Fraction(65, 100)]
    assert Fraction(1, 2) * Fraction(65, 100) != Fraction(4, 10)


def test_derived_events_that_share_evidence_are_not_independent() -> None:
    """Both need Ada in the lab (1/2), and one bell each that rings with 8/10.

    Together: 1/2 · 8/10 · 8/10 = 32/100, where the product of 4/10 and 4/10 would be half of that.
    """
    program = f"""
        {AT}
        STREAM Bell(name STRING, sound STRING, t BIGINT) KEY name TIME t PROBABILITY p;
        EVENT first(a.person AS person) AS PATTERN SEQ(At a[room = 'lab'], Bell b[name = 'one']);
        EVENT second(a.person AS person) AS PATTERN SEQ(At a[room = 'lab'], Bell b[name = 'two']);
        EVENT both(x.person AS person) AS PATTERN first x AND second y;
    """
    bells = [{"name": name, "sound": "dong", "t": 5, "p": 0.8} for name in ("one", "two")]
    rows: Rows = {"At": [at(1, "lab", 0.5), at(1, "hall", 0.5)], "Bell": bells}
    product = probability(program, rows, "first") * probability(program, rows, "second")
    assert product == Fraction(16, 100)
    assert probability(program, rows, "both") == Fraction(32, 100)


def test_three_kinds_of_uncertainty_that_share_a_lost_event() -> None:
    """An event was lost between 0 and 10; a message came at 2 or at 6; Ada was in the lab at 4 with 1/2.

    Lost before the message: (2/10 + 6/10) / 2. Lost before Ada: 4/10 · 1/2. Before both, with the message at 2 or at
    6: (2/10 + 4/10) / 2 · 1/2 = 15/100, and not 4/10 · 2/10.
    """
    program = f"""
        {AT}
        STREAM Step(t BIGINT, n BIGINT) TIME t NUMBERED BY n;
        STREAM Message(lo BIGINT, hi BIGINT) TIME BETWEEN lo AND hi WEIGHTS weights;
        EVENT told AS PATTERN SEQ(Step s[n = 2], Message m);
        EVENT met AS PATTERN SEQ(Step s[n = 2], At a);
        EVENT both AS PATTERN told x AND met y;
    """
    rows: Rows = {
        "At": [at(4, "lab", 0.5)],
        "Step": [{"t": 0, "n": 1}, {"t": 10, "n": 3}],
        "Message": [{"lo": 2, "hi": 6, "weights": [1, 0, 0, 0, 1]}],
    }
    assert probability(program, rows, "told") == Fraction(4, 10)
    assert probability(program, rows, "met") == Fraction(2, 10)
    assert probability(program, rows, "both") == Fraction(15, 100)


@pytest.mark.parametrize(
    ("first", "between", "expected"),
    [
        ((0, 0), (8, 12), Fraction(3, 5)),  # 8 and 9 are in the way; 10 is the border, and harmless
        ((0, 1), (1, 2), Fraction(1, 4)),  # only both at 1: at the border again
        ((0, 0), (11, 20), Fraction(1)),
        ((0, 0), (1, 9), None),
    ],
)
def test_negation_with_imprecise_times(
    first: tuple[int, int], between: tuple[int, int], expected: Fraction | None
) -> None:
    """The match starts with `first` and ends at 10, unless something happened strictly inside."""
    program = """
        STREAM A(lo BIGINT, hi BIGINT) TIME BETWEEN lo AND hi;
        STREAM C(lo BIGINT, hi BIGINT) TIME BETWEEN lo AND hi;
        STREAM B(t BIGINT) TIME t;
        EVENT x AS PATTERN SEQ(A a, NOT C, B b);
    """
    rows: Rows = {
        "A": [dict(zip(("lo", "hi"), first, strict=True))],
        "C": [dict(zip(("lo", "hi"), between, strict=True))],
        "B": [{"t": 10}],
    }
    assert probabilities(program, rows, "x") == ([] if expected is None else [expected])


def test_next_with_a_lost_event_in_the_way() -> None:
    """b at 4 is the next one after a at 2 unless the lost one of 1 to 6 was from 2 to 4: 3/5. It was that with 2/5.

    The one recorded at 6 is never the next.
    """
    program = """
        STREAM A(t BIGINT) TIME t;
        STREAM B(source STRING, t BIGINT, n BIGINT) KEY source TIME t NUMBERED BY n;
        EVENT x(b.source AS source, b.n AS n) AS PATTERN SEQ NEXT(A a, B b);
    """
    rows: Rows = {
        "A": [{"t": 2}],
        "B": [
            {"source": "lossy", "t": 1, "n": 1},
            {"source": "lossy", "t": 6, "n": 3},
            {"source": "b", "t": 4, "n": 1},
        ],
    }
    found = parse(program).run_local(rows).tables["x"].to_pylist()
    assert {(row["source"], row["n"]): row["probability"] for row in found} == {
        ("b", 1): pytest.approx(3 / 5, abs=1e-12),
        ("lossy", 2): pytest.approx(2 / 5, abs=1e-12),
    }
    assert probabilities(program, rows, "x") == [Fraction(2, 5), Fraction(3, 5)]


@pytest.mark.parametrize(("condition", "n_results"), [(">= 0.3", 1), ("> 0.3", 0), ("> 0.29", 1), (">= 0.31", 0)])
def test_confidence_exactly_at_the_threshold(condition: str, n_results: int) -> None:
    """Two places of probability 1/10 and 2/10, whose sum as binary fractions is a little more than 3/10."""
    program = f"""
        {AT} {RING}
        EVENT x(a.person AS person) AS PATTERN SEQ(At a, Ring r) CONFIDENCE {condition};
    """
    rows: Rows = {"At": [at(1, "lab", 0.1), at(1, "hall", 0.2)], "Ring": [{"t": 2}]}
    assert 0.1 + 0.2 > 0.3
    assert len(parse(program).run_local(rows).tables["x"]) == n_results


def test_confidence_tests_the_sum_over_worlds_not_single_matches() -> None:
    """Three chances of 1/2 before the bell: 7/8 that it happened at all, 1/2 for each single match."""
    rows: Rows = {"At": [at(time, "lab", 0.5) for time in (1, 2, 3)], "Ring": [{"t": 4}]}
    ever = f"{AT} {RING} EVENT x AS PATTERN SEQ(At a, Ring r) PER VALUES CONFIDENCE > 0.8;"
    assert parse(ever).run_local(rows).tables["x"]["probability"].to_pylist() == [pytest.approx(7 / 8, abs=1e-12)]
    each = f"{AT} {RING} EVENT x AS PATTERN SEQ(At a, Ring r) CONFIDENCE > 0.8;"
    assert len(parse(each).run_local(rows).tables["x"]) == 0


def test_partitions_have_results_of_their_own_even_if_the_head_does_not_show_them() -> None:
    """Ada is in the lab with 1/2 and Bob with 1/4: two results, not one with 5/8."""
    program = f"{AT} EVENT x() AS PATTERN At a[room = 'lab'] PARTITION BY person PER VALUES;"
    rows: Rows = {"At": [at(1, "lab", 0.5), {**at(1, "lab", 0.25), "person": "bob"}]}
    assert probabilities(program, rows, "x") == [Fraction(1, 4), Fraction(1, 2)]
    anyone = f"{AT} EVENT x() AS PATTERN At a[room = 'lab'] PER VALUES;"
    assert probability(anyone, rows, "x") == 1 - Fraction(1, 2) * Fraction(3, 4)
