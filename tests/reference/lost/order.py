"""How probable it is that points of several keys come in a given order, and how many orders there are at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import Line, Run, breakpoints, line_of

from inkling.evaluators.relation.points import NEITHER

MOST_KEYS = 4

Wanted = Sequence[tuple[int, int]]
"""Points in order: each the number of a key, and the place in its list, from 0."""


def order_chance(flats: Sequence[Flat], wanted: Wanted) -> Fraction:
    """That the wanted points come one after the other."""
    if len(flats) > MOST_KEYS:
        raise ValueError(f"an order of more than {MOST_KEYS} keys")
    lines = [line_of(flat) for flat in flats]
    events = [[place for place, point in enumerate(line.points) if point.turn != NEITHER] for line in lines]
    return _total(lines, [(key, events[key][place]) for key, place in wanted], _CHANCES)


def n_worlds(flats: Sequence[Flat]) -> int:
    """The number of orders of everything: points, bounds where they matter, and what Erlang gaps hide."""
    return int(_total([line_of(flat) for flat in flats], [], _NUMBERS))


class _Weights(NamedTuple):
    """Of a cell that is a `share` of what is left of a run, with `rest` points to come."""

    step: Callable[[Fraction, int, int], Fraction]  # one more of them is in the cell, the n-th point there
    stay: Callable[[Fraction, int], Fraction]  # no more of them is in the cell


_CHANCES = _Weights(lambda share, rest, n: share * rest / n, lambda share, rest: (1 - share) ** rest)
_NUMBERS = _Weights(lambda share, rest, n: Fraction(1), lambda share, rest: Fraction(share < 1 or rest == 0))


class _State(NamedTuple):
    come: tuple[int, ...]  # how many points of each line
    n_seen: int  # how many of the wanted ones


_Masses = dict[_State, Fraction]


def _total(lines: list[Line], wanted: Wanted, weights: _Weights) -> Fraction:
    masses: _Masses = {_State((0,) * len(lines), 0): Fraction(1)}
    for time, after in pairwise([*breakpoints(*lines), None]):
        assert time is not None
        now = [(key, place) for key, line in enumerate(lines) for place in line.at(time)]
        masses = _moved(masses, now, wanted)
        if after is not None:
            masses = _through_cell(lines, masses, time, after, wanted, weights)
    return sum(masses.values(), Fraction(0))


def _through_cell(
    lines: list[Line], masses: _Masses, lo: Fraction, hi: Fraction, wanted: Wanted, weights: _Weights
) -> _Masses:
    runs = {key: run for key, line in enumerate(lines) for run in line.runs if _covers(run, lo, hi)}
    shares = {key: (hi - lo) / (run.hi - lo) for key, run in runs.items() if run.hi is not None}
    ended: _Masses = defaultdict(Fraction)
    going, n = masses, 0
    while going:
        n += 1
        next_ones: _Masses = defaultdict(Fraction)
        for state, mass in going.items():
            rests = {key: run.stop - state.come[key] for key, run in runs.items()}
            stays = mass
            for key, rest in rests.items():
                stays *= weights.stay(shares[key], rest)
                if rest:
                    step = {state: mass * weights.step(shares[key], rest, n)}
                    for after, moved in _moved(step, [(key, state.come[key])], wanted).items():
                        next_ones[after] += moved
            if stays:
                ended[state] += stays
        going = next_ones
    return ended


def _covers(run: Run, lo: Fraction, hi: Fraction) -> bool:
    if run.lo is None or run.hi is None:
        raise ValueError("missing_bound")
    return run.lo <= lo and hi <= run.hi


def _moved(masses: _Masses, points: Wanted, wanted: Wanted) -> _Masses:
    """Points come at one moment; what has come in another order than wanted is gone."""
    seen = [wanted.index(point) for point in points if point in wanted]
    moved: _Masses = {}
    for state, mass in masses.items():
        if seen in ([], [state.n_seen]):
            come = tuple(n + sum(key == line for key, _ in points) for line, n in enumerate(state.come))
            moved[_State(come, state.n_seen + len(seen))] = mass
    return moved
