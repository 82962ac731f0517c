"""Diagnostics render with carets, go to machines, and travel between processes."""

import pickle

import pytest

from inkling.errors import (
    Diagnostic,
    InklingError,
    InputError,
    InternalError,
    NotSupportedYet,
    ProgramError,
    nearest,
    render,
)
from inkling.source import SourceText, Span

TEXT = """EVENT smuggling AS
  PATTERN SEQ(Departure d,
    Arrival a, NOT Signal s);
"""
SOURCE = SourceText("smuggling.ink", TEXT)


def place(words: str, source: SourceText = SOURCE) -> Span:
    start = source.text.index(words)
    return Span(start, start + len(words))


def test_render_has_place_carets_label_notes_and_helps() -> None:
    diagnostic = Diagnostic(
        "INK0305",
        "negation at the end of a pattern needs a time limit",
        place("NOT Signal s"),
        SOURCE,
        label="absence of `Signal` is never settled",
        notes=("the stream is unbounded, so a later `Signal` can always arrive",),
        helps=("add a limit, for example `WITHIN 6 HOURS`",),
    )
    assert diagnostic.render() == (
        "error[INK0305]: negation at the end of a pattern needs a time limit\n"
        "  --> smuggling.ink:3:16\n"
        "   |\n"
        " 3 |     Arrival a, NOT Signal s);\n"
        "   |                ^^^^^^^^^^^^ absence of `Signal` is never settled\n"
        "   = note: the stream is unbounded, so a later `Signal` can always arrive\n"
        "   = help: add a limit, for example `WITHIN 6 HOURS`"
    )


def test_gutter_grows_with_the_line_number() -> None:
    source = SourceText("long.ink", "\n" * 99 + "oops")
    assert Diagnostic("INK0101", "odd word", Span(99, 103), source).render() == (
        "error[INK0101]: odd word\n    --> long.ink:100:1\n     |\n 100 | oops\n     | ^^^^"
    )


@pytest.mark.parametrize(
    ("line", "words", "carets"),
    [
        ("温度 > 3", "3", "       ^"),
        ("温度 > 3", "温度", "^^^^"),
        ("cafe\u0301 = 1", "1", "       ^"),
        ("\tx = 1", "x", "    ^"),
    ],
)
def test_carets_stand_under_the_words_in_display_columns(line: str, words: str, carets: str) -> None:
    source = SourceText("wide.ink", line)
    shown = Diagnostic("INK0101", "odd word", place(words, source), source).render()
    assert shown.splitlines()[-1] == f"   | {carets}"


def test_span_over_lines_is_marked_to_the_end_of_its_first_line() -> None:
    shown = Diagnostic("INK0101", "odd", Span(place("SEQ").start, len(TEXT)), SOURCE).render()
    assert shown.splitlines()[-2:] == [" 2 |   PATTERN SEQ(Departure d,", "   |           ^^^^^^^^^^^^^^^^"]


def test_empty_span_has_one_caret() -> None:
    assert Diagnostic("INK0102", "early", Span(5, 5), SOURCE).render().splitlines()[-1] == "   |      ^"


def test_long_line_is_cut_around_the_span() -> None:
    source = SourceText("long.ink", "a" * 500 + "!" + "b" * 500)
    *_, line, carets = Diagnostic("INK0106", "odd", Span(500, 501), source).render().splitlines()
    assert len(line) < 170
    assert line[carets.index("^")] == "!"


def test_without_source_there_is_no_excerpt() -> None:
    error = InputError.of("INK0550", "cannot read `x.csv`", helps=("check the path",))
    assert str(error) == "error[INK0550]: cannot read `x.csv`\n   = help: check the path"


def test_errors_come_before_warnings_and_in_the_order_of_the_text() -> None:
    later = Diagnostic("INK0101", "later", Span(9, 10), SOURCE)
    sooner = Diagnostic("INK0101", "sooner", Span(2, 3), SOURCE)
    warning = Diagnostic("INK0322", "first in the text", Span(0, 1), SOURCE, severity="warning")
    shown = render([warning, later, sooner])
    assert [part.splitlines()[0] for part in shown.split("\n\n")] == [
        "error[INK0101]: sooner",
        "error[INK0101]: later",
        "warning[INK0322]: first in the text",
    ]


def test_to_dict_counts_lines_and_columns_from_one() -> None:
    diagnostic = Diagnostic("INK0101", "odd", place("Arrival"), SOURCE, notes=("n",))
    assert diagnostic.to_dict() == {
        "code": "INK0101",
        "severity": "error",
        "message": "odd",
        "label": "",
        "file": "smuggling.ink",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 12,
        "notes": ["n"],
        "helps": [],
    }


@pytest.mark.parametrize("kind", [InklingError, ProgramError, NotSupportedYet, InputError, InternalError])
def test_errors_pickle(kind: type[InklingError]) -> None:
    error = kind([Diagnostic("INK0101", "odd", Span(0, 5), SOURCE), Diagnostic("INK0102", "early")])
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert copy.diagnostics == error.diagnostics
    assert str(copy) == str(error)


def test_code_has_four_digits() -> None:
    with pytest.raises(ValueError, match="four digits"):
        Diagnostic("INK12", "short")


def test_error_carries_at_least_one_diagnostic() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ProgramError([])


def test_nearest_ignores_case_and_stops_at_n() -> None:
    assert nearest("speeed", ["Speed", "road", "SPEED2"]) == ("Speed", "SPEED2")
    assert nearest("x", ["road"]) == ()
    assert len(nearest("ab", [f"ab{n}" for n in range(9)])) == 5
