"""Comments survive formatting above the statement they belong to."""

from inkling.language import format_program, parse

TEXT = """-- traffic
-- from two roads
STREAM A(x INT) TIME t; -- after A
EVENT e AS -- the event
  PATTERN A a; -- 'quoted' -- twice

--
-- the end
"""

FORMATTED = """-- traffic
-- from two roads
-- after A
STREAM A(x INT) TIME t;

-- the event
-- 'quoted' -- twice
EVENT e AS
  PATTERN A a;

--
-- the end
"""


def test_comments_belong_to_the_statement_around_or_after_them() -> None:
    program = parse(TEXT)
    assert [statement.comments for statement in program.statements] == [
        ("traffic", "from two roads", "after A"),
        ("the event", "'quoted' -- twice"),
    ]
    assert program.comments == ("", "the end")


def test_formatting_keeps_comments() -> None:
    assert format_program(parse(TEXT)) == FORMATTED
    assert format_program(parse(FORMATTED)) == FORMATTED


def test_dashes_inside_quotes_are_no_comment() -> None:
    (table,) = parse("TABLE t(\"a -- b\" INT) FROM 'x -- y.csv';").statements
    assert table.comments == ()
    assert table.path == "x -- y.csv"  # type: ignore[union-attr]


def test_program_of_comments_only() -> None:
    assert format_program(parse("-- nothing yet")) == "-- nothing yet\n"
    assert format_program(parse("")) == ""
