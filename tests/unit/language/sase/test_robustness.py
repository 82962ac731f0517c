"""Whatever stands in a query file, it is read or rejected with a diagnostic that points into it."""

import hypothesis.strategies as st
from hypothesis import given

from inkling.errors import ProgramError
from inkling.language import format_program, parse
from inkling.language.sase import SASE

QUERIES = """STREAM A ( id STRING , k BIGINT , v DOUBLE , t BIGINT ) ID id TIME t ;
STREAM B ( id STRING , k BIGINT , v DOUBLE , t BIGINT ) ID id TIME t ; -- two
Query 1 : PATTERN SEQ ( A a , ~ ( B b ) , A + c [ ] , A | B d ) /* a b
c */ WHERE skip_till_next_match ( a , c [ ] , d ) { [ k ] AND a.v > 80% * 2 AND ( c [ i ] . v >= c [ i - 1 ] . v OR NOT
c [ 1 ] . v = - 3 ) AND c [ i ] . v < avg ( c [ .. i - 1 ] . v ) AND d.v > c [ c.LEN ] . v } WITHIN 2 ticks HAVING
confidence >= 0.5 AND count ( c [ ] ) > 1 RETURN a , c [ ] , d.v AS last , max ( c [ ] . v ) TOP 3 ;
late : EVENT SEQ ( A a , B b ) where strict_contiguity ( a , b ) within 3
PATTERN A a WHERE a.v = 'x' ;
"""
WORDS = [*QUERIES.split(), "'", "1.", "--", "/*", "((", "[", "{", "PATTERN", "STREAM", "9" * 30, "?", "!", "b[i].v > 1"]


def is_told(text: str) -> None:
    try:
        program = SASE.parse(text)
    except ProgramError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.span is not None
            assert diagnostic.span.end <= len(text)
            diagnostic.render()
    else:
        assert SASE.parse(SASE.format(text)) == program
        assert parse(format_program(program)) == program


def test_the_queries_themselves() -> None:
    assert [one.name.text for one in SASE.parse(QUERIES).statements] == ["A", "B", "query1", "late", "query3"]


@given(st.text())
def test_any_text(text: str) -> None:
    is_told(text)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words(words: list[str]) -> None:
    is_told(" ".join(words))


@given(st.integers(0, len(QUERIES)), st.integers(0, 12), st.sampled_from(["", *WORDS]))
def test_queries_with_a_part_replaced(start: int, length: int, instead: str) -> None:
    is_told(QUERIES[:start] + instead + QUERIES[start + length :])
