"""The least model of recursive events, moment by moment: each row is joined once with the rows that wait for it.

The goal-driven evaluation of ETALIS (Anicic 2011, chapter 7) on rules with one or two operands, semi-naive: a row that
arrives looks for stored partners and is stored itself. Results that end at one moment are made final by increasing
depth of recursion, the shortest derivation first (Knuth 1977), so that no result is ever derived again.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.joins.consumption import AND, SEQ, related
from inkling.kernels.joins.vm import run
from inkling.kernels.uncompiled import wraps_around

ALONE = -1
"""In place of a relation: the rule has one operand."""

LEFT, RIGHT, ABSENT = 0, 1, 2
NOBODY = -1
OUTER = -1
NO_MOMENT = np.int64(-(2**63) + 1)
FAR = np.int64(2**62)
MIXER = np.int64(-0x61C8864680B583EB)

DONE, ENDLESS, TOO_LARGE = 0, 1, 2

RECENT, CHRONOLOGICAL = 1, 2


class ModelRows(NamedTuple):
    """The rows that are given, by number: of other sources first, then results that depend on no result of the group.

    `columns` has room for more rows; `event` is OUTER or the number of the event of a result. Rows with the same
    interval and source are ordered by `place`, or results by their lineage `ids[id_offsets[i]:id_offsets[i + 1]]`.
    """

    columns: np.ndarray
    key: np.ndarray
    start: np.ndarray
    end: np.ndarray
    event: np.ndarray
    source: np.ndarray
    place: np.ndarray
    id_offsets: np.ndarray
    ids: np.ndarray
    order: np.ndarray  # the rows by end


class ModelRules(NamedTuple):
    """Rules: how their operands are related, and the bytecode of their conditions and values.

    Rule r has the operands `operands[r]:operands[r + 1]`: its left, its right, and those that must be absent. Bytecode c
    has the instructions `codes[c]:codes[c + 1]`; a negative number stands for no condition.
    """

    event: np.ndarray
    relations: np.ndarray
    relation_offsets: np.ndarray
    window: np.ndarray  # negative for none
    policy: np.ndarray  # 0, RECENT or CHRONOLOGICAL
    keeping: np.ndarray
    test: np.ndarray
    named: np.ndarray  # [rule, name]: the first of two moments that receive end and start of a match, or negative
    operands: np.ndarray
    role: np.ndarray  # by operand
    register: np.ndarray  # by operand
    passing: np.ndarray  # [operand, row of another source]
    local: np.ndarray  # [operand, event]: bytecode of conditions on a result; -2 if it is none for the operand
    across: np.ndarray  # by operand: the conditions of an absence on its left side
    keys: np.ndarray  # [operand, place]: bytecode of the values that partners share, or negative
    points: np.ndarray  # by rule: whether the right side consists of points
    head: np.ndarray  # [rule, place]: bytecode of values
    head_columns: np.ndarray  # [event, place]: their columns, or negative
    whole: np.ndarray  # [column]: the largest size of an exact value, 0 for no limit
    codes: np.ndarray
    instructions: np.ndarray
    constants: np.ndarray
    source: np.ndarray  # by event: the rank of its name among sources
    anyone: np.ndarray  # by rule: the register of any row of a match
    n_registers: int
    n_moments: int
    most_rounds: int


@njit(cache=True)
def _longer(array, size):
    longer = np.empty(size, array.dtype)
    longer[: array.shape[0]] = array
    return longer


@njit(cache=True)
def _wider(matrix, size):
    wider = np.empty((matrix.shape[0], size), matrix.dtype)
    wider[:, : matrix.shape[1]] = matrix
    return wider


@njit(cache=True)
def _taller(matrix, size):
    taller = np.empty((size, matrix.shape[1]), matrix.dtype)
    taller[: matrix.shape[0]] = matrix
    return taller


@njit(cache=True, inline="never")
def _mixed(hashed, number):
    mixed = (hashed ^ number) * MIXER
    return mixed ^ (mixed >> 29)


@njit(cache=True)
def _bits(value, box):
    """The bits of a number; null has one form, and so does zero."""
    if value != value:
        return np.int64(0x7FF8000000000000)
    box[0] = value + 0.0
    return box.view(np.int64)[0]


@njit(cache=True)
def _flattened(row, left, right, id_offsets, ids):
    """The lineage of a row, as ranks of ids."""
    found, n = np.empty(16, np.int64), 0
    stack, top = np.empty(16, np.int64), 0
    stack[0] = row
    while top >= 0:
        here = stack[top]
        top -= 1
        while here >= 0 and left[here] >= 0:
            if right[here] >= 0:
                top += 1
                if top == stack.shape[0]:
                    stack = _longer(stack, 2 * top)
                stack[top] = right[here]
            here = left[here]
        for i in range(id_offsets[here], id_offsets[here + 1]):
            if n == found.shape[0]:
                found = _longer(found, 2 * n)
            found[n] = ids[i]
            n += 1
    return found[:n]


@njit(cache=True)
def _compared(a, b, start, end, source, place, event, left, right, id_offsets, ids, columns, value_columns):
    """Negative, zero or positive: the order of two rows as events."""
    if a == b:
        return 0
    if end[a] != end[b]:
        return -1 if end[a] < end[b] else 1
    if start[a] != start[b]:
        return -1 if start[a] < start[b] else 1
    if source[a] != source[b]:
        return -1 if source[a] < source[b] else 1
    if event[a] < 0 and event[b] < 0:
        return -1 if place[a] < place[b] else (1 if place[a] > place[b] else 0)
    ones = _flattened(a, left, right, id_offsets, ids)
    others = _flattened(b, left, right, id_offsets, ids)
    for i in range(min(ones.shape[0], others.shape[0])):
        if ones[i] != others[i]:
            return -1 if ones[i] < others[i] else 1
    if ones.shape[0] != others.shape[0]:
        return -1 if ones.shape[0] < others.shape[0] else 1
    for i in range(value_columns.shape[1]):
        column = value_columns[event[a], i]
        if column >= 0:
            x, y = columns[column, a], columns[column, b]
            if x != x or y != y:
                if (x != x) != (y != y):
                    return -1 if x != x else 1
            elif x != y:
                return -1 if x < y else 1
    return 0


@wraps_around
@njit(cache=True)
def least_model(given, rules):
    """All rows with their events, depths and members, and how the derivation ended."""
    n_rows = given.key.shape[0]
    n_given = n_rows
    columns = given.columns
    capacity = columns.shape[1]
    key, start, end = _longer(given.key, capacity), _longer(given.start, capacity), _longer(given.end, capacity)
    event, source = _longer(given.event, capacity), _longer(given.source, capacity)
    place, id_offsets, ids = given.place, given.id_offsets, given.ids
    left, right = np.full(capacity, NOBODY), np.full(capacity, NOBODY)
    rule_of = np.full(capacity, np.int32(-1))
    depth = np.zeros(capacity, np.int64)
    here = np.zeros(capacity, np.int64)  # derivations since the last result that ended earlier
    depth[:n_given] = np.where(given.event[:n_given] < 0, -1, 0)
    codes, instructions, constants = rules.codes, rules.instructions, rules.constants
    n_rules, n_operands = rules.event.shape[0], rules.role.shape[0]
    rule_at = np.empty(n_operands, np.int64)
    for r in range(n_rules):
        rule_at[rules.operands[r] : rules.operands[r + 1]] = r
    n_values = rules.head_columns.shape[1]
    n_keys = rules.keys.shape[1]
    most = 1
    for c in range(codes.shape[0] - 1):
        most = max(most, codes[c + 1] - codes[c])
    stack = np.empty(most + 1, np.float64)
    box = np.empty(1, np.float64)
    registers = np.full(rules.n_registers, NOBODY)
    moments = np.full(rules.n_moments, NO_MOMENT)

    # groups of partners: equal partition and values; each has a list of stored rows per side, oldest first
    group_slots = np.full(1024, NOBODY)
    n_groups = 0
    group_rule, group_key = np.empty(512, np.int64), np.empty(512, np.int64)
    group_hash = np.empty(512, np.int64)
    group_values = np.empty((512, n_keys), np.float64)
    head, tail = np.full((512, 2), NOBODY), np.full((512, 2), NOBODY)
    wanted = np.empty(n_keys, np.float64)
    # stored rows
    n_stored = 0
    stored_row, newer, older = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    killed = np.empty(1024, np.int64)  # the end of the first absence after it
    # the results by their values
    known_slots = np.full(1024, NOBODY)
    known_hash = np.zeros(capacity, np.int64)
    n_known = 0
    # derivations of the current moment, a heap by depth
    pending_rule, pending_left = np.empty(256, np.int64), np.empty(256, np.int64)
    pending_right, pending_depth = np.empty(256, np.int64), np.empty(256, np.int64)
    pending_values = np.empty((256, n_values), np.float64)
    n_pending = 0
    heap, n_heap = np.empty(256, np.int64), 0
    agenda, n_agenda = np.empty(256, np.int64), 0
    deferred_row, deferred_operand = np.empty(256, np.int64), np.empty(256, np.int64)
    deferred_group = np.empty(256, np.int64)
    n_deferred = 0
    values = np.empty(n_values, np.float64)

    status = DONE
    position = 0
    n_order = given.order.shape[0]
    while position < n_order and status == DONE:
        now = end[given.order[position]]
        n_pending, n_heap, n_agenda, n_deferred = 0, 0, 0, 0
        first_position = position
        while position < n_order and end[given.order[position]] == now:
            row = given.order[position]
            position += 1
            if event[row] < 0:
                if n_agenda == agenda.shape[0]:
                    agenda = _longer(agenda, 2 * n_agenda)
                agenda[n_agenda] = row
                n_agenda += 1
        seeds_left = True
        while True:
            # every row of the agenda probes for partners and is stored
            for at in range(n_agenda):
                row = agenda[at]
                for o in range(n_operands):
                    r = rule_at[o]
                    role = rules.role[o]
                    if event[row] < 0:
                        if not rules.passing[o, row]:
                            continue
                    else:
                        code = rules.local[o, event[row]]
                        if code == -2:
                            continue
                        if code >= 0 and run(
                            instructions[codes[code] : codes[code + 1]],
                            constants, columns, row, registers, moments, stack,
                        ) != 1.0:  # fmt: skip
                            continue
                    # the group
                    group = NOBODY
                    relation = rules.relations[rules.relation_offsets[r]]
                    if relation != ALONE:
                        hashed = _mixed(np.int64(r + 1), key[row])
                        has_null = False
                        for k in range(n_keys):
                            code = rules.keys[o, k]
                            if code < 0:
                                wanted[k] = 0.0
                                continue
                            value = run(
                                instructions[codes[code] : codes[code + 1]],
                                constants, columns, row, registers, moments, stack,
                            )  # fmt: skip
                            if value != value:
                                has_null = True
                                break
                            wanted[k] = value + 0.0
                            hashed = _mixed(hashed, _bits(value, box))
                        if has_null:
                            continue
                        mask = group_slots.shape[0] - 1
                        slot = hashed & mask
                        while group_slots[slot] != NOBODY:
                            g = group_slots[slot]
                            if group_hash[g] == hashed and group_rule[g] == r and group_key[g] == key[row]:
                                same = True
                                for k in range(n_keys):
                                    if group_values[g, k] != wanted[k]:
                                        same = False
                                if same:
                                    group = g
                                    break
                            slot = (slot + 1) & mask
                        if group == NOBODY:
                            if role != LEFT and (role == ABSENT or relation == SEQ):
                                continue  # nothing is stored that it could meet
                            group = n_groups
                            n_groups += 1
                            if n_groups > group_rule.shape[0]:
                                size = 2 * group_rule.shape[0]
                                group_rule, group_key = _longer(group_rule, size), _longer(group_key, size)
                                group_hash = _longer(group_hash, size)
                                group_values, head, tail = (
                                    _taller(group_values, size),
                                    _taller(head, size),
                                    _taller(tail, size),
                                )
                            group_rule[group], group_key[group], group_hash[group] = r, key[row], hashed
                            group_values[group] = wanted
                            head[group, 0] = head[group, 1] = tail[group, 0] = tail[group, 1] = NOBODY
                            group_slots[slot] = group
                            if 2 * n_groups > group_slots.shape[0]:
                                group_slots = np.full(2 * group_slots.shape[0], NOBODY)
                                mask = group_slots.shape[0] - 1
                                for g in range(n_groups):
                                    slot = group_hash[g] & mask
                                    while group_slots[slot] != NOBODY:
                                        slot = (slot + 1) & mask
                                    group_slots[slot] = g
                    window = rules.window[r]
                    if role == ABSENT:
                        one = tail[group, LEFT]
                        while one != NOBODY:
                            following = older[one]
                            other = stored_row[one]
                            if killed[one] < now and rules.points[r] and not rules.policy[r]:
                                _unlink(one, group, LEFT, head, tail, newer, older)
                            elif killed[one] > now and end[other] < start[row]:
                                code = rules.across[o]
                                blocks = True
                                if code >= 0:
                                    registers[rules.register[rules.operands[r]]] = other
                                    registers[rules.anyone[r]] = other
                                    blocks = (
                                        run(
                                            instructions[codes[code] : codes[code + 1]],
                                            constants, columns, row, registers, moments, stack,
                                        )
                                        == 1.0
                                    )  # fmt: skip
                                    registers[rules.register[rules.operands[r]]] = NOBODY
                                if blocks:
                                    killed[one] = now
                            one = following
                        continue
                    chosen_any = False
                    probes = role == RIGHT or relation != SEQ
                    theirs = 1 - role
                    policy = rules.policy[r]
                    one = NOBODY
                    if relation != ALONE and probes:
                        one = head[group, theirs] if policy == CHRONOLOGICAL else tail[group, theirs]
                    while relation == ALONE or one != NOBODY:
                        l = r_row = row
                        following = NOBODY
                        fits = True
                        if relation == ALONE:
                            r_row = NOBODY
                            first = start[row]
                        else:
                            other = stored_row[one]
                            following = newer[one] if policy == CHRONOLOGICAL else older[one]
                            if role == LEFT:
                                r_row = other
                            else:
                                l = other
                            first = min(start[l], start[r_row])
                            if window >= 0 and now - start[other] > window:
                                _unlink(one, group, theirs, head, tail, newer, older)
                                one = following
                                continue
                            if theirs == LEFT and killed[one] < start[row]:
                                if rules.points[r] and killed[one] < now and not policy:
                                    _unlink(one, group, theirs, head, tail, newer, older)
                                one = following
                                continue
                            fits = False
                            for k in range(rules.relation_offsets[r], rules.relation_offsets[r + 1]):
                                if rules.relations[k] == SEQ:
                                    fits = fits or end[l] < start[r_row]
                                else:
                                    fits = fits or related(
                                        rules.relations[k], start[l], end[l], start[r_row], end[r_row]
                                    )
                        if fits and window >= 0 and now - first > window:
                            fits = False
                        if fits:
                            registers[rules.register[rules.operands[r]]] = l
                            if r_row >= 0:
                                registers[rules.register[rules.operands[r] + 1]] = r_row
                            registers[rules.anyone[r]] = l
                            for k in range(rules.named.shape[1]):
                                if rules.named[r, k] >= 0:
                                    moments[rules.named[r, k]] = now
                                    moments[rules.named[r, k] + 1] = first
                            code = rules.test[r]
                            if code >= 0:
                                fits = (
                                    run(
                                        instructions[codes[code] : codes[code + 1]],
                                        constants, columns, row, registers, moments, stack,
                                    )
                                    == 1.0
                                )  # fmt: skip
                            if fits:
                                chosen_any = True
                                made = rules.event[r]
                                hashed = _mixed(_mixed(_mixed(np.int64(made + 1), key[row]), first), now)
                                for k in range(n_values):
                                    code = rules.head[r, k]
                                    if code < 0:
                                        values[k] = np.nan
                                        continue
                                    value = run(
                                        instructions[codes[code] : codes[code + 1]],
                                        constants, columns, row, registers, moments, stack,
                                    )  # fmt: skip
                                    limit = rules.whole[rules.head_columns[made, k]]
                                    if limit > 0.0 and (value > limit or value < -limit):
                                        status = TOO_LARGE
                                    values[k] = value + 0.0
                                    hashed = _mixed(hashed, _bits(value, box))
                                known = _known(
                                    hashed, made, key[row], first, now, values, known_slots, known_hash,
                                    event, key, start, end, columns, rules.head_columns,
                                )  # fmt: skip
                                if known == NOBODY:
                                    if n_pending == pending_rule.shape[0]:
                                        size = 2 * n_pending
                                        pending_rule, pending_left = (
                                            _longer(pending_rule, size),
                                            _longer(pending_left, size),
                                        )
                                        pending_right, pending_depth = (
                                            _longer(pending_right, size),
                                            _longer(pending_depth, size),
                                        )
                                        pending_values, heap = _taller(pending_values, size), _longer(heap, size)
                                    deeper = depth[l]
                                    if r_row >= 0:
                                        deeper = max(deeper, depth[r_row])
                                    pending_rule[n_pending], pending_depth[n_pending] = r, deeper + 1
                                    pending_left[n_pending], pending_right[n_pending] = l, r_row
                                    pending_values[n_pending] = values
                                    _push(heap, n_heap, n_pending, pending_depth)
                                    n_heap += 1
                                    n_pending += 1
                            registers[rules.register[rules.operands[r]]] = NOBODY
                            if r_row >= 0:
                                registers[rules.register[rules.operands[r] + 1]] = NOBODY
                            for k in range(rules.named.shape[1]):
                                if rules.named[r, k] >= 0:
                                    moments[rules.named[r, k]] = moments[rules.named[r, k] + 1] = NO_MOMENT
                            if policy and fits:
                                _unlink(one, group, theirs, head, tail, newer, older)
                                break
                        if relation == ALONE:
                            break
                        one = following
                    if relation == ALONE or (role == RIGHT and relation == SEQ):
                        continue
                    if window >= 0 and now - start[row] > window:
                        continue
                    if policy:
                        if n_deferred == deferred_row.shape[0]:
                            deferred_row, deferred_operand = (
                                _longer(deferred_row, 2 * n_deferred),
                                _longer(deferred_operand, 2 * n_deferred),
                            )
                            deferred_group = _longer(deferred_group, 2 * n_deferred)
                        deferred_row[n_deferred], deferred_operand[n_deferred] = row, o
                        deferred_group[n_deferred] = group
                        n_deferred += 1
                        continue
                    if n_stored == stored_row.shape[0]:
                        stored_row, newer = _longer(stored_row, 2 * n_stored), _longer(newer, 2 * n_stored)
                        older, killed = _longer(older, 2 * n_stored), _longer(killed, 2 * n_stored)
                    _append(n_stored, row, group, role, stored_row, killed, head, tail, newer, older)
                    n_stored += 1
            if status != DONE:
                break
            # the results of least depth are final
            n_agenda = 0
            if seeds_left:
                seeds_left = False
                for at in range(first_position, position):
                    row = given.order[at]
                    if event[row] >= 0:
                        hashed = _mixed(_mixed(_mixed(np.int64(event[row] + 1), key[row]), start[row]), now)
                        for k in range(n_values):
                            column = rules.head_columns[event[row], k]
                            if column >= 0:
                                hashed = _mixed(hashed, _bits(columns[column, row], box))
                        known_hash[row] = hashed
                        n_known += 1
                        known_slots = _noted(row, hashed, known_slots, known_hash, n_known)
                        if n_agenda == agenda.shape[0]:
                            agenda = _longer(agenda, 2 * n_agenda)
                        agenda[n_agenda] = row
                        n_agenda += 1
                if n_agenda:
                    continue
            if n_heap == 0:
                break
            level = pending_depth[heap[0]]
            while n_heap and pending_depth[heap[0]] == level:
                one = heap[0]
                n_heap -= 1
                heap[0] = heap[n_heap]
                _sink(heap, n_heap, pending_depth)
                r = pending_rule[one]
                made, l, r_row = rules.event[r], pending_left[one], pending_right[one]
                first = start[l] if r_row < 0 else min(start[l], start[r_row])
                hashed = _mixed(_mixed(_mixed(np.int64(made + 1), key[l]), first), now)
                for k in range(n_values):
                    values[k] = pending_values[one, k]
                    if rules.head[r, k] >= 0:
                        hashed = _mixed(hashed, _bits(values[k], box))
                known = _known(
                    hashed, made, key[l], first, now, values, known_slots, known_hash,
                    event, key, start, end, columns, rules.head_columns,
                )  # fmt: skip
                if known != NOBODY:
                    if depth[known] == level and known >= n_given:
                        order = _compared(
                            l, left[known], start, end, source, place, event, left, right, id_offsets, ids, columns,
                            rules.head_columns,
                        )  # fmt: skip
                        had = right[known]
                        if order == 0 and (r_row < 0 or had < 0):
                            order = (1 if r_row < 0 else 0) - (1 if had < 0 else 0)
                        elif order == 0:
                            order = _compared(
                                r_row, had, start, end, source, place, event, left, right, id_offsets, ids, columns,
                                rules.head_columns,
                            )  # fmt: skip
                        if order == 0:
                            order = r - rule_of[known]
                        if order < 0:
                            left[known], right[known], rule_of[known] = l, r_row, np.int32(r)
                    continue
                row = n_rows
                n_rows += 1
                if n_rows > capacity:
                    capacity = 2 * capacity
                    columns = _wider(columns, capacity)
                    key, start, end = _longer(key, capacity), _longer(start, capacity), _longer(end, capacity)
                    event, source = _longer(event, capacity), _longer(source, capacity)
                    left, right = _longer(left, capacity), _longer(right, capacity)
                    rule_of = _longer(rule_of, capacity)
                    depth, here = _longer(depth, capacity), _longer(here, capacity)
                    known_hash = _longer(known_hash, capacity)
                columns[:, row] = np.nan
                for k in range(n_values):
                    column = rules.head_columns[made, k]
                    if column >= 0:
                        columns[column, row] = values[k]
                columns[0, row], columns[1, row] = first, now
                key[row], start[row], end[row], event[row] = key[l], first, now, made
                source[row], depth[row] = rules.source[made], level
                left[row], right[row], rule_of[row] = l, r_row, np.int32(r)
                chain = 0
                if end[l] == now and event[l] >= 0:
                    chain = here[l] + 1
                if r_row >= 0 and end[r_row] == now and event[r_row] >= 0:
                    chain = max(chain, here[r_row] + 1)
                here[row] = chain
                if chain > rules.most_rounds:
                    status = ENDLESS
                known_hash[row] = hashed
                n_known += 1
                known_slots = _noted(row, hashed, known_slots, known_hash, n_known)
                if n_agenda == agenda.shape[0]:
                    agenda = _longer(agenda, 2 * n_agenda)
                agenda[n_agenda] = row
                n_agenda += 1
            if status != DONE:
                break
        # under a policy, what ends now is stored after everything that ends now has found its partner
        if n_deferred:
            by_group = np.argsort(deferred_group[:n_deferred], kind="mergesort")
            for i in range(1, n_deferred):
                j, moved = i, by_group[i]
                while j > 0 and deferred_group[by_group[j - 1]] == deferred_group[moved]:
                    a, b = deferred_row[moved], deferred_row[by_group[j - 1]]
                    if (
                        _compared(
                            a, b, start, end, source, place, event, left, right, id_offsets, ids, columns,
                            rules.head_columns,
                        )
                        >= 0
                    ):  # fmt: skip
                        break
                    by_group[j] = by_group[j - 1]
                    j -= 1
                by_group[j] = moved
            for i in by_group:
                row, o, group = deferred_row[i], deferred_operand[i], deferred_group[i]
                r, role = rule_at[o], rules.role[o]
                if rules.window[r] >= 0:
                    one = head[group, role]
                    while one != NOBODY:
                        following = newer[one]
                        if now - start[stored_row[one]] > rules.window[r]:
                            _unlink(one, group, role, head, tail, newer, older)
                        one = following
                if not rules.keeping[r]:
                    if rules.policy[r] == CHRONOLOGICAL and head[group, role] != NOBODY:
                        continue
                    head[group, role], tail[group, role] = NOBODY, NOBODY
                if n_stored == stored_row.shape[0]:
                    stored_row, newer = _longer(stored_row, 2 * n_stored), _longer(newer, 2 * n_stored)
                    older, killed = _longer(older, 2 * n_stored), _longer(killed, 2 * n_stored)
                _append(n_stored, row, group, role, stored_row, killed, head, tail, newer, older)
                n_stored += 1
    return status, columns, key[:n_rows], start[:n_rows], end[:n_rows], event[:n_rows], left[:n_rows], right[:n_rows]


@njit(cache=True)
def _known(hashed, made, key, first, now, values, slots, hashes, event, keys, start, end, columns, head_columns):
    """The result with these values, or nobody."""
    mask = slots.shape[0] - 1
    slot = hashed & mask
    while slots[slot] != NOBODY:
        row = slots[slot]
        if hashes[row] == hashed and event[row] == made and keys[row] == key:
            same = start[row] == first and end[row] == now
            for k in range(head_columns.shape[1]):
                column = head_columns[made, k]
                if same and column >= 0:
                    x, y = values[k], columns[column, row]
                    same = x == y or (x != x and y != y)
            if same:
                return row
        slot = (slot + 1) & mask
    return NOBODY


@njit(cache=True)
def _noted(row, hashed, slots, hashes, n_known):
    """The table of results with one more."""
    if 2 * n_known > slots.shape[0]:
        old = slots
        slots = np.full(2 * old.shape[0], NOBODY)
        mask = slots.shape[0] - 1
        for other in old:
            if other != NOBODY:
                slot = hashes[other] & mask
                while slots[slot] != NOBODY:
                    slot = (slot + 1) & mask
                slots[slot] = other
    mask = slots.shape[0] - 1
    slot = hashed & mask
    while slots[slot] != NOBODY:
        slot = (slot + 1) & mask
    slots[slot] = row
    return slots


@njit(cache=True)
def _push(heap, n, one, depth):
    at = n
    while at > 0:
        above = (at - 1) >> 1
        if depth[heap[above]] <= depth[one]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = one


@njit(cache=True)
def _sink(heap, n, depth):
    """Restores the order of a heap whose first element was replaced."""
    if n == 0:
        return
    one, at = heap[0], 0
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and depth[heap[below + 1]] < depth[heap[below]]:
            below += 1
        if depth[heap[below]] >= depth[one]:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = one


@njit(cache=True)
def _append(one, row, group, side, stored_row, killed, head, tail, newer, older):
    stored_row[one], killed[one] = row, FAR
    older[one], newer[one] = tail[group, side], NOBODY
    if tail[group, side] == NOBODY:
        head[group, side] = one
    else:
        newer[tail[group, side]] = one
    tail[group, side] = one


@njit(cache=True)
def _unlink(one, group, side, head, tail, newer, older):
    before, after = older[one], newer[one]
    if before == NOBODY:
        head[group, side] = after
    else:
        newer[before] = after
    if after == NOBODY:
        tail[group, side] = before
    else:
        older[after] = before


@njit(cache=True)
def lineages(rows, left, right, id_offsets):
    """Where the lineages of some rows end, and their ids by place; `id_offsets` are those of the given rows."""
    n, n_given = left.shape[0], id_offsets.shape[0] - 1
    length = np.zeros(n, np.int64)
    for row in range(n):
        if left[row] < 0:
            length[row] = id_offsets[row + 1] - id_offsets[row] if row < n_given else 0
        else:
            length[row] = length[left[row]] + (length[right[row]] if right[row] >= 0 else 0)
    ends = np.zeros(rows.shape[0] + 1, np.int64)
    begins = np.full(n, NOBODY)
    for i in range(rows.shape[0]):
        ends[i + 1] = ends[i] + length[rows[i]]
        begins[rows[i]] = ends[i]
    found = np.empty(ends[-1], np.int64)
    stack, top = np.empty(16, np.int64), 0
    for i in range(rows.shape[0]):
        n_found = ends[i]
        stack[0], top = rows[i], 0
        while top >= 0:
            one = stack[top]
            top -= 1
            done = begins[one]
            if done >= 0 and done < ends[i]:
                for k in range(length[one]):
                    found[n_found + k] = found[done + k]
                n_found += length[one]
            elif left[one] < 0:
                for k in range(id_offsets[one], id_offsets[one + 1]):
                    found[n_found] = k
                    n_found += 1
            else:
                if top + 2 >= stack.shape[0]:
                    stack = _longer(stack, 2 * stack.shape[0])
                if right[one] >= 0:
                    top += 1
                    stack[top] = right[one]
                top += 1
                stack[top] = left[one]
    return ends, found
