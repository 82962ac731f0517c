"""Plans and expressions as text."""

import pytest
from tests.kit.oracle import bound

from inkling.logical.printing.explain import explain
from inkling.logical.printing.text import expr_text


def test_every_step_stands_on_the_lines_before_it() -> None:
    plan = bound(
        "STREAM Car(id STRING, road STRING, v DOUBLE) ID id KEY road TIME t ORDER BY id TICK 1 SECONDS"
        " DERIVE jump = v - PREV(v);\n"
        "TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';\n"
        "EVENT fast(a.road) AS\n"
        "  PATTERN SEQ NEXT(Car a[v > 30], NOT Car n[v < 5 OR v > 90], (Car b+ WITHIN 3 EVENTS) w, AFTER 5 TICKS)\n"
        "  WHERE limits(a.road, top) AND a.v > top WITHIN 2 MINUTES HAVING COUNT(b) > 2 OR LAST(b).v > 1\n"
        "  PARTITION BY road CONSUME RESTART RETURN MAX(b.v) AS peak PER INTERVAL;\n"
        "EVENT two AS PATTERN fast f DURING (fast g OR Car c);\n"
    )
    assert explain(plan).splitlines() == [
        "r0 := Stream[Car](id STRING, road STRING, v DOUBLE, t TIME; id id; key road; time t; order by id;"
        " tick 1 SECONDS; jump = v - PREV(v))",
        "r1 := Table[limits](road STRING, top DOUBLE; from 'limits.csv')",
        "r2 := Leaf[r0](a; lookup limits(a.road, ?); a.v > 30 AND a.v > limits.top)",
        "r3 := Leaf[r0](n; (n.v < 5 OR n.v > 90))",
        "r4 := Not[r3]",
        "r5 := Leaf[r0](b)",
        "r6 := Repeat[r5](1 to any)",
        "r7 := Nested[r6](w; within 3 EVENTS)",
        "r8 := Deadline(5 TICKS)",
        "r9 := Sequence NEXT[r2, r4, r7, r8]",
        "r10 := Within[r9](2 MINUTES)",
        "r11 := Having[r10]((COUNT(b) > 2 OR LAST(b).v > 1))",
        "r12 := Restart[r11]",
        "r13 := Event fast[r12](per INTERVAL; partition by road; over Car; head road = a.road; return peak = MAX(b.v))",
        "r14 := Leaf[r13](f)",
        "r15 := Leaf[r13](g)",
        "r16 := Leaf[r0](c)",
        "r17 := Or[r15, r16]",
        "r18 := Related[r14, r17](DURING)",
        "r19 := Event two[r18](per MATCH; over Car, fast)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "x + 1 - y * 2",
        "x - (y - 1)",
        "(x + 1) * y",
        "-(x + 1) % 2",
        "s = 'it''s'",
        "NOT (x = 1 OR y < 2.5) AND on",
        "x IN (1, -2) OR s IS NOT NULL",
        "concat(s, 'a', s) <> 'b'",
        "PREV(x) > SINCE_CHANGE(on) / 2",
        "NOT NOT on",
        "(x = 1) = on",
    ],
)
def test_text_is_what_was_written(text: str) -> None:
    plan = bound(f"STREAM A(x INT, y DOUBLE, s STRING, on BOOLEAN) TIME t DERIVE d = {text};")
    assert expr_text(plan.streams[0].derived[0].expr) == text
