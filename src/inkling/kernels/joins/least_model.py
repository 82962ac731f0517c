"""The least model of recursive events, moment by moment: each row is joined once with the rows that wait for it.

The goal-driven evaluation of ETALIS (Anicic 2011, chapter 7) on rules with one or two operands, semi-naive: a row that
arrives looks for stored partners and is stored itself. Results that end at one moment are made final by increasing
depth of recursion, the shortest derivation first (Knuth 1977), so that no result is ever derived again.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.joins.consumption import SEQ, related
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
    """The rows that are given, by number, and which of them are stored.

    `columns` has room for more rows; their first two are start and end. `event` is OUTER or the number of the event of
    a result. Rows with the same interval and source are ordered by `place`, or results by their lineage
    `ids[id_offsets[i]:id_offsets[i + 1]]`. `order` has the rows that arrive, by end; results among them have depth 0.
    """

    columns: np.ndarray
    key: np.ndarray
    start: np.ndarray
    end: np.ndarray
    event: np.ndarray
    depth: np.ndarray
    source: np.ndarray
    place: np.ndarray
    id_offsets: np.ndarray
    ids: np.ndarray
    order: np.ndarray
    stored_row: np.ndarray  # the rows that wait for a partner, the longest first
    stored_operand: np.ndarray
    stored_killed: np.ndarray  # the end of the first absence after each


class ModelRules(NamedTuple):
    """Rules: how their operands are related, and the bytecode of their conditions and values.

    Rule r has the operands `operands[r]:operands[r + 1]`: its left, its right, and those that must be absent. Bytecode
    c has the instructions `codes[c]:codes[c + 1]`; a negative number stands for no condition.
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
    mixed = (mixed ^ (mixed >> 32)) * MIXER
    return mixed ^ (mixed >> 29)


@njit(cache=True)
def _bits(value, box):
    """The bits of a number; null has one form, and so does zero."""
    if value != value:
        return np.int64(0x7FF8000000000000)
    box[0] = value + 0.0
    return box.view(np.int64)[0]


@njit(cache=True, inline="never")
def _value(code, rules, columns, row, registers, moments, stack):
    instructions = rules.instructions[rules.codes[code] : rules.codes[code + 1]]
    return run(instructions, rules.constants, columns, row, registers, moments, stack)


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
def _compared(a, b, start, end, source, place, event, left, right, id_offsets, ids, columns, head_columns):
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
    for i in range(head_columns.shape[1]):
        column = head_columns[event[a], i]
        if column >= 0:
            x, y = columns[column, a], columns[column, b]
            if x != x or y != y:
                if (x != x) != (y != y):
                    return -1 if x != x else 1
            elif x != y:
                return -1 if x < y else 1
    return 0


@njit(cache=True)
def _group_values(o, row, rules, columns, wanted, registers, moments, stack):
    """Writes the values of an operand that its partners share; false if one is null."""
    for k in range(wanted.shape[0]):
        code = rules.keys[o, k]
        wanted[k] = 0.0
        if code >= 0:
            value = _value(code, rules, columns, row, registers, moments, stack)
            if value != value:
                return False
            wanted[k] = value + 0.0
    return True


@njit(cache=True)
def _group_of(hashed, r, key, wanted, slots, hashes, group_rule, group_key, group_values):
    """The group of a rule, a key and values; or the slot where it belongs, as a negative number."""
    mask = slots.shape[0] - 1
    slot = hashed & mask
    while slots[slot] != NOBODY:
        g = slots[slot]
        if hashes[g] == hashed and group_rule[g] == r and group_key[g] == key:
            same = True
            for k in range(wanted.shape[0]):
                same = same and group_values[g, k] == wanted[k]
            if same:
                return g
        slot = (slot + 1) & mask
    return -slot - 1


@njit(cache=True)
def _in_slots(hashes, n, size):
    """A table of so many groups."""
    slots = np.full(size, NOBODY)
    mask = size - 1
    for g in range(n):
        slot = hashes[g] & mask
        while slots[slot] != NOBODY:
            slot = (slot + 1) & mask
        slots[slot] = g
    return slots


@njit(cache=True)
def _hash_of(values, hashed, box):
    for k in range(values.shape[0]):
        hashed = _mixed(hashed, _bits(values[k], box))
    return hashed


@njit(cache=True)
def _stands(r, one, other, rules, start, end):
    """Whether a left and a right row stand in one of the relations of a rule."""
    for k in range(rules.relation_offsets[r], rules.relation_offsets[r + 1]):
        if rules.relations[k] == SEQ:
            if end[one] < start[other]:
                return True
        elif related(rules.relations[k], start[one], end[one], start[other], end[other]):
            return True
    return False


@njit(cache=True)
def _bound(r, one, other, first, now, rules, registers, moments):
    """Binds the operands of a match."""
    registers[rules.register[rules.operands[r]]] = one
    if other >= 0:
        registers[rules.register[rules.operands[r] + 1]] = other
    registers[rules.anyone[r]] = one
    for k in range(rules.named.shape[1]):
        if rules.named[r, k] >= 0:
            moments[rules.named[r, k]] = now
            moments[rules.named[r, k] + 1] = first


@njit(cache=True)
def _free(r, rules, registers, moments):
    for o in range(rules.operands[r], rules.operands[r + 1]):
        if rules.role[o] != ABSENT:
            registers[rules.register[o]] = NOBODY
    registers[rules.anyone[r]] = NOBODY
    for k in range(rules.named.shape[1]):
        if rules.named[r, k] >= 0:
            moments[rules.named[r, k]] = moments[rules.named[r, k] + 1] = NO_MOMENT


@wraps_around
@njit(cache=True)
def least_model(given, rules):
    """How the derivation ended; all rows with their events, depths and members; and the rows that are stored."""
    n_rows = n_given = given.key.shape[0]
    columns = given.columns
    capacity = columns.shape[1]
    key, start, end = _longer(given.key, capacity), _longer(given.start, capacity), _longer(given.end, capacity)
    event, source = _longer(given.event, capacity), _longer(given.source, capacity)
    place, id_offsets, ids = given.place, given.id_offsets, given.ids
    left, right = np.full(capacity, NOBODY), np.full(capacity, NOBODY)
    rule_of = np.full(capacity, NOBODY)
    depth = _longer(given.depth, capacity)
    chain = np.zeros(capacity, np.int64)  # derivations since the last result that ended earlier
    n_rules, n_operands = rules.event.shape[0], rules.role.shape[0]
    rule_at = np.empty(n_operands, np.int64)
    for r in range(n_rules):
        rule_at[rules.operands[r] : rules.operands[r + 1]] = r
    n_values, n_keys = rules.head_columns.shape[1], rules.keys.shape[1]
    most = 1
    for c in range(rules.codes.shape[0] - 1):
        most = max(most, rules.codes[c + 1] - rules.codes[c])
    stack, box = np.empty(most + 1, np.float64), np.empty(1, np.float64)
    registers, moments = np.full(rules.n_registers, NOBODY), np.full(rules.n_moments, NO_MOMENT)
    # groups of partners: equal partition and values; each has a list of stored rows per side, oldest first
    group_slots, n_groups = np.full(1024, NOBODY), 0
    group_rule, group_key, group_hash = np.empty(512, np.int64), np.empty(512, np.int64), np.empty(512, np.int64)
    group_values, wanted = np.empty((512, n_keys), np.float64), np.empty(n_keys, np.float64)
    head, tail = np.full((512, 2), NOBODY), np.full((512, 2), NOBODY)
    # stored rows
    n_preset = given.stored_row.shape[0]
    n_stored, room = 0, max(1024, 2 * n_preset)
    stored_row, newer, older = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    killed = np.empty(room, np.int64)
    # the results by their values
    known_slots, known_hash, n_known = np.full(1024, NOBODY), np.zeros(capacity, np.int64), 0
    # derivations of the current moment, a heap by depth
    pending_rule, pending_left = np.empty(256, np.int64), np.empty(256, np.int64)
    pending_right, pending_depth = np.empty(256, np.int64), np.empty(256, np.int64)
    pending_values = np.empty((256, n_values), np.float64)
    heap, n_pending, n_heap = np.empty(256, np.int64), 0, 0
    values = np.empty(n_values, np.float64)
    agenda, n_agenda = np.empty(256, np.int64), 0
    deferred, n_deferred = np.empty((256, 3), np.int64), 0

    status, position, n_order = DONE, 0, given.order.shape[0]
    preset = 0
    now = np.int64(0)
    while status == DONE:
        n_pending, n_heap, n_agenda, n_deferred = 0, 0, 0, 0
        first_position = position
        is_preset = preset < n_preset
        if is_preset:
            agenda[0] = given.stored_row[preset]
            n_agenda = 1
        elif position == n_order:
            break
        else:
            now = end[given.order[position]]
            while position < n_order and end[given.order[position]] == now:
                row = given.order[position]
                position += 1
                if event[row] < 0:
                    if n_agenda == agenda.shape[0]:
                        agenda = _longer(agenda, 2 * n_agenda)
                    agenda[n_agenda] = row
                    n_agenda += 1
        has_seeds = not is_preset
        while True:
            # every row of the agenda looks for partners and is stored
            for at in range(n_agenda):
                row = agenda[at]
                for o in range(n_operands):
                    r = rule_at[o]
                    role = rules.role[o]
                    if is_preset:
                        if o != given.stored_operand[preset]:
                            continue
                    elif event[row] < 0:
                        if not rules.passing[o, row]:
                            continue
                    else:
                        code = rules.local[o, event[row]]
                        if code == -2:
                            continue
                        if code >= 0 and _value(code, rules, columns, row, registers, moments, stack) != 1.0:
                            continue
                    relation, window = rules.relations[rules.relation_offsets[r]], rules.window[r]
                    policy, group = rules.policy[r], NOBODY
                    if relation != ALONE:
                        if not _group_values(o, row, rules, columns, wanted, registers, moments, stack):
                            continue
                        hashed = _hash_of(wanted, _mixed(np.int64(r + 1), key[row]), box)
                        group = _group_of(
                            hashed, r, key[row], wanted, group_slots, group_hash, group_rule, group_key, group_values
                        )
                        if group < 0:
                            if role != LEFT and (role == ABSENT or relation == SEQ):
                                continue  # nothing is stored that it could meet
                            group_slots[-group - 1] = n_groups
                            group = n_groups
                            if n_groups == group_rule.shape[0]:
                                size = 2 * n_groups
                                group_rule, group_key = _longer(group_rule, size), _longer(group_key, size)
                                group_hash, group_values = _longer(group_hash, size), _taller(group_values, size)
                                head, tail = _taller(head, size), _taller(tail, size)
                            group_rule[group], group_key[group], group_hash[group] = r, key[row], hashed
                            group_values[group] = wanted
                            head[group] = NOBODY
                            tail[group] = NOBODY
                            n_groups += 1
                            if 2 * n_groups > group_slots.shape[0]:
                                group_slots = _in_slots(group_hash, n_groups, 2 * group_slots.shape[0])
                    if role == ABSENT:
                        one = tail[group, LEFT]
                        while one != NOBODY:
                            following, other = older[one], stored_row[one]
                            if killed[one] < now and rules.points[r] and not policy:
                                _unlink(one, group, LEFT, head, tail, newer, older)
                            elif killed[one] > now and end[other] < start[row]:
                                code = rules.across[o]
                                blocks = True
                                if code >= 0:
                                    _bound(r, other, NOBODY, start[other], now, rules, registers, moments)
                                    blocks = _value(code, rules, columns, row, registers, moments, stack) == 1.0
                                    _free(r, rules, registers, moments)
                                if blocks:
                                    killed[one] = now
                            one = following
                        continue
                    theirs = 1 - role
                    one = NOBODY
                    if relation != ALONE and (role == RIGHT or relation != SEQ) and not is_preset:
                        one = head[group, theirs] if policy == CHRONOLOGICAL else tail[group, theirs]
                    while one != NOBODY or relation == ALONE:
                        first_row, second_row, following, first = row, NOBODY, NOBODY, start[row]
                        fits = True
                        if relation != ALONE:
                            other = stored_row[one]
                            following = newer[one] if policy == CHRONOLOGICAL else older[one]
                            first_row, second_row = (row, other) if role == LEFT else (other, row)
                            first = min(first, start[other])
                            if window >= 0 and now - start[other] > window:
                                _unlink(one, group, theirs, head, tail, newer, older)
                                one = following
                                continue
                            if theirs == LEFT and killed[one] < start[row]:
                                if rules.points[r] and killed[one] < now and not policy:
                                    _unlink(one, group, theirs, head, tail, newer, older)
                                one = following
                                continue
                            fits = _stands(r, first_row, second_row, rules, start, end)
                        if fits and window >= 0 and now - first > window:
                            fits = False
                        if fits:
                            _bound(r, first_row, second_row, first, now, rules, registers, moments)
                            code = rules.test[r]
                            if code >= 0:
                                fits = _value(code, rules, columns, row, registers, moments, stack) == 1.0
                            if fits:
                                made = rules.event[r]
                                for k in range(n_values):
                                    code, column = rules.head[r, k], rules.head_columns[made, k]
                                    values[k] = np.nan
                                    if code >= 0:
                                        value = _value(code, rules, columns, row, registers, moments, stack)
                                        limit = rules.whole[column]
                                        if limit > 0.0 and abs(value) > limit:
                                            status = TOO_LARGE
                                        values[k] = value + 0.0
                                hashed = _mixed(_mixed(_mixed(np.int64(made + 1), key[row]), first), now)
                                hashed = _hash_of(values, hashed, box)
                                known = _known(
                                    hashed, made, key[row], first, now, values, known_slots, known_hash,
                                    event, key, start, end, columns, rules.head_columns,
                                )  # fmt: skip
                                if known == NOBODY:
                                    if n_pending == pending_rule.shape[0]:
                                        size = 2 * n_pending
                                        pending_rule, heap = _longer(pending_rule, size), _longer(heap, size)
                                        pending_left = _longer(pending_left, size)
                                        pending_right = _longer(pending_right, size)
                                        pending_depth = _longer(pending_depth, size)
                                        pending_values = _taller(pending_values, size)
                                    deepest = depth[first_row]
                                    if second_row >= 0:
                                        deepest = max(deepest, depth[second_row])
                                    pending_rule[n_pending], pending_depth[n_pending] = r, deepest + 1
                                    pending_left[n_pending], pending_right[n_pending] = first_row, second_row
                                    pending_values[n_pending] = values
                                    _push(heap, n_heap, n_pending, pending_depth)
                                    n_heap += 1
                                    n_pending += 1
                            _free(r, rules, registers, moments)
                            if policy and fits:
                                _unlink(one, group, theirs, head, tail, newer, older)
                                break
                        if relation == ALONE:
                            break
                        one = following
                    if relation == ALONE or (role == RIGHT and relation == SEQ):
                        continue
                    if window >= 0 and now - start[row] > window and not is_preset:
                        continue
                    if policy and not is_preset:
                        if n_deferred == deferred.shape[0]:
                            deferred = _taller(deferred, 2 * n_deferred)
                        deferred[n_deferred, 0], deferred[n_deferred, 1] = group, row
                        deferred[n_deferred, 2] = o
                        n_deferred += 1
                        continue
                    if n_stored == stored_row.shape[0]:
                        stored_row, newer = _longer(stored_row, 2 * n_stored), _longer(newer, 2 * n_stored)
                        older, killed = _longer(older, 2 * n_stored), _longer(killed, 2 * n_stored)
                    _append(n_stored, row, group, role, stored_row, killed, head, tail, newer, older)
                    if is_preset:
                        killed[n_stored] = given.stored_killed[preset]
                    n_stored += 1
            if is_preset:
                preset += 1
                break
            if status != DONE:
                break
            # the results of least depth are final
            n_agenda = 0
            if has_seeds:
                has_seeds = False
                for at in range(first_position, position):
                    row = given.order[at]
                    if event[row] >= 0:
                        for k in range(n_values):
                            column = rules.head_columns[event[row], k]
                            values[k] = columns[column, row] if column >= 0 else np.nan
                        hashed = _mixed(_mixed(_mixed(np.int64(event[row] + 1), key[row]), start[row]), now)
                        known_hash[row] = _hash_of(values, hashed, box)
                        n_known += 1
                        known_slots = _noted(row, known_hash[row], known_slots, known_hash, n_known)
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
                made, first_row, second_row = rules.event[r], pending_left[one], pending_right[one]
                first = start[first_row] if second_row < 0 else min(start[first_row], start[second_row])
                hashed = _mixed(_mixed(_mixed(np.int64(made + 1), key[first_row]), first), now)
                hashed = _hash_of(pending_values[one], hashed, box)
                known = _known(
                    hashed, made, key[first_row], first, now, pending_values[one], known_slots, known_hash,
                    event, key, start, end, columns, rules.head_columns,
                )  # fmt: skip
                if known != NOBODY:
                    if depth[known] == level and known >= n_given:
                        order = _compared(
                            first_row, left[known], start, end, source, place, event, left, right, id_offsets, ids,
                            columns, rules.head_columns,
                        )  # fmt: skip
                        had = right[known]
                        if order == 0 and (second_row < 0 or had < 0):
                            order = (1 if second_row < 0 else 0) - (1 if had < 0 else 0)
                        elif order == 0:
                            order = _compared(
                                second_row, had, start, end, source, place, event, left, right, id_offsets, ids,
                                columns, rules.head_columns,
                            )  # fmt: skip
                        if order < 0 or (order == 0 and r < rule_of[known]):
                            left[known], right[known], rule_of[known] = first_row, second_row, r
                    continue
                row = n_rows
                n_rows += 1
                if n_rows > capacity:
                    capacity = 2 * capacity
                    columns = _wider(columns, capacity)
                    key, start, end = _longer(key, capacity), _longer(start, capacity), _longer(end, capacity)
                    event, source = _longer(event, capacity), _longer(source, capacity)
                    left, right = _longer(left, capacity), _longer(right, capacity)
                    rule_of, known_hash = _longer(rule_of, capacity), _longer(known_hash, capacity)
                    depth, chain = _longer(depth, capacity), _longer(chain, capacity)
                columns[:, row] = np.nan
                for k in range(n_values):
                    column = rules.head_columns[made, k]
                    if column >= 0:
                        columns[column, row] = pending_values[one, k]
                columns[0, row], columns[1, row] = first, now
                key[row], start[row], end[row], event[row] = key[first_row], first, now, made
                source[row], depth[row] = rules.source[made], level
                left[row], right[row], rule_of[row] = first_row, second_row, r
                chain[row] = 0
                if end[first_row] == now and event[first_row] >= 0:
                    chain[row] = chain[first_row] + 1
                if second_row >= 0 and end[second_row] == now and event[second_row] >= 0:
                    chain[row] = max(chain[row], chain[second_row] + 1)
                if chain[row] > rules.most_rounds:
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
        by_group = np.empty(0, np.int64)
        if n_deferred:
            by_group = np.argsort(deferred[:n_deferred, 0].copy(), kind="mergesort")
        for i in range(1, n_deferred):
            j, moved = i, by_group[i]
            while j > 0 and deferred[by_group[j - 1], 0] == deferred[moved, 0]:
                order = _compared(
                    deferred[moved, 1], deferred[by_group[j - 1], 1], start, end, source, place, event, left, right,
                    id_offsets, ids, columns, rules.head_columns,
                )  # fmt: skip
                if order >= 0:
                    break
                by_group[j] = by_group[j - 1]
                j -= 1
            by_group[j] = moved
        for i in range(n_deferred):
            group, row, o = deferred[by_group[i], 0], deferred[by_group[i], 1], deferred[by_group[i], 2]
            r, role = rule_at[o], rules.role[o]
            one = head[group, role]
            while one != NOBODY and rules.window[r] >= 0:
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
    waiting_row, waiting_operand = np.empty(n_stored, np.int64), np.full(n_stored, NOBODY)
    for group in range(n_groups):
        r = group_rule[group]
        for side in range(2):
            one = head[group, side]
            while one != NOBODY:
                is_late = rules.window[r] >= 0 and now - start[stored_row[one]] > rules.window[r]
                is_over = side == LEFT and killed[one] <= now and rules.points[r] and not rules.policy[r]
                if not is_late and not is_over:
                    waiting_row[one], waiting_operand[one] = stored_row[one], rules.operands[r] + side
                one = newer[one]
    waiting = np.flatnonzero(waiting_operand >= 0)
    return (
        status, columns[:, :n_rows], key[:n_rows], start[:n_rows], end[:n_rows], event[:n_rows], depth[:n_rows],
        left[:n_rows], right[:n_rows], waiting_row[waiting], waiting_operand[waiting], killed[waiting],
    )  # fmt: skip


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
def lineages(rows, left, right, id_offsets, ids):
    """Where the lineages of some rows end, and their ids; those of given rows are `ids` from `id_offsets` on."""
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
                    found[n_found] = ids[k]
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
