"""The most probable world of some components: the most probable alternative of each independent choice.

In Markovian chains, the most probable path is found by the Viterbi algorithm. Lost events take their most probable
order if orders are enumerated; otherwise their times are drawn, since times are continuous.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

import numpy as np

from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.details.variants import Worlds
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.assignment import OWN_TIME, Alternative, WorldAssignment
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.probable import NOTHING, ProbableStream
from inkling.evaluators.worlds.streams.world_stream import CertainStream, WorldStream
from inkling.model.batch import Ints

FULL = 1.0 - 1e-9
"""Probabilities of alternatives that sum to this leave none for \"no event\"."""

TIE = 1e-9
"""Probabilities, or logarithms of them, that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Likeliest:
    """One world; `is_unique`: all others are less probable; `is_drawn`: times of lost events were drawn."""

    worlds: Worlds
    is_unique: bool
    is_drawn: bool


def likeliest(data: WorldData, sampling: Sampling, chosen: np.ndarray) -> Likeliest:
    """The most probable world of the chosen components; of equally probable ones, the one with the earliest times."""
    assignment: list[WorldAssignment] = []
    is_unique, is_drawn = True, False
    lost = _lost_places(data, chosen)
    is_unique &= all(_is_alone([float(one.weight) for one in data.choices.lost[part]]) for part in lost.parts)
    before = 0
    for stream, component in zip(data.streams, data.parts.of_rows, strict=True):
        in_part = chosen[component]
        match stream:
            case CertainStream():
                found = _everything(np.flatnonzero(in_part))
            case ImpreciseStream():
                ticks, alone = _ticks(stream)
                rows = np.flatnonzero(in_part)
                is_unique &= bool(alone[rows].all())
                found = WorldAssignment(
                    rows, np.zeros_like(rows), (stream.low + ticks * stream.step)[rows] * data.program.scale
                )
            case ProbableStream():
                taken, is_only = _paths(stream, in_part)
                is_unique &= is_only
                found = _everything(np.array(taken, np.int64))
            case _:
                drawn = stream.draw(np.uint64(sampling.seed & (2**64 - 1)), 0, 1, data.program.scale)
                assert drawn.times is not None
                times = drawn.times.copy()
                for row in np.flatnonzero(in_part & (np.arange(len(stream.rows)) >= stream.n_recorded)).tolist():
                    if before + row in lost.times:
                        times[row] = lost.times[before + row]
                    else:
                        is_drawn = True
                found = replace(drawn, times=times).take(np.flatnonzero(in_part[drawn.rows]))
        assignment.append(found)
        before += len(stream.rows)
    return Likeliest(Worlds(data.streams, assignment, np.ones(1), None), is_unique and not is_drawn, is_drawn)


def _everything(rows: Ints) -> WorldAssignment:
    return WorldAssignment(rows, np.zeros(len(rows), np.int64), np.full(len(rows), OWN_TIME))


@dataclass(frozen=True, slots=True)
class _Lost:
    """Times of lost rows in the most probable order, by row number over all streams; and the components they cover."""

    times: dict[int, int]
    parts: list[int]


def _lost_places(data: WorldData, chosen: np.ndarray) -> _Lost:
    times: dict[int, int] = {}
    parts = [part for part in sorted(data.choices.lost) if chosen[part] and not data.is_sampled[part]]
    for part in parts:
        best: Alternative = max(data.choices.lost[part], key=lambda one: one.weight)
        times.update(best.assignment)
    return _Lost(times, parts)


def _ticks(stream: ImpreciseStream) -> tuple[Ints, np.ndarray]:
    """The number of the most probable tick of each event, and whether it is unique."""
    ticks, alone = np.zeros(len(stream.rows), np.int64), stream.width == 1
    for row in np.flatnonzero(np.diff(stream.steps) > 0).tolist():
        weights = stream.weights[stream.steps[row] : stream.steps[row + 1]]
        ticks[row] = int(np.argmax(weights))
        alone[row] = _is_alone(weights.tolist())
    return ticks, alone


def _is_alone(weights: list[float]) -> bool:
    largest = max(weights)
    return sum(one >= largest - TIE for one in weights) == 1


def _paths(stream: ProbableStream, in_part: np.ndarray) -> tuple[list[int], bool]:
    """The rows on the most probable paths of all chains (Viterbi), and whether all of these paths are unique.

    `best` holds, by latest value, the log probability of the best path that ends there, its rows, and whether it is
    unique.
    """
    taken: list[int] = []
    is_unique = True
    for chain in range(len(stream.chains) - 1):
        groups = range(int(stream.chains[chain]), int(stream.chains[chain + 1]))
        if not in_part[stream.offsets[groups[0]]]:
            continue
        best: dict[int, tuple[float, tuple[int, ...], bool]] = {int(NOTHING): (0.0, (), True)}
        for group in groups:
            after: dict[int, tuple[float, tuple[int, ...], bool]] = {}
            for latest, (chance, path, alone) in best.items():
                given = int(NOTHING) if stream.anew[group] else latest
                for share, row in _alternatives_after(stream, group, given):
                    value = int(NOTHING) if row is None else int(stream.value[row])
                    there = (chance + log(share), path if row is None else (*path, row), alone)
                    after[value] = _better(after.get(value), there)
            best = after
        ends = list(best.values())
        winner = max(ends, key=lambda one: one[0])
        taken += winner[1]
        is_unique &= winner[2] and sum(one[0] >= winner[0] - TIE for one in ends) == 1
    return taken, is_unique


def _better(
    one: tuple[float, tuple[int, ...], bool] | None, other: tuple[float, tuple[int, ...], bool]
) -> tuple[float, tuple[int, ...], bool]:
    """The more probable of two paths, marked as not unique if both are equally probable."""
    if one is None:
        return other
    chance, path, alone = max(one, other, key=lambda path: path[0])
    return chance, path, alone and abs(one[0] - other[0]) > TIE


def _alternatives_after(stream: WorldStream, group: int, given: int) -> Iterator[tuple[float, int | None]]:
    """The alternatives of a group after a previous value, with their probabilities; None is no event."""
    assert isinstance(stream, ProbableStream)
    rows = range(int(stream.offsets[group]), int(stream.offsets[group + 1]))
    possible = [(float(stream.chances[row]), row) for row in rows if int(stream.given[row]) == given]
    total = sum(chance for chance, _ in possible)
    for chance, row in possible:
        if chance > 0:
            yield (chance / total if total >= FULL else chance), row
    if total < FULL:
        yield 1.0 - total, None
