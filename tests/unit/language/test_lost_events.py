"""How declarations tell of lost events, and how several numbers of segments are asked about at once."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inkling.errors import ProgramError
from inkling.language import format_program, parse
from inkling.language import syntax as s
from inkling.language.build import (
    at_least_each,
    event,
    hours,
    minutes,
    quantified,
    rate,
    some_segment,
    stream,
    ticks,
    v,
)
from inkling.language.syntax import Duration, EachCount, Ident, Quantity, Rate, SegmentsDecl, StreamDecl


def declared(options: str) -> StreamDecl:
    (statement,) = parse(f"STREAM A(x INT) {options};").statements
    assert isinstance(statement, StreamDecl)
    return statement


def written(text: str) -> str:
    return format_program(parse(text)).strip()


def test_what_is_known_of_numbered_events() -> None:
    found = declared("NUMBERED BY n KNOWN FROM plan GAPS ERLANG 3 INTENSITY busy TIME t")
    assert (found.numbered_by, found.erlang) == (Ident("n"), 3)
    assert (found.intensity, found.known) == (Ident("busy"), Ident("plan"))
    plain = declared("NUMBERED BY n")
    assert (plain.erlang, plain.intensity, plain.known) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12 PER HOUR", Rate(12, Duration(1, "HOURS"))),
        ("12 per hours", Rate(12, Duration(1, "HOURS"))),
        ("0.2 PER TICK", Rate(Fraction(1, 5), Duration(1, "TICKS"))),
        ("3 PER 10 MINUTES", Rate(3, Duration(10, "MINUTES"))),
        ("2.50 PER 0.5 DAYS", Rate(Fraction(5, 2), Duration(Fraction(1, 2), "DAYS"))),
        ("hour", Ident("hour")),
        ("per", Ident("per")),
    ],
)
def test_rates(text: str, expected: Rate | Ident) -> None:
    segments = declared(f"SEGMENTS RATE {text} TIMEOUT 30 MINUTES").segments
    assert segments == SegmentsDecl(rate=expected, timeout=Duration(30, "MINUTES"))


def test_options_are_written_in_one_order() -> None:
    text = (
        "STREAM A(x INT) SEGMENTS TIMEOUT 5 TICKS RATE 1.50 PER 1 TICKS BOUNDS lo TO hi COUNT c ROLE r"
        " NUMBERED BY n KNOWN FROM k INTENSITY i GAPS ERLANG 2 TIME t;"
    )
    numbered = "NUMBERED BY n GAPS ERLANG 2 INTENSITY i KNOWN FROM k"
    segments = "SEGMENTS ROLE r COUNT c BOUNDS lo TO hi RATE 1.5 PER TICK TIMEOUT 5 TICKS"
    assert " ".join(written(text).split()) == f"STREAM A(x INT) TIME t {numbered} {segments};"


def test_the_same_from_python() -> None:
    built = stream("A").column("x", "INT").numbered_by("n", erlang=3, intensity="busy", known="plan")
    built = built.segments(role="r", rate=rate(0.5, hours(2)), timeout=minutes(30))
    assert built.node == declared(
        "NUMBERED BY n GAPS ERLANG 3 INTENSITY busy KNOWN FROM plan"
        " SEGMENTS ROLE r RATE 0.5 PER 2 HOURS TIMEOUT 30 MINUTES"
    )
    assert stream("A").column("x", "INT").segments(rate="often").node == declared("SEGMENTS RATE often")


@pytest.mark.parametrize(
    "wrong", ["NUMBERED BY n GAPS ERLANG 0", "SEGMENTS RATE 0 PER HOUR", "SEGMENTS RATE 1 PER 0 DAYS"]
)
def test_numbers_out_of_range(wrong: str) -> None:
    with pytest.raises(ProgramError, match="INK0116"):
        declared(wrong)


def test_nodes_reject_what_cannot_be_written() -> None:
    column = s.ColumnDecl(Ident("x"), Ident("INT"))
    with pytest.raises(ValueError, match="NUMBERED BY"):
        StreamDecl(Ident("A"), (column,), known=Ident("plan"))
    with pytest.raises(ValueError, match="at least 1"):
        StreamDecl(Ident("A"), (column,), numbered_by=Ident("n"), erlang=0)
    for count, per in ((0, hours(1)), (1, ticks(0)), (Fraction(1, 3), hours(1))):
        with pytest.raises(ValueError, match="a rate"):
            Rate(count, per)
    for least, most in ((0, 2), (3, 2), (1, 1001)):
        with pytest.raises(ValueError, match="counts go up"):
            EachCount(Ident("k"), least, most)


def test_several_numbers_of_segments() -> None:
    text = "EVENT e(k) AS PATTERN AT LEAST k FROM 1 TO 12 S x INTERSECTS SOME S y CONFIDENCE > 0.5 EARLY;"
    (statement,) = parse(text).statements
    assert isinstance(statement, s.EventDecl)
    left = Quantity("AT LEAST", Ident("S"), Ident("x"), EachCount(Ident("k"), 1, 12))
    assert statement.body.pattern == s.Quantified(left, ("INTERSECTS",), Quantity("SOME", Ident("S"), Ident("y")))
    assert statement.confidence == s.Confidence(">", 0.5, early=True)
    assert written(text).split() == text.split()
    built = (
        event("e")
        .head(v("k"))
        .pattern(quantified(at_least_each("k", 1, 12, "S", "x"), "INTERSECTS", some_segment("S", "y")))
    )
    assert built.confidence(0.5, strictly=True, early=True).node == statement


def test_at_stays_a_stream_where_no_numbers_follow() -> None:
    text = "EVENT e AS PATTERN SEQ(AT LEAST, AT least[x = 1]) WHERE from = 1;"
    (statement,) = parse(text).statements
    assert isinstance(statement, s.EventDecl)
    assert isinstance(statement.body.pattern, s.Seq)
    leaves = [part for part in statement.body.pattern.components if isinstance(part, s.Leaf)]
    assert [leaf.types for leaf in leaves] == [(Ident("AT"),)] * 2


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A, ALL a PRECEDES AT LEAST 0 from)",
        "AT LEAST from FROM 1 TO 2 to INTERSECTS SOME a",
        "AT LEAST to FROM 1 TO 2 from INTERSECTS AT LEAST 2 to",
    ],
)
def test_names_that_tempt_the_parser(pattern: str) -> None:
    assert written(f"EVENT e AS PATTERN {pattern};") == f"EVENT e AS\n  PATTERN {pattern};"
