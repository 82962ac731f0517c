"""Draws of times of lost events with Erlang gaps, with a rate that changes with time, or limited by a rate only."""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around
from inkling.kernels.worlds.draws import sequence_start, uniform

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


@wraps_around
@njit(cache=True, inline="always")
def _starts(seed, tokens, shape):
    """Random sequences: one per event and exponential part of its gap, and for the gap after the last event.

    The first parts have the sequences of gaps with shape 1.
    """
    lost = len(tokens)
    starts = np.empty((lost + 1, shape), np.uint64)
    for part in range(shape):
        own = seed ^ (np.uint64(part) * np.uint64(0xBF58476D1CE4E5B9))
        for i in range(lost):
            starts[i, part] = sequence_start(own, tokens[i])
        starts[lost, part] = sequence_start(own ^ _GAMMA, tokens[0])
    return starts


@njit(cache=True, inline="always")
def _gap(starts, i, world):
    """The length of a gap whose parts have mean 1."""
    length = 0.0
    for part in range(starts.shape[1]):
        length -= np.log(1.0 - uniform(starts[i, part], world))
    return length


@njit(cache=True, inline="always")
def _along(since, total, rate, time):
    """The expected number of arrivals from the first time of a rate table to `time`."""
    k = max(np.searchsorted(since, time, side="right") - 1, 0)
    return total[k] + (time - since[k]) * rate[k]


@njit(cache=True, inline="always")
def _time(since, total, rate, amount):
    k = max(np.searchsorted(total, amount, side="right") - 1, 0)
    return since[k] + (amount - total[k]) / rate[k]


@njit(cache=True)
def draw_gaps(seed, tokens, gaps, low, high, shape, since, total, rate, first, n_worlds):
    """The times of lost events in every world, strictly between the borders of their gap and strictly increasing.

    Events gaps[g]:gaps[g + 1] were lost between low[g] and high[g]; every shape-th point of the hidden process is an
    event. If `since` is not empty, the rate is rate[k] from since[k] on, and total[k] its integral up to then.
    """
    out = np.empty((len(tokens), n_worlds), np.int64)
    for g in range(len(gaps) - 1):
        begin, end = gaps[g], gaps[g + 1]
        lost, length = end - begin, high[g] - low[g]
        starts = _starts(seed, tokens[begin:end], shape)
        passed = np.empty(lost + 1)
        before, mass = 0.0, 0.0
        if len(since):
            before = _along(since, total, rate, low[g])
            mass = _along(since, total, rate, high[g]) - before
        for w in range(n_worlds):
            reached = 0.0
            for i in range(lost + 1):
                reached += _gap(starts, i, first + w)
                passed[i] = reached
            for i in range(lost):
                share = passed[i] / reached
                if len(since):
                    place = np.int64(_time(since, total, rate, before + share * mass) - low[g])
                else:
                    place = np.int64(share * length)
                floor = (out[begin + i - 1, w] - low[g] if i else 0) + 1
                ceiling = length - (lost - i)
                out[begin + i, w] = low[g] + min(max(place, floor), ceiling)
    return out


@njit(cache=True)
def draw_ends(seed, tokens, gaps, border, before, rate, shape, farthest, first, n_worlds):
    """The times of events that are limited by a rate only, after or before their border and at most to `farthest`.

    Gap g has rate[g] events per unit of time; a gap between events has `shape` exponential parts.
    """
    out = np.empty((len(tokens), n_worlds), np.int64)
    for g in range(len(gaps) - 1):
        begin, end = gaps[g], gaps[g + 1]
        lost = end - begin
        starts = _starts(seed, tokens[begin:end], shape)
        speed = rate[g] * shape
        room = farthest - abs(border[g]) - lost - 1
        sign = -1 if before[g] else 1
        for w in range(n_worlds):
            reached = 0.0
            latest = np.int64(0)
            for step in range(lost):
                i = lost - 1 - step if before[g] else step
                reached += _gap(starts, i, first + w) / speed
                distance = np.int64(min(reached, float(room)))
                latest = max(distance, latest + 1)
                out[begin + i, w] = border[g] + sign * latest
    return out
