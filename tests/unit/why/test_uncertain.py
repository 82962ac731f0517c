"""Uncertain events explained in their worlds; probabilities are worked out by hand, or by the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import pytest

import inkling
from inkling import Sampling
from inkling.errors import NotSupportedYet
from inkling.model.batch import FOREVER
from inkling.why.uncertain import FEWEST_WORLDS, UncertainWhy

STREAMS = """
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;
STREAM Call(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;
STREAM Bell(id STRING, who STRING, t BIGINT) ID id KEY who TIME t;
"""
COFFEE = "EVENT e(who) AS PATTERN SEQ(Seen a[room = 'hall'], NOT Call c, Seen b[room = 'kitchen']) PARTITION BY who"
SEEN = [
    {"id": "a1", "who": "ada", "room": "hall", "t": 1, "p": 0.6},
    {"id": "a1", "who": "ada", "room": "lab", "t": 1, "p": 0.4},
    {"id": "a2", "who": "ada", "room": "hall", "t": 3, "p": 0.5},
    {"id": "a3", "who": "ada", "room": "kitchen", "t": 8, "p": 0.8},
    {"id": "b1", "who": "bob", "room": "hall", "t": 8, "p": 0.9},
]
CALLS = [{"id": "c1", "who": "ada", "lo": 2, "hi": 5}]
BELLS = [{"id": "d1", "who": "ada", "t": 2}, {"id": "d2", "who": "ada", "t": 4}]
INPUTS = {"Seen": SEEN, "Call": CALLS, "Bell": BELLS}


def asked(event: str, sampling: Sampling | None = None) -> UncertainWhy:
    found = inkling.parse(STREAMS + event).why("e", INPUTS, sampling=sampling)
    assert isinstance(found, UncertainWhy)
    return found


def test_results_below_confidence_are_explained() -> None:
    """Ada is in the hall at 3, called at 2 or 3, and in the kitchen: 0.5 * 0.5 * 0.8."""
    why = asked(f"{COFFEE} PER VALUES CONFIDENCE >= 0.5;")
    assert len(why.results) == 0
    assert why.possible["probability"].to_pylist() == pytest.approx([0.2])
    found = why.worlds(1)
    assert found.left_out == "CONFIDENCE >= 0.5"
    assert found.looked is not None
    # a1 has two alternatives, a2 and a3 happen or not, c1 has four ticks; a1 is free and c1 at 2 or 3
    assert (found.looked.n_worlds, found.looked.n_having, found.looked.n_events) == (2 * 2 * 2 * 4, 2 * 2, 4)
    (having,) = found.having
    assert having.scenario.probability == pytest.approx(0.2)
    assert [(event.id, outcome.low, outcome.high) for event, outcome in having.scenario.outcomes] == [
        ("a2", 3, 3),
        ("a3", 8, 8),
        ("c1", 2, 3),
    ]
    assert [row.ids for row in having.tree.rows()] == [("a2",), ("a3",)]
    assert {one.event.id: one.without for one in found.without} == pytest.approx({"a2": 0, "a3": 0, "c1": 0.64})


def test_given_each_outcome() -> None:
    found = asked(f"{COFFEE} PER VALUES;").worlds(1)
    given = {
        one.event.id: [(given.outcome.low, given.outcome.high, given.probability, given.result) for given in one.given]
        for one in found.dependences
    }
    assert given.keys() == {"a2", "a3", "c1"}  # the call is later than a1
    assert given["c1"] == [pytest.approx((2, 3, 0.5, 0.4)), pytest.approx((4, 5, 0.5, 0))]
    assert given["a2"] == [pytest.approx((3, 3, 0.5, 0.4)), pytest.approx((3, 3, 0.5, 0))]
    assert given["a3"] == [pytest.approx((8, 8, 0.8, 0.25)), pytest.approx((8, 8, 0.2, 0))]


def test_results_that_are_not_among_the_top() -> None:
    why = asked("EVENT e(who, a.id AS id) AS PATTERN SEQ(Seen a[room = 'hall'], Call c) PARTITION BY who TOP 1;")
    assert [row["id"] for row in why.possible.to_pylist()] == ["a1", "a2"]
    assert [why.left_out(1), why.left_out(2)] == [None, "TOP 1"]
    assert why.possible["probability"].to_pylist() == pytest.approx([0.6, 0.25])


def test_no_world_has_a_result() -> None:
    why = asked(f"{COFFEE} PER VALUES;")
    assert why.results_with(["b1"]) == []
    around = why.progress_around(["b1"])
    assert around is not None
    assert [step.matches for step in around.steps] == [1, 0, 0, 0]
    assert around.obstacles == ("no event satisfies `Seen b[b.room = 'kitchen']`",)
    assert why.progress_around(["b1", "nobody"]) is None
    assert (why.n_sampled, why.unseen) == (0, 0)


def test_a_sample_states_its_bound() -> None:
    sampling = Sampling(epsilon=0.05, delta=0.05, exact_up_to=0, seed=3)
    why = asked(f"{COFFEE} PER VALUES;", sampling)
    found = why.worlds(1)
    assert found.looked is not None
    assert found.looked.is_sample
    assert found.looked.n_worlds == sampling.n_worlds == why.n_sampled
    assert abs(found.looked.n_having / found.looked.n_worlds - 0.2) <= found.looked.error <= 0.05
    exact = {
        (one.event.id, given.outcome.low, given.outcome.happens): given.result
        for one in asked(f"{COFFEE} PER VALUES;").worlds(1).dependences
        for given in one.given
    }
    assert {one.event.id for one in found.dependences} == {"a2", "a3", "c1"}
    for one in found.dependences:
        for given in one.given:
            assert given.error > 0
            assert abs(given.result - exact[one.event.id, given.outcome.low, given.outcome.happens]) <= given.error
    assert {one.event.id for one in found.without} == {"a2", "a3", "c1"}
    for without in found.without:
        assert abs(without.without - {"a2": 0, "a3": 0, "c1": 0.64}[str(without.event.id)]) <= without.error
    # none of n worlds: probabilities p with (1 - p) ** n >= delta / 2 cannot be ruled out
    assert (1 - why.unseen) ** why.n_sampled == pytest.approx(0.05 / 2)
    again = asked(f"{COFFEE} PER VALUES;", sampling).worlds(1)
    assert again == found


def test_chains_have_exact_probabilities_and_sampled_worlds() -> None:
    program = inkling.parse(
        """STREAM A(id STRING) ID id TIME BETWEEN lo AND hi;
           STREAM B(id STRING) ID id TIME BETWEEN lo AND hi;
           EVENT e AS PATTERN SEQ(A a, B b) WITHIN 30 TICKS;"""
    )
    inputs = {"A": [{"id": "a", "lo": 0, "hi": 49}], "B": [{"id": "b", "lo": 20, "hi": 69}]}
    pairs = list(product(range(50), range(20, 70)))
    expected = Fraction(sum(0 < b - a <= 30 for a, b in pairs), len(pairs))
    why = program.why("e", inputs)
    found = why.worlds()
    assert found is not None
    assert (found.probability, found.error, found.method) == (pytest.approx(float(expected)), 0, "exact")
    assert found.looked is not None
    assert found.looked.is_sample
    assert abs(found.looked.n_having / found.looked.n_worlds - expected) <= found.looked.error
    for one in found.dependences:
        for given in one.given:
            ticks = range(given.outcome.low, given.outcome.high + 1)
            chosen = [pair for pair in pairs if pair[one.event.id == "b"] in ticks]
            share = Fraction(sum(0 < b - a <= 30 for a, b in chosen), len(chosen))
            assert abs(given.result - share) <= given.error
    tree = why.tree()
    (a, b) = (row.start for row in tree.rows())
    assert isinstance(a, int)
    assert isinstance(b, int)
    assert 0 < b - a <= 30


def test_segments_whose_ends_were_lost() -> None:
    """Segment k ends at a time that was lost between 0 and 10, segment m begins at 4: they meet if k ends later."""
    program = inkling.parse(
        """STREAM S(id STRING, k STRING, n BIGINT, t BIGINT) ID id KEY k TIME t NUMBERED BY n SEGMENTS;
           EVENT both(x.k AS one, y.k AS other) AS PATTERN SOME S x INTERSECTS SOME S y HAVING x.k < y.k;"""
    )
    rows = [("k1", "k", 1, 0), ("k3", "k", 3, 10), ("k4", "k", 4, 12), ("m1", "m", 1, 4), ("m2", "m", 2, 9)]
    inputs = {"S": [{"id": id, "k": k, "n": n, "t": t} for id, k, n, t in rows]}
    why = program.why("both", inputs)
    found = why.worlds()
    assert found is not None
    assert found.probability == pytest.approx(0.6)
    (one,) = found.dependences
    assert one.event.lost == (("k", "k"), ("n", 2))
    assert [(given.outcome.low, given.outcome.high, given.probability, given.result) for given in one.given] == [
        pytest.approx((0, 4, 0.4, 0)),
        pytest.approx((4, 10, 0.6, 1)),
    ]
    assert None in [id for row in why.tree().rows() for id in row.ids]


def test_alternatives_that_depend_on_the_one_before() -> None:
    """At 1 it is a (0.6) or b; it stays what it was with 0.9. The most probable path is a, a."""
    program = inkling.parse(
        """STREAM P(id STRING, k STRING, v STRING, t BIGINT, p DOUBLE, g STRING)
             ID id KEY k TIME t PROBABILITY p GIVEN g;
           EVENT e(k) AS PATTERN SEQ NEXT(P x[v = 'a'], P y[v = 'b']) PARTITION BY k PER END;"""
    )
    rows = [("1", "a", 1, 0.6, None), ("2", "b", 1, 0.4, None), ("3", "a", 2, 0.9, "a"), ("4", "b", 2, 0.1, "a")]
    rows += [("5", "b", 2, 0.9, "b"), ("6", "a", 2, 0.1, "b")]
    inputs = {"P": [{"id": id, "k": "k", "v": v, "t": t, "p": p, "g": g} for id, v, t, p, g in rows]}
    why = program.why("e", inputs)
    assert isinstance(why, UncertainWhy)
    found = why.worlds()
    assert found.probability == pytest.approx(0.06)
    first, second = sorted(found.dependences, key=lambda one: one.event.low)
    assert [(given.outcome.values, given.result) for given in first.given] == [
        ((("v", "a"),), pytest.approx(0.1)),
        ((("v", "b"),), 0),
    ]
    assert [(given.probability, given.result) for given in second.given] == [
        pytest.approx((0.58, 0)),
        pytest.approx((0.42, 0.06 / 0.42)),
    ]
    assert why.most_probable_world.is_unique
    assert why.progress.n_results == 0
    assert why.results_with(["1", "4"]) == why.results_with(["2"]) == [1]  # alternatives are one event


@pytest.mark.parametrize("options", ["OP op", "OP op LATENESS 9 TICKS SPECULATIVE"])
def test_withdrawn_events_are_gone_from_all_worlds(options: str) -> None:
    text = """STREAM S(id STRING, k STRING, v STRING, t INT) ID id KEY k TIME t PROBABILITY p {};
              EVENT e(k) AS PATTERN SEQ(S x[v = 'a'], S y[v = 'b']) WITHIN 9 TICKS PARTITION BY k PER VALUES;"""
    kept = [{"id": "1", "k": "k", "v": "a", "p": 0.5, "t": 1}, {"id": "3", "k": "k", "v": "b", "p": 0.8, "t": 3}]
    gone = {"id": "2", "k": "k", "v": "a", "p": 0.4, "t": 2}
    changes = [{**row, "op": "+"} for row in (*kept, gone)] + [{**gone, "op": "-"}]
    found = inkling.parse(text.format(options)).why("e", {"S": changes}).worlds()
    assert found is not None
    assert found.probability == pytest.approx(0.4)
    assert {one.event.id for one in found.dependences} == {"1", "3"}
    assert found == inkling.parse(text.format("")).why("e", {"S": kept}).worlds()


def test_certain_events_beside_uncertain_streams() -> None:
    program = inkling.parse(
        f"""{STREAMS} {COFFEE};
            EVENT rung AS PATTERN SEQ(Bell a, Bell b);
            EVENT late AS PATTERN SEQ(rung r, Bell c[t > 9]);"""
    )
    why = program.why("rung", INPUTS)
    assert not isinstance(why, UncertainWhy)
    assert why.possible == why.results
    assert why.worlds(1) is None
    assert [row.ids for row in why.tree(1).rows()] == [("d1",), ("d2",)]
    assert program.why("late", INPUTS).progress.obstacles == ("no event satisfies `Bell c[c.t > 9]`",)


def test_uncertain_forecasts_are_rejected() -> None:
    program = inkling.parse(
        """STREAM P(k STRING, v STRING, t BIGINT, p DOUBLE) KEY k TIME t PROBABILITY p;
           EVENT x(k) AS PATTERN SEQ STRICT(P a[v = 'a'], P b[v = 'b']) PARTITION BY k PER END;
           FORECAST x WITHIN 3 EVENTS;"""
    )
    with pytest.raises(NotSupportedYet, match="INK0453"):
        program.why("x_forecast", {"P": []})


def test_lost_events_that_a_rate_limits() -> None:
    """The third event is as late as a rate of 0.1 has it: between 20 and 30 with probability 1 - 1 / e."""
    program = inkling.parse(
        """STREAM S(id STRING, k STRING, n BIGINT, t BIGINT)
             ID id KEY k TIME t NUMBERED BY n SEGMENTS COUNT c RATE 0.1 PER TICK;
           STREAM H(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;
           EVENT e(k) AS PATTERN SEQ(S x, H y) PARTITION BY k;"""
    )
    inputs = {
        "S": [{"id": "a", "k": "k", "n": 2, "t": 20, "c": 3}],
        "H": [{"id": "h", "k": "k", "t": 15}, {"id": "i", "k": "k", "t": 30}],
    }
    why = program.why("e", inputs)
    assert isinstance(why, UncertainWhy)
    assert why.most_probable_world.is_drawn
    # the first event is lost too, and is before the horn at 30 for certain: results differ in nothing but times
    (number,) = [
        place
        for place, row in enumerate(why.possible.to_pylist(), start=1)
        if row["lineage"] == [None, "i"] and row["probability"] < 1
    ]
    found = why.worlds(number)
    (one,) = found.dependences
    assert one.event.lost == (("k", "k"), ("n", 3))
    assert [(given.outcome.low, given.outcome.high, given.result) for given in one.given] == [
        (20, 30, 1),
        (30, FOREVER, 0),
    ]
    assert abs(one.given[0].probability - (1 - exp(-1))) <= 0.01


def test_a_certain_result_depends_on_nothing() -> None:
    why = asked("EVENT e(who) AS PATTERN SEQ(Bell b, Call c) PARTITION BY who PER VALUES;")
    found = why.worlds(1)
    assert found.probability == pytest.approx(0.75)  # the bell at 2 is before the call unless that is at 2
    why = asked("EVENT e(who) AS PATTERN Call c PARTITION BY who;")
    found = why.worlds(1)
    assert found.probability == 1
    assert (found.dependences, found.lacking) == ((), ())
    assert [one.scenario.outcomes for one in found.having] == [()]


def test_no_rows_at_all() -> None:
    program = inkling.parse(STREAMS + f"{COFFEE};")
    why = program.why("e", {"Seen": [], "Call": [], "Bell": []})
    assert len(why.possible) == 0
    assert why.progress.obstacles == ("the data has no `Seen`",)
    with pytest.raises(IndexError):
        why.worlds(1)


def test_more_rows_mean_fewer_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inkling.why.uncertain.MOST_ROWS", 0)
    monkeypatch.setattr("inkling.why.uncertain.MOST_ROWS_AT_ONCE", 0)
    why = asked(f"{COFFEE} PER VALUES;", Sampling(exact_up_to=0))
    found = why.worlds(1)
    assert found.looked is not None
    assert why.n_sampled == found.looked.n_worlds == FEWEST_WORLDS
    assert abs(found.looked.n_having / FEWEST_WORLDS - 0.2) <= found.looked.error
    assert abs(found.probability - 0.2) <= found.error <= 0.01  # that of a run
