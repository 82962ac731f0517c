"""The engines for imprecise times give the results that were worked out by hand and by exhaustive enumeration.

Each line of `imprecise_times.jsonl` is complete: nothing else may be found. Ids are those of the list of oracles.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from tests.kit.imprecise import blocks, by_starts, controls, formula, matrices, signed, worlds
from tests.kit.imprecise.any_state import AnyStateEngine
from tests.kit.imprecise.bounds import four_passes
from tests.kit.imprecise.case import Case, Outcome, Policy, Results, Signature, TimedEvent, case_of, query, timed_event
from tests.kit.imprecise.chain import Chain
from tests.kit.imprecise.density import expected_matches
from tests.kit.imprecise.engine import is_exclusive, run, widest
from tests.kit.imprecise.fixpoint import possible_ranges
from tests.kit.imprecise.points import Expansion, PointEngine
from tests.kit.imprecise.ranking import at_least, best
from tests.kit.imprecise.selectivity import SelectivityEngine
from tests.kit.imprecise.sorted_order import SortedEngine
from tests.kit.imprecise.streams import arrival_order, divisible, divisible_query
from tests.kit.imprecise.watermark import Clock, is_final
from tests.kit.imprecise.weigh import weigh
from tests.oracles.imprecise_engines import ENGINES, EXCLUSIVE_ENGINES, by_any_state, engines_for
from tests.oracles.imprecise_times import CASES

BY_ID = {line["id"]: case_of(line) for line in CASES}
DIVISORS = (31, 37, 41)
SKEWED = (13, 79, 83)


def said(results: Results) -> dict[Signature, tuple[int, int, object]]:
    return {signature: (one.first, one.last, one.confidence) for signature, one in results.items()}


def ids(text: str) -> Signature:
    """`a b1+b2 c` has two events for its second step."""
    return tuple(tuple(group.split("+")) for group in text.split())


def chain_of(case: Case, text: str) -> Chain:
    by_id = {event.id: event for event in case.events}
    shape = [step for step, group in enumerate(ids(text)) for _ in group]
    return Chain.of(case.query, shape, [by_id[one] for group in ids(text) for one in group], case.events)


def confidences(results: Results) -> dict[Signature, object]:
    return {signature: one.confidence for signature, one in results.items()}


def test_all_lines_are_there() -> None:
    assert len(BY_ID) == 64


@pytest.mark.parametrize("name", BY_ID)
def test_every_engine_gives_the_listed_results(name: str) -> None:
    case = BY_ID[name]
    assert worlds.n_worlds(case.events) == case.n_worlds
    for engine, answer in engines_for(case.query, case.events).items():
        assert said(answer(case.query, case.events)) == case.results, engine


def test_engines_for_exclusive_patterns_have_enough_to_do() -> None:
    covered = [name for name, case in BY_ID.items() if is_exclusive(case.query, case.events)]
    assert len(covered) >= 50


@pytest.mark.parametrize("name", BY_ID)
def test_every_way_to_a_confidence_agrees(name: str) -> None:
    case = BY_ID[name]
    for signature, (_, _, confidence) in case.results.items():
        chain = chain_of(case, " ".join("+".join(group) for group in signature))
        assert signed.confidence(chain) == confidence
        if matrices.covers(chain):
            assert matrices.confidence(chain) == confidence
        if not chain.blockers:
            assert by_starts.confidence(chain) == blocks.confidence(chain) == confidence


def test_p1_running_example() -> None:
    case = BY_ID["S01"]
    assert worlds.n_worlds(case.events) == 225
    points = set(formula.point_matches(chain_of(case, "a1 b3 c2")))
    assert {(1, 3, 4), (3, 4, 5)} <= points
    c4 = case.events[3]
    assert len(points) * len(c4.chances) == 25


def test_p2_the_printed_confidence_is_not_the_one_that_follows() -> None:
    found = {name: confidences(worlds.results(*BY_ID[name][:2]))[ids("a1 b3 c2")] for name in ("S01", "N01")}
    assert found == {"S01": Fraction(25, 225), "N01": Fraction(24, 225)}
    assert Fraction(15, 225) not in found.values()


def test_p3_runs_of_the_point_engine_with_a1_at_2() -> None:
    case = BY_ID["S01"]
    events = [timed_event("a1", "A", 2, 2), *case.events[1:]]
    assert worlds.n_worlds(events) == 45
    engine = PointEngine(case.query, widest(events))
    run(engine, events)
    assert (engine.n_partial, engine.n_complete) == (3, 6)


def test_p4_bounds_of_the_running_example() -> None:
    assert four_passes([(1, 5), (3, 5), (3, 5)], 4) == ((1, 3), (3, 4), (4, 5))
    assert four_passes([(1, 5), (3, 5), (4, 8)], 4) == ((1, 4), (3, 5), (4, 7))


def test_p5_the_window_prunes() -> None:
    boxes = [(1, 5), (2, 3), (6, 7)]
    assert four_passes(boxes, 4) is None
    assert four_passes(boxes, 5) == ((2, 2), (3, 3), (6, 6))


def test_p6_runs_of_the_any_state_engine() -> None:
    case = BY_ID["S01"]
    engine = AnyStateEngine(case.query, widest(case.events), prune=False)
    made = []
    for event in case.events[:3]:
        engine.push(event)
        made.append(engine.n_runs)
    assert made == [1, 3, 7]
    assert len(engine.runs) == 6  # the seventh is complete
    assert set(engine.finish()) == {ids("a1 b3 c2")}


def test_p6_bounds_when_b3_fills_the_gap() -> None:
    (a1, c2, b3, _) = BY_ID["S01"].events
    ranges = four_passes([(one.lower, one.upper) for one in (a1, b3, c2)], 4)
    assert ranges is not None
    (_, a_last), (b_first, b_last), (c_first, _) = ranges
    assert (b_first, b_last, c_first, a_last) == (3, 4, 4, 3)


def test_p7_policies_in_a_certain_stream() -> None:
    assert [len(worlds.results(*BY_ID[name][:2])) for name in ("N11", "N12")] == [2, 1]


def test_p8_which_candidates_can_be_next() -> None:
    found = worlds.results(*BY_ID["N09"][:2])
    assert {signature[1][0] for signature in found} == {"b2", "b3", "b4", "b5"}


def test_p9_order_of_points() -> None:
    events = BY_ID["S01"].events
    clock = Clock(widest(events))
    expansion = Expansion(clock)
    released = []
    for event in events:
        assert clock.admits(event)
        released += expansion.push(event)
        assert all(instant <= clock.watermark for instant, _ in released)
    released += expansion.rest()
    assert [f"{event.id}@{instant}" for instant, event in released][:9] == (
        ["a1@1", "a1@2", "a1@3", "c2@3", "b3@3", "a1@4", "c2@4", "b3@4", "c4@4"]
    )


def test_t01_thresholds_and_ranking() -> None:
    found = worlds.results(*BY_ID["T01"][:2])
    b1, b2, b3 = ids("a1 b1"), ids("a1 b2"), ids("a1 b3")
    assert set(at_least(found, Fraction(3, 8))) == {b1, b3}
    assert set(at_least(found, Fraction(4, 10))) == {b3}
    assert set(at_least(found, 0)) == {b1, b2, b3}
    assert best(found, 2) == [b3, b1]


def test_s01_threshold_and_sum() -> None:
    case = BY_ID["S01"]
    found = worlds.results(case.query, case.events)
    assert set(at_least(found, Fraction(115, 1000))) == {ids("a1 b3 c4")}
    assert sum(confidences(found).values()) == Fraction(52, 225) == expected_matches(case.query, case.events)


@pytest.mark.parametrize(("name", "text", "wrong", "right"), [("W03", "a b", 1, 4), ("W04", "a b c", 1, 3)])
def test_three_passes_begin_too_early(name: str, text: str, wrong: int, right: int) -> None:
    chain = chain_of(BY_ID[name], text)
    three = four_passes(chain.boxes, chain.window, lower_side=False)
    four = four_passes(chain.boxes, chain.window)
    assert three is not None
    assert four is not None
    assert (three[0][0], four[0][0]) == (wrong, right)


def test_n06_nelt_keeps_what_has_no_confidence() -> None:
    case = BY_ID["N06"]
    chain = chain_of(case, "a1 b2 c2")
    by_kind = {kind: [event for event in case.events if event.kind == kind] for kind in "BC"}
    a1, b2, c2 = chain.events
    assert controls.latest_next(a1, by_kind["B"]) >= b2.lower
    assert controls.latest_next(b2, by_kind["C"]) >= c2.lower
    assert four_passes(chain.boxes, chain.window) is not None
    assert possible_ranges(chain) is None
    assert formula.weighed(chain) is None


def test_n07_nelt_alone_gives_a_loose_range() -> None:
    case = BY_ID["N07"]
    chain = chain_of(case, "a1 b9")
    a1, b9 = chain.events
    latest = controls.latest_next(a1, case.events[1:])
    loose = four_passes([(a1.lower, a1.upper), (b9.lower, int(min(b9.upper, latest)))], chain.window)
    tight = possible_ranges(chain)
    assert loose is not None
    assert tight is not None
    assert (loose[0][0], loose[-1][1]) == (1, 9)
    assert (tight[0][0], tight[-1][1]) == (2, 9)


def test_n08_an_overlapping_candidate_does_not_set_the_nelt() -> None:
    a1, b2, b9 = BY_ID["N08"].events
    assert controls.latest_next(a1, [b2, b9]) == 9
    assert controls.latest_next(a1, [b2, b9], overlapping=True) < b9.lower


def test_s14_bounds_are_loose_when_an_instant_has_no_chance() -> None:
    case = BY_ID["S14"]
    chain = chain_of(case, "a b")
    assert possible_ranges(chain) == ((2, 3), (3, 4))
    assert weigh(chain) == Outcome(((3, 3), (4, 4)), Fraction(1, 4))


def test_c01_under_another_key() -> None:
    keyed = [
        timed_event(name, kind, lower, upper, key=key)
        for name, kind, lower, upper, key in (("a", "A", 1, 2, 1), ("b", "B", 2, 4, 2), ("c", "C", 3, 5, 1))
    ]
    asked = query("A", "C", window=10, policy=Policy.PARTITION)
    for answer in ENGINES.values():
        assert said(answer(asked, keyed)) == {ids("a c"): (1, 5, 1)}
    same_key = [replace_key(event, 1) for event in keyed]
    for answer in ENGINES.values():
        assert said(answer(asked, same_key)) == BY_ID["C01"].results


def replace_key(event: TimedEvent, key: object) -> TimedEvent:
    return TimedEvent(event.id, event.kind, event.lower, event.upper, event.chances, key)


LARGE = {
    "L1": (
        ((1000, 5), (1040, 75), (1060, 5), (1130, 75)),
        150,
        Fraction(5231, 22801),
        ((995, 1005), (996, 1064), (1055, 1065), (1056, 1154)),
    ),
    "L2": (
        ((1000, 5), (1010, 75), (1120, 5), (1150, 75)),
        150,
        Fraction(2455, 22801),
        ((995, 1005), (996, 1085), (1115, 1125), (1116, 1154)),
    ),
    "L3": (((100, 50), (130, 50), (160, 50)), 100, Fraction(346251, 1030301), ((50, 150), (80, 180), (110, 210))),
    "L4": (((100, 10), (130, 10), (160, 10)), 60, Fraction(10, 21), ((91, 110), (120, 140), (150, 169))),
    "L5": (((100, 50), (130, 50), (160, 50)), None, Fraction(526330, 1030301), ((50, 150), (80, 180), (110, 210))),
}


def large_chain(name: str, *, exact: bool = True) -> Chain:
    centers, window, _, _ = LARGE[name]
    kinds = "ABCD"[: len(centers)]
    events = [
        timed_event(kind, kind, center - half, center + half, None if exact else [1 / (2 * half + 1)] * (2 * half + 1))
        for kind, (center, half) in zip(kinds, centers, strict=True)
    ]
    return Chain.of(query(*kinds, window=window), range(len(events)), events, events)


@pytest.mark.parametrize("name", LARGE)
def test_large_intervals(name: str) -> None:
    _, _, confidence, ranges = LARGE[name]
    chain = large_chain(name)
    assert four_passes(chain.boxes, chain.window) == possible_ranges(chain) == ranges
    assert blocks.confidence(chain) == confidence
    for way in (by_starts, blocks, matrices):
        assert math.isclose(way.confidence(large_chain(name, exact=False)), confidence, rel_tol=1e-12)


def test_l4_by_every_exact_way() -> None:
    chain = large_chain("L4")
    assert by_starts.confidence(chain) == matrices.confidence(chain) == Fraction(10, 21)


@pytest.mark.parametrize(
    ("half", "exact", "count", "total"), [(1, True, 226, "204.555555556"), (10, False, 482, "197.562898175")]
)
def test_whole_stream_any(half: int, exact: bool, count: int, total: str) -> None:
    events, asked = divisible(2000, half, DIVISORS, exact=exact), divisible_query(DIVISORS, 100, Policy.ANY)
    assert [sum(event.kind == kind for event in events) for kind in "012"] == [64, 54, 48]
    found = run(SortedEngine(asked, 2 * half + 1), events)
    sum_ = sum(confidences(found).values())
    assert len(found) == count
    assert f"{float(sum_):.9f}" == total
    expected = expected_matches(asked, events)
    assert sum_ == expected if exact else math.isclose(sum_, expected, rel_tol=1e-9)


def test_whole_stream_any_d50() -> None:
    events, asked = divisible(2000, 50, DIVISORS, exact=False), divisible_query(DIVISORS, 100, Policy.ANY)
    assert f"{expected_matches(asked, events):.9f}" == "194.638876406"
    feasible = sum(
        four_passes([(one.lower, one.upper) for one in (a, b, c)], 100) is not None
        for a in events
        if a.kind == "0"
        for b in events
        if b.kind == "1" and abs(a.lower - b.lower) <= 200
        for c in events
        if c.kind == "2" and abs(a.lower - c.lower) <= 200
    )
    assert feasible == 2510


@pytest.mark.parametrize(
    ("half", "exact", "count", "total"), [(1, True, 74, "62.666666667"), (10, False, 256, "62.518899508")]
)
def test_whole_stream_next(half: int, exact: bool, count: int, total: str) -> None:
    events, asked = divisible(2000, half, DIVISORS, exact=exact), divisible_query(DIVISORS, 100, Policy.NEXT)
    found = run(SortedEngine(asked, 2 * half + 1), events)
    assert len(found) == count
    assert f"{float(sum(confidences(found).values())):.9f}" == total


def test_selectivity_makes_fewer_runs_where_the_last_step_is_rare() -> None:
    events, asked = divisible(1000, 10, SKEWED), divisible_query(SKEWED, 100, Policy.ANY)
    engines = [AnyStateEngine(asked, 21), SelectivityEngine(asked, 21, batch=20), SortedEngine(asked, 21)]
    found = [run(engine, events) for engine in engines]
    assert found[0] == found[1] == found[2] != {}
    assert engines[1].n_runs < engines[0].n_runs
    assert engines[1].peak_runs < engines[0].peak_runs


def test_pruning_runs_changes_nothing_but_their_number() -> None:
    events, asked = divisible(1000, 5, DIVISORS), divisible_query(DIVISORS, 50, Policy.NEXT)
    pruned, all_kept = AnyStateEngine(asked, 11), AnyStateEngine(asked, 11, prune=False)
    assert run(pruned, events) == run(all_kept, events) != {}
    assert pruned.peak_runs < all_kept.peak_runs // 10


def test_x01_walk_through() -> None:
    case = BY_ID["X01"]
    engine = PointEngine(case.query, 10)
    clock = Clock(10)
    expansion = Expansion(clock)
    watermarks, released = [], []
    for event in case.events:
        assert clock.admits(event)
        watermarks.append(clock.watermark)
        released += expansion.push(event)
        assert engine.push(event) == {}
    assert watermarks == [-9, -9, -5, 6]
    assert max(instant for instant, _ in released) == 6
    assert sorted(instant for instant, _ in released) == [1, 1, 2, 3, 4, 5, 5, 6, 6]
    anchor = case.events[0]
    assert not is_final(anchor, 20, clock.watermark)
    assert not clock.admits(timed_event("late", "B", 5, 6))
    assert not clock.admits(timed_event("wide", "B", 30, 40))
    assert ([one.id for one in clock.late], [one.id for one in clock.oversized]) == (["late"], ["wide"])
    assert clock.admits(timed_event("z", "B", 29, 29))
    assert not is_final(anchor, 20, clock.watermark)
    assert clock.admits(timed_event("z", "B", 30, 30))
    assert is_final(anchor, 20, clock.watermark)
    assert said(engine.push(timed_event("z", "D", 30, 30))) == case.results
    assert engine.finish() == {}


def test_control_midpoints_lose_results() -> None:
    case = BY_ID["S01"]
    assert controls.at_midpoints(case.query, case.events) == {ids("a1 b3 c4")} < set(case.results)


def test_control_next_straight_on_points_loses_matches() -> None:
    case = BY_ID["N09"]
    wrong = [one for one in controls.straight_on_points(case.query, case.events) if one[0] == ("a1", 3)]
    assert wrong == [(("a1", 3), ("b3", 4))]
    a1 = timed_event("a1", "A", 3, 3)
    assert set(worlds.results(case.query, [a1, *case.events[1:]])) > {ids("a1 b3")}


def test_control_product_per_gap_is_wrong_for_events_of_two_roles() -> None:
    chain = chain_of(BY_ID["M01"], "a b c")
    assert controls.product_per_gap(chain) == Fraction(41, 100)
    assert signed.confidence(chain) == Fraction(3, 10)


def test_control_release_that_ignores_buffers_loses_x01() -> None:
    case = BY_ID["X01"]
    assert said(run(SortedEngine(case.query, 10), case.events)) == case.results
    assert run(SortedEngine(case.query, 10, look_at_buffers=False), case.events) == {}


def moved(event: TimedEvent, shift: int) -> TimedEvent:
    return TimedEvent(event.id, event.kind, event.lower + shift, event.upper + shift, event.chances, event.key)


def mirrored(event: TimedEvent) -> TimedEvent:
    return TimedEvent(event.id, event.kind, -event.upper, -event.lower, event.chances[::-1], event.key)


@pytest.mark.parametrize("name", BY_ID)
def test_shifting_time_keeps_confidences(name: str) -> None:
    case = BY_ID[name]
    later = worlds.results(case.query, [moved(event, 1000) for event in case.events])
    expected = {signature: (lo + 1000, hi + 1000, conf) for signature, (lo, hi, conf) in case.results.items()}
    assert said(later) == expected


@pytest.mark.parametrize("name", [name for name, case in BY_ID.items() if case.query.policy is Policy.ANY])
def test_time_runs_backwards(name: str) -> None:
    case = BY_ID[name]
    backwards = replace(case.query, steps=case.query.steps[::-1], absences=case.query.absences[::-1])
    found = confidences(worlds.results(backwards, [mirrored(event) for event in case.events]))
    assert {tuple(group[::-1] for group in one[::-1]): conf for one, conf in found.items()} == {
        signature: conf for signature, (_, _, conf) in case.results.items()
    }


@pytest.mark.parametrize("name", BY_ID)
def test_a_confidence_is_the_mean_over_the_instants_of_one_event(name: str) -> None:
    case = BY_ID[name]
    wide = max(case.events, key=lambda event: event.upper - event.lower)
    mean: dict[Signature, Fraction] = {}
    for instant in wide.instants():
        fixed = timed_event(wide.id, wide.kind, instant, instant, key=wide.key)
        for signature, confidence in confidences(
            worlds.results(case.query, [fixed if one is wide else one for one in case.events])
        ).items():
            mean[signature] = mean.get(signature, Fraction(0)) + confidence * wide.at(instant)
    assert mean == {signature: conf for signature, (_, _, conf) in case.results.items()}


@pytest.mark.parametrize("name", [name for name, case in BY_ID.items() if not any(case.query.absences)])
def test_a_wider_window_and_any_instead_of_next_lose_nothing(name: str) -> None:
    case = BY_ID[name]
    before: dict[Signature, object] = {}
    for window in (1, 2, 3, 5, 8, 13):
        found = confidences(formula.results(replace(case.query, policy=Policy.ANY, window=window), case.events))
        chosen = confidences(formula.results(replace(case.query, window=window), case.events))
        assert all(found[signature] >= confidence for signature, confidence in (*before.items(), *chosen.items()))
        before = found


@pytest.mark.parametrize("name", ["S01", "S02", "W04", "M04", "N11", "X01"])
def test_a_longer_match_is_not_more_likely(name: str) -> None:
    case = BY_ID[name]
    shorter = replace(case.query, steps=case.query.steps[:-1], absences=case.query.absences[:-1])
    prefixes = confidences(worlds.results(shorter, case.events))
    for signature, (_, _, confidence) in case.results.items():
        assert confidence <= prefixes[signature[:-1]]


@pytest.mark.parametrize("name", BY_ID)
def test_results_do_not_depend_on_the_order_of_arrival(name: str) -> None:
    case = BY_ID[name]
    random = Random(name)
    for _ in range(5):
        order = arrival_order(random, case.events, pairwise=random.random() < 0.5)
        for engine, answer in engines_for(case.query, order).items():
            if engine not in ("worlds", "formula"):
                assert said(answer(case.query, order)) == case.results, engine
    # with all of time to wait, any order will do
    shuffled = random.sample(case.events, len(case.events))
    assert said(run(AnyStateEngine(case.query, 100, longest_group=3), shuffled)) == case.results


def test_certain_times_give_the_ordinary_matches() -> None:
    for case in BY_ID.values():
        by_time = sorted(case.events, key=lambda one: one.lower)
        exact = [timed_event(one.id, one.kind, one.lower, one.lower, key=one.key) for one in by_time]
        n_matches = sum(1 for _ in worlds.matches(case.query, [(one.lower, one) for one in exact]))
        found = by_any_state(case.query, exact)
        assert len(found) == n_matches
        assert all(one.confidence == 1 for one in found.values())


def test_weights_that_make_no_sense_are_rejected() -> None:
    for weights in ([1, -1], [0, 0], [1, math.inf], [1, math.nan], [1]):
        with pytest.raises(ValueError, match="x: "):
            timed_event("x", "A", 1, 2, weights)
    trimmed = timed_event("x", "A", 1, 4, [Fraction(0), Fraction(2), Fraction(2), Fraction(0)])
    assert (trimmed.lower, trimmed.upper, trimmed.chances) == (2, 3, (Fraction(1, 2), Fraction(1, 2)))


def test_patterns_that_have_no_meaning_are_rejected() -> None:
    with pytest.raises(ValueError, match="absence at either end"):
        query("!N", "A", window=None)
    with pytest.raises(ValueError, match="needs a step"):
        query("!N", window=3)
    with pytest.raises(ValueError, match="both absent and repeated"):
        query("A", "!N+", "B", window=3)
    with pytest.raises(ValueError, match="no order among themselves"):
        EXCLUSIVE_ENGINES["sorted"](query("A", "B+", window=3), [])
