"""Pairs of keys that lost points: random ones, all their worlds by the definition, and the same as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import factorial, lcm
from random import Random

import numpy as np
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import Along, Line, breakpoints, line_of
from tests.reference.lost.exact.question import BASIC, COMPOSITES, Question

from inkling.evaluators.relation.points import PointLists
from inkling.logical import plan as p
from inkling.meaning.quantified import KeySegments, Segment, qualifying
from inkling.model.event import Event, Value
from inkling.model.schema import Column
from inkling.model.time import Instant
from inkling.model.types import Type

Times = tuple[Fraction, ...]
Weighted = tuple[Fraction, tuple[Times, ...]]
"""A world: its probability, and when the points of each line came."""


def flat(text: str, *, lo: int | str | None = None, hi: int | str | None = None, **more: object) -> Flat:
    """`0 _ _ 10` is a list of four points of which two were lost."""
    times = tuple(None if word == "_" else Fraction(word) for word in text.split())
    bounds = (None if bound is None else Fraction(bound) for bound in (lo, hi))
    return Flat(times, *bounds, **more)  # type: ignore[arg-type]


def worlds_of(*lines: Line) -> Iterator[Weighted]:
    """Every order of lost points; in a cell they get times that divide it evenly."""
    runs = [(number, run) for number, line in enumerate(lines) for run in line.runs]
    density = Fraction(1)
    for _, run in runs:
        assert run.lo is not None
        assert run.hi is not None
        density *= Fraction(factorial(run.size)) / (run.hi - run.lo) ** run.size
    cells = list(pairwise(breakpoints(*lines)))

    def fill(cell: int, come: tuple[int, ...]) -> Iterator[tuple[Fraction, list[tuple[int, int, Fraction]]]]:
        """Every way to continue from a cell, after so many points of every run."""
        if cell == len(cells):
            if come == tuple(run.size for _, run in runs):
                yield Fraction(1), []
            return
        lo, hi = cells[cell]
        for order in orders(cell, come):
            volume = (hi - lo) ** len(order) / factorial(len(order))
            step = (hi - lo) / (len(order) + 1)
            after = tuple(n + order.count(number) for number, n in enumerate(come))
            seen = list(come)
            here = []
            for place, number in enumerate(order, start=1):
                line, run = runs[number]
                here.append((line, run.first + seen[number], lo + place * step))
                seen[number] += 1
            for rest, placed in fill(cell + 1, after):
                yield volume * rest, [*here, *placed]

    def orders(cell: int, come: tuple[int, ...]) -> Iterator[list[int]]:
        """Every sequence of numbers of runs whose next points lie in a cell."""
        yield []
        lo, hi = cells[cell]
        for number, (_, run) in enumerate(runs):
            assert run.lo is not None
            assert run.hi is not None
            if come[number] < run.size and run.lo <= lo and hi <= run.hi:
                less = tuple(n + (number == other) for other, n in enumerate(come))
                yield from ([number, *more] for more in orders(cell, less))

    for volume, placed in fill(0, (0,) * len(runs)):
        times = [[point.time for point in line.points] for line in lines]
        for line, point, time in placed:
            times[line][point] = time
        yield density * volume, tuple(tuple(time for time in some if time is not None) for some in times)


def chances_by_definition(left: Line, right: Line, questions: Sequence[Question]) -> list[Fraction]:
    """Of each question: the probability of the worlds in which the definition of quantified relations says yes."""
    found = [Fraction(0)] * len(questions)
    patterns = [_pattern(question) for question in questions]
    total = Fraction(0)
    for prob, (left_times, right_times) in worlds_of(left, right):
        total += prob
        one, other = _key(left, left_times), _key(right, right_times)
        for number, pattern in enumerate(patterns):
            if qualifying(pattern, one, other) is not None:
                found[number] += prob
    assert total == 1
    return found


def _pattern(question: Question) -> p.Quantified:
    leaf = p.Leaf(0, ("S",))
    same = None if question.same is None else Column("label", Type.STRING)
    names = tuple(question.relations)
    return p.Quantified(p.Operand(leaf, (), question.left), names, p.Operand(leaf, (), question.right), same)


def _key(line: Line, times: Times) -> KeySegments:
    segments = tuple(_segment(times[span.opening], times[span.closing], span.label) for span in line.spans)
    return KeySegments((), (), segments)


def _segment(start: Fraction, end: Fraction, label: object) -> Segment:
    begun, ended = Instant(start), Instant(end)  # type: ignore[arg-type]
    values: dict[str, Value] = {"label": label}  # type: ignore[dict-item]
    return Segment(begun, ended, (Event("S", (), begun, ended, values),))


def shifted(flat: Flat, by: Fraction = Fraction(0), times: Fraction = Fraction(1)) -> Flat:
    """The same on a clock that is wrong or runs at another speed."""
    return _moved(flat, lambda time: time * times + by, rate=None if flat.rate is None else flat.rate / float(times))


def reversed_in_time(flat: Flat) -> Flat:
    there = _moved(flat, lambda time: -time, rate=flat.rate)
    return replace(there, times=there.times[::-1], lo=there.hi, hi=there.lo, labels=there.labels[::-1])


BACKWARD = {
    **{name: name for name in ("CONTAINS", "DURING", "EQUALS", "INTERSECTS")},
    "PRECEDES": "PRECEDED_BY",
    "MEETS": "MET_BY",
    "OVERLAPS": "OVERLAPPED_BY",
    "STARTS": "FINISHES",
    "STARTED_BY": "FINISHED_BY",
}
BACKWARD |= {after: before for before, after in BACKWARD.items()}
"""What a relation is called if time runs backward."""


def asked_backward(question: Question) -> Question:
    return replace(question, relations=tuple(BACKWARD[name] for name in sorted(question.basic)))


def _moved(flat: Flat, move: Callable[[Fraction], Fraction], rate: float | None) -> Flat:
    times, lo, hi = flat.times, flat.lo, flat.hi
    return replace(
        flat,
        times=tuple(None if time is None else move(time) for time in times),
        lo=None if lo is None else move(lo),
        hi=None if hi is None else move(hi),
        rate=rate,
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two keys."""

    left: Flat
    right: Flat

    def __str__(self) -> str:
        return f"{_text(self.left)}\n{_text(self.right)}"


def random_pairs(seed: int, count: int, *, most_lost: int = 6, most_segments: int = 3) -> Iterator[Pair]:
    """With ties, labels, heads and tails that were lost, and keys without segments; the same for the same seed."""
    random = Random(seed)
    for _ in range(count):
        latest, loss = random.choice((6, 8, 12, 30)), random.choice((0.3, 0.6, 0.9, 1.0))
        most_left = random.randint(0, most_lost) if random.random() < 0.3 else most_lost // 2
        left = random_flat(random, latest, loss, most_lost=most_left, most_segments=most_segments)
        most_right = most_lost - left.times.count(None)
        yield Pair(left, random_flat(random, latest, loss, most_lost=most_right, most_segments=most_segments))


def random_flat(random: Random, latest: int, loss: float, *, most_lost: int, most_segments: int) -> Flat:
    """Each point is lost with probability `loss`, as long as these are not too many."""
    n_segments = 0 if random.random() < 0.05 else random.randint(1, most_segments)
    n_points = min(2 * n_segments, (latest - 1) // 2 * 2)
    times: list[Fraction | None] = [Fraction(time) for time in sorted(random.sample(range(1, latest), n_points))]
    for place in random.sample(range(n_points), min(most_lost, n_points)):
        if random.random() < loss:
            times[place] = None
    labels = tuple(random.choice(("a", "a", "b", None)) for _ in range(n_points // 2))
    lo, hi = random.choice((-2, 0)), random.choice((latest, latest + 3))
    return Flat(tuple(times), Fraction(lo), Fraction(hi), labels)


def random_question(random: Random) -> Question:
    """Any relations, composites among them, with any quantities."""
    names = [*BASIC, *COMPOSITES]
    relations = random.choice(
        [
            ("INTERSECTS",),
            (random.choice(names),),
            (random.choice(("PRECEDES", "OVERLAPS", "CONTAINS", "DURING", "OVERLAPPED_BY", "PRECEDED_BY")),),
            tuple(random.sample(names, random.randint(2, 3))),
            tuple(random.sample(BASIC, random.randint(4, 10))),
        ]
    )
    same = "label" if random.random() < 0.25 else None
    return Question(_quantity(random), relations, _quantity(random), same)


def _quantity(random: Random) -> int | None:
    """None is ALL."""
    return random.choice((None,) * 4 + (1,) * 11 + (2,) * 3 + (3, 0))


def _text(flat: Flat) -> str:
    words = " ".join("_" if time is None else str(time) for time in flat.times)
    return f"[{words}] in ({flat.lo}, {flat.hi}), labels {flat.labels}, rate {flat.rate}, shape {flat.shape}"


def lists_of_pairs(pairs: Sequence[tuple[Flat, Flat]], *, along: Along | None = None) -> tuple[PointLists, PointLists]:
    """The left keys and the right ones; times that are no integers are all multiplied by what makes them integers."""
    sides = [[line_of(flat) for flat in flats] for flats in zip(*pairs, strict=True)]
    left, right = lists_of_lines(sides[0], sides[1], along=along)
    return left, right


def lists_of_lines(*sides: Sequence[Line], along: Along | None = None) -> list[PointLists]:
    """For each side its keys as arrays, with one scale of time and one numbering of labels for all."""
    lines = [line for side in sides for line in side]
    scale = lcm(*(time.denominator for time in breakpoints(*lines)))
    labels = sorted({str(span.label) for line in lines for span in line.spans if span.label is not None})
    return [_lists(side, scale, labels, along) for side in sides]


def _lists(lines: Sequence[Line], scale: int, labels: list[str], along: Along | None) -> PointLists:
    points = [point for line in lines for point in line.points]
    spans = [span for line in lines for span in line.spans]
    measured = [] if along is None else [0 if one.time is None else float(along(one.time)) for one in points]
    codes = [-1 if span.label is None else labels.index(str(span.label)) for span in spans]
    return PointLists(
        begins=np.cumsum([0, *(len(line.points) for line in lines)]),
        time=np.array([0 if one.time is None else int(one.time * scale) for one in points], np.int64),
        along=np.array(measured, np.float64),
        lost=np.array([one.time is None for one in points], np.bool_),
        turn=np.array([one.turn for one in points], np.int8),
        segments=np.cumsum([0, *(len(line.spans) for line in lines)]),
        opening=np.array([span.opening for span in spans], np.int64),
        closing=np.array([span.closing for span in spans], np.int64),
        label=np.array(codes, np.int64),
        head=np.array([_rate(line, scale, head=True) for line in lines]),
        tail=np.array([_rate(line, scale, head=False) for line in lines]),
        simple=np.ones(len(lines), np.bool_),
    )


def _rate(line: Line, scale: int, *, head: bool) -> float:
    unlimited = any((run.lo if head else run.hi) is None for run in line.runs)
    return line.rate / scale if unlimited and line.rate is not None else 0.0
