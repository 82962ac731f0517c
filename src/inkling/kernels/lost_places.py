"""Whether a left segment qualifies, by where its ends lie among the right points: for segments in any order."""

from __future__ import annotations

from numba import njit

from inkling.kernels.lost_rules import HIT, counts, is_enough


@njit(cache=True, error_model="numpy")
def _sign(point, before, through):
    """0 if a right point comes later than a moment, 1 if it comes with it, 2 if it came before."""
    return (1 if point < through else 0) + (1 if point < before else 0)


@njit(cache=True, error_model="numpy")
def qualifies_among(rules, opening, closing, label_of, begin, end, label, s_before, s_through, e_before, e_through):
    """Whether a segment does that starts after so many right points and ends after so many.

    The right segments begin … end - 1 are given by the places of their points.
    """
    hits = 0
    for i in range(begin, end):
        if counts(rules, label, label_of[i]):
            case = _sign(opening[i], s_before, s_through) * 3 + _sign(closing[i], s_before, s_through)
            case = (case * 3 + _sign(opening[i], e_before, e_through)) * 3 + _sign(closing[i], e_before, e_through)
            hits += rules[HIT + case]
    return is_enough(rules, hits)
