"""Whatever stands in a pattern file, it is read or rejected with a diagnostic that points into it."""

import hypothesis.strategies as st
from hypothesis import given

from inkling.errors import ProgramError
from inkling.language import format_program, parse
from inkling.language.sre import WAYEB

PATTERNS = """STREAM V ( type STRING , x DOUBLE , lon DOUBLE , lat DOUBLE , ts BIGINT ) TIME ts ORDER BY ts ;
DECLARE + ( GT ( x , 5.0 ) , hot ) , ~ ( hot , EQ ( x , -1.5 ) ) ;
; ( IsEventTypePredicate ( A ) [ "r" ] , * ( # ( ; ( hot , - hot ) ) ) , ^ ( hot , GTAttr ( x , "r" ) ) ) { window:5 }
& @ ( + ( | ( hot , BT ( x , 1.0 , 2.0 ) ) , ! ( EQStr ( type , 'a b' ) ) ) ) { order:2 } { partitionBy:x } -- last
"""
SYMBOLS = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "&",
    "--",
    "+",
    "~",
    "^",
    "|",
    '"r"',
    "'",
    "1.",
    "-",
    "{name:",
    "STREAM",
]
WORDS = [*PATTERNS.split(), *SYMBOLS, "a", "{counting:overlap}", "{windowType:time}", "EpsilonPredicate", "1e999"]


def is_told(text: str) -> None:
    try:
        program = WAYEB.parse(text)
    except ProgramError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.span is not None
            assert diagnostic.span.end <= len(text)
            diagnostic.render()
    else:
        assert WAYEB.parse(WAYEB.format(text)) == program
        assert parse(format_program(program)) == program


def test_the_patterns_themselves() -> None:
    assert len(WAYEB.parse(PATTERNS).statements) == 4


@given(st.text())
def test_any_text(text: str) -> None:
    is_told(text)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words(words: list[str]) -> None:
    is_told(" ".join(words))


@given(st.integers(0, len(PATTERNS)), st.integers(0, 12), st.sampled_from(["", *WORDS]))
def test_patterns_with_a_part_replaced(start: int, length: int, instead: str) -> None:
    is_told(PATTERNS[:start] + instead + PATTERNS[start + length :])
