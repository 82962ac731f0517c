"""Batches of events and of matches, cut and put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.model.batch import EventBatch, MatchBatch, joined_matches, one_after_the_other

WORDS = 1 << 16
MANY = 100_000


def events(n: int) -> EventBatch:
    """Events whose conditions nobody asks for any more; all of them together would not fit into memory."""
    times = np.arange(n)
    blank = np.broadcast_to(np.uint64(0), (n, WORDS))
    ids = pa.array(times)
    source = np.zeros(n, np.int16)
    return EventBatch(times, source, times, times, times, times, times, times, blank, {}, np.arange(n + 1), ids)


def matches(owners: list[int] | None, n: int = 3) -> MatchBatch:
    times = np.arange(n)
    lineage = pa.array([[time] for time in times.tolist()])
    owner = None if owners is None else np.array(owners, np.uint64)
    return MatchBatch("e", times, times, times, times, times, times, {}, lineage, owner=owner)


def test_conditions_that_are_blank_take_no_room() -> None:
    some = events(MANY).take(np.arange(0, MANY, 2))
    both = one_after_the_other(some, events(MANY))
    assert some.bits.shape == (MANY // 2, WORDS)
    assert both.bits.shape == (MANY // 2 + MANY, WORDS)
    assert some.bits.strides[0] == both.bits.strides[0] == 0
    assert not both.bits[-1].any()


def test_conditions_that_differ_stay_with_their_events() -> None:
    one = replace(events(1), bits=np.broadcast_to(np.uint64(5), (1, 1)))
    two = replace(events(2), bits=np.array([[6], [7]], np.uint64))
    both = one_after_the_other(one, two)
    assert both.bits.tolist() == [[5], [6], [7]]
    assert both.take(np.array([2, 0])).bits.tolist() == [[7], [5]]
    other = replace(events(1), bits=np.broadcast_to(np.uint64(8), (1, 1)))
    assert one_after_the_other(one, other).bits.tolist() == [[5], [8]]


def test_matches_keep_their_owners() -> None:
    found = matches([7, 8, 9])
    assert found.take(np.array([2, 0])).owner.tolist() == [9, 7]
    assert found.where(np.array([False, True, True])).owner.tolist() == [8, 9]
    assert joined_matches([found, matches([4, 5, 6])]).owner.tolist() == [7, 4, 8, 5, 9, 6]
    assert joined_matches([found, matches(None)]).owner is None
    assert matches(None).take(np.array([1])).owner is None
