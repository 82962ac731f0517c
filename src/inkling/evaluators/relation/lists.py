"""What opens and closes segments, key by key: recorded points with their times, and lost ones between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

OPENS, CLOSES, NEITHER = 1, -1, 0

NO_LABEL = -1
"""Equals no label, not even itself."""


class PointLists(NamedTuple):
    """Points of many keys, those of one key in the order in which they happened.

    A lost point lies somewhere between the recorded points around it. Before the first and after the last recorded
    point of a key, lost ones come at a rate, so many per unit of time on the axis; without a rate there are none.

    Points that neither open nor close a segment only take part in the order: bounds and marks, which are recorded,
    and points that are lost and no events (Erlang gaps), or belong to segments that are not asked about.
    """

    begins: np.ndarray  # points of key k are begins[k] … begins[k + 1] - 1
    time: np.ndarray  # int64; means nothing where a point is lost
    along: np.ndarray  # float64: the axis on which lost points are spread evenly; empty where that is time itself
    lost: np.ndarray  # bool
    turn: np.ndarray  # int8: OPENS, CLOSES or NEITHER
    segments: np.ndarray  # segments of key k are segments[k] … segments[k + 1] - 1, in the order of their openings
    opening: np.ndarray  # of each segment: place of the point that opens it among the points of its key, from 0
    closing: np.ndarray
    label: np.ndarray  # of each segment; only segments with one label are compared, where labels matter
    head: np.ndarray  # float64, of each key: the rate before its first recorded point, 0 where none is needed
    tail: np.ndarray  # float64: the rate after its last one
    simple: np.ndarray  # bool, of each key: segments follow each other, each is closed when the next one opens


class RelationQuery(NamedTuple):
    """What is asked about the segments of two keys.

    A left segment qualifies if as many right ones are related to it as `right` says. The answer is how many qualify.
    """

    table: np.ndarray  # by how the ends of two segments compare (`segments.relations.truth_table`), whether related
    right: int  # how many; ALL means every comparable one
    labeled: bool
    most: int  # qualifying segments above this number need not be counted
    all_left: bool  # then only whether every left segment qualifies is asked


ALL = -1
