"""Random pairs of keys that lost points: every way to a probability gives exactly what the definition gives.

Compared in fractions are all worlds, each judged by the definition of quantified relations; the tree of worlds, whole
and pruned; and the forward pass over cells. Pairs have ties, labels, lost heads and tails, and keys without segments.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from tests.kit.lost_pairs import (
    Pair,
    asked_backward,
    chances_by_definition,
    random_flat,
    random_pairs,
    random_question,
    reversed_in_time,
    shifted,
    worlds_of,
)
from tests.kit.seeds import at_length
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import Line, Point, Span, breakpoints, line_of
from tests.reference.lost.exact.question import BASIC, INVERSE, Question
from tests.reference.lost.forward import chance, counts, counts_of_lines
from tests.reference.lost.order import n_worlds
from tests.reference.lost.tree import walk
from tests.reference.lost.world import world_chance

from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS
from inkling.meaning.worlds import worlds
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

SEEDS = range(5)
LONG_SEEDS = at_length(range(5, 85))
PAIRS_PER_SEED = 220
QUESTIONS_PER_PAIR = 5

KEYS = StreamSchema("E", (), None, ("k",), "t", "t", uncertainty=LostEvents("n", role="r", count="c"))


def check_pairs(seed: int) -> None:
    random = Random(seed)
    seen: Counter[str] = Counter()
    for pair in random_pairs(seed, PAIRS_PER_SEED):
        left, right = pair.left, pair.right
        questions = [random_question(random) for _ in range(QUESTIONS_PER_PAIR)]
        expected = chances_by_definition(line_of(left), line_of(right), questions)
        n_orders = n_worlds([left, right])
        for question, wanted in zip(questions, expected, strict=True):
            whole = walk(left, right, question, reject=False, accept=False)
            found = {
                "forward pass": chance(left, right, question),
                "whole tree": whole.chance,
                "rejecting tree": walk(left, right, question, accept=False).chance,
                "pruned tree": walk(left, right, question).chance,
            }
            assert found == dict.fromkeys(found, wanted), f"{pair}\n{question}"
            assert whole.n_worlds == n_orders
            seen["cases"] += 1
            seen["uncertain"] += 0 < wanted < 1
            seen["with labels"] += question.same is not None and 0 < wanted < 1
        seen["ties"] += bool(set(left.recorded) & set(right.recorded))
        seen["heads or tails"] += any(one.loses_its_head or one.loses_its_tail for one in (left, right))
        seen["empty"] += not left.times or not right.times
    assert seen["cases"] == PAIRS_PER_SEED * QUESTIONS_PER_PAIR
    assert seen["uncertain"] > PAIRS_PER_SEED
    assert min(seen.values()) > 10, seen


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_eq_definition(seed: int) -> None:
    check_pairs(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_every_way_eq_definition_at_length(seed: int) -> None:
    check_pairs(seed)


def rows_of(pair: Pair) -> list[dict[str, object]]:
    """As rows of a stream: recorded events, and marks where bounds limit what was lost."""
    rows: list[dict[str, object]] = []
    for key, one in (("A", pair.left), ("B", pair.right)):
        for place, time in enumerate(one.times, start=1):
            if time is not None:
                rows.append({"k": key, "n": place, "t": time, "r": "open" if place % 2 else "close"})
        if one.loses_its_head:
            rows.append({"k": key, "n": 0, "t": one.lo, "r": "mark"})
        if one.loses_its_tail:
            rows.append({"k": key, "n": len(one.times), "t": one.hi, "r": "mark"})
    return [{**row, "c": None} for row in rows]


def test_worlds_are_those_of_the_definition_of_lost_events() -> None:
    """What a stream with `NUMBERED BY` means, `model.worlds`, has the same orders with the same probabilities."""
    n_compared = 0
    for pair in random_pairs(11, 120):
        rows = rows_of(pair)
        if not rows:
            continue
        defined: Counter[tuple[object, ...]] = Counter()
        for prob, some in worlds(rows, KEYS):
            events = [row for row in some if row["r"] != "mark"]
            defined[prob, *sorted((row["k"], row["n"], row["t"]) for row in events)] += 1
        lines = line_of(pair.left), line_of(pair.right)
        found: Counter[tuple[object, ...]] = Counter()
        for prob, times in worlds_of(*lines):
            placed = [
                (key, number, some[place])
                for key, line, some in zip("AB", lines, times, strict=True)
                for number, place in enumerate(ends_of(line), start=1)
            ]
            found[prob, *sorted(placed)] += 1
        assert found == defined, str(pair)
        n_compared += len(found) > 1
    assert n_compared > 70


def ends_of(line: Line) -> list[int]:
    return sorted(place for span in line.spans for place in (span.opening, span.closing))


def marked_line(random: Random) -> Line:
    """Recorded points that are no ends, such as marks; lost ones that are none; segments that are not asked about."""
    n_points = random.randint(3, 6)
    times: list[Fraction | None] = [Fraction(time) for time in sorted(random.sample(range(9), n_points))]
    for place in range(1, n_points - 1):
        if random.random() < 0.6:
            times[place] = None
    turns = [random.choice((OPENS, OPENS, CLOSES, CLOSES, NEITHER)) for _ in times]
    spans, opening = [], None
    for place, turn in enumerate(turns):
        if turn == OPENS and opening is None:
            opening = place
        elif turn == CLOSES and opening is not None:
            spans.append(Span(opening, place, random.choice(("a", "b"))))
            opening = None
        else:
            turns[place] = NEITHER
    if opening is not None:
        turns[opening] = NEITHER
    return Line(tuple(map(Point, times, turns)), tuple(spans))


def test_points_that_neither_open_nor_close() -> None:
    random = Random(17)
    n_uncertain = 0
    for _ in range(250):
        left, right = marked_line(random), marked_line(random)
        questions = [random_question(random) for _ in range(4)]
        for question, wanted in zip(questions, chances_by_definition(left, right, questions), strict=True):
            found = enumerate(counts_of_lines(left, right, question))
            assert sum(prob for count, prob in found if question.holds(count, len(left.spans))) == wanted
            n_uncertain += 0 < wanted < 1
    assert n_uncertain > 15


def test_erlang_gaps_eq_definition() -> None:
    random = Random(18)
    n_uncertain = 0
    for pair in random_pairs(18, 60, most_lost=2):
        left, right = replace(pair.left, shape=random.choice((1, 2, 3))), replace(pair.right, shape=2)
        questions = [random_question(random) for _ in range(5)]
        expected = chances_by_definition(line_of(left), line_of(right), questions)
        for question, wanted in zip(questions, expected, strict=True):
            assert chance(left, right, question) == walk(left, right, question).chance == wanted
            n_uncertain += 0 < wanted < 1
    assert n_uncertain > 15


def uncertain_cases(seed: int, count: int, most_lost: int = 4) -> list[tuple[Flat, Flat, Question]]:
    random = Random(seed)
    return [(pair.left, pair.right, random_question(random)) for pair in random_pairs(seed, count, most_lost=most_lost)]


def test_total_probability_is_one() -> None:
    for left, right, question in uncertain_cases(31, 100):
        assert sum(counts(left, right, question)) == 1
        assert sum(prob for prob, _ in worlds_of(line_of(left), line_of(right))) == 1


def test_shifting_and_scaling_time_changes_nothing() -> None:
    for left, right, question in uncertain_cases(32, 300):
        expected = counts(left, right, question)
        for by, times in ((Fraction(7, 3), Fraction(1)), (Fraction(0), Fraction(5, 7)), (Fraction(-100), Fraction(11))):
            moved = (shifted(one, by, times) for one in (left, right))
            assert counts(*moved, question) == expected


def test_time_backward() -> None:
    for left, right, question in uncertain_cases(33, 150):
        backward = counts(reversed_in_time(left), reversed_in_time(right), asked_backward(question))
        assert backward == counts(left, right, question)


def test_the_other_key_on_the_left() -> None:
    """Some related to some, and all to all, can be asked either way round."""
    for left, right, question in uncertain_cases(34, 150):
        for quantity in (None, 1):
            inverse = tuple(INVERSE[name] for name in sorted(question.basic))
            one = chance(left, right, replace(question, left=quantity, right=quantity, same=None))
            assert one == chance(right, left, Question(quantity, inverse, quantity)), f"{left}\n{right}\n{question}"


def test_one_of_the_13_relations_holds_between_two_segments() -> None:
    random = Random(35)
    for _ in range(60):
        left, right = (one_segment(random) for _ in range(2))
        assert sum(chance(left, right, Question(1, (name,), 1)) for name in BASIC) == 1


def one_segment(random: Random) -> Flat:
    while True:
        found = random_flat(random, 8, 0.7, most_lost=2, most_segments=1)
        if found.n_segments == 1:
            return found


def test_more_segments_are_less_probable() -> None:
    for left, right, question in uncertain_cases(36, 100):
        found = [chance(left, right, replace(question, left=k)) for k in range(left.n_segments + 2)]
        assert found == sorted(found, reverse=True)
        assert (found[0], found[-1]) == (1, 0)


def test_one_pass_tells_all_numbers() -> None:
    for left, right, question in uncertain_cases(37, 60):
        distribution = counts(left, right, question)
        for k in range(left.n_segments + 1):
            assert walk(left, right, replace(question, left=k)).chance == sum(distribution[k:])


def test_what_lies_apart_can_be_filled_in() -> None:
    """A run that meets no point of the other key, recorded or lost, may as well have been anywhere in its window."""
    random = Random(38)
    n_filled = 0
    for left, right, question in uncertain_cases(38, 600):
        for one, other, turned in ((left, right, False), (right, left, True)):
            filled = filled_in(random, one, other)
            if filled is None:
                continue
            n_filled += 1
            asked = (filled, right) if not turned else (left, filled)
            assert counts(*asked, question) == counts(left, right, question)
    assert n_filled > 100


def filled_in(random: Random, flat: Flat, other: Flat) -> Flat | None:
    line, other_line = line_of(flat), line_of(other)
    shift = int(flat.loses_its_head)
    for run in line.runs:
        assert run.lo is not None
        assert run.hi is not None
        recorded = [point.time for point in other_line.points if point.time is not None]
        windows = [(one.lo, one.hi) for one in other_line.runs]
        meets = any(lo is not None and hi is not None and lo < run.hi and run.lo < hi for lo, hi in windows)
        if meets or any(run.lo < time < run.hi for time in recorded):
            continue
        places = sorted(random.sample(range(1, 20), run.size))
        times = list(flat.times)
        for number, place in enumerate(places):
            times[run.first - shift + number] = run.lo + (run.hi - run.lo) * Fraction(place, 20)
        return replace(flat, times=tuple(times))
    return None


def test_worlds_one_by_one_add_up() -> None:
    """Each has the probability of its order; in it nothing is lost any more, so that its answer is certain."""
    for left, right, question in uncertain_cases(39, 60, most_lost=3):
        total = Fraction(0)
        lines = line_of(left), line_of(right)
        for prob, times in worlds_of(*lines):
            order = sorted({time for some in times for time in some})
            world = [
                [(line, place) for line, some in enumerate(times) for place, one in enumerate(some) if one == time]
                for time in order
            ]
            assert world_chance([left, right], world) == prob
            known = [
                Flat(tuple(some[place] for place in ends_of(line))) for line, some in zip(lines, times, strict=True)
            ]
            labeled = [replace(one, labels=given.labels) for one, given in zip(known, (left, right), strict=True)]
            total += prob * chance(*labeled, question)
        assert total == chance(left, right, question)


def test_O1_revealing_a_lost_point_at_any_time() -> None:
    """The density of the first lost point at t is 2 (10 - t) / 81; between known times the rest is a polynomial."""
    left = Flat(tuple(Fraction(time) for time in (0, 2, 4, 6)))
    question = Question(2, ("INTERSECTS",), 1)

    def weighted(time: Fraction) -> Fraction:
        right = Flat((Fraction(1), time, None, Fraction(10)))
        return chance(left, right, question) * 2 * (10 - time) / 81

    total = Fraction(0)
    for lo, hi in ((1, 2), (2, 4), (4, 6), (6, 10)):
        total += integral(weighted, Fraction(lo), Fraction(hi))
    assert total == Fraction(19, 27)


def integral(of: object, lo: Fraction, hi: Fraction) -> Fraction:
    """Exact for polynomials up to the third degree, from points inside only."""
    step = (hi - lo) / 4
    values = [of(lo + step * n) for n in (1, 2, 3)]  # type: ignore[operator]
    return 4 * step / 3 * (2 * values[0] - values[1] + 2 * values[2])


def test_breakpoints_are_recorded_times_and_bounds() -> None:
    for left, right, _ in uncertain_cases(40, 30):
        bounds = [
            bound
            for one in (left, right)
            for bound in (one.lo if one.loses_its_head else None, one.hi if one.loses_its_tail else None)
            if bound is not None
        ]
        assert breakpoints(line_of(left), line_of(right)) == sorted({*left.recorded, *right.recorded, *bounds})
