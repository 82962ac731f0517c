"""One wrong statement does not hide the next, and is reported once."""

import pytest

from inkling.errors import ProgramError
from inkling.language import parse


def places(text: str) -> list[tuple[str, int]]:
    """The code and the line of every diagnostic."""
    with pytest.raises(ProgramError) as raised:
        parse(text)
    found = []
    for diagnostic in raised.value.diagnostics:
        assert diagnostic.source is not None
        assert diagnostic.span is not None
        found.append((diagnostic.code, diagnostic.source.position(diagnostic.span.start).line))
    return found


def test_every_wrong_statement_is_reported() -> None:
    text = "STREAM A(x INT,) TIME t;\nSTREAM B(x INT) TIME t;\nEVNT e AS PATTERN A;\nRULE r(x) IF x == 1;"
    assert places(text) == [("INK0113", 1), ("INK0120", 3), ("INK0108", 4)]


def test_rest_of_a_statement_cut_by_a_semicolon_is_not_reported_again() -> None:
    assert places("EVENT e AS PATTERN SEQ(A a; B b);\nEVENT f AS PATTERN SEQ(A a,);") == [
        ("INK0105", 1),
        ("INK0113", 2),
    ]


def test_unclosed_text_does_not_swallow_the_next_statement() -> None:
    assert places("EVENT e AS PATTERN A[x = 'a];\nEVENT f AS PATTERN A a WITHIN 5;") == [("INK0104", 1), ("INK0102", 2)]


def test_missing_semicolon_does_not_hide_the_next_error() -> None:
    assert places("STREAM A(x INT) TIME t\nEVENT e AS PATTERN A\nEVENT f AS PATTERN SEQ(A,);") == [
        ("INK0103", 1),
        ("INK0103", 2),
        ("INK0113", 3),
    ]


def test_several_unreadable_characters_in_one_statement_are_one_error() -> None:
    assert places("EVENT e AS PATTERN A[x = ‘a’ @ €];") == [("INK0106", 1)]
