"""Allen's relations and PAR between two tables of occurrences, row by row."""

from __future__ import annotations

import numpy as np

from inkling.evaluators.network.partials import Occurrences, Partials
from inkling.logical.allen import INVERSES, RELATIONS
from inkling.model.batch import Ints

Spans = Occurrences | Partials


def related(relations: tuple[str, ...], left: Spans, right: Spans) -> np.ndarray:
    """Whether each pair stands in one of the relations."""
    fits = np.zeros(len(left), bool)
    for name in relations:
        if name == "PAR":
            fits |= _share_time(left, right)
        elif name in INVERSES:
            fits |= _holds(INVERSES[name], right, left)
        else:
            fits |= _holds(name, left, right)
    return fits


def starts_beside(relations: tuple[str, ...], left: Spans) -> tuple[Ints, Ints]:
    """The first and the last time at which what stands in one of the relations to `left` can start."""
    far = np.full(len(left), FAR)
    ends = {"start": left.start, "end": left.end, "": far}
    low = np.minimum.reduce([-far if not _STARTS[name][0] else ends[_STARTS[name][0]] for name in relations])
    high = np.maximum.reduce([ends[_STARTS[name][1]] for name in relations])
    return low, high


FAR = np.int64(2**62)
_STARTS = {
    "PRECEDES": ("end", ""),
    "PRECEDED_BY": ("", "start"),
    "MEETS": ("end", "end"),
    "MET_BY": ("", "start"),
    "OVERLAPS": ("start", "end"),
    "OVERLAPPED_BY": ("", "start"),
    "STARTS": ("start", "start"),
    "STARTED_BY": ("start", "start"),
    "DURING": ("", "start"),
    "CONTAINS": ("start", "end"),
    "FINISHES": ("", "start"),
    "FINISHED_BY": ("start", "end"),
    "EQUALS": ("start", "start"),
    "INTERSECTS": ("", "end"),
    "STARTS_BEFORE": ("start", ""),
    "ENDS_AFTER": ("", "end"),
    "PAR": ("", "end"),
}
"""Per relation, the borders of the left one between which the right one starts; nothing where there is no limit."""


def _holds(name: str, left: Spans, right: Spans) -> np.ndarray:
    one, other = (left.start, left.end), (right.start, right.end)
    match name:
        case "OVERLAPS":
            return (one[0] < other[0]) & (other[0] < one[1]) & (one[1] < other[1])
        case "STARTS":
            return (one[0] == other[0]) & (one[1] < other[1])
        case "DURING":
            return (other[0] < one[0]) & (one[1] < other[1])
        case "FINISHES":
            return (other[0] < one[0]) & (one[1] == other[1])
        case "EQUALS":
            return (one[0] == other[0]) & (one[1] == other[1])
        case "INTERSECTS":
            return (one[0] <= other[1]) & (other[0] <= one[1])
        case _:
            return np.asarray(RELATIONS[name](*one, *other))  # type: ignore[arg-type]


def _share_time(left: Spans, right: Spans) -> np.ndarray:
    overlap = np.maximum(left.start, right.start) < np.minimum(left.end, right.end)
    left_point = (left.start == left.end) & (right.start < left.start) & (left.start < right.end)
    right_point = (right.start == right.end) & (left.start < right.start) & (right.start < left.end)
    return overlap | left_point | right_point
