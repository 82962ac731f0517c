"""From a question to the rules by which kernels follow an open segment from point to point."""

from __future__ import annotations

import numpy as np

from inkling.evaluators.lost.lists import ALL, Asked, Lists
from inkling.kernels import lost_rules as kernel
from inkling.kernels.lost_rules import AFTER, AT, BEFORE
from inkling.model.batch import Ints

LATER = ((BEFORE, BEFORE), (AT, BEFORE), (AT, AT), (AFTER, BEFORE), (AFTER, AT), (AFTER, AFTER))
"""How the closing of a left segment can compare with both ends of a right one that opens after it has opened."""


def rules_of(asked: Asked, too_many: int) -> Ints:
    """Rules for right keys that have fewer segments than `too_many`."""
    all_right = asked.right == ALL
    hit = 1 - asked.table if all_right else asked.table
    by_sign = hit.reshape(3, 3, 3, 3)
    while_open = by_sign[:, BEFORE, AFTER, :]
    at_once = while_open.min(axis=1)
    ending, place = np.unique(while_open - at_once[:, None], axis=0, return_inverse=True)
    # a right segment that opens while the left one is open has place 0, as if none were open
    order = np.argsort(np.arange(len(ending)) != place[BEFORE], kind="stable")
    ending, place = ending[order], np.argsort(order)[place]
    rules = np.zeros(kernel.N_RULES, np.int64)
    rules[kernel.N_PLACES] = len(ending)
    rules[kernel.LEAST] = -1 if all_right else min(asked.right, too_many)
    rules[kernel.CAP] = 1 if all_right else rules[kernel.LEAST]
    rules[kernel.LABELED] = asked.labeled
    rules[kernel.EVERY] = asked.all_left
    rules[kernel.LATER_MAY_HIT] = max(by_sign[BEFORE, BEFORE, *ends] for ends in LATER)
    rules[kernel.PLACE : kernel.PLACE + 3] = place
    rules[kernel.AT_ONCE : kernel.AT_ONCE + 3] = at_once
    rules[kernel.ENDING : kernel.ENDING + ending.size] = ending.reshape(-1)
    rules[kernel.MAY_HIT : kernel.MAY_HIT + len(ending)] = ending.max(axis=1)
    rules[kernel.HIT :] = hit
    return rules


def labels_in_order(right: Lists) -> Ints:
    """The labels of the segments of every key, sorted, and the number of each segment in its key."""
    key = np.repeat(np.arange(len(right.segments) - 1), np.diff(right.segments))
    order = np.lexsort((right.label, key))
    return np.stack([right.label[order], order - right.segments[key]])
