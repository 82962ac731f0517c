"""Highlighting a program of the report colors words and never loses a character."""

from hypothesis import given
from hypothesis import strategies as st

from inkling.report.program_text import highlight


def kinds(line: str, events: frozenset[str] = frozenset()) -> dict[str, str]:
    return {word.text: word.kind for word in highlight(line, events)[0] if word.text.strip()}


def test_words_have_their_kinds():
    line = "EVENT stop(v) AS PATTERN A a[v > 1.5 AND s = 'it''s'] -- the END"
    found = kinds(line, frozenset({"stop"}))
    assert found["EVENT"] == found["PATTERN"] == found["AND"] == "keyword"
    assert found["stop"] == "event"
    assert found["1.5"] == "number"
    assert found["'it''s'"] == "string"
    assert found["-- the END"] == "comment"


def test_types_are_not_keywords():
    assert kinds("STREAM A(id STRING)")["STRING"] == "type"


def test_small_columns_are_plain_beside_capital_keywords():
    found = kinds("STREAM A(time STRING) ID time")
    assert found["ID"] == "keyword"
    assert found["time"] == "plain"


def test_small_keywords_count_when_there_are_no_capitals():
    assert kinds("event e as pattern A a")["pattern"] == "keyword"


def test_an_unclosed_string_ends_with_its_line():
    first, second = highlight("WHERE s = 'open\nEVENT")
    assert "".join(word.text for word in first) == "WHERE s = 'open"
    assert [word.kind for word in second] == ["keyword"]


def test_a_name_written_like_a_keyword_is_plain():
    first, second = [
        word.kind
        for word in highlight("STREAM A(id STRING, t BIGINT) ID id KEY key TIME t")[0]
        if word.text.upper() == "KEY"
    ]
    assert (first, second) == ("keyword", "plain")


def test_other_notations_have_their_lexers():
    (line,) = highlight("alarm <- fire(X). % why", name="rules.ele")
    assert line[-1].kind == "comment"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_words_join_to_the_text(text):
    joined = "\n".join("".join(word.text for word in line) for line in highlight(text, {"a"}))
    assert joined == text.rstrip().replace("\r\n", "\n")
