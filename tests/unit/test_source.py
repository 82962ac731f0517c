"""Offsets, lines and columns agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inkling.source import Position, SourceText, Span


@given(st.text("ab\n\r", max_size=30))
def test_position_counts_line_breaks_before_the_offset(text: str) -> None:
    source = SourceText("a.ink", text)
    for offset in range(len(text) + 1):
        before = text[:offset]
        expected = Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
        assert source.position(offset) == expected


def test_line_has_no_line_break() -> None:
    source = SourceText("a.ink", "one\r\ntwo\n")
    assert [source.line(n) for n in range(1, source.n_lines + 1)] == ["one", "two", ""]


def test_offset_past_the_end_is_the_end() -> None:
    assert SourceText("a.ink", "ab").position(99) == Position(1, 3)


def test_span_runs_forward() -> None:
    with pytest.raises(ValueError, match="forward"):
        Span(3, 2)


def test_span_to_covers_both() -> None:
    assert Span(5, 7).to(Span(1, 2)) == Span(1, 7)
