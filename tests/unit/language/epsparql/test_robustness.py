"""No text crashes the reader of queries: it is a query file, or it has messages with their places."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from inkling.errors import ProgramError
from inkling.language.epsparql import EPSPARQL
from inkling.language.epsparql.durations import duration_of

QUERY = """
PREFIX : <http://example.org/>
REGISTER QUERY one AS
SELECT ?a (?b + 1 AS ?c) FROM <kb.ttl> ENTAILMENT RDFS
WHERE { ?a :p ?b ; :q "x"@en, [ :r 'y' ] . FILTER (!BOUND(?d) || ?b < -2.5 && getDURATION() <= "PT1H"^^:duration) }
SEQ { { ?a :p ?d } UNION { GRAPH <kb.ttl> { ?a a :C } } } WITHIN 60;
CONSTRUCT { _:x :p ?a } WHERE { ?a ?p ?b };
"""
WORDS = [*QUERY.split(), "{", "}", "(", ")", '"', "'''", "<", "<<", "^^", "@", "?", ":", "_:", "\\", ";", "é", "#"]


def read(text: str) -> None:
    try:
        printed = EPSPARQL.format(text)
        EPSPARQL.parse(text)
    except ProgramError as error:
        problems = error.diagnostics
    else:
        assert EPSPARQL.format(printed) == printed
        return
    assert all(one.span is not None and one.message for one in problems)


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    read(text)


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_any_words(text: str) -> None:
    read(text)


@given(st.data())
def test_a_query_with_parts_left_out(data: st.DataObject) -> None:
    words = QUERY.split(" ")
    begin = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(begin, min(len(words), begin + 4)))
    read(" ".join(words[:begin] + words[end:]))


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("P30D", (30, "DAYS")),
        ("PT1H30M", (90, "MINUTES")),
        ("P1H", (1, "HOURS")),
        ("P1DT12H", (36, "HOURS")),
        ("PT0S", (0, "SECONDS")),
        ("PT90S", (90, "SECONDS")),
        ("P1M", None),
        ("P1Y", None),
        ("P", None),
        ("1 hour", None),
    ],
)
def test_lengths_of_time(text: str, length: object) -> None:
    assert duration_of(text) == length
