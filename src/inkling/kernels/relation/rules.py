"""What becomes of an open left segment when the next point comes.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
section 2.2: queries by relations between intervals.

All that matters of it is a note: how many right segments are hits for it already, and how it lies to the right one that
is open. Right segments that follow are all alike. A hit is a right segment that is related, or, where all have to be,
one that is not.

Rules are one array of integers, and so is what is known of the right segments of a pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase

BEFORE, AT, AFTER = range(3)
"""How an end of a left segment compares with an end of a right one."""

OPENS, CLOSES = 1, -1

FAILS = -1
"""Instead of a move, where every left segment has to qualify and one does not."""

N_PLACES, CAP, LEAST, LABELED, EVERY, LATER_MAY_HIT = range(6)
"""How many ways there are to lie to the open right segment; more hits than CAP need not be distinguished; LEAST are
enough, or none where it is negative; whether labels count, and whether every left segment has to qualify; whether
right segments may be hits that open later."""

PLACE = 6
"""From here: place by how the opening compares with that of the open right segment."""
AT_ONCE = 9
"""From here, by the same: 1 where the right segment is a hit however both end."""
ENDING = 12
"""From here, by place and how the closing compares with that of the right segment: 1 for one more hit."""
MAY_HIT = 21
"""From here, by place: 1 where the right segment may be a hit yet."""
HIT = 24
"""From here, by four comparisons: opening with opening and closing, then closing with opening and closing."""

N_RULES = HIT + 81

TOTAL, UNOPENED, BY_LABEL, BY_LABEL_END = range(4)
"""How many right segments a key has, how many follow what has come where nobody knows (else negative), and where in
`labels` (labels in order, and the numbers of their segments) its own are."""

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
    """Whether a segment that closes now does, given the hits among what follows."""
    hits = note // rules[N_PLACES] + later
    if inside:
        hits += rules[ENDING + note % rules[N_PLACES] * 3 + BEFORE]
    return is_enough(rules, hits)


@phase
def closing_move(rules, good):
    """2 · note + number of segments that came to qualify: what a left point does."""
    if rules[EVERY]:
        return 0 if good else FAILS
    return 1 if good else 0


@phase
def left_move(query, turn, note, label, inside, closed, opened):
    """What the next left point does to a note.

    `inside` shows whether a right segment that counts is open, `closed` and `opened` how many are by now.
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
    """The note after a point of a right segment that counts."""
    hits, place = note // rules[N_PLACES], note % rules[N_PLACES]
    if turn == OPENS:
        return _noted(rules, hits + rules[AT_ONCE + BEFORE], rules[PLACE + BEFORE])
    if turn == CLOSES:
        return _noted(rules, hits + rules[ENDING + place * 3 + AFTER], 0)
    return note


@phase
def counts(rules, label, other_label):
    """Whether two segments are compared."""
    return not rules[LABELED] or (label >= 0 and label == other_label)
