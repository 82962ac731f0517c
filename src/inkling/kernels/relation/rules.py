"""The effect of a point on the open left segment, which is summarized by a number, its note.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
section 2.2: queries by relations between intervals.

A note is hits · N_PLACES + place: how many right segments are hits already (up to CAP), and how the opening of the left
segment lies relative to the open right one. Later right segments are all alike. A hit is a right segment that is
related; if all must be related, a hit is one that is not.

Rules are an array of integers, see `rules_of` of the evaluators, and so are the right segments of a key.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase

BEFORE, AT, AFTER = range(3)
"""The order of an end of a left segment and an end of a right one."""

OPENS, CLOSES = 1, -1

FAILS = -1
"""In place of a move: every left segment must qualify, and this one does not."""

N_PLACES, CAP, LEAST, LABELED, EVERY, LATER_MAY_HIT = range(6)
"""The number of places relative to the open right segment; the largest number of hits that matters; the number of hits
that is enough (negative: none may occur); whether labels must be equal; whether every left segment must qualify;
whether right segments that open later can be hits."""

PLACE = 6
"""From here, by order of both openings: the place."""
AT_ONCE = 9
"""From here, by order of both openings: 1 if the right segment is a hit for all ends."""
ENDING = 12
"""From here, by place and order of both closings: 1 for one more hit."""
MAY_HIT = 21
"""From here, by place: 1 if the right segment can still become a hit."""
HIT = 24
"""From here, by four orders (left opening to right opening and closing, left closing to both): 1 for a hit."""

N_RULES = HIT + 81

TOTAL, UNOPENED, BY_LABEL, BY_LABEL_END = range(4)
"""The number of right segments of a key; if it is unknown, the number of later ones to assume (else negative); and the
range of the key in `labels`, whose rows are sorted labels and the numbers of their segments."""

WHOLLY_AFTER = ((AFTER * 3 + AFTER) * 3 + AFTER) * 3 + AFTER
WHOLLY_BEFORE = 0


class PairQuery(NamedTuple):
    """The query Q_A A – C – Q_B B about the segments of a pair of keys (section 2.2)."""

    rules: np.ndarray  # [N_PLACES … N_RULES - 1]: C, Q_A and Q_B
    others: np.ndarray  # [TOTAL … BY_LABEL_END]: segments of B
    labels: np.ndarray  # [0, i]: labels of right segments in order, [1, i]: their numbers


@phase
def hit_of(rules, starts, crossed, crossing, ends):
    return rules[HIT + ((starts * 3 + crossed) * 3 + crossing) * 3 + ends]


@njit(cache=True, error_model="numpy")
def _n_labeled(others, labels, label, below):
    """How many of the first `below` segments have a label."""
    if label < 0:
        return 0
    lo, hi = others[BY_LABEL], others[BY_LABEL_END]
    while lo < hi:
        middle = (lo + hi) // 2
        if labels[0, middle] < label:
            lo = middle + 1
        else:
            hi = middle
    first, hi = lo, others[BY_LABEL_END]
    while lo < hi:
        middle = (lo + hi) // 2
        if labels[0, middle] == label and labels[1, middle] < below:
            lo = middle + 1
        else:
            hi = middle
    return lo - first


@phase
def hits_before(query, label, closed):
    """Hits among the right segments that closed before a left one opens."""
    if not query.rules[HIT + WHOLLY_AFTER]:
        return 0
    return _n_labeled(query.others, query.labels, label, closed) if query.rules[LABELED] else closed


@phase
def hits_after(query, label, opened):
    """Hits among the right segments that open after a left one has closed."""
    rules, others = query.rules, query.others
    if not rules[HIT + WHOLLY_BEFORE]:
        return 0
    if others[UNOPENED] >= 0:
        return others[UNOPENED]
    if rules[LABELED]:
        return _n_labeled(query.others, query.labels, label, others[TOTAL]) - _n_labeled(
            query.others, query.labels, label, opened
        )
    return others[TOTAL] - opened


@phase
def is_enough(rules, hits):
    return hits == 0 if rules[LEAST] < 0 else hits >= rules[LEAST]


@phase
def _noted(rules, hits, place):
    return min(hits, rules[CAP]) * rules[N_PLACES] + place


@phase
def qualifies(rules, note, inside, later):
    """Whether a left segment that closes now qualifies; `later` are hits among later right segments."""
    hits = note // rules[N_PLACES] + later
    if inside:
        hits += rules[ENDING + note % rules[N_PLACES] * 3 + BEFORE]
    return is_enough(rules, hits)


@phase
def closing_move(rules, good):
    """The move of a closing left point: 2 · next note + number of segments that now qualify, or FAILS."""
    if rules[EVERY]:
        return 0 if good else FAILS
    return 1 if good else 0


@phase
def left_move(query, turn, note, label, inside, closed, opened):
    """The move of a left point for a note: 2 · next note + number of segments that now qualify, or FAILS.

    `inside` is whether a comparable right segment is open, `closed` and `opened` are the numbers of right segments.
    """
    rules = query.rules
    if turn == OPENS:
        hits = hits_before(query, label, closed)
        if inside:
            return 2 * _noted(rules, hits + rules[AT_ONCE + AFTER], rules[PLACE + AFTER])
        return 2 * _noted(rules, hits, 0)
    if turn == CLOSES:
        return closing_move(rules, qualifies(rules, note, inside, hits_after(query, label, opened)))
    return 2 * note


@phase
def right_note(rules, turn, note):
    """The note after a point of a comparable right segment."""
    hits, place = note // rules[N_PLACES], note % rules[N_PLACES]
    if turn == OPENS:
        return _noted(rules, hits + rules[AT_ONCE + BEFORE], rules[PLACE + BEFORE])
    if turn == CLOSES:
        return _noted(rules, hits + rules[ENDING + place * 3 + AFTER], 0)
    return note


@phase
def counts(rules, label, other_label):
    """Whether two segments are comparable: their labels are equal, if labels matter."""
    return not rules[LABELED] or (label >= 0 and label == other_label)
