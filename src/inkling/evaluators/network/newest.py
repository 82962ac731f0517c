"""Matches that rest on at least one of the newest results of their own recursion: all that can be new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.evaluators.network.lateral import Evaluation
from inkling.evaluators.network.partials import Contexts, Occurrences, stack
from inkling.evaluators.stage.batches import rows_passing
from inkling.logical.plan import Pattern
from inkling.logical.recursion import branch_with


@dataclass(frozen=True, slots=True)
class Newest:
    """The slots that results of the recursion may fill, and how deep the newest ones lie."""

    slots: tuple[int, ...]
    depth: int


def resting_on(
    newest: Newest, evaluation: Evaluation, pattern: Pattern, roots: Contexts, window: int | None
) -> Occurrences:
    """Each match once: one of its slots is the first that a newest result fills."""
    depth = evaluation.store.batch.depth
    assert depth is not None, "rows of a recursion tell how deep they lie"
    rows = {slot: rows_passing(evaluation.step.leaf(slot), evaluation.store.batch) for slot in newest.slots}
    is_new = {slot: depth[rows[slot]] == newest.depth for slot in newest.slots}
    found = []
    for place, slot in enumerate(newest.slots):
        for other in newest.slots[:place]:
            evaluation.only(other, rows[other][~is_new[other]])
        evaluation.only(slot, rows[slot][is_new[slot]])
        for other in newest.slots[place + 1 :]:
            evaluation.only(other, rows[other])
        if np.any(is_new[slot]):
            found.append(evaluation.occurrences(branch_with(pattern, slot), roots, window=window))
    if not found:
        slot = newest.slots[0]
        evaluation.only(slot, rows[slot][:0])
        found.append(evaluation.occurrences(branch_with(pattern, slot), roots, window=window))
    return stack(found)
