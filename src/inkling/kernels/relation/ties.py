"""Hits of a left segment that opens or closes at the time of right points."""

from typing import NamedTuple

from inkling.kernels.phase import phase
from inkling.kernels.relation.keys import FIRST
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


class Tie(NamedTuple):
    """Right points at one time, by their segments that are comparable with the left one."""

    ended: int  # 1 if the open segment ended
    going: int  # 1 if the open segment continues
    points: int  # number of segments that opened and closed
    begun: int  # 1 if a new segment is open
    opened: int  # number of all segments that have opened, comparable or not


@phase
def ends_together(query, right, begin, end, inside, closed, label):
    """Summary of right points begin … end - 1 at one time for a left segment."""
    rules, turns, label_of, first = query.rules, right.points.turn, right.points.label, right.state[FIRST]
    ended = points = begun = 0
    is_fresh = False
    going = 1 if inside and counts(rules, label, label_of[first + closed]) else 0
    was_going = going
    for i in range(begin, end):
        if turns[i] == OPENS:
            inside = 1
            is_fresh = True
        elif turns[i] == CLOSES:
            if is_fresh:
                points += 1 if counts(rules, label, label_of[first + closed]) else 0
            else:
                ended = was_going
                going = 0
            closed += 1
            inside = 0
            is_fresh = False
    if inside and is_fresh and counts(rules, label, label_of[first + closed]):
        begun = 1
    return Tie(ended, going, points, begun, closed + inside)


@phase
def hits_at_closing(query, note, label, tie):
    """Hits of a left segment that opened earlier and closes at this time."""
    rules = query.rules
    place = note % rules[N_PLACES]
    hits = note // rules[N_PLACES] + hits_after(query, label, tie.opened)
    hits += tie.ended * rules[ENDING + place * 3 + AT] + tie.going * rules[ENDING + place * 3 + BEFORE]
    hits += tie.begun * hit_of(rules, BEFORE, BEFORE, AT, BEFORE) + tie.points * hit_of(rules, BEFORE, BEFORE, AT, AT)
    return hits


@phase
def note_at_opening(query, label, closed, tie):
    """The note of a left segment that opens at this time, after `closed` right segments, and closes later."""
    rules = query.rules
    hits = hits_before(query, label, closed)
    hits += tie.ended * hit_of(rules, AFTER, AT, AFTER, AFTER) + tie.points * hit_of(rules, AT, AT, AFTER, AFTER)
    place = 0
    if tie.going:
        hits += rules[AT_ONCE + AFTER]
        place = rules[PLACE + AFTER]
    elif tie.begun:
        hits += rules[AT_ONCE + AT]
        place = rules[PLACE + AT]
    return min(hits, rules[CAP]) * rules[N_PLACES] + place


@phase
def hits_of_point(query, label, closed, tie):
    """Hits of a left segment that opens and closes at this time."""
    rules = query.rules
    hits = hits_before(query, label, closed) + hits_after(query, label, tie.opened)
    hits += tie.ended * hit_of(rules, AFTER, AT, AFTER, AT) + tie.going * hit_of(rules, AFTER, BEFORE, AFTER, BEFORE)
    hits += tie.begun * hit_of(rules, AT, BEFORE, AT, BEFORE) + tie.points * hit_of(rules, AT, AT, AT, AT)
    return hits
