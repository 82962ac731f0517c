"""From masses to answers: how probable at least so many qualifying segments are."""

from __future__ import annotations

from numba import njit

from inkling.kernels.lost_blocks import CLOSED, HI, INSIDE, LABEL, LO, TOP
from inkling.kernels.lost_bounds import MAY_FAIL, MAY_QUALIFY, chance_of_head, verdicts
from inkling.kernels.lost_keys import FIRST, N_LOST, N_SEGMENTS, NEXT, STOP
from inkling.kernels.lost_rules import EVERY


@njit(cache=True, error_model="numpy")
def tally(
    rules, others, labels, right_turns, right_label, a, b, masses, rows, lefts, rights, x_lo, x_hi, n_x, n_y, n_notes,
    n_numbers, ahead_of_left, ahead_of_right, is_stopped, is_left_known, low, high,
):  # fmt: skip
    """Numbers that are certain by now, and numbers that are possible: how probable each is.

    Where lost points come before the first recorded one, `ahead` is how many are expected until then.
    """
    block = n_notes * n_numbers
    for number in range(n_numbers):
        low[number] = high[number] = 0.0
    at = b[NEXT] - b[N_LOST]
    for x in range(x_lo, x_hi + 1):
        inside, label = lefts[INSIDE, x], lefts[LABEL, x]
        rest = a[N_SEGMENTS] - lefts[CLOSED, x]
        of_left = chance_of_head(n_x - 1, x, ahead_of_left) if ahead_of_left > 0.0 else 1.0
        for y in range(rows[LO, x], rows[HI, x] + 1):
            share = of_left
            if ahead_of_right > 0.0:
                share *= chance_of_head(n_y - 1, y, ahead_of_right)
            for note in range(n_notes if inside else 1):
                found = 0
                if inside and is_stopped:
                    found = verdicts(
                        rules, others, labels, right_turns, at + y, b[STOP], right_label, b[FIRST], rights[INSIDE, y],
                        rights[CLOSED, y], label, note,
                    )  # fmt: skip
                sure = 1 if found == MAY_QUALIFY else 0
                hopeless = 1 if found == MAY_FAIL else 0
                i = (x * n_y + y) * block + note * n_numbers
                for number in range(lefts[TOP, x] + 1):
                    part = share * masses[i + number]
                    if rules[EVERY]:
                        if rest == sure and (is_left_known or not is_stopped):
                            low[0] += part
                        if not hopeless:
                            high[0] += part
                    else:
                        low[min(number + sure, n_numbers - 1)] += part
                        high[min(number + rest - hopeless, n_numbers - 1)] += part


@njit(cache=True, error_model="numpy")
def answer(total, last, part, n_numbers, number, every, out):
    """At least 0, 1, … from numbers that were set aside, the rest, and what is certain; or all of them."""
    if every:
        out[0] = min(total[0] * part[0], 1.0)
        return
    width = out.shape[0]
    for k in range(width):
        out[k] = 0.0
    for one in range(last + 1):
        for other in range(n_numbers):
            out[min(one + other + number, width - 1)] += total[one] * part[other]
    for k in range(width - 2, -1, -1):
        out[k] += out[k + 1]
    for k in range(width):
        out[k] = 1.0 if k <= number else min(out[k], 1.0)
