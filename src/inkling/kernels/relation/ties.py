"""Hits of a left segment that opens or closes at the time of right points."""

from __future__ import annotations

from numba import njit

from inkling.kernels.relation.rules import (
    AFTER,
    AT,
    AT_ONCE,
    BEFORE,
    CAP,
    CLOSES,
    ENDING,
    N_PLACES,
    OPENS,
    PLACE,
    counts,
    hit_of,
    hits_after,
    hits_before,
)


@njit(cache=True, error_model="numpy")
def ends_together(rules, turns, begin, end, inside, closed, label, labels_in_order, first):
    """Summary of right points begin … end - 1 at one time. Of segments comparable with the left one: whether the open
    one ended, whether it continues, how many opened and closed, whether a new one is open. Of all: how many opened."""
    ended = points = begun = 0
    is_fresh = False
    going = 1 if inside and counts(rules, label, labels_in_order[first + closed]) else 0
    was_going = going
    for i in range(begin, end):
        if turns[i] == OPENS:
            inside = 1
            is_fresh = True
        elif turns[i] == CLOSES:
            if is_fresh:
                points += 1 if counts(rules, label, labels_in_order[first + closed]) else 0
            else:
                ended = was_going
                going = 0
            closed += 1
            inside = 0
            is_fresh = False
    if inside and is_fresh and counts(rules, label, labels_in_order[first + closed]):
        begun = 1
    return ended, going, points, begun, closed + inside


@njit(cache=True, error_model="numpy")
def hits_at_closing(rules, others, labels, note, label, ended, going, points, begun, opened):
    """Hits of a left segment that opened earlier and closes at this time."""
    place = note % rules[N_PLACES]
    hits = note // rules[N_PLACES] + hits_after(rules, others, labels, label, opened)
    hits += ended * rules[ENDING + place * 3 + AT] + going * rules[ENDING + place * 3 + BEFORE]
    hits += begun * hit_of(rules, BEFORE, BEFORE, AT, BEFORE) + points * hit_of(rules, BEFORE, BEFORE, AT, AT)
    return hits


@njit(cache=True, error_model="numpy")
def note_at_opening(rules, others, labels, label, closed, ended, going, points, begun):
    """The note of a left segment that opens at this time, after `closed` right segments, and closes later."""
    hits = hits_before(rules, others, labels, label, closed)
    hits += ended * hit_of(rules, AFTER, AT, AFTER, AFTER) + points * hit_of(rules, AT, AT, AFTER, AFTER)
    place = 0
    if going:
        hits += rules[AT_ONCE + AFTER]
        place = rules[PLACE + AFTER]
    elif begun:
        hits += rules[AT_ONCE + AT]
        place = rules[PLACE + AT]
    return min(hits, rules[CAP]) * rules[N_PLACES] + place


@njit(cache=True, error_model="numpy")
def hits_of_point(rules, others, labels, label, closed, ended, going, points, begun, opened):
    """Hits of a left segment that opens and closes at this time."""
    hits = hits_before(rules, others, labels, label, closed) + hits_after(rules, others, labels, label, opened)
    hits += ended * hit_of(rules, AFTER, AT, AFTER, AT) + going * hit_of(rules, AFTER, BEFORE, AFTER, BEFORE)
    hits += begun * hit_of(rules, AT, BEFORE, AT, BEFORE) + points * hit_of(rules, AT, AT, AT, AT)
    return hits
