"""Certain segments in place of such that lost ends, and how many of them share time."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def alternating(begins, lost, turn):
    """Which points are kept if lost ones are left out: first one that opens, then in turn, no opening at the end."""
    kept = np.zeros(len(lost), np.bool_)
    for key in range(len(begins) - 1):
        wanted, last = 1, -1
        for point in range(begins[key], begins[key + 1]):
            if not lost[point] and turn[point] == wanted:
                kept[point] = True
                wanted, last = -wanted, point
        if wanted == -1:
            kept[last] = False
    return kept


@njit(cache=True)
def filled_in(begins, time, lost, turn, segments, opening, closing):
    """Start and end of every segment, and whether it has any: a lost end is as far away as ends are on average."""
    n_segments = segments[-1]
    start, end = np.zeros(n_segments, np.int64), np.zeros(n_segments, np.int64)
    there = np.zeros(n_segments, np.bool_)
    for key in range(len(begins) - 1):
        first, stop = begins[key], begins[key + 1]
        length = _mean_length(first, stop, time, lost, turn, segments[key], segments[key + 1], opening, closing)
        for segment in range(segments[key], segments[key + 1]):
            opens, closes = first + opening[segment], first + closing[segment]
            if lost[opens] and lost[closes]:
                continue
            there[segment] = True
            start[segment], end[segment] = time[opens], time[closes]
            if lost[opens]:
                start[segment] = time[closes] - length
                before = _recorded_event(opens, first - 1, -1, lost, turn)
                if before >= 0:
                    start[segment] = max(start[segment], time[before])
            if lost[closes]:
                end[segment] = time[opens] + length
                after = _recorded_event(closes, stop, 1, lost, turn)
                if after >= 0:
                    end[segment] = min(end[segment], time[after])
    return start, end, there


@njit(cache=True)
def _recorded_event(point, border, step, lost, turn):
    """The nearest one before or after a point, or -1."""
    point += step
    while point != border:
        if not lost[point] and turn[point] != 0:
            return point
        point += step
    return -1


@njit(cache=True)
def _mean_length(first, stop, time, lost, turn, segment, last_segment, opening, closing):
    """Of complete segments, rounded down; without any, as if all events were equally far apart."""
    total, n_complete = 0, 0
    for one in range(segment, last_segment):
        opens, closes = first + opening[one], first + closing[one]
        if not lost[opens] and not lost[closes]:
            total += time[closes] - time[opens]
            n_complete += 1
    if n_complete:
        return total // n_complete
    earliest = _recorded_event(first - 1, stop, 1, lost, turn)
    if earliest < 0:
        return 0
    latest = _recorded_event(stop, first - 1, -1, lost, turn)
    n_events = 0
    for point in range(first, stop):
        n_events += turn[point] != 0
    return (time[latest] - time[earliest]) // max(n_events - 1, 1)


@njit(cache=True)
def sharing_segments(ones, others, left, start, end, right, other_start, other_end):
    """How many segments of each left key touch a segment of the right one; both follow each other in time."""
    found = np.zeros(len(ones), np.int64)
    for pair in range(len(ones)):
        other, stop = right[others[pair]], right[others[pair] + 1]
        for segment in range(left[ones[pair]], left[ones[pair] + 1]):
            while other < stop and other_end[other] < start[segment]:
                other += 1
            if other == stop:
                break
            found[pair] += other_start[other] <= end[segment]
    return found
