"""MAXIMAL: matches that differ only in the events of a repetition are compared, and only the longest remain."""

from dataclasses import replace

import numpy as np

from inkling.evaluators.network.lateral import JoinEvaluation
from inkling.evaluators.network.partials import Occurrences
from inkling.kernels.columns import lists
from inkling.logical.patterns.maximal import grows, maximal_parts
from inkling.logical.rewrites.everywhere import slots_in_order
from inkling.model.batch import Ints
from inkling.model.keys import codes_of


def maximal(evaluation: JoinEvaluation, found: Occurrences) -> Occurrences:
    """The matches of which no MAXIMAL repetition can be extended; known a window after their start if it grows."""
    event, batch = evaluation.step.event, evaluation.store.batch
    resolve = evaluation.gather(found)
    match = np.repeat(np.arange(len(found)), np.diff(resolve.offsets))
    repeated = np.array([slot.repeated for slot in event.slots], bool)
    # rows of one event differ in the facts that a table supplies; those of repeated events do not count
    which = np.where(repeated[resolve.slots], len(batch) + batch.event[resolve.rows], resolve.rows)
    item = which * len(event.slots) + resolve.slots
    kept = np.ones(len(found), bool)
    for part in maximal_parts(event.pattern):
        inside = np.isin(resolve.slots, list(slots_in_order(part)))
        kept &= _longest(found.origin, match, item, inside)
    found = found.where(kept)
    if not grows(event.pattern):
        return found
    assert event.within is not None, "a MAXIMAL repetition at the end needs a limit"
    return replace(found, known=np.maximum(found.known, found.start + evaluation.leaves.length(event.within)))


def _longest(origin: Ints, match: Ints, item: Ints, inside: np.ndarray) -> np.ndarray:
    """Which matches have no other with the same items outside of a repetition and more inside of it."""
    n = len(origin)
    outside = lists.fingerprints(_offsets(match[~inside], n), item[~inside])
    group, _ = codes_of([origin, *(one.view(np.int64) for one in outside)], n)
    match, item = match[inside], item[inside]
    length = np.bincount(match, minlength=n)
    order = np.lexsort((-length, group))
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    items = np.lexsort((item, place[match]))
    kept = np.empty(n, bool)
    kept[order] = lists.without_parts(group[order], _offsets(np.sort(place[match]), n), item[items])
    return kept


def _offsets(match: Ints, n: int) -> Ints:
    """Where the items of each match begin, of items that are sorted by match."""
    return np.searchsorted(match, np.arange(n + 1))
