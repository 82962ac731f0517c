"""The order in which the operands of a pair arrive: by group, end, side, start, and then by their events."""

from __future__ import annotations

import numpy as np

from inkling.evaluators.consumption.pairs import RowLayout, Sides
from inkling.evaluators.network.store import Mask
from inkling.kernels.canonical import canonical_order
from inkling.model.batch import Ints
from inkling.model.keys import codes_of

FEW_HOLES = 4
"""Values that lie so close together, on average, are codes already, if counted from the least."""


def coded(values: Ints) -> tuple[Ints, int]:
    """Codes 0 … n-1 that are equal where values are, and n."""
    if not len(values):
        return values, 1
    least, most = int(values.min()), int(values.max())
    if most - least < FEW_HOLES * len(values):
        return values - least, most - least + 1
    return codes_of([values], len(values))


def arrival_order(
    group: Ints, n_groups: int, has_key: Mask, both: Sides, event: Ints, layout: RowLayout
) -> tuple[Ints, Ints]:
    """Places of those with a key in order of arrival, and where each group begins; `event` numbers the batch's rows."""
    group = group if has_key.all() else np.where(has_key, group, n_groups)
    end, end_place, side, start = both.column("end"), both.column("end_place"), both.side, both.column("start")
    order, tied = canonical_order(group, n_groups + 1, end, end_place, side, start)
    n_with_key = int(has_key.sum())
    order, tied = order[:n_with_key], tied[:n_with_key]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(group, minlength=n_groups)[:n_groups])])
    if tied.any():
        chosen = np.flatnonzero(tied | np.append(tied[1:], False))
        run = np.cumsum(~tied)[chosen]
        places = order[chosen]
        members, slots = _lineage(both.column("rows")[places, :-1], event, layout)
        keys = [*slots.T[::-1], *members.T[::-1], both.column("start_place")[places], run]
        order[chosen] = places[np.lexsort(keys)]
    return order, offsets


def stored_first(order: Ints, group: Ints, was_stored: Mask) -> Ints:
    """The order with what was stored before ahead of its group, in the order in which it was stored."""
    stored = np.flatnonzero(was_stored)  # what is stored has a key
    together = np.concatenate([stored, order[~was_stored[order]]])
    return together[np.argsort(group[together], kind="stable")]


def _lineage(rows: Ints, event: Ints, layout: RowLayout) -> tuple[Ints, Ints]:
    """Events and slots of each occurrence, one after the other; shorter lists are filled up with -1."""
    filled = rows >= 0
    members = np.where(filled, event[rows], -1)
    slots = np.where(filled, np.array(layout.slots), -1)
    if filled.all():
        return members, slots
    to_front = np.argsort(~filled, axis=1, kind="stable")
    return np.take_along_axis(members, to_front, axis=1), np.take_along_axis(slots, to_front, axis=1)
