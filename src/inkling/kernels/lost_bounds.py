"""What is certain about an open left segment before it closes."""

from __future__ import annotations

from math import exp, lgamma, log

from numba import njit

from inkling.kernels.lost_rules import (
    CLOSES,
    LATER_MAY_HIT,
    LEAST,
    MAY_HIT,
    N_PLACES,
    OPENS,
    UNOPENED,
    counts,
    hits_after,
    is_enough,
    qualifies,
    right_note,
)
from inkling.kernels.lost_ties import ends_together, hits_at_closing

MAY_QUALIFY, MAY_FAIL = 1, 2


@njit(cache=True, error_model="numpy")
def verdicts(rules, others, labels, turns, at, stop, label_of, first, inside, closed, label, note):
    """Whether it may qualify and whether it may fail, given the right points at … stop - 1 that follow."""
    if others[UNOPENED] >= 0:
        return _verdicts_of_any(rules, inside and counts(rules, label, label_of[first + closed]), note)
    found = 0
    for i in range(at, stop + 1):
        meets = inside and counts(rules, label, label_of[first + closed])
        good = qualifies(rules, note, meets, hits_after(rules, others, labels, label, closed + inside))
        found |= MAY_QUALIFY if good else MAY_FAIL
        if i < stop:
            ended, going, points, begun, opened = ends_together(
                rules, turns, i, i + 1, inside, closed, label, label_of, first
            )
            hits = hits_at_closing(rules, others, labels, note, label, ended, going, points, begun, opened)
            found |= MAY_QUALIFY if is_enough(rules, hits) else MAY_FAIL
            if turns[i] == OPENS or turns[i] == CLOSES:
                if counts(rules, label, label_of[first + closed]):
                    note = right_note(rules, turns[i], note)
                inside = 1 if turns[i] == OPENS else 0
                closed += 1 if turns[i] == CLOSES else 0
        if found == MAY_QUALIFY | MAY_FAIL:
            break
    return found


@njit(cache=True, error_model="numpy")
def _verdicts_of_any(rules, inside, note):
    """The same where nobody knows how many right segments follow."""
    least = note // rules[N_PLACES]
    most = least + (rules[MAY_HIT + note % rules[N_PLACES]] if inside else 0)
    if rules[LEAST] < 0:
        may_qualify, may_fail = least == 0, most > 0 or rules[LATER_MAY_HIT] == 1
    else:
        may_qualify, may_fail = most >= rules[LEAST] or rules[LATER_MAY_HIT] == 1, least < rules[LEAST]
    return (MAY_QUALIFY if may_qualify else 0) | (MAY_FAIL if may_fail else 0)


@njit(cache=True, error_model="numpy")
def chance_of_head(n_lost, come, expected):
    """How probable it is that the rest of the points before the first recorded one come in what is left of the time,
    in which so many are expected; where none has come, that there is room for all."""
    if come:
        rest = n_lost - come
        return exp(rest * log(expected) - expected - lgamma(rest + 1.0))
    fewer, part = 0.0, exp(-expected)
    for n in range(n_lost):
        fewer += part
        part *= expected / (n + 1)
    return max(1.0 - fewer, 0.0)
