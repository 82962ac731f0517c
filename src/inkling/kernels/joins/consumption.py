"""Consumption policies: one pass over the occurrences of both operands of a key, which pairs and consumes them.

The consumption policies of ETALIS (thesis, Karlsruhe 2011, section 7.4) over its binary goals.

Arrivals are rows of arrays, sorted by group and then by their order of arrival; `side` is 0 for the right operand and
1 for the left. Conditions are bytecode (`vm`). Arrivals that wait for a partner are in a linked list per side, the
oldest first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.joins.vm import run
from inkling.kernels.phase import phase

SEQ, AND, PAR = 0, 1, 2
PRECEDES, MEETS, OVERLAPS, STARTS, DURING, FINISHES, EQUALS = 3, 4, 5, 6, 7, 8, 9
INTERSECTS, STARTS_BEFORE, ENDS_AFTER = 10, 11, 12
INVERSE = 32
"""Added to a relation for its inverse."""

RIGHT, LEFT = 0, 1
NO_MOMENT = np.int64(-(2**63) + 1)
NOBODY = -1


@phase
def related(relation, s1, e1, s2, e2):
    if relation >= INVERSE:
        s1, e1, s2, e2 = s2, e2, s1, e1
        relation -= INVERSE
    if relation == AND:
        return True
    if relation == PAR:
        if max(s1, s2) < min(e1, e2):
            return True
        return (s1 == e1 and s2 < s1 and s1 < e2) or (s2 == e2 and s1 < s2 and s2 < e1)
    if relation == PRECEDES:
        return e1 < s2
    if relation == MEETS:
        return e1 == s2
    if relation == OVERLAPS:
        return s1 < s2 and s2 < e1 and e1 < e2
    if relation == STARTS:
        return s1 == s2 and e1 < e2
    if relation == DURING:
        return s2 < s1 and e1 < e2
    if relation == FINISHES:
        return s2 < s1 and e1 == e2
    if relation == EQUALS:
        return s1 == s2 and e1 == e2
    if relation == INTERSECTS:
        return s1 <= e2 and s2 <= e1
    if relation == STARTS_BEFORE:
        return s1 < s2
    return e1 > e2


@phase
def _stand(relations, start, start_place, end, end_place, left, right):
    for relation in relations:
        if relation == SEQ:
            if end[left] < start[right] or (end[left] == start[right] and end_place[left] < start_place[right]):
                return True
        elif related(relation, start[left], end[left], start[right], end[right]):
            return True
    return False


class Arrivals(NamedTuple):
    """Occurrences of both operands in order of arrival; times are in the unit of the caller, places break ties."""

    offsets: np.ndarray  # arrivals of group g are offsets[g]:offsets[g + 1]
    waiting: np.ndarray  # [group]: number of its first arrivals that were stored before this call
    side: np.ndarray  # RIGHT or LEFT
    start: np.ndarray  # T1 in ETALIS
    start_place: np.ndarray
    end: np.ndarray  # T2 in ETALIS
    end_place: np.ndarray
    known: np.ndarray  # time at which it is known; empty without `keep`
    key: np.ndarray  # key code for `Absences`; empty without any
    registers: np.ndarray  # [arrival, slot]: row, -1 for none
    moments: np.ndarray  # [arrival, moment]: NO_MOMENT for none
    merit: np.ndarray  # the value that PREFER compares; empty without it


class Policy(NamedTuple):
    """The policy; `window` limits the time from start to end of a match, `keep` the time until it is known."""

    relations: np.ndarray  # at least one must hold
    competes: np.ndarray  # [side]: whether arrivals compete by their merit
    recent: bool  # CONSUME RECENT, else CHRONOLOGICAL
    keeping: bool
    window: int  # negative for none
    keep: int  # negative for none


class Tests(NamedTuple):
    """Conditions on a pair; `named` are columns of moments that receive start and end of the match."""

    named: np.ndarray  # [name, 2]
    code: np.ndarray
    constants: np.ndarray
    columns: np.ndarray


class Absences(NamedTuple):
    """Occurrences that must not be between both sides: offsets[a, key]:offsets[a, key + 1] of absence a, by start."""

    offsets: np.ndarray
    start: np.ndarray
    start_place: np.ndarray
    end: np.ndarray
    end_place: np.ndarray
    row: np.ndarray
    code: np.ndarray
    codes: np.ndarray  # instructions codes[a]:codes[a + 1] of absence a
    constants: np.ndarray


class OpenGap(NamedTuple):
    """The time between the arrivals of a pair, both excluded."""

    after: int  # end of the left one
    after_place: int
    before: int  # start of the right one
    before_place: int


@phase
def _occurs_between(absences, a, key, gap, columns, registers, moments, stack):
    """Whether an occurrence of absence a, sorted by start, is inside an open gap and passes its condition."""
    _, start, start_place, end, end_place, row, _, _, constants = absences
    after, after_place, before, before_place = gap
    low, last = absences.offsets[a, key], absences.offsets[a, key + 1]
    code = absences.code[absences.codes[a] : absences.codes[a + 1]]
    high = last
    while low < high:
        middle = (low + high) >> 1
        if start[middle] > after or (start[middle] == after and start_place[middle] > after_place):
            high = middle
        else:
            low = middle + 1
    for j in range(low, last):
        if start[j] > before:
            return False
        if end[j] > before or (end[j] == before and end_place[j] >= before_place):
            continue
        if code.shape[0] == 0 or run(code, constants, columns, row[j], registers, moments, stack) == 1.0:
            return True
    return False


@njit(cache=True)
def pair_up(arrivals, policy, conditions, absences):
    """The left and right arrivals of all matches, and the arrivals that still wait, in the order of storage."""
    offsets, waiting, side, start, start_place, end, end_place, known, key, registers, moments, merit = arrivals
    relations, competes, recent, keeping, window, keep = policy
    named, code, constants, columns = conditions
    n = side.shape[0]
    sequence = relations.shape[0] == 1 and relations[0] == SEQ
    lefts, rights, left_over = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    n_found, n_left = 0, 0
    newer, older = np.empty(n, np.int64), np.empty(n, np.int64)
    head, tail = np.empty(2, np.int64), np.empty(2, np.int64)
    most = code.shape[0]
    for a in range(absences.codes.shape[0] - 1):
        most = max(most, absences.codes[a + 1] - absences.codes[a])
    stack = np.empty(most + 1, np.float64)
    seen, times = np.empty(registers.shape[1], np.int64), np.empty(moments.shape[1], np.int64)
    n_absent = absences.offsets.shape[0]
    tests = code.shape[0] > 0 or n_absent > 0
    limit = window
    if keep >= 0 and (limit < 0 or keep < limit):
        limit = keep
    for g in range(offsets.shape[0] - 1):
        head[:], tail[:] = NOBODY, NOBODY
        for i in range(offsets[g], offsets[g + 1]):
            mine, theirs = side[i], 1 - side[i]
            chosen = NOBODY
            was_stored = i < offsets[g] + waiting[g]
            if not was_stored and (mine == RIGHT or not sequence):
                j = tail[theirs] if recent else head[theirs]
                while j != NOBODY:
                    following = older[j] if recent else newer[j]
                    left, right = (i, j) if mine == LEFT else (j, i)
                    if limit >= 0 and end[i] - start[j] > limit:
                        _unlink(j, theirs, head, tail, newer, older)
                    elif _stand(relations, start, start_place, end, end_place, left, right):
                        first, last = min(start[left], start[right]), max(end[left], end[right])
                        fits = window < 0 or last - first <= window
                        fits = fits and (keep < 0 or max(known[left], known[right]) - first <= keep)
                        if fits and tests:
                            for k in range(seen.shape[0]):
                                row = registers[left, k]
                                seen[k] = row if row >= 0 else registers[right, k]
                            for k in range(times.shape[0]):
                                moment = moments[left, k]
                                times[k] = moment if moment != NO_MOMENT else moments[right, k]
                            for k in range(named.shape[0]):
                                times[named[k, 0]] = first
                                times[named[k, 1]] = last
                            if code.shape[0]:
                                fits = run(code, constants, columns, 0, seen, times, stack) == 1.0
                            for a in range(n_absent):
                                if fits:
                                    gap = OpenGap(end[left], end_place[left], start[right], start_place[right])
                                    fits = not _occurs_between(absences, a, key[i], gap, columns, seen, times, stack)
                        if fits:
                            chosen = j
                            break
                    j = following
            if chosen != NOBODY:
                _unlink(chosen, theirs, head, tail, newer, older)
                lefts[n_found], rights[n_found] = (i, chosen) if mine == LEFT else (chosen, i)
                n_found += 1
                continue
            if was_stored:
                _append(i, mine, head, tail, newer, older)
                continue
            if (mine == RIGHT and sequence) or (limit >= 0 and end[i] - start[i] > limit):
                continue
            rival = NOBODY
            if competes[mine]:
                rival = tail[mine] if recent else head[mine]
                while rival != NOBODY:
                    if recent:
                        same = end[rival] == end[i] and end_place[rival] == end_place[i]
                    else:
                        same = start[rival] == start[i] and start_place[rival] == start_place[i]
                    if same:
                        break
                    rival = NOBODY if recent else newer[rival]
                if rival != NOBODY and limit >= 0 and end[i] - start[rival] > limit:
                    _unlink(rival, mine, head, tail, newer, older)
                    rival = NOBODY
            if rival != NOBODY:
                if merit[i] > merit[rival]:
                    _replace(rival, i, mine, head, tail, newer, older)
            elif keeping:
                _append(i, mine, head, tail, newer, older)
            else:
                held = head[mine]
                if recent or held == NOBODY or (limit >= 0 and end[i] - start[held] > limit):
                    head[mine], tail[mine] = NOBODY, NOBODY
                    _append(i, mine, head, tail, newer, older)
        for mine in range(2):
            j = head[mine]
            while j != NOBODY:
                left_over[n_left] = j
                n_left += 1
                j = newer[j]
    return lefts[:n_found], rights[:n_found], left_over[:n_left]


@phase
def _unlink(one, side, head, tail, newer, older):
    before, after = older[one], newer[one]
    if before == NOBODY:
        head[side] = after
    else:
        newer[before] = after
    if after == NOBODY:
        tail[side] = before
    else:
        older[after] = before


@phase
def _append(one, side, head, tail, newer, older):
    older[one], newer[one] = tail[side], NOBODY
    if tail[side] == NOBODY:
        head[side] = one
    else:
        newer[tail[side]] = one
    tail[side] = one


@phase
def _replace(one, other, side, head, tail, newer, older):
    """Replaces a stored arrival by another one."""
    older[other], newer[other] = older[one], newer[one]
    if older[one] == NOBODY:
        head[side] = other
    else:
        newer[older[one]] = other
    if newer[one] == NOBODY:
        tail[side] = other
    else:
        older[newer[one]] = other
