"""How declarations say that times are imprecise: around a reading, by clock, at most so wide."""

from __future__ import annotations

import pytest

from inkling.errors import ProgramError
from inkling.language import format_program, parse
from inkling.language.build import milliseconds, seconds, stream, ticks
from inkling.language.syntax import ClockError, ClockErrors, Duration, Ident, StreamDecl, TimeAbout


def declared(options: str) -> StreamDecl:
    (statement,) = parse(f"STREAM A(x INT) {options};").statements
    assert isinstance(statement, StreamDecl)
    return statement


@pytest.mark.parametrize("sign", ["±", "+-", "+ -"])
def test_a_time_and_how_far_it_may_be_off(sign: str) -> None:
    assert declared(f"TIME t {sign} 5 TICKS").time == TimeAbout(Ident("t"), Duration(5, "TICKS"))
    assert declared(f"TIME t {sign} off KEY x").time == TimeAbout(Ident("t"), Ident("off"))
    assert format_program(parse(f"STREAM A(x INT) TIME t {sign} off;")) == "STREAM A(x INT) TIME t ± off;\n"


def test_clocks_with_errors_of_their_own() -> None:
    text = (
        "TIME t CLOCK node ERROR 50 MILLISECONDS, 2 SECONDS FOR 'the gate''s', 1 SECONDS FOR 'b' TICK 10 MILLISECONDS"
    )
    others = (ClockError(Duration(2, "SECONDS"), "the gate's"), ClockError(Duration(1, "SECONDS"), "b"))
    found = declared(text)
    assert found.time == TimeAbout(Ident("t"), ClockErrors(Ident("node"), Duration(50, "MILLISECONDS"), others))
    assert found.tick == Duration(10, "MILLISECONDS")


def test_the_widest_interval_is_written_after_the_time() -> None:
    program = parse("STREAM A(x INT) AT MOST 9 TICKS KEY x TIME BETWEEN lo AND hi WEIGHTS w;")
    assert format_program(program) == "STREAM A(x INT) KEY x TIME BETWEEN lo AND hi WEIGHTS w AT MOST 9 TICKS;\n"


def test_words_and_signs_keep_their_other_meanings() -> None:
    text = "STREAM AT(clock INT, error INT) TIME most; EVENT e AS PATTERN SEQ(AT MOST[clock > 1 +-3], AT at) ;"
    assert format_program(parse(format_program(parse(text)))) == format_program(parse(text))


def test_the_same_from_python() -> None:
    built = stream("A").column("x", "INT")
    assert built.time_about("t", ticks(5)).at_most(ticks(12)).node == declared("TIME t ± 5 TICKS AT MOST 12 TICKS")
    assert built.time_about("t", "off").node == declared("TIME t ± off")
    by_clock = built.time_by_clock("t", "c", milliseconds(5), {"gate": seconds(2)}).node
    assert by_clock == declared("TIME t CLOCK c ERROR 5 MILLISECONDS, 2 SECONDS FOR 'gate'")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("TIME t ±", "expected a number or a name"),
        ("TIME t ± 5", "expected a unit such as `MINUTES`"),
        ("TIME t + 5 TICKS", "missing `-`"),
        ("TIME t CLOCK c 5 TICKS", "missing `ERROR`"),
        ("TIME t CLOCK c ERROR 5 TICKS, 6 TICKS", "expected `FOR`"),
        ("TIME t ± 5 TICKS AT MOST", "expected a number"),
        ("TIME t ± 5 TICKS AT MOST 4 TICKS AT MOST 5 TICKS", "AT MOST"),
    ],
)
def test_slips(options: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        declared(options)
