"""Programs that show the whole language parse, keep their meaning through the printer, and name spans."""

import pickle
from pathlib import Path

import pytest

from inkling.language import format_program, parse
from inkling.language.syntax import (
    Absent,
    After,
    Allen,
    AllOf,
    Attribute,
    Compare,
    Complement,
    Duration,
    EventDecl,
    Ident,
    Leaf,
    Literal,
    NotBetween,
    Or,
    Quantified,
    Quantity,
    Repeat,
    Seq,
    StreamDecl,
    Variable,
)

PROGRAMS = sorted(Path(__file__).parent.joinpath("programs").glob("*.ink"))


def pattern_of(text: str) -> object:
    (statement,) = parse(f"EVENT e AS PATTERN {text};").statements
    assert isinstance(statement, EventDecl)
    return statement.body.pattern


def leaf(name: str, var: str | None = None) -> Leaf:
    return Leaf((Ident(name),), None if var is None else Ident(var))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_survives_formatting(path: Path) -> None:
    program = parse(path.read_text(encoding="utf-8"), path.name)
    text = format_program(program)
    assert program.statements
    assert parse(text) == program
    assert format_program(parse(text)) == text


def test_absence_with_deadline() -> None:
    condition = Compare("=", Variable(Ident("id")), Attribute(Ident("r"), Ident("id")))
    assert pattern_of("SEQ(Req r, NOT Rep[id = r.id], AFTER 10 TICKS)") == Seq(
        "ANY", (leaf("Req", "r"), Absent(Leaf((Ident("Rep"),), None, condition)), After(Duration(10, "TICKS")))
    )


def test_and_after_between_belongs_to_between() -> None:
    expected = NotBetween(Or((leaf("A"), leaf("C"))), leaf("A"), leaf("C"))
    assert pattern_of("NOT (A OR C) BETWEEN A AND C") == expected
    assert pattern_of("S EQUALS (NOT (A OR C) BETWEEN A AND C)") == Allen(leaf("S"), ("EQUALS",), expected)


def test_repetition_binds_to_its_leaf_and_complement_holds_a_pattern() -> None:
    assert pattern_of("SEQ STRICT(V x{3,}, COMPLEMENT(_*))") == Seq(
        "STRICT", (Repeat(leaf("V", "x"), 3), Complement(Repeat(Leaf(()), 0)))
    )


def test_set_of_relations_between_segments() -> None:
    assert pattern_of("ALL Duty x {DURING, equals} AT LEAST 2 Shift y ON SAME site") == Quantified(
        Quantity("ALL", Ident("Duty"), Ident("x")),
        ("DURING", "EQUALS"),
        Quantity("AT LEAST", Ident("Shift"), Ident("y"), 2),
        Ident("site"),
    )


def test_at_is_a_stream_unless_a_time_follows() -> None:
    assert pattern_of("SEQ(At a, At)") == Seq("ANY", (leaf("At", "a"), leaf("At")))


def test_relations_associate_to_the_left() -> None:
    assert pattern_of("A DURING B MEETS C") == Allen(Allen(leaf("A"), ("DURING",), leaf("B")), ("MEETS",), leaf("C"))


@pytest.mark.parametrize("word", ["id", "key", "time", "start", "end", "count", "order", "from", "not", "seq"])
def test_keywords_are_column_names_where_only_a_name_can_stand(word: str) -> None:
    text = f"STREAM S({word} INT) ID {word} KEY {word} ORDER BY {word}; EVENT e AS PATTERN S s[s.{word} = 1];"
    stream, event = parse(text).statements
    assert isinstance(stream, StreamDecl)
    assert [stream.columns[0].name, stream.id, *stream.key, stream.order_by] == [Ident(word)] * 4
    assert isinstance(event, EventDecl)
    assert isinstance(event.body.pattern, Leaf)
    assert event.body.pattern.condition == Compare("=", Attribute(Ident("s"), Ident(word)), Literal(1))


@pytest.mark.parametrize("quoted", ['"where"', "`where`"])
def test_quotes_make_any_word_a_name(quoted: str) -> None:
    assert pattern_of(f"A {quoted}") == leaf("A", "where")


def test_clauses_of_an_event_come_in_any_order() -> None:
    one = parse("EVENT e AS PATTERN A a WHERE a.x = 1 WITHIN 5 TICKS PER END PARTITION BY k;")
    other = parse("EVENT e AS PATTERN A a PARTITION BY k PER END WITHIN 5 TICKS WHERE a.x = 1;")
    assert one == other


def test_conjunction_keeps_its_parentheses() -> None:
    (flat,) = parse("RULE r(x) IF a(x) AND b(x) AND c(x);").statements
    (nested,) = parse("RULE r(x) IF (a(x) AND b(x)) AND c(x);").statements
    assert flat != nested
    assert isinstance(flat.body, AllOf)  # type: ignore[union-attr]
    assert len(flat.body.items) == 3  # type: ignore[union-attr]


def test_spans_cover_the_words_they_stand_for() -> None:
    text = "EVENT e AS PATTERN SEQ(A a, B b[x > a.y]) WITHIN 30 MINUTES;"
    (event,) = parse(text).statements
    assert isinstance(event, EventDecl)
    sequence = event.body.pattern
    assert isinstance(sequence, Seq)
    second = sequence.components[1]
    assert isinstance(second, Leaf)
    assert second.condition is not None
    assert event.body.within is not None
    spans = [
        (event.name.span, "e"),
        (sequence.span, "SEQ(A a, B b[x > a.y])"),
        (second.span, "B b[x > a.y]"),
        (second.types[0].span, "B"),
        (second.condition.span, "x > a.y"),
        (event.body.within.span, "30 MINUTES"),
        (event.span, text[:-1]),
    ]
    assert [text[span.start : span.end] for span, _ in spans] == [words for _, words in spans]


def test_program_travels_between_processes() -> None:
    program = parse(PROGRAMS[0].read_text(encoding="utf-8"))
    assert pickle.loads(pickle.dumps(program)) == program


def test_byte_order_mark_and_carriage_returns_are_spaces() -> None:
    assert parse("\ufeffSTREAM A(x INT)\r\n  TIME t; -- end\r\n") == parse("STREAM A(x INT) TIME t;")


def test_literals_of_different_types_differ() -> None:
    literals = [Literal(1), Literal(1.0), Literal(True), Literal("1"), Literal(None)]
    assert len(set(literals)) == len(literals)
