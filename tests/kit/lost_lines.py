"""Random keys as kernels see them: points that neither open nor close, several at one time, segments that overlap."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from random import Random

from tests.reference.lost.exact.line import Line, Point, Span

from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS


def random_line(random: Random, *, most_lost: int = 3, most_turns: int = 10) -> Line:
    """One segment after the other, between recorded points; neighbors share a time now and then, even both ends."""
    turns = _turns(random, most_turns)
    loss = random.choice((0.3, 0.6, 0.9))
    lost = [random.random() < loss for _ in turns]
    while sum(lost) > most_lost:
        lost[random.randrange(len(lost))] = False
    if lost and lost[0]:
        turns, lost = [NEITHER, *turns], [False, *lost]
    if lost and lost[-1]:
        turns, lost = [*turns, NEITHER], [*lost, False]
    times: list[Fraction | None] = []
    time = Fraction(random.randint(0, 3))
    for is_lost, run in groupby(lost):
        n = len(list(run))
        if is_lost:
            times += [None] * n
            time += random.randint(2, 3 + 3 * n)
        else:
            for place in range(n):
                time += random.choice((0, 1, 1, 2, 3)) if place else 0
                times.append(time)
    points = tuple(Point(*point) for point in zip(times, turns, strict=True))
    opening = [place for place, turn in enumerate(turns) if turn == OPENS]
    closing = [place for place, turn in enumerate(turns) if turn == CLOSES]
    return Line(points, tuple(Span(*ends, _label(random)) for ends in zip(opening, closing, strict=True)))


def unbounded(random: Random, line: Line) -> Line:
    """The same with some points lost before the first or after the last recorded one, which come at a rate."""
    points = list(line.points)
    recorded = [place for place, point in enumerate(points) if point.time is not None]
    n_head = random.randint(0, min(2, len(recorded) - 1)) if recorded and random.random() < 0.6 else 0
    n_tail = random.randint(0, min(2, len(recorded) - n_head - 1)) if recorded and random.random() < 0.6 else 0
    for place in [*recorded[:n_head], *(recorded[-n_tail:] if n_tail else [])]:
        points[place] = points[place]._replace(time=None)
    return Line(tuple(points), line.spans, random.choice((0.02, 0.2, 1.0, 5.0, 60.0)))


def overlapping_line(random: Random, most_segments: int = 5) -> Line:
    """Recorded segments in any position to each other."""
    starts = sorted(random.randint(0, 12) for _ in range(random.randint(1, most_segments)))
    segments = sorted((start, start + random.randint(0, 6)) for start in starts)
    ends = sorted((time, number, which) for number, both in enumerate(segments) for which, time in enumerate(both))
    place = {(number, which): at for at, (_, number, which) in enumerate(ends)}
    points = tuple(Point(Fraction(time), CLOSES if which else OPENS) for time, _, which in ends)
    spans = (Span(place[number, 0], place[number, 1], _label(random)) for number in range(len(segments)))
    return Line(points, tuple(spans))


def _turns(random: Random, most: int) -> list[int]:
    turns = []
    is_inside = False
    for _ in range(0 if random.random() < 0.05 else random.randint(2, most)):
        if random.random() < 0.2:
            turns.append(NEITHER)
        else:
            turns.append(CLOSES if is_inside else OPENS)
            is_inside = not is_inside
    return [*turns, CLOSES] if is_inside else turns


def _label(random: Random) -> str | None:
    return random.choice(("a", "a", "b", None))
