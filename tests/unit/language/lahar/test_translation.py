"""Queries of Lahar say the same as these programs."""

import pytest

from inkling.language import format_program, parse
from inkling.language.front_ends import format_text
from inkling.language.lahar import LAHAR

QUERIES = """
stream At(person | room) independent;
stream Carries(person, object | room, floor:integer) markov;
stream Fire() certain;
relation Hall(room);
relation Office(person, room) from 'offices.csv';
"""
PROGRAM = """
STREAM At(t BIGINT, person STRING, room STRING) KEY person TIME t PROBABILITY p;
STREAM Carries(t BIGINT, person STRING, object STRING, room STRING, floor INTEGER)
  KEY person, object TIME t PROBABILITY p GIVEN previous_room, previous_floor;
STREAM Fire(t BIGINT) TIME t;
TABLE Hall(room STRING) FROM 'Hall.csv';
TABLE Office(person STRING, room STRING) FROM 'offices.csv';
"""

PATTERNS = {
    "goal": ("At(x, l)", "At e1"),
    "constants": ("Carries('Joe', 'it''s', _, -2)", "Carries e1[person = 'Joe' AND object = 'it''s' AND floor = -2]"),
    "repeated variable": ("At(x, x)", "At e1[room = person]"),
    "sequence": ("At(x, l) ; At(x, m) ; Fire()", "SEQ NEXT(At e1, At e2[person = e1.person], Fire e3)"),
    "parentheses on the left": (
        "((At(x, l)) ; At(x, m)) ; Fire()",
        "SEQ NEXT(At e1, At e2[person = e1.person], Fire e3)",
    ),
    "joined in two columns": ("At(x, l) ; At(x, l)", "SEQ NEXT(At e1, At e2[person = e1.person AND room = e1.room])"),
    "joined and repeated": (
        "Fire() ; At(x, x) ; At(x, x)",
        "SEQ NEXT(Fire e1, At e2[room = person], At e3[person = e2.person AND room = person])",
    ),
    "condition of the first goal": ("sigma[Hall(l)](At(x, l))", "At e1[Hall(room)]"),
    "condition of a goal": (
        "Fire() ; sigma[Hall(l) and x != 'Joe'](At(x, l))",
        "SEQ NEXT(Fire e1, At e2[Hall(room) AND person <> 'Joe'])",
    ),
    "conditions of one goal": (
        "Fire() ; sigma[Hall(l)](sigma[l > 'a'](At(x, l)))",
        "SEQ NEXT(Fire e1, At e2[Hall(room) AND room > 'a'])",
    ),
    "condition of a query": ("sigma[l = 'a'](Fire() ; At(x, l))", "SEQ NEXT(Fire e1, At e2) HAVING e2.room = 'a'"),
    "conditions of a query": (
        "sigma[l = 'a'](sigma[x < l and true](Fire() ; At(x, l)))",
        "SEQ NEXT(Fire e1, At e2) HAVING e2.person < e2.room AND e2.room = 'a'",
    ),
    "condition of a prefix": (
        "sigma[Office(x, l)](At(x, l) ; Fire()) ; At(x, m)",
        "SEQ NEXT((SEQ NEXT(At e1, Fire e2) HAVING Office(e1.person, e1.room)), At e3[person = e1.person])",
    ),
    "no condition": ("sigma[true](At(x, l) ; Fire()) ; Fire()", "SEQ NEXT(At e1, Fire e2, Fire e3)"),
    "connectives": (
        "sigma[not (Hall(l) and x = 'Joe') or (true or l = 'a')](Fire() ; At(x, l))",
        "SEQ NEXT(Fire e1, At e2) HAVING NOT (Hall(e2.room) AND e2.person = 'Joe') OR TRUE OR e2.room = 'a'",
    ),
    "anything in a relation": ("sigma[Office(_, l)](At(x, l))", "At e1[Office(_, room)]"),
    "repetition": ("Fire() ; (At(_, _))+<{}, true>", "SEQ NEXT(Fire e1, At e2+)"),
    "repetition first": (
        "(sigma[Hall(l)](At(x, l)))+<{x}, l != 'a'>",
        "SEQ NEXT(At e1[person = LAST(e1).person AND Hall(room)]+ CHECK (e1.room <> 'a'))",
    ),
    "repetition that joins": (
        "At(x, 'a') ; (At(x, l))+<{x}, Hall(l) and l >= 'b'> ; At(x, 'c')",
        "SEQ NEXT(At e1[room = 'a'], At e2[person = e1.person]+ CHECK (Hall(e2.room) AND e2.room >= 'b'),"
        " At e3[person = e1.person AND room = 'c'])",
    ),
    "repetition that is joined": (
        "Fire() ; (At(x, l))+<{x}, true> ; At(x, 'c')",
        "SEQ NEXT(Fire e1, At e2[person = LAST(e2).person]+, At e3[person = LAST(e2).person AND room = 'c'])",
    ),
    "condition of a repetition first": (
        "sigma[x = 'Joe']((At(x, l))+<{x}, true>) ; Fire()",
        "SEQ NEXT((SEQ NEXT(At e1[person = LAST(e1).person]+) HAVING LAST(e1).person = 'Joe'), Fire e2)",
    ),
}


@pytest.mark.parametrize("case", PATTERNS)
def test_queries(case: str) -> None:
    query, pattern = PATTERNS[case]
    program = LAHAR.parse(f"{QUERIES} q() : {query};")
    assert program == parse(f"{PROGRAM} EVENT q() AS PATTERN {pattern} PER END;")
    assert parse(format_program(program)) == program


HEADS = {
    "anyone": ("q()", "q()", "END"),
    "each": ("q(y, x)", "q(LAST(e2).object AS y, e1.person AS x)", "END"),
    "anyone, ever": ("q() ever", "q()", "VALUES"),
    "each, ever": ("q(x) ever", "q(e1.person AS x)", "VALUES"),
}


@pytest.mark.parametrize("case", HEADS)
def test_heads(case: str) -> None:
    head, event, per = HEADS[case]
    pattern = "SEQ NEXT(At e1, Carries e2[person = e1.person AND object = LAST(e2).object]+)"
    program = LAHAR.parse(f"{QUERIES} {head} : At(x, l) ; (Carries(x, y, _, _))+<{{x, y}}, true>")
    assert program == parse(f"{PROGRAM} EVENT {event} AS PATTERN {pattern} PER {per};")


def test_a_query_ends_where_the_next_statement_begins() -> None:
    without = "stream E() certain; a() : E() ; E() b() ever : (E())+<{}, true> relation R(x);"
    written = "stream E() certain; a() : E() ; E(); b() ever : (E())+<{}, true>; relation R(x);"
    assert LAHAR.parse(without) == LAHAR.parse(written)
    assert len(LAHAR.parse(without).statements) == 4


def test_keys() -> None:
    program = LAHAR.parse("stream A(x, y) independent; stream B(| x) independent; stream C(x |) certain;")
    expected = """
        STREAM A(t BIGINT, x STRING, y STRING) KEY x, y TIME t PROBABILITY p;
        STREAM B(t BIGINT, x STRING) TIME t PROBABILITY p;
        STREAM C(t BIGINT, x STRING) KEY x TIME t;
    """
    assert program == parse(expected)


def test_the_end_of_a_name_chooses_the_language() -> None:
    text = "stream E() certain; a() : E()"
    assert parse(text, "a.lahar") == LAHAR.parse(text)
    assert format_text(text, "a.LAHAR") == "stream E() certain;\n\na() : E();\n"


@pytest.mark.parametrize(
    ("declared", "program"),
    [
        ("At(p | l) independent", "At(t BIGINT, p STRING, l STRING) KEY p TIME t PROBABILITY probability"),
        ("At(t | p) independent", "At(time BIGINT, t STRING, p STRING) KEY t TIME time PROBABILITY probability"),
        ("At(t) certain", "At(time BIGINT, t STRING) KEY t TIME time"),
        (
            "At(p | t) markov time s",
            "At(s BIGINT, p STRING, t STRING) KEY p TIME s PROBABILITY probability GIVEN previous_t",
        ),
        ("At(x) independent probability q", "At(t BIGINT, x STRING) KEY x TIME t PROBABILITY q"),
    ],
)
def test_columns_of_times_and_probabilities(declared: str, program: str) -> None:
    assert LAHAR.parse(f"stream {declared};") == parse(f"STREAM {program};")
