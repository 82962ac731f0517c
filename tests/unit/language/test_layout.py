"""One layout: short statements stay on one line, long ones break at their clauses and items."""

import pytest

from inkling.language import format_program, parse


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        (
            "stream A ( x int ,y double )key x time t ;stream B(x int)time t;",
            "STREAM A(x INT, y DOUBLE) KEY x TIME t;\nSTREAM B(x INT) TIME t;\n",
        ),
        (
            "event e as pattern seq any(A a,B b[x=1 and not y=2]) within 1.50 hour per end where a.x>1;",
            "EVENT e AS\n  PATTERN SEQ(A a, B b[x = 1 AND NOT y = 2])\n"
            "  WHERE a.x > 1\n  WITHIN 1.5 HOURS\n  PER END;\n",
        ),
        (
            "event e as pattern ((A a) or ((B b))) and (C c){1,} where ((a.x+1)*2) <> ((3)) or (a.y != 1);",
            "EVENT e AS\n  PATTERN (A a OR B b) AND C c+\n  WHERE (a.x + 1) * 2 <> 3 OR a.y <> 1;\n",
        ),
        ("rule r(x) if x - (1 - 2) - -x = - (-x);", "RULE r(x) IF x - (1 - 2) - -x = -(-x);\n"),
        (
            'event e as pattern "At" start; event f as pattern A "where" within 3 point;',
            'EVENT e AS\n  PATTERN "At" start;\n\nEVENT f AS\n  PATTERN A "where"\n  WITHIN 3 POINTS;\n',
        ),
    ],
)
def test_layout(text: str, formatted: str) -> None:
    assert format_program(parse(text)) == formatted


def test_long_lists_break_one_item_per_line() -> None:
    text = "EVENT e AS PATTERN SEQ(Departure d[port = 'Hamburg'], Arrival a[port = 'Brest'], NOT Signal s);"
    assert format_program(parse(text), width=60) == (
        "EVENT e AS\n"
        "  PATTERN SEQ(\n"
        "    Departure d[port = 'Hamburg'],\n"
        "    Arrival a[port = 'Brest'],\n"
        "    NOT Signal s\n"
        "  );\n"
    )


def test_lines_stay_within_the_width_where_they_can() -> None:
    steps = ", ".join(f"A a{n}[x > {n}]" for n in range(40))
    text = format_program(parse(f"EVENT e AS PATTERN SEQ({steps}) WHERE {' AND '.join(['a1.x = 1'] * 40)};"))
    assert max(map(len, text.splitlines())) <= 100
