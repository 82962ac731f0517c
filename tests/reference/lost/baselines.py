"""Two ways to make do with what was recorded: leave out what was lost, or put it where it would be on average.

Either makes certain lists of uncertain ones, about which questions have certain answers. `ignored` and `static` say
what they do; `ignored_lists` and `static_lists` do it for many keys at once, and `n_sharing` compares them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from tests.reference.lost.baseline_kernels import alternating, filled_in, sharing_segments
from tests.reference.lost.exact.flat import Flat

from inkling.evaluators.relation.points import CLOSES, OPENS, PointLists
from inkling.model.batch import Ints


def ignored(flat: Flat) -> Flat:
    """Recorded points, without those that open what is open or close what is not; neighbors may become one segment."""
    kept: list[tuple[int, Fraction]] = []
    for place, time in enumerate(flat.times):
        opens = place % 2 == 0
        wanted = not kept or kept[-1][0] % 2 == 1
        if time is not None and opens == wanted:
            kept.append((place, time))
    if len(kept) % 2:
        kept.pop()
    labels = tuple(flat.labels[place // 2] for place, _ in kept[::2]) if flat.labels else ()
    return Flat(tuple(time for _, time in kept), labels=labels)


def static(flat: Flat) -> Flat:
    """A segment that lost one end gets the mean length of those that have both, up to the next recorded point.

    Segments that lost both ends stay lost.
    """
    length = mean_length(flat)
    times: list[Fraction | None] = []
    labels: list[object] = []
    for number in range(flat.n_segments):
        opening, closing = flat.times[2 * number : 2 * number + 2]
        if opening is None and closing is None:
            continue
        if opening is None:
            assert closing is not None
            before = [time for time in flat.times[: 2 * number] if time is not None]
            opening = max([closing - length, *before[-1:]])
        elif closing is None:
            after = [time for time in flat.times[2 * number + 2 :] if time is not None]
            closing = min([opening + length, *after[:1]])
        times += [opening, closing]
        labels.append(flat.label_of_each[number])
    return Flat(tuple(times), labels=tuple(labels) if flat.labels else ())


def mean_length(flat: Flat) -> Fraction:
    """Of complete segments; without any, as if all points were equally far apart."""
    pairs = zip(flat.times[::2], flat.times[1::2], strict=True)
    lengths = [closing - opening for opening, closing in pairs if opening is not None and closing is not None]
    if lengths:
        return sum(lengths, Fraction(0)) / len(lengths)
    recorded = flat.recorded
    return (recorded[-1] - recorded[0]) / (len(flat.times) - 1) if recorded else Fraction(0)


def ignored_lists(lists: PointLists) -> PointLists:
    """What `ignored` makes of every key."""
    kept = np.flatnonzero(alternating(lists.begins, lists.lost, lists.turn))
    ends = np.searchsorted(kept, lists.begins)
    label = np.zeros(len(lists.time), np.int64)
    first = np.repeat(lists.begins[:-1], np.diff(lists.segments))
    label[first + lists.opening] = lists.label
    return _certain(ends // 2, lists.time[kept[::2]], lists.time[kept[1::2]], label[kept[::2]])


def static_lists(lists: PointLists) -> PointLists:
    """What `static` makes of every key; mean lengths are rounded down to the unit of time."""
    start, end, there = filled_in(
        lists.begins, lists.time, lists.lost, lists.turn, lists.segments, lists.opening, lists.closing
    )
    kept = np.flatnonzero(there)
    return _certain(np.searchsorted(kept, lists.segments), start[kept], end[kept], lists.label[kept])


def n_sharing(left: PointLists, right: PointLists, ones: Ints, others: Ints) -> Ints:
    """How many segments of each left key touch some segment of the right one, where nothing is lost."""
    start, end = _ends(left)
    other_start, other_end = _ends(right)
    found: Ints = sharing_segments(ones, others, left.segments, start, end, right.segments, other_start, other_end)
    return found


def _ends(lists: PointLists) -> tuple[Ints, Ints]:
    first = np.repeat(lists.begins[:-1], np.diff(lists.segments))
    return lists.time[first + lists.opening], lists.time[first + lists.closing]


def _certain(segments: Ints, start: Ints, end: Ints, label: Ints) -> PointLists:
    """Lists without loss: segments of key k are segments[k] … segments[k + 1] - 1."""
    n_segments, n_keys = len(start), len(segments) - 1
    opening = 2 * (np.arange(n_segments) - np.repeat(segments[:-1], np.diff(segments)))
    return PointLists(
        begins=2 * segments,
        time=np.stack([start, end], axis=1).ravel(),
        along=np.empty(0),
        lost=np.zeros(2 * n_segments, np.bool_),
        turn=np.tile(np.array([OPENS, CLOSES], np.int8), n_segments),
        segments=segments,
        opening=opening,
        closing=opening + 1,
        label=label,
        head=np.zeros(n_keys),
        tail=np.zeros(n_keys),
        simple=np.ones(n_keys, np.bool_),
    )
