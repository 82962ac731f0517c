"""Patterns are printed in one layout that reads back as the same patterns."""

from inkling.language import format_program, parse
from inkling.language.sre import WAYEB

WRITTEN = """-- ships
stream Ship(mmsi string,lon double,lat double,speed double,ts bigint)key mmsi time ts order by ts;
-- rings
DECLARE +(DistanceBetweenPredicate(-4.47530,48.38273,5.0,6.0)),~(slow,GT(speed,5.0));declare +(slow);
;(OutsideCirclePredicate(-4.47530,48.38273,5.0),OutsideCirclePredicate(-4.47530,48.38273,5.0)["x"],
^(WithinCirclePredicate(-4.47530,48.38273,5.0),GTAttr(speed,"x"))){windowType:time}
{window:1000}{partitionBy:mmsi} -- one
-- two
&#(;(- - slow,|(EQStr(mmsi,'it''s'),-slow),*(TruePredicate))){name:two}{order:2}&!(+(slow,@(slow)))
-- the end
"""
PRINTED = """\
-- ships
STREAM Ship(mmsi STRING, lon DOUBLE, lat DOUBLE, speed DOUBLE, ts BIGINT)
  KEY mmsi
  TIME ts
  ORDER BY ts;

-- rings
DECLARE
  +(DistanceBetweenPredicate(-4.47530, 48.38273, 5.0, 6.0)),
  ~(slow, GT(speed, 5.0));

DECLARE +(slow);

-- one
;(
  OutsideCirclePredicate(-4.47530, 48.38273, 5.0),
  OutsideCirclePredicate(-4.47530, 48.38273, 5.0)["x"],
  ^(WithinCirclePredicate(-4.47530, 48.38273, 5.0), GTAttr(speed, "x"))
){partitionBy:mmsi}{window:1000}{windowType:time}

-- two
& #(;(- -slow, |(EQStr(mmsi, 'it''s'), -slow), *(TruePredicate))){order:2}{name:two}

& !(+(slow, @(slow)))

-- the end
"""


def test_layout() -> None:
    assert WAYEB.format(WRITTEN) == PRINTED


def test_printed_patterns_are_printed_the_same() -> None:
    assert WAYEB.format(PRINTED) == PRINTED


def test_the_layout_says_the_same() -> None:
    assert WAYEB.parse(PRINTED) == WAYEB.parse(WRITTEN)


def test_the_program_reads_back() -> None:
    program = WAYEB.parse(WRITTEN)
    assert parse(format_program(program)) == program


def test_comments_are_kept_in_the_program() -> None:
    printed = format_program(WAYEB.parse(WRITTEN))
    assert [line for line in printed.splitlines() if line.startswith("--")] == [
        "-- ships",
        "-- rings",
        "-- one",
        "-- two",
        "-- the end",
    ]


def test_nothing() -> None:
    assert WAYEB.format("") == ""
    assert WAYEB.format("--a\n--b") == "-- a\n-- b\n"
