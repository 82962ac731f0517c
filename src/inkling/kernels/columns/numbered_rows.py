"""Incremental checks of rows with sequence numbers: each must be consistent with the accepted rows of its key."""

from typing import NamedTuple

import numpy as np
from numba import njit

NOT_GIVEN = np.iinfo(np.int64).min

(
    FINE,
    LATE,
    AFTER_TIMEOUT,
    DUPLICATE_NUMBER,
    COUNT_DIFFERS,
    COUNT_TOO_SMALL,
    ODD_COUNT,
    SINCE_DIFFERS,
    UNTIL_DIFFERS,
    BEFORE_SINCE,
    AFTER_UNTIL,
    BAD_RATE,
    RATE_DIFFERS,
    NOT_LATER,
    NO_SEGMENT,
    NO_TIME_BETWEEN,
    NO_TIME_BEFORE,
    NO_TIME_AFTER,
    NOTHING_SINCE,
    WRONG_TURN,
    NOT_THE_FIRST,
    THE_FIRST,
    THE_LAST,
    NOT_THE_LAST,
    AFTER_THE_END,
    TOO_MANY_LOST,
) = range(26)
"""Faults of a row; FINE if it has none."""

NO_WORD, START, RESUME, OPEN, SUSPEND, END, CLOSE = range(7)
"""Known roles of rows."""


class NumberedColumns(NamedTuple):
    """Rows sorted by key, time and number, marks after events; NOT_GIVEN is null."""

    key: np.ndarray
    is_known: np.ndarray  # was accepted before
    number: np.ndarray
    time: np.ndarray
    is_event: np.ndarray
    word: np.ndarray  # NO_WORD … CLOSE
    role: np.ndarray
    total: np.ndarray  # number of events of the key
    since: np.ndarray
    until: np.ndarray
    rate: np.ndarray


@njit(cache=True)
def judged(rows, has_role, timeout, fixed, most, border, begun):
    """The fault of every row, and the position of the last accepted row of its key before it, or -1.

    A negative timeout is none, and `fixed` means that all keys have a rate. Worlds are final up to the time `border`.
    The streams begin at the time `begun`; events that may have been lost before it do not count.
    """
    key, is_known, number, time, is_event, word, role, count, since, until, rate = rows
    fault, before = np.zeros(len(key), np.int64), np.full(len(key), -1)
    last = -1
    known_count = known_since = known_until = NOT_GIVEN
    known_rate = np.nan
    ended = False
    for i in range(len(key)):
        if i == 0 or key[i] != key[i - 1]:
            last = -1
            known_count = known_since = known_until = NOT_GIVEN
            known_rate = np.nan
            ended = False
        total = known_count if count[i] == NOT_GIVEN else count[i]
        low = known_since if since[i] == NOT_GIVEN else since[i]
        high = known_until if until[i] == NOT_GIVEN else until[i]
        speed = known_rate if np.isnan(rate[i]) else rate[i]
        before[i] = last
        if not is_known[i]:
            if last >= 0 and timeout >= 0 and time[i] - time[last] > timeout:
                fault[i] = AFTER_TIMEOUT
            elif known_count not in (NOT_GIVEN, total):
                fault[i] = COUNT_DIFFERS
            elif total != NOT_GIVEN and total < number[i]:
                fault[i] = COUNT_TOO_SMALL
            elif total != NOT_GIVEN and has_role and total % 2:
                fault[i] = ODD_COUNT
            elif known_since not in (NOT_GIVEN, low):
                fault[i] = SINCE_DIFFERS
            elif last >= 0 and known_since == NOT_GIVEN and begun != NOT_GIVEN and low >= begun:
                fault[i] = SINCE_DIFFERS  # the first row was accepted although what is missing before it does not count
            elif known_until not in (NOT_GIVEN, high):
                fault[i] = UNTIL_DIFFERS
            elif low != NOT_GIVEN and low > time[i]:
                fault[i] = BEFORE_SINCE
            elif high != NOT_GIVEN and high < time[i]:
                fault[i] = AFTER_UNTIL
            elif not np.isnan(speed) and not (0 < speed < np.inf):
                fault[i] = BAD_RATE
            elif not np.isnan(known_rate) and known_rate != speed:
                fault[i] = RATE_DIFFERS
            elif last < 0:
                has_rate = fixed or not np.isnan(speed)
                fault[i] = _at_the_start(number, time, is_event, i, low, has_rate, most, border, begun)
            else:
                fault[i] = _after(number, time, is_event, role, word, i, last, has_role, ended, most)
            if fault[i] in (FINE, LATE):
                misplaced = _misplaced(number[i], word[i], total) if is_event[i] else FINE
                if misplaced != FINE:
                    fault[i] = misplaced
                elif total != NOT_GIVEN and total > number[i] and high == time[i]:
                    fault[i] = NO_TIME_AFTER
        if fault[i] == FINE:
            last = i
            known_count, known_since, known_until, known_rate = total, low, high, speed
            ended = ended or word[i] == END
    return fault, before


@njit(cache=True, inline="always")
def _at_the_start(number, time, is_event, i, low, has_rate, most, border, begun):
    """The fault of the first row of a key."""
    lost = number[i] - is_event[i]
    if lost == 0 or low < begun:
        return FINE
    if low == NOT_GIVEN and not has_rate:
        return NOTHING_SINCE
    if low == time[i]:
        return NO_TIME_BEFORE
    if lost > most:
        return TOO_MANY_LOST
    return LATE if low < border else FINE  # NOT_GIVEN is less than all times


@njit(cache=True, inline="always")
def _after(number, time, is_event, role, word, i, last, has_role, ended, most):
    """The fault of a row after an accepted row of its key."""
    lost = number[i] - number[last] - is_event[i]
    if number[i] == number[last] and is_event[i] and is_event[last]:
        return DUPLICATE_NUMBER
    if lost < 0:
        return NOT_LATER
    if ended and number[i] != number[last]:
        return AFTER_THE_END
    if time[i] == time[last] and number[i] > number[last]:
        if lost > 0:
            return NO_TIME_BETWEEN
        return NO_SEGMENT if has_role and is_event[last] and number[last] % 2 else NOT_LATER
    if lost > most:
        return TOO_MANY_LOST
    both = is_event[i] and is_event[last] and word[i] == NO_WORD
    if both and role[i] >= 0 and role[i] == role[last] and (number[i] - number[last]) % 2:
        return WRONG_TURN
    return FINE


@njit(cache=True, inline="always")
def _misplaced(number, word, total):
    """The fault of a known role at this position of an event in its key."""
    if word in (START, RESUME, OPEN) and number % 2 == 0:
        return WRONG_TURN
    if word in (SUSPEND, END, CLOSE) and number % 2 == 1:
        return WRONG_TURN
    if word == START and number != 1:
        return NOT_THE_FIRST
    if word == RESUME and number == 1:
        return THE_FIRST
    if word == SUSPEND and number == total:
        return THE_LAST
    if word == END and total != NOT_GIVEN and number != total:
        return NOT_THE_LAST
    return FINE
