"""Whatever stands in a query file, it is read or rejected with a diagnostic that points into it."""

import hypothesis.strategies as st
from hypothesis import given

from inkling.errors import ProgramError
from inkling.language import format_program, parse
from inkling.language.lahar import LAHAR

QUERIES = """stream At ( person | room , floor : integer ) markov ; stream Fire ( ) certain time t ;
stream Tag ( t | p ) independent probability q ; relation Hall ( room ) ;
relation Office ( person , room ) from 'offices.csv' ; -- desks
out ( x ) : sigma [ Hall ( l ) and l != 'a' or not ( f >= 2 ) ] ( At ( x , l , f ) ; Fire ( ) ) ; Fire ( )
late ( x , y ) ever : At ( x , 'a' , _ ) ; ( sigma [ true ] ( At ( y , m , -1.5 ) ) )
  + < { y } , Hall ( m ) > ; Fire ( ) ;
"""
WORDS = [*QUERIES.split(), "'", "1.", "--", "sigma[", "((", ")+<{}, true>", "stream", "9" * 30, "_", "?"]


def is_told(text: str) -> None:
    try:
        program = LAHAR.parse(text)
    except ProgramError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.span is not None
            assert diagnostic.span.end <= len(text)
            diagnostic.render()
    else:
        assert LAHAR.parse(LAHAR.format(text)) == program
        assert parse(format_program(program)) == program


def test_the_queries_themselves() -> None:
    assert len(LAHAR.parse(QUERIES).statements) == 7


@given(st.text())
def test_any_text(text: str) -> None:
    is_told(text)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words(words: list[str]) -> None:
    is_told(" ".join(words))


@given(st.integers(0, len(QUERIES)), st.integers(0, 12), st.sampled_from(["", *WORDS]))
def test_queries_with_a_part_replaced(start: int, length: int, instead: str) -> None:
    is_told(QUERIES[:start] + instead + QUERIES[start + length :])
