"""Probabilities of chains under the policy NEXT, by tables per event that chains share.

Zhang, Diao, Immerman: Recognizing Patterns in Streams with Imprecise Timestamps, PVLDB 2010, section 3.3: the
confidence of a match under the policy of next events. Times are in ticks.

If candidates do not depend on the other events of a chain, the rivals of an event are the same in all chains. So the
probability that the event is the next one is computed once, for every tick of the event before it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit


class RivalRows(NamedTuple):
    """The candidates of place j, in `rows` from begins[j] on; those of key c from offsets[j, c] on."""

    begins: np.ndarray
    offsets: np.ndarray
    rows: np.ndarray  # sorted by first tick
    widest: np.ndarray  # [place]: the most ticks of a candidate


@njit(cache=True, nogil=True)
def next_by_tables(window, key, chains, rivals, ticks, most_cells):
    """Per chain the probability that its events happen in order, each the first candidate of its place, in the window.

    Tables have at most about `most_cells` numbers.
    """
    lo, hi, rows = chains
    place_at, place_offsets, place_rows, widest = rivals
    lower, upper, _, mass, _, _ = ticks
    n, k = lo.shape
    chances = np.zeros(n, mass.dtype)
    wide, deep = 1, 1
    for m in range(n):
        for j in range(k):
            wide = max(wide, upper[rows[m, j]] - lower[rows[m, j]] + 1)
            if j > 0:
                deep = max(deep, upper[rows[m, j]] - lo[m, j - 1])
    if window > 0:
        deep = min(deep, window + wide)
    n_tables = max(2 * k, min(most_cells // (wide * deep), 1 << 12))
    tables = np.zeros((n_tables, wide * deep), mass.dtype)
    holds, next_free = np.full(n_tables, -1, np.int64), 0
    table_of = np.full(lower.shape[0], -1, np.int64)
    one, other = np.zeros(wide, mass.dtype), np.zeros(wide, mass.dtype)
    mine = np.empty(k, np.int64)
    for m in range(n):
        for j in range(1, k):
            x = rows[m, j]
            if table_of[x] < 0:
                while _is_mine(holds[next_free], rows[m]):
                    next_free = (next_free + 1) % n_tables
                if holds[next_free] >= 0:
                    table_of[holds[next_free]] = -1
                holds[next_free], table_of[x] = x, next_free
                begin, end = place_at[j] + place_offsets[j, key[m]], place_at[j] + place_offsets[j, key[m] + 1]
                begin = _first_from(upper[x] - deep - widest[j] + 1, begin, end, place_rows, lower)
                _fill(tables[next_free], x, deep, j == k - 1, place_rows[begin:end], ticks)
                next_free = (next_free + 1) % n_tables
            mine[j] = table_of[x]
        chances[m] = _along(window, deep, lo[m], hi[m], rows[m], tables, mine, ticks, one, other)
    return chances


@njit(cache=True, nogil=True)
def _first_from(tick, begin, end, rows, lower):
    """The first of the rows (sorted by first tick) that begins at or after a tick."""
    while begin < end:
        middle = (begin + end) >> 1
        if lower[rows[middle]] < tick:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True, nogil=True)
def _is_mine(row, rows):
    found = False
    for one in rows:
        found |= one == row
    return found


@njit(cache=True, nogil=True)
def _fill(table, x, deep, is_last, rivals, ticks):
    """The table of event x, [u, t]: the probability that x is at tick t, and no rival is after u and before t.

    Row 0 is for u = upper[x] - deep. The table of the last event of a chain is cumulated over t and transposed, [t, u].
    """
    lower, upper, at, mass, cum_at, cum = ticks
    width, base, first = upper[x] - lower[x] + 1, at[x] - lower[x], upper[x] - deep
    zero = mass[0] * 0
    for u in range(first, upper[x]):
        row = (u - first) * width
        for t in range(lower[x], upper[x] + 1):
            table[row + t - lower[x]] = mass[base + t] if t > u else zero
    for y in rivals:
        if lower[y] >= upper[x]:
            break
        if y == x or upper[y] <= first:
            continue
        for u in range(first, upper[x]):
            a = max(u + 1, lower[y])
            if a > upper[y]:
                break
            row = (u - first) * width - lower[x]
            before = cum[cum_at[y] + a - lower[y]]
            for t in range(max(a + 1, lower[x]), min(upper[y] + 1, upper[x]) + 1):
                table[row + t] *= 1 - (cum[cum_at[y] + t - lower[y]] - before)
            for t in range(max(upper[y] + 2, lower[x]), upper[x] + 1):
                table[row + t] *= before
    if is_last:
        turned = np.zeros(width * deep, mass.dtype)
        for u in range(deep):
            so_far = zero
            for t in range(width):
                so_far += table[u * width + t]
                turned[t * deep + u] = so_far
        for i in range(width * deep):
            table[i] = turned[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _product(one, at, other, other_at, first, last):
    total = one[0] * 0
    for t in range(first, last + 1):
        total += one[at + t] * other[other_at + t]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _along(window, deep, lo, hi, rows, tables, mine, ticks, one, other):
    lower, upper, at, mass, _, _ = ticks
    k = len(rows)
    total = mass[0] * 0
    base = at[rows[0]] - lower[rows[0]]
    last = rows[k - 1]
    bound = window > 0 and hi[k - 1] - lo[0] >= window
    for s in range(lo[0], hi[0] + 1):
        if bound or s == lo[0]:
            a, b = lo[0], hi[0]
            if bound:
                a, b = s, s
            for u in range(a, b + 1):
                one[u - lo[0]] = mass[base + u]
            until = min(hi[k - 1], s + window - 1) if bound else hi[k - 1]
            if bound and k == 3:
                if until >= lower[last]:
                    x = rows[1]
                    total += mass[base + s] * _product(
                        tables[mine[1]], (s - upper[x] + deep) * (upper[x] - lower[x] + 1) - lower[x],
                        tables[mine[2]], (until - lower[last]) * deep - (upper[last] - deep),
                        max(lo[1], s + 1), min(hi[1], until),
                    )  # fmt: skip
                continue
            for j in range(1, k - 1):
                x = rows[j]
                width, first = upper[x] - lower[x] + 1, upper[x] - deep
                until_here = min(hi[j], until)
                for t in range(lo[j], until_here + 1):
                    other[t - lo[j]] = mass[0] * 0
                for u in range(a, b + 1):
                    weight = one[u - lo[j - 1]]
                    row = (u - first) * width - lower[x]
                    for t in range(max(lo[j], u + 1), until_here + 1):
                        other[t - lo[j]] += weight * tables[mine[j], row + t]
                one, other = other, one
                a, b = lo[j], until_here
            if until >= lower[last]:
                row = (until - lower[last]) * deep - (upper[last] - deep)
                for u in range(a, b + 1):
                    total += one[u - lo[k - 2]] * tables[mine[k - 1], row + u]
    return total
