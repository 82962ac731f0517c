"""Propagation of masses through a cell, in which lost points of both keys occur in any order.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
section 3.2: the positions of lost events between two recorded ones.

A cell is the time between two neighboring recorded points of either key. Each order of N points in a cell has volume
1/N!, so the n-th point contributes a factor 1/n. Lost points between two recorded ones are uniform in the remaining
time; before the first or after the last recorded point, they occur at a rate.
"""

from math import exp

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import (
    HI,
    INSIDE,
    LO,
    NEXT_HI,
    NEXT_LO,
    NONE_HI,
    NONE_LO,
    TOP,
    add_left,
    add_right,
    clear,
    mass,
    scale,
)

STEP, STAY, LEAK = range(3)
"""Rows of a table by x, the lost points that have occurred: the weight of one more point in the cell, the weight of no
more points, and the exponent of the decay of a state. With m points uniform in the remaining time, of which the cell
has the share p, STEP is (m - x) p and STAY is (1 - p) ** (m - x)."""

URN, TAILS, HEADS = range(3)
"""Which key has the next point: in proportion to the remaining points of both (URN), or to their rates, after all
recorded points (TAILS) or before all (HEADS)."""

LARGEST = 640.0
"""Logarithm of the largest factor by which a cell may multiply a mass, below overflow; longer cells are divided."""

NEGLIGIBLE = 1e-19
TOO_MUCH = -1


@phase
def _kept(kept, blocks, x, lo, hi, share, rights):
    """Adds blocks (x, lo) … (x, hi), weighted for no more points in the cell, to `kept`; returns the added mass."""
    if share == 0.0:
        return 0.0
    masses, rows, _, _, _, n_y, n_notes, n_numbers, _, _ = blocks
    inside, top = blocks.lefts[INSIDE], blocks.lefts[TOP]
    block = n_notes * n_numbers
    notes = n_notes if inside[x] else 1
    first, last = rows[NEXT_LO, x], rows[NEXT_HI, x]
    if first > last:
        for y in range(lo, hi + 1):
            clear(kept, (x * n_y + y) * block, notes, n_numbers, top[x])
        rows[NEXT_LO, x], rows[NEXT_HI, x] = lo, hi
    else:
        for y in range(lo, first):
            clear(kept, (x * n_y + y) * block, notes, n_numbers, top[x])
        for y in range(last + 1, hi + 1):
            clear(kept, (x * n_y + y) * block, notes, n_numbers, top[x])
        rows[NEXT_LO, x], rows[NEXT_HI, x] = min(lo, first), max(hi, last)
    total = 0.0
    for y in range(lo, hi + 1):
        factor = share * rights[STAY, y]
        if factor == 0.0:
            continue
        i = (x * n_y + y) * block
        for note in range(notes):
            for number in range(top[x] + 1):
                part = factor * masses[i + note * n_numbers + number]
                kept[i + note * n_numbers + number] += part
                total += part
    return total


@phase
def _largest(weights, n):
    found = 0.0
    for i in range(n):
        found = max(found, weights[LEAK, i])
    return found


@phase
def series(blocks, kept, lefts, rights, moves, expected, budget):
    """Sums over all orders of points in a cell, point by point, from the masses (overwritten) to `kept`.

    `lefts` and `rights` are weights of lost points, and `expected` bounds the mean number of points. Returns the
    remaining budget, in moved numbers, or TOO_MUCH.
    """
    masses, rows, table, _, n_x, n_y, n_notes, n_numbers, x_lo, x_hi = blocks
    block = n_notes * n_numbers
    inside, top = table[INSIDE], table[TOP]
    for x in range(n_x):
        rows[NEXT_LO, x], rows[NEXT_HI, x] = NONE_LO, NONE_HI
    leak = _largest(lefts, n_x) + _largest(rights, n_y)
    stays = exp(-leak)
    total = 0.0
    for x in range(x_lo, x_hi + 1):
        lo, hi = rows[LO, x], rows[HI, x]
        if lo <= hi:
            share = stays * lefts[STAY, x]
            total += _kept(kept, blocks, x, lo, hi, share, rights)
    n = 0
    while x_lo <= x_hi:
        n += 1
        gained = 0.0
        x_hi = min(x_hi + 1, n_x - 1)
        for x in range(x_hi, x_lo - 1, -1):
            own_lo, own_hi = rows[LO, x], rows[HI, x]
            below_lo, below_hi = NONE_LO, NONE_HI
            if x > x_lo:
                below_lo, below_hi = rows[LO, x - 1], rows[HI, x - 1]
            lo, hi = below_lo, below_hi
            if own_lo <= own_hi:
                lo = min(lo, own_lo if leak > 0.0 else own_lo + 1)
                hi = max(hi, min(own_hi + 1, n_y - 1))
            if lo > hi:
                rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI
                continue
            notes = n_notes if inside[x] else 1
            below_notes = n_notes if x > 0 and inside[x - 1] else 1
            budget -= (hi - lo + 1) * notes * (top[x] + 1)
            for y in range(hi, lo - 1, -1):
                i = (x * n_y + y) * block
                if leak > 0.0 and own_lo <= y <= own_hi:
                    scale(masses, i, (leak - lefts[LEAK, x] - rights[LEAK, y]) / n, notes, n_numbers, top[x])
                else:
                    clear(masses, i, notes, n_numbers, top[x])
                if own_lo < y <= own_hi + 1:
                    weight = rights[STEP, y - 1] / n
                    m = (x * n_y + y - 1) * n_notes
                    add_right(masses, i, masses, i - block, weight, moves.right, m, notes, n_numbers, top[x])
                if below_lo <= y <= below_hi:
                    weight = lefts[STEP, x - 1] / n
                    m = ((x - 1) * n_y + y) * n_notes
                    source = i - n_y * block
                    add_left(masses, i, masses, source, weight, moves.left, m, below_notes, n_numbers, top[x - 1])
            rows[LO, x], rows[HI, x] = lo, hi
            share = stays * lefts[STAY, x]
            gained += _kept(kept, blocks, x, lo, hi, share, rights)
        total += gained
        while x_lo <= x_hi and rows[LO, x_lo] > rows[HI, x_lo]:
            x_lo += 1
        if budget < 0:
            return TOO_MUCH
        if n > expected and gained <= NEGLIGIBLE * total and (total > 0.0 or n > 4.0 * expected + 100.0):
            break
    for x in range(n_x):
        rows[LO, x], rows[HI, x] = rows[NEXT_LO, x], rows[NEXT_HI, x]
    return budget


@phase
def _chance_of_left(kind, x, y, n_x, n_y, left_rate, right_rate):
    """The probability of the step from (x, y) to (x + 1, y)."""
    if kind == URN:
        return (n_x - 1 - x) / (n_x - 1 - x + n_y - 1 - y)
    if kind == TAILS:
        return left_rate / (left_rate + (right_rate if y < n_y - 1 else 0.0))
    return left_rate / (left_rate + (right_rate if y > 0 else 0.0))


@phase
def _chance_of_right(kind, x, y, n_x, n_y, left_rate, right_rate):
    if kind == URN:
        return (n_y - 1 - y) / (n_x - 1 - x + n_y - 1 - y)
    if kind == TAILS:
        return right_rate / (right_rate + (left_rate if x < n_x - 1 else 0.0))
    return right_rate / (right_rate + (left_rate if x > 0 else 0.0))


@phase
def sweep(blocks, moves, kind, left_rate, right_rate, budget):
    """All pending points occur one after the other in place: each state adds its mass to its successors.

    Before all recorded points (HEADS), any number of them may occur, so each state also keeps its mass.
    """
    masses, rows, table, _, n_x, n_y, n_notes, n_numbers, x_lo, x_hi = blocks
    block = n_notes * n_numbers
    inside, top = table[INSIDE], table[TOP]
    for x in range(x_lo, n_x):
        own_lo, own_hi = NONE_LO, NONE_HI
        if x <= x_hi:
            own_lo, own_hi = rows[LO, x], rows[HI, x]
        below = rows[LO, x - 1] if x > x_lo else NONE_LO
        lo = min(own_lo, below)
        rows[LO, x], rows[HI, x] = (lo, n_y - 1) if lo < n_y else (NONE_LO, NONE_HI)
        notes = n_notes if inside[x] else 1
        below_notes = n_notes if x > 0 and inside[x - 1] else 1
        budget -= max(n_y - lo, 0) * notes * (top[x] + 1)
        for y in range(lo, n_y):
            i = (x * n_y + y) * block
            if not own_lo <= y <= own_hi:
                clear(masses, i, notes, n_numbers, top[x])
            if y > lo:
                weight = _chance_of_right(kind, x, y - 1, n_x, n_y, left_rate, right_rate)
                m = (x * n_y + y - 1) * n_notes
                add_right(masses, i, masses, i - block, weight, moves.right, m, notes, n_numbers, top[x])
            if y >= below:
                weight = _chance_of_left(kind, x - 1, y, n_x, n_y, left_rate, right_rate)
                m = ((x - 1) * n_y + y) * n_notes
                add_left(masses, i, masses, i - n_y * block, weight, moves.left, m, below_notes, n_numbers, top[x - 1])
    return TOO_MUCH if budget < 0 else budget


@phase
def trim(blocks):
    """Invalidates blocks at the ends of rows whose mass is negligible."""
    masses, rows, table, _, n_x, n_y, n_notes, n_numbers, _, _ = blocks
    block = n_notes * n_numbers
    inside, top = table[INSIDE], table[TOP]
    total = 0.0
    for x in range(n_x):
        notes = n_notes if inside[x] else 1
        for y in range(rows[LO, x], rows[HI, x] + 1):
            total += mass(masses, (x * n_y + y) * block, notes, n_numbers, top[x])
    least = 1e-6 * NEGLIGIBLE * total
    for x in range(n_x):
        notes = n_notes if inside[x] else 1
        lo, hi = rows[LO, x], rows[HI, x]
        while lo <= hi and mass(masses, (x * n_y + lo) * block, notes, n_numbers, top[x]) <= least:
            lo += 1
        while lo <= hi and mass(masses, (x * n_y + hi) * block, notes, n_numbers, top[x]) <= least:
            hi -= 1
        rows[LO, x], rows[HI, x] = (lo, hi) if lo <= hi else (NONE_LO, NONE_HI)


@phase
def live_rows(rows, n_x):
    """The first and the last x with valid blocks."""
    x_lo, x_hi = 0, n_x - 1
    while x_lo <= x_hi and rows[LO, x_lo] > rows[HI, x_lo]:
        x_lo += 1
    while x_hi >= x_lo and rows[LO, x_hi] > rows[HI, x_hi]:
        x_hi -= 1
    return x_lo, x_hi
