"""Queries of SASE say the same as these programs."""

import pytest

from inkling.language import format_program, parse
from inkling.language.front_ends import format_text
from inkling.language.sase import SASE

STREAMS = """STREAM A(k STRING, v DOUBLE, t BIGINT) TIME t TICK 5 SECONDS;
STREAM B(k STRING, v DOUBLE, t BIGINT) TIME t TICK 5 SECONDS;
STREAM C(v DOUBLE, t BIGINT) TIME t TICK 5 SECONDS;
"""

QUERIES = {
    "one event": ("PATTERN A a", "A a"),
    "of several streams": ("PATTERN SEQ(A|B a)", "A | B a"),
    "any": ("PATTERN SEQ(A a, B b)", "SEQ(A a, B b)"),
    "any, named": ("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b)", "SEQ(A a, B b)"),
    "next": ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b)", "SEQ NEXT(A a, B b)"),
    "contiguous": ("PATTERN SEQ(A a, B b) WHERE strict_contiguity(a, b)", "SEQ STRICT(A a, B b) OVER (A, B, C)"),
    "contiguous, all streams": (
        "PATTERN SEQ(A a, B b, C c) WHERE strict_contiguity(a, b, c)", "SEQ STRICT(A a, B b, C c)",
    ),
    "contiguous in a partition": (
        "PATTERN SEQ(A a, A b) WHERE partition_contiguity(a, b) { [k] }",
        "SEQ STRICT(A a, A b) PARTITION BY k OVER (A, B)",
    ),
    "equivalence": ("PATTERN SEQ(A a, B b) WHERE [k] AND [v]", "SEQ(A a, B b) PARTITION BY k, v"),
    "equivalence, contiguous": (
        "PATTERN SEQ(A a, ~(B b), C c) WHERE strict_contiguity(a, c) { [v] }",
        "SEQ STRICT(A a, NOT B b[v = a.v], C c[v = a.v])",
    ),
    "equivalence of a repetition, contiguous": (
        "PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(a, b) { [k] }",
        "SEQ STRICT(A a[k = LAST(a).k]+, B b[k = LAST(a).k]) OVER (A, B, C)",
    ),
    "conditions": (
        "PATTERN SEQ(A a, B b, C c) WHERE b.v > a.v AND a.k = 'x' AND c.v % 31 = 0 AND (a.v + 1) * 2 <= -b.v",
        "SEQ(A a[k = 'x'], B b[v > a.v AND (a.v + 1) * 2 <= -v], C c[v % 31 = 0])",
    ),
    "connectives": (
        "PATTERN SEQ(A a, B b) WHERE NOT (a.v = 1 AND b.v = 2) AND (a.v > 95% OR b.k <> a.k)",
        "SEQ(A a, B b[NOT (a.v = 1 AND v = 2) AND (a.v > 0.95 OR k <> a.k)])",
    ),
    "absent": ("PATTERN SEQ(A a, !(B b), C c) WHERE b.v > c.v", "SEQ(A a, NOT B b[v > c.v], C c)"),
    "repetition": (
        "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].v > a.v AND b[i].v > b[i-1].v AND c.v > b[1].v AND c.v < b[b.LEN].v",
        "SEQ(A a, B b[v > a.v AND v > LAST(b).v]+, C c[v > FIRST(b).v AND v < LAST(b).v])",
    ),
    "repetition under next": (
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) { a[1].v > 2 }",
        "SEQ NEXT(A a[COUNT(a) > 0 OR v > 2]+ EAGER, B b)",
    ),
    "repetition at the end": (
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) { b[b.LEN].v > 2 }",
        "SEQ NEXT(A a, B b+) HAVING LAST(b).v > 2",
    ),
    "end of a repetition under next": (
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) { a[a.LEN].v > a[1].v }",
        "SEQ NEXT(A a+ EAGER, B b[LAST(a).v > FIRST(a).v])",
    ),
    "events before": (
        "PATTERN SEQ(A+ a[], B b) WHERE a[i].v > avg(a[..i-1].v) AND a[i].v > a[1].v AND count(a[..i-1]) < a[i].v",
        "SEQ(A a[v > AVG(a.v) AND v > FIRST(a).v AND (COUNT(a) = 0 OR COUNT(a) < v)]+, B b)",
    ),
    "all events": (
        "PATTERN SEQ(A+ a[], B b) WHERE sum(a[].v) > 3 HAVING count(a[]) > 2 AND b.v > min(a[].v)",
        "SEQ(A a+, B b) HAVING SUM(a.v) > 3 AND COUNT(a) > 2 AND b.v > MIN(a.v)",
    ),
    "ticks": ("PATTERN SEQ(A a, B b) WITHIN 4", "SEQ(A a, B b) WITHIN 4 POINTS"),
    "time in ticks": ("PATTERN SEQ(A a, B b) WITHIN 1 minute", "SEQ(A a, B b) WITHIN 12 POINTS"),
    "results": (
        "PATTERN SEQ(A a, B+ b[], C c) RETURN a, b[], c AS last, a.v, b[1].v, b[b.LEN].k AS k, count(b[]), avg(b[].v)",
        "SEQ(A a, B b+, C c) RETURN ID(a) AS a, ID(c) AS last, a.v AS a_v, FIRST(b).v AS first_b_v, LAST(b).k AS k,"
        " COUNT(b) AS count_b, AVG(b.v) AS avg_b_v",
    ),
    "confidence": (
        "PATTERN SEQ(A a, B b) HAVING confidence >= 20% AND a.v > 1 TOP 3",
        "SEQ(A a, B b) HAVING a.v > 1 CONFIDENCE >= 0.2 TOP 3",
    ),
    "signs of the papers": (
        "PATTERN SEQ(A a, ∼(B b), C c) WHERE a.v ≥ 1 ∧ ¬ c.v ≠ 2 ∧ (a.v ≤ 3 ∨ a.v = 4)",
        "SEQ(A a[v >= 1 AND (v <= 3 OR v = 4)], NOT B b, C c[NOT v <> 2])",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_a_pattern(name: str) -> None:
    query, pattern = QUERIES[name]
    program = SASE.parse(f"{STREAMS}x: {query}")
    assert program == parse(f"{STREAMS}EVENT x AS PATTERN {pattern};")
    assert parse(format_program(program)) == program


def test_windows_over_timestamps_are_lengths_of_time() -> None:
    program = parse("STREAM A(v DOUBLE, t TIMESTAMP) TIME t; PATTERN SEQ(A a, A b) WITHIN 1.5 hours", "x.sase")
    assert program == parse(
        "STREAM A(v DOUBLE, t TIMESTAMP) TIME t; EVENT query1 AS PATTERN SEQ(A a, A b) WITHIN 1.5 HOURS;"
    )


def test_queries_are_named_by_their_labels_or_places() -> None:
    text = f"{STREAMS} PATTERN A a; late: PATTERN A a Query 7: PATTERN A a; EVENT A a"
    assert [one.name.text for one in SASE.parse(text).statements[3:]] == ["query1", "late", "query7", "query4"]


def test_layout() -> None:
    text = f"""{STREAMS}
-- high
Query 1: pattern seq(A a, A+ b[ ]) where skip_till_next_match(a,b[ ]){{[k] and b[1].v>a.v and
  /* rising */ b[i].v>b[i-1].v}}
within 1 minute return a,b[],avg(b[].v);
PATTERN A a WHERE (a.v>1 OR a.v<0) AND a.k='x' HAVING confidence>=0.5 -- the end"""
    assert (
        format_text(text, "x.sase")
        == f"""{STREAMS}
-- high
-- rising
query1:
PATTERN SEQ(A a, A+ b[])
WHERE skip_till_next_match(a, b[]) {{
  [k] AND
  b[1].v > a.v AND
  b[i].v > b[i-1].v
}}
WITHIN 1 minute
RETURN a, b[], avg(b[].v);

-- the end
PATTERN SEQ(A a)
WHERE (a.v > 1 OR a.v < 0) AND
  a.k = 'x'
HAVING confidence >= 0.5;
"""
    )
