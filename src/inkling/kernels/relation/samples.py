"""The number of left segments that qualify in sampled worlds: times of lost points are drawn, the rest is certain.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
section 3.1: possible worlds, here drawn instead of enumerated.

Draws are a function of seed, sample and the points of a key, so they do not depend on other pairs.
"""

from math import log

import numpy as np
from numba import njit

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import Blocks, PointMoves
from inkling.kernels.relation.crossed import RightKey, qualifies_among
from inkling.kernels.relation.keys import FIRST, IS_INSIDE, N_CLOSED, N_FIELDS, N_REALS, N_SEGMENTS, NEXT, STOP, Key
from inkling.kernels.relation.rules import (
    BY_LABEL,
    BY_LABEL_END,
    CAP,
    EVERY,
    FAILS,
    N_PLACES,
    TOTAL,
    UNOPENED,
    PairQuery,
)
from inkling.kernels.relation.steps import both, certain_lefts, certain_rights
from inkling.kernels.worlds.draws import sequence_start, uniform


@phase
def _tokens(time, lost, turns, begin, end, side, tokens):
    """[point]: a hash that depends on all points of the key."""
    whole = sequence_start(np.uint64(side), np.uint64(end - begin))
    for i in range(begin, end):
        value = np.uint64(1) if lost[i] else np.uint64(time[i]) << np.uint64(1)
        whole = sequence_start(whole, value ^ (np.uint64(turns[i] + 1) << np.uint64(60)))
    for i in range(begin, end + 1):
        tokens[i - begin] = sequence_start(whole, np.uint64(i - begin))


@phase
def _draw(time, along, lost, begin, end, head, tail, tokens, seed, sample, places):
    """Draws the positions of lost points on the axis; recorded ones are set already."""
    i = begin
    while i < end:
        if not lost[i]:
            i += 1
            continue
        stop = i
        while stop < end and lost[stop]:
            stop += 1
        passed = 0.0
        for k in range(i, stop):
            passed -= log(1.0 - uniform(sequence_start(seed, tokens[k - begin]), sample))
            places[k - begin] = passed
        if i == begin:
            # from the first recorded point backward
            for k in range(i, stop):
                places[k - begin] = places[stop - begin] - (passed - places[k - begin]) / head
            last = log(1.0 - uniform(sequence_start(seed, tokens[end - begin]), sample)) / head
            for k in range(i, stop):
                places[k - begin] += last
        elif stop == end:
            for k in range(i, stop):
                places[k - begin] = places[i - 1 - begin] + places[k - begin] / tail
        else:
            lo, hi = places[i - 1 - begin], places[stop - begin]
            whole = passed - log(1.0 - uniform(sequence_start(seed ^ tokens[end - begin], tokens[i - begin]), sample))
            for k in range(i, stop):
                places[k - begin] = lo + (hi - lo) * (places[k - begin] / whole)
        i = stop


@phase
def _first_from(places, n, place):
    lo, hi = 0, n
    while lo < hi:
        middle = (lo + hi) // 2
        if places[middle] < place:
            lo = middle + 1
        else:
            hi = middle
    return lo


@phase
def _through(places, n, place, first):
    while first < n and places[first] == place:
        first += 1
    return first


@phase
def _n_in_any_order(rules, left, right, one, of_left, of_right):
    """The number of left segments that qualify; FAILS if every one must and one does not."""
    found, n_right = 0, right.stop - right.first
    for segment in range(left.segments[one], left.segments[one + 1]):
        start, stop = of_left[left.opening[segment]], of_left[left.closing[segment]]
        s_before, e_before = _first_from(of_right, n_right, start), _first_from(of_right, n_right, stop)
        s_through, e_through = _through(of_right, n_right, start, s_before), _through(of_right, n_right, stop, e_before)
        good = qualifies_among(rules, right, left.label[segment], s_before, s_through, e_before, e_through)
        if not good and rules[EVERY]:
            return FAILS
        found += 1 if good else 0
    return found


@phase
def _begin(key, k):
    points, state = key.points, key.state
    state[NEXT], state[STOP], state[FIRST] = points.begins[k], points.begins[k + 1], points.segments[k]
    state[N_SEGMENTS] = points.segments[k + 1] - points.segments[k]
    state[IS_INSIDE] = state[N_CLOSED] = 0


@phase
def _n_in_step(query, left, right, one, other, of_left, of_right, blocks, moves):
    """The same for keys whose segments do not overlap each other."""
    _begin(left, one)
    _begin(right, other)
    a, b = left.state, right.state
    begin_a, end_a, begin_b, end_b = a[NEXT], a[STOP], b[NEXT], b[STOP]
    note, found = np.int64(0), np.int64(0)
    while a[NEXT] < end_a:
        here = of_left[a[NEXT] - begin_a]
        there = of_right[b[NEXT] - begin_b] if b[NEXT] < end_b else np.inf
        if here < there:
            note, more = certain_lefts(query, left, right, a[NEXT], a[NEXT] + 1, note)
            a[NEXT] += 1
        elif there < here:
            note, more = certain_rights(query, left, right, b[NEXT], b[NEXT] + 1, note), np.int64(0)
            b[NEXT] += 1
        else:
            a_end = _through(of_left, end_a - begin_a, here, a[NEXT] - begin_a) + begin_a
            b_end = _through(of_right, end_b - begin_b, here, b[NEXT] - begin_b) + begin_b
            note, more = both(query, left, right, a_end, b_end, True, note, blocks, moves, blocks.masses)
            a[NEXT], b[NEXT] = a_end, b_end
        if more == FAILS:
            return np.int64(FAILS)
        found += more
    return found


@njit(cache=True, error_model="numpy", nogil=True)
def sample(left, right, ones, other_ones, rules, labels, most, n_samples, seed):
    """[pair, k]: the number of samples with at least k qualifying left segments, or in which every one qualifies."""
    n = ones.shape[0]
    hits = np.zeros((n, 1 if rules[EVERY] else most + 1), np.int64)
    others, n_notes = np.zeros(4, np.int64), (rules[CAP] + 1) * rules[N_PLACES]
    query = PairQuery(rules, others, labels)
    moves = PointMoves(np.zeros(n_notes, np.int64), np.zeros(n_notes, np.int64))
    reals, table, weights = np.zeros(N_REALS), np.zeros((5, 1), np.int64), np.zeros((3, 1))
    a_key = Key(left, np.zeros(N_FIELDS, np.int64), reals, table, weights)
    b_key = Key(right, np.zeros(N_FIELDS, np.int64), reals, table, weights)
    one_block = Blocks(np.zeros(1), np.zeros((4, 1), np.int64), table, table, 1, 1, n_notes, 1, 0, 0)
    for pair in range(n):
        one, other = ones[pair], other_ones[pair]
        begin_a, end_a = left.begins[one], left.begins[one + 1]
        begin_b, end_b = right.begins[other], right.begins[other + 1]
        of_left, of_right = np.empty(end_a - begin_a), np.empty(end_b - begin_b)
        left_tokens = np.empty(end_a - begin_a + 1, np.uint64)
        right_tokens = np.empty(end_b - begin_b + 1, np.uint64)
        _tokens(left.time, left.lost, left.turn, begin_a, end_a, 1, left_tokens)
        _tokens(right.time, right.lost, right.turn, begin_b, end_b, 2, right_tokens)
        others[TOTAL], others[UNOPENED] = right.segments[other + 1] - right.segments[other], -1
        others[BY_LABEL], others[BY_LABEL_END] = right.segments[other], right.segments[other + 1]
        time_0, along_0, is_first = np.int64(0), 0.0, True
        for side in range(2):
            for i in range(begin_b if side else begin_a, end_b if side else end_a):
                if not (right.lost[i] if side else left.lost[i]):
                    time = right.time[i] if side else left.time[i]
                    if is_first or time < time_0:
                        time_0, is_first = time, False
                        if left.along.shape[0]:
                            along_0 = right.along[i] if side else left.along[i]
                    break
        for i in range(begin_a, end_a):
            of_left[i - begin_a] = left.along[i] - along_0 if left.along.shape[0] else float(left.time[i] - time_0)
        for i in range(begin_b, end_b):
            of_right[i - begin_b] = right.along[i] - along_0 if left.along.shape[0] else float(right.time[i] - time_0)
        in_step = left.simple[one] and right.simple[other]
        for k in range(n_samples[pair]):
            _draw(
                left.time, left.along, left.lost, begin_a, end_a, left.head[one], left.tail[one], left_tokens, seed, k,
                of_left,
            )  # fmt: skip
            _draw(
                right.time, right.along, right.lost, begin_b, end_b, right.head[other], right.tail[other],
                right_tokens, seed, k, of_right,
            )  # fmt: skip
            if in_step:
                found = _n_in_step(query, a_key, b_key, one, other, of_left, of_right, one_block, moves)
            else:
                among = RightKey(right, right.segments[other], right.segments[other + 1], begin_b, end_b)
                found = _n_in_any_order(rules, left, among, one, of_left, of_right)
            if rules[EVERY]:
                hits[pair, 0] += 1 if found >= 0 else 0
            else:
                hits[pair, min(found, most)] += 1
        if not rules[EVERY]:
            for number in range(most - 1, -1, -1):
                hits[pair, number] += hits[pair, number + 1]
    return hits
