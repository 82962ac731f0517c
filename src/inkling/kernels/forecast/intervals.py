"""Intervals that hold enough of a distribution over the next events, for many distributions at once.

Ntoulias, Alevizos, Artikis, Akasiadis, Koumparos: Online fleet monitoring with scalable event recognition and
forecasting (Wayeb), section 3.2: forecast intervals from a waiting-time distribution. Ends of intervals are in events
and inclusive.
"""

import numpy as np
from numba import njit

TOLERANCE = 1e-12

POINT = 0
SHORTEST = 1
WIDENED = 2
FIXED = 3
GIVEN = 4


@njit(cache=True, nogil=True)
def _mass(times, first, last):
    total = 0.0
    for n in range(first, last + 1):
        total += times[n]
    return total


@njit(cache=True, nogil=True)
def _peak(times):
    """The mode of the distribution, the first of equals."""
    best = 0
    for n in range(1, times.shape[0]):
        if times[n] > times[best] + TOLERANCE:
            best = n
    return best


@njit(cache=True, nogil=True)
def _shortest(times, least):
    """The shortest interval with enough mass; of equals the heavier, then the earlier; (0, -1) if there is none."""
    begin, mass = 0, 0.0
    best_begin, best_end, best_mass = 0, -1, 0.0
    for end in range(times.shape[0]):
        mass += times[end]
        while begin < end and mass - times[begin] >= least - TOLERANCE:
            mass -= times[begin]
            begin += 1
        if mass >= least - TOLERANCE:
            spread, best_spread = end - begin, best_end - best_begin
            if best_end < 0 or spread < best_spread or (spread == best_spread and mass > best_mass + TOLERANCE):
                best_begin, best_end, best_mass = begin, end, mass
    return best_begin, best_end


@njit(cache=True, nogil=True)
def _widened(times, least):
    """The interval around the mode, widened by one event on both sides until it has enough mass or is complete."""
    begin = end = _peak(times)
    mass = times[begin]
    while mass < least - TOLERANCE and (begin > 0 or end < times.shape[0] - 1):
        if begin > 0:
            begin -= 1
            mass += times[begin]
        if end < times.shape[0] - 1:
            end += 1
            mass += times[end]
    return begin, end


@njit(cache=True, nogil=True)
def _heaviest(times, spread):
    """The heaviest interval of a given spread, first of equals; (0, -1) if the horizon is shorter."""
    if spread >= times.shape[0]:
        return 0, -1
    mass = _mass(times, 0, spread)
    best, best_mass = 0, mass
    for begin in range(1, times.shape[0] - spread):
        mass += times[begin + spread] - times[begin - 1]
        if mass > best_mass + TOLERANCE:
            best, best_mass = begin, mass
    return best, best + spread


@njit(cache=True, nogil=True)
def intervals(
    times,  # float64[distribution, event]
    kind,
    least,  # required mass of an interval
    spread,  # maximum distance of its ends, or the exact one for kind FIXED
    low,  # int32[distribution]: first and last event of given intervals, from 1
    high,
    first,  # int32[distribution]: the interval found, from 1; 0 if there is none
    last,
    chance,
    expected,
    enough,  # bool[distribution]: whether mass and spread are sufficient
):
    n, horizon = times.shape
    for row in range(n):
        here = times[row]
        if kind == POINT:
            begin = _peak(here)
            end = begin
        elif kind == SHORTEST:
            begin, end = _shortest(here, least)
        elif kind == WIDENED:
            begin, end = _widened(here, least)
        elif kind == FIXED:
            begin, end = _heaviest(here, spread)
        else:
            begin, end = low[row] - 1, min(high[row], horizon) - 1
        mass, moment = 0.0, 0.0
        for at in range(begin, end + 1):
            mass += here[at]
            moment += here[at] * (at + 1)
        chance[row] = mass
        expected[row] = moment / mass if mass > 0 else np.nan
        fits = kind in (FIXED, GIVEN) or end - begin <= spread
        enough[row] = end >= begin and mass > 0 and mass >= least - TOLERANCE and fits
        first[row] = begin + 1 if end >= begin else 0
        last[row] = end + 1 if end >= begin else 0


@njit(cache=True, nogil=True)
def mixed(weights, rows):
    """[belief, column]: rows weighted by each belief, summed in a fixed order, so results are reproducible."""
    found = np.zeros((weights.shape[0], rows.shape[1]), np.float64)
    for b in range(weights.shape[0]):
        for state in range(weights.shape[1]):
            weight = weights[b, state]
            if weight != 0:
                for n in range(rows.shape[1]):
                    found[b, n] += weight * rows[state, n]
    return found
