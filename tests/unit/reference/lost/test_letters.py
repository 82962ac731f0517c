"""Letters of relations in both alphabets, and questions as text."""

from __future__ import annotations

import re

import pytest
from tests.reference.lost.exact.question import BASIC, COMPOSITES, INVERSE, Question
from tests.reference.lost.letters import LETTERS, Asking, parse_question, relations_of


def test_both_alphabets_name_all_relations() -> None:
    for letters in LETTERS.values():
        assert sorted(letters.values()) == sorted(BASIC)


def test_the_alphabets_differ_in_two_pairs_of_letters() -> None:
    differing = {letter for letter in LETTERS["standard"] if LETTERS["standard"][letter] != LETTERS["paper"][letter]}
    assert differing == set("dDfF")
    assert relations_of("dDfF", alphabet="standard") == ("DURING", "CONTAINS", "FINISHES", "FINISHED_BY")
    assert relations_of("dDfF", alphabet="paper") == ("CONTAINS", "DURING", "FINISHED_BY", "FINISHES")


def test_the_composites_of_the_paper_in_its_letters() -> None:
    assert set(relations_of("pmodf", alphabet="paper")) == set(COMPOSITES["STARTS_BEFORE"])
    assert set(relations_of("PMOdS", alphabet="paper")) == set(COMPOSITES["ENDS_AFTER"])


def test_in_the_usual_alphabet_the_other_case_is_the_inverse() -> None:
    letters = LETTERS["standard"]
    for letter, name in letters.items():
        assert INVERSE[INVERSE[name]] == name
        assert INVERSE[name] == letters[letter.swapcase() if letter != "e" else "e"]


@pytest.mark.parametrize("word", ["", "q", "pQ", "x m"])
def test_other_letters_name_nothing(word: str) -> None:
    with pytest.raises(ValueError, match="names no relation"):
        relations_of(word, alphabet="standard")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EXISTS A intersects EXISTS B", Asking("A", "B", Question(1, ("INTERSECTS",), 1))),
        ("EXISTS(2) A intersects EXISTS B ON SAME stop", Asking("A", "B", Question(2, ("INTERSECTS",), 1, "stop"))),
        ("ALL B during EXISTS A", Asking("B", "A", Question(None, ("DURING",), 1))),
        ("exists ( 0 ) x PRECEDES all y", Asking("x", "y", Question(0, ("PRECEDES",), None))),
        ("ALL A {meets, Starts_Before} EXISTS(12) B", Asking("A", "B", Question(None, ("MEETS", "STARTS_BEFORE"), 12))),
    ],
)
def test_questions(text: str, expected: Asking) -> None:
    assert parse_question(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the question ends where ALL, EXISTS or EXISTS(k) is expected: ''"),
        ("A intersects B", "`A` at character 1: expected ALL, EXISTS or EXISTS(k)"),
        ("EXISTS(-1) A meets ALL B", "`-1` at character 8: expected a whole number that is not negative"),
        ("EXISTS(1.5) A meets ALL B", "`1.5` at character 8: expected a whole number that is not negative"),
        ("EXISTS(2 A meets ALL B", "`A` at character 10: expected )"),
        ("EXISTS A overlap EXISTS B", "`overlap` at character 10: expected a relation, such as overlaps"),
        ("EXISTS A likes EXISTS B", "`likes` at character 10: expected a relation, such as intersects"),
        ("EXISTS A {} EXISTS B", "`}` at character 11: expected a relation, such as intersects"),
        ("EXISTS A {meets; EXISTS B", "`meets;` at character 11: expected a relation, such as meets"),
        ("EXISTS A {meets EXISTS B", "`EXISTS` at character 17: expected , or }"),
        ("EXISTS 2 meets EXISTS B", "`2` at character 8: expected the name of a key"),
        ("EXISTS A meets EXISTS", "the question ends where the name of a key is expected: 'EXISTS A meets EXISTS'"),
        ("EXISTS A meets EXISTS B ON stop", "`stop` at character 28: expected ON SAME, or the end"),
        ("EXISTS A meets EXISTS B ON SAME stop now", "`now` at character 38: expected the end"),
        ("EXISTS A meets EXISTS A", "`A` is on both sides; a question is about two keys"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse_question(text)
