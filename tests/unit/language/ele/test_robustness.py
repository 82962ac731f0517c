"""Whatever stands in a rule file, it is read or rejected with a diagnostic that points into it."""

import hypothesis.strategies as st
from hypothesis import given

from inkling.errors import ProgramError
from inkling.language.ele import ETALIS

RULES = """
:- stream(price(company: string, value: double), key(company), late(10 min), interval).
:- table(linked(a: string, b: string), 'links.csv'). :- policy(recent, keeping, prefer(V)).
quick([window(5)]): rise(C, P2) <- (price(C, P1) SEQ price(C, P2)).7 min WHERE {P2 > 1.5 * P1, not near(C, _)}.
near(X, Z) :- linked(X, Y), near(Y, Z), W is -2 ** 3. near("b", -1).
quiet(V) <- NOT(halt).[open(V), (close(V) OR halt)] DURING (0 SEQ 12) CHECK T2 - T1 =< 3.
sums([window(5 events)]): s(S) <- open(_) SEQ aggregate(sum(X), price(_, X), S). e <- (i <- halt ntimes 2) FNOT halt.
f(N = 0, at(X, [Y, 2])) DO told(X) <- (open(X) SEQ open(Y)+) CNOT halt WHERE (X > 1 -> Y = 2 ; member(Y, [1, 2])).
x:p(X, a:b) :- near(X, "b"), 0 < X < 3, !. exceptionAlarm(g(X), 5) <- open(X).
"""
SYMBOLS = ["(", ")", "[", "]", "{", "}", ",", ".", ":", ":-", "<-", "_", "'a b'", "%", "/*", "*/", "<=", ";", "\\="]
WORDS = [*RULES.split(), *SYMBOLS, "X", "a", "SEQ", "OR", "NOT", "is", "1", "2.5"]


def is_told(text: str) -> None:
    try:
        ETALIS.parse(text)
    except ProgramError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.span is not None
            assert diagnostic.span.end <= len(text)
            diagnostic.render()
    else:
        assert ETALIS.parse(ETALIS.format(text)) == ETALIS.parse(text)


def test_the_rules_themselves() -> None:
    assert ETALIS.parse(RULES).statements


@given(st.text())
def test_any_text(text: str) -> None:
    is_told(text)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words(words: list[str]) -> None:
    is_told(" ".join(words))


@given(st.integers(0, len(RULES)), st.integers(0, 12), st.sampled_from(["", *WORDS]))
def test_rules_with_a_part_replaced(start: int, length: int, instead: str) -> None:
    is_told(RULES[:start] + instead + RULES[start + length :])
