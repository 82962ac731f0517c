"""Left and right points at one time."""

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
    """Of the right points begin … end - 1, which share a time: as far as they count for a left segment, whether the
    segment that was open has ended and whether it continues, how many opened and closed, whether one has begun that is
    open; and how many have opened by then, counting or not."""
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
    """Of a left segment that opened before."""
    place = note % rules[N_PLACES]
    hits = note // rules[N_PLACES] + hits_after(rules, others, labels, label, opened)
    hits += ended * rules[ENDING + place * 3 + AT] + going * rules[ENDING + place * 3 + BEFORE]
    hits += begun * hit_of(rules, BEFORE, BEFORE, AT, BEFORE) + points * hit_of(rules, BEFORE, BEFORE, AT, AT)
    return hits


@njit(cache=True, error_model="numpy")
def note_at_opening(rules, others, labels, label, closed, ended, going, points, begun):
    """Of a left segment that closes later; so many right segments closed before."""
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
    """Of a left segment that opens and closes then."""
    hits = hits_before(rules, others, labels, label, closed) + hits_after(rules, others, labels, label, opened)
    hits += ended * hit_of(rules, AFTER, AT, AFTER, AT) + going * hit_of(rules, AFTER, BEFORE, AFTER, BEFORE)
    hits += begun * hit_of(rules, AT, BEFORE, AT, BEFORE) + points * hit_of(rules, AT, AT, AT, AT)
    return hits
