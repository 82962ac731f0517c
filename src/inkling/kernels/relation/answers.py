"""Results of the forward pass: the probability of at least k qualifying segments, or bounds on it before the end."""

from math import exp, lgamma, log

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import CLOSED, HI, INSIDE, LABEL, LO, TOP
from inkling.kernels.relation.keys import FIRST, N_LOST, N_SEGMENTS, NEXT, STOP
from inkling.kernels.relation.rules import (
    CLOSES,
    EVERY,
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
from inkling.kernels.relation.ties import ends_together, hits_at_closing

MAY_QUALIFY, MAY_FAIL = 1, 2


@phase
def verdicts(query, right, at, inside, closed, label, note):
    """Whether the open left segment may still qualify or fail, by the right points that follow from `at` on."""
    rules, label_of, first, stop = query.rules, right.points.label, right.state[FIRST], right.state[STOP]
    if query.others[UNOPENED] >= 0:
        return _verdicts_of_any(rules, inside and counts(rules, label, label_of[first + closed]), note)
    found = 0
    for i in range(at, stop + 1):
        meets = inside and counts(rules, label, label_of[first + closed])
        good = qualifies(rules, note, meets, hits_after(query, label, closed + inside))
        found |= MAY_QUALIFY if good else MAY_FAIL
        if i < stop:
            tie = ends_together(query, right, i, i + 1, inside, closed, label)
            found |= MAY_QUALIFY if is_enough(rules, hits_at_closing(query, note, label, tie)) else MAY_FAIL
            turn = right.points.turn[i]
            if turn in (OPENS, CLOSES):
                if counts(rules, label, label_of[first + closed]):
                    note = right_note(rules, turn, note)
                inside = 1 if turn == OPENS else 0
                closed += 1 if turn == CLOSES else 0
        if found == MAY_QUALIFY | MAY_FAIL:
            break
    return found


@phase
def _verdicts_of_any(rules, inside, note):
    """`verdicts` if the number of later right segments is unknown."""
    least = note // rules[N_PLACES]
    most = least + (rules[MAY_HIT + note % rules[N_PLACES]] if inside else 0)
    if rules[LEAST] < 0:
        may_qualify, may_fail = least == 0, most > 0 or rules[LATER_MAY_HIT] == 1
    else:
        may_qualify, may_fail = most >= rules[LEAST] or rules[LATER_MAY_HIT] == 1, least < rules[LEAST]
    return (MAY_QUALIFY if may_qualify else 0) | (MAY_FAIL if may_fail else 0)


@phase
def chance_of_head(n_lost, come, expected):
    """The Poisson probability that exactly the remaining points before the first recorded one occur, if `expected`
    occur on average; if none has occurred yet (`come` is 0), that at least `n_lost` do."""
    if come:
        rest = n_lost - come
        return exp(rest * log(expected) - expected - lgamma(rest + 1.0))
    fewer, part = 0.0, exp(-expected)
    for n in range(n_lost):
        fewer += part
        part *= expected / (n + 1)
    return max(1.0 - fewer, 0.0)


@phase
def tally(query, left, right, blocks, ahead_of_left, ahead_of_right, is_stopped, is_left_known, low, high):
    """Distributions of the number of qualifying segments: the certain ones (`low`), and the possible ones (`high`).

    If lost points precede the first recorded one, `ahead_of_…` are the expected numbers of points until then.
    """
    rules, a, b = query.rules, left.state, right.state
    masses, rows, lefts, rights, n_x, n_y, n_notes, n_numbers, x_lo, x_hi = blocks
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
                    found = verdicts(query, right, at + y, rights[INSIDE, y], rights[CLOSED, y], label, note)
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


@phase
def answer(total, last, part, n_numbers, number, every, out):
    """out[k]: the probability of at least k, from the sum of three independent numbers; with `every`, that all qualify.

    The numbers are the one set aside (`total`), the one of the remaining masses (`part`), and the certain `number`.
    """
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
