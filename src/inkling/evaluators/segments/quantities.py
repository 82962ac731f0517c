"""Several numbers of segments that are asked about at once: one result for each that is reached."""

from __future__ import annotations

import numpy as np

from inkling.model.batch import Ints


def reached(counts: Ints, least: int, most: int) -> tuple[Ints, Ints]:
    """Each pair once for every number from `least` to `most` that its count reaches, and these numbers."""
    times = np.maximum(np.minimum(counts, most) - least + 1, 0)
    first = np.cumsum(times) - times
    return np.repeat(np.arange(len(counts)), times), least + np.arange(times.sum()) - np.repeat(first, times)


def chosen_lists(offsets: Ints, items: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The lists of that number, one after the other; list i is `items[offsets[i] : offsets[i + 1]]`."""
    lengths = np.diff(offsets)[chosen]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return ends, items[np.repeat(offsets[chosen] - ends[:-1], lengths) + np.arange(ends[-1])]
