"""How far time has come, from what was seen and said of streams."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from inkling.model.batch import FOREVER
from inkling.model.watermarks import NEVER, Clocks, Watermarks

TWO = Clocks({"a": 0, "b": 5})


def seen(**latest: int) -> Watermarks:
    return Watermarks(latest)


def test_nothing_is_complete_before_every_stream_has_spoken() -> None:
    assert TWO.watermark == NEVER
    assert TWO.after(seen(a=100)).watermark == NEVER
    assert TWO.after(seen(a=100)).after(seen(b=50)).watermark == 50 - 5 - 1


def test_the_slowest_stream_decides() -> None:
    assert TWO.after(seen(a=10, b=100)).watermark == 9
    assert TWO.after(seen(a=100, b=10)).watermark == 4


def test_a_row_at_the_limit_is_in_time() -> None:
    clocks = Clocks({"a": 3}).after(seen(a=10))
    assert clocks.watermark < 10 - 3
    assert clocks.watermark >= 10 - 3 - 1


def test_an_idle_stream_is_not_waited_for_until_its_next_row() -> None:
    alone = TWO.after(seen(a=100)).after(Watermarks(idle=frozenset({"b"})))
    assert alone.watermark == 99
    assert alone.after(seen(a=200)).watermark == 199
    back = alone.after(seen(b=150))
    assert back.idle == frozenset()
    assert back.after(seen(a=200)).watermark == 150 - 5 - 1


def test_rows_of_the_same_moment_outweigh_the_word_that_a_stream_is_idle() -> None:
    both = TWO.after(Watermarks({"a": 100, "b": 20}, frozenset({"b"})))
    assert both.idle == frozenset()
    assert both.watermark == 14


def test_when_all_are_idle_what_they_told_is_all_there_is() -> None:
    told = TWO.after(seen(a=100, b=50)).after(Watermarks(idle=frozenset({"a", "b"})))
    assert told.watermark == 44
    only_one_ever_spoke = TWO.after(seen(a=100)).after(Watermarks(idle=frozenset({"a", "b"})))
    assert only_one_ever_spoke.watermark == 99
    assert TWO.after(Watermarks(idle=frozenset({"a", "b"}))).watermark == NEVER


def test_after_the_end_everything_is_complete() -> None:
    assert TWO.after(Watermarks(finished=True)).watermark == FOREVER
    assert TWO.after(Watermarks(finished=True)).after(seen(a=1, b=1)).watermark == FOREVER


def test_streams_of_other_programs_do_not_matter() -> None:
    assert Clocks({"a": 0}).after(seen(a=3, other=1000)).watermark == 2


WATERMARKS = st.builds(
    Watermarks,
    st.dictionaries(st.sampled_from("abc"), st.integers(-50, 50), max_size=3),
    st.frozensets(st.sampled_from("abc"), max_size=2),
)


@given(st.lists(WATERMARKS, max_size=8))
def test_a_watermark_never_goes_back(watermarks: list[Watermarks]) -> None:
    clocks = Clocks({"a": 0, "b": 2, "c": 7})
    for one in watermarks:
        after = clocks.after(one)
        assert after.watermark >= clocks.watermark
        clocks = after


@given(st.lists(WATERMARKS, min_size=1, max_size=4))
def test_tasks_may_report_in_any_order(watermarks: list[Watermarks]) -> None:
    """All watermarks of a micro-batch are taken together."""
    found = {Clocks({"a": 0, "b": 2}).after(Watermarks.merged(order)).watermark for order in permutations(watermarks)}
    assert len(found) == 1
