"""What is closed, what is told and what is settled, from what was seen and said of streams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inkling.evaluators.state import from_bytes, to_bytes
from inkling.model.batch import FOREVER
from inkling.model.watermarks import NEVER, Watermarks
from inkling.runtime.revision.clocks import ManyClocks, RevisionClocks, RevisionWindows


def clocks(*speculative: str, **windows: tuple[int, int]) -> RevisionClocks:
    """By stream its lateness and how long its events can be withdrawn."""
    late = {name: one for name, (one, _) in windows.items()}
    kept = {name: one for name, (_, one) in windows.items()}
    return RevisionClocks.of(RevisionWindows(late, kept, frozenset(speculative)))


def three(found: RevisionClocks) -> tuple[int, int, int]:
    return found.settled, found.closed, found.decided


def test_one_that_is_waited_for_is_told_when_it_is_closed() -> None:
    assert three(clocks(a=(3, 10)).after(Watermarks({"a": 100}))) == (89, 96, 96)


def test_nobody_waits_for_a_speculative_stream() -> None:
    assert three(clocks("a", a=(3, 10)).after(Watermarks({"a": 100}))) == (89, 96, 100)


def test_of_speculative_streams_the_latest_decides_what_is_told() -> None:
    both = clocks("a", "b", a=(3, 3), b=(5, 5)).after(Watermarks({"a": 100}))
    assert three(both) == (NEVER, NEVER, 100)
    assert three(both.after(Watermarks({"b": 40}))) == (34, 34, 100)


def test_others_are_waited_for() -> None:
    both = clocks("a", a=(3, 3), b=(5, 20)).after(Watermarks({"a": 100}))
    assert both.decided == NEVER
    assert three(both.after(Watermarks({"b": 40}))) == (19, 34, 34)
    assert both.after(Watermarks(idle=frozenset({"b"}))).decided == 100


def test_at_the_end_all_is_settled() -> None:
    assert three(clocks("a", a=(3, 10)).after(Watermarks(finished=True))) == (FOREVER, FOREVER, FOREVER)


def test_a_shorter_window_settles_more_and_a_longer_one_takes_nothing_back() -> None:
    at_100 = clocks(a=(3, 10)).after(Watermarks({"a": 100}))
    shorter = at_100.with_windows(RevisionWindows({"a": 1}, {"a": 2})).after(Watermarks())
    assert (shorter.settled, shorter.closed) == (97, 98)
    longer = at_100.with_windows(RevisionWindows({"a": 50}, {"a": 60})).after(Watermarks())
    assert (longer.settled, longer.closed) == (89, 96)


def test_for_a_stream_with_many_readers_the_furthest_counts() -> None:
    many = ManyClocks((clocks(a=(3, 10)), clocks(a=(3, 10), b=(0, 0)))).after(Watermarks({"a": 100}))
    assert (many.closed, many.settled, many.latest("a")) == (96, 89, 100)


WATERMARKS = st.builds(
    Watermarks, st.dictionaries(st.sampled_from("ab"), st.integers(0, 50)), st.frozensets(st.sampled_from("ab"))
)


@given(st.lists(WATERMARKS, max_size=8), st.frozensets(st.sampled_from("ab")))
def test_the_three_stand_in_order_and_never_go_back(watermarks: list[Watermarks], speculative: frozenset[str]) -> None:
    now = clocks(*speculative, a=(3, 7), b=(0, 0))
    for one in watermarks:
        before, now = now, now.after(one)
        settled, closed, decided = three(now)
        assert settled <= closed <= decided
        assert all(old <= new for old, new in zip(three(before), three(now), strict=True))
        assert three(from_bytes(to_bytes(now), RevisionClocks)) == three(now)
