"""How far patterns got, counted by hand."""

from __future__ import annotations

import pytest

import inkling
from inkling.errors import InputError
from inkling.why.progress import PatternProgress

STREAMS = """
STREAM A(id STRING, x INT, t BIGINT) ID id TIME t;
STREAM B(id STRING, x INT, t BIGINT) ID id TIME t;
STREAM C(id STRING, x INT, t BIGINT) ID id TIME t;
"""


def rows(**streams: list[tuple[int, int]]) -> dict[str, list[dict[str, object]]]:
    """Rows from pairs of time and value."""
    return {
        name: [{"id": f"{name.lower()}{time}", "x": x, "t": time} for time, x in streams.get(name, [])]
        for name in "ABC"
    }


def progress(event: str, **streams: list[tuple[int, int]]) -> PatternProgress:
    return inkling.parse(STREAMS + event).why("e", rows(**streams)).progress


def counted(found: PatternProgress) -> list[tuple[object, ...]]:
    return [(step.what, step.rows, step.candidates, step.matches, step.too_long) for step in found.steps]


def test_sequence() -> None:
    # candidates of a: 3@1, 5@2, 7@4, 9@5, 4@6; later and larger: 1-2, 1-4, 2-4, 2-5, 4-5 in time, 1-5, 1-6 too long;
    # C at 4 lies between 2 and 5 only
    found = progress(
        "EVENT e AS PATTERN SEQ(A a[x > 2], NOT C, A b[x > a.x]) WITHIN 3 TICKS HAVING a.x + b.x > 14 PER END;",
        A=[(0, 1), (1, 3), (2, 5), (3, 2), (4, 7), (5, 9), (6, 4)],
        C=[(4, 0)],
    )
    assert counted(found) == [
        ("A a[a.x > 2]", 7, 5, 5, 0),
        ("A b[b.x > a.x]", 7, 7, 5, 2),
        ("NOT C", None, None, 4, None),
        ("HAVING a.x + b.x > 14", None, None, 1, None),
        ("PER END", None, None, 1, None),
    ]
    assert found.obstacles == ()
    assert found.n_results == 1


def test_first_obstacle_is_named() -> None:
    found = progress("EVENT e AS PATTERN SEQ(A a, B b[x > a.x], C c);", A=[(1, 5)], B=[(2, 5), (3, 1)], C=[(4, 0)])
    assert [step.matches for step in found.steps] == [1, 0, 0, 0]
    assert found.obstacles == ("no `B b[b.x > a.x]` follows a `A a`",)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("SEQ(A a, C c)", "the data has no `C`"),
        ("SEQ(A a, B b[x > 9])", "no event satisfies `B b[b.x > 9]`"),
        ("SEQ(A a, B b) WITHIN 2 TICKS", "`WITHIN 2 TICKS` excludes the only match up to `B b`"),
        ("SEQ(A a, NOT A n, B b[x = 2])", "every match of the other parts violates `NOT A n`"),
        ("SEQ(A a, B b) HAVING b.x > 9", "no match satisfies `HAVING b.x > 9`"),
        ("A a PAR B b", "no `B b` overlaps a `A a`"),
        ("A a MEETS B b", "no `A a` MEETS a `B b`"),
        ("A a AND B b[x = a.x]", "no `B b[b.x = a.x]` matches together with a `A a`"),
        ("SEQ STRICT(A a[x = 1], B b)", "no `B b` directly follows a `A a`"),
        ("SEQ NEXT(B b, A a)", "no `A a` is the next event after a `B b`"),
    ],
)
def test_obstacles(event: str, said: str) -> None:
    given = {"A": [(1, 1)], "B": [(5, 2)]}
    if "NOT" in event or "STRICT" in event:
        given = {"A": [(1, 1), (3, 3)], "B": [(5, 2)]}
        if "NOT" in event:  # one A lies between every other and B
            event = event.replace("A a,", "A a[x = 1],")
    found = progress(f"EVENT e AS PATTERN {event};", **given)
    assert found.n_results == 0
    assert found.obstacles == (said,)


def test_too_many_to_tell_what_within_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inkling.why.progress.MOST_TRIED", 0)
    found = progress("EVENT e AS PATTERN SEQ(A a, B b) WITHIN 2 TICKS;", A=[(1, 1)], B=[(5, 2)])
    assert found.steps[1].too_long is None
    assert found.obstacles == ("no `B b` follows a `A a` WITHIN 2 TICKS",)


def test_parts_that_may_be_missing_are_no_obstacle() -> None:
    found = progress("EVENT e AS PATTERN SEQ(A a[x > 9]?, B b);", A=[(1, 1)], B=[(2, 1)])
    assert [step.matches for step in found.steps] == [0, 1, 1]
    assert found.obstacles == ()


def test_repetition_counts_all_lists() -> None:
    # a1 with each of b2, b3 and with both
    found = progress("EVENT e AS PATTERN SEQ(A a, B b+, C c);", A=[(1, 0)], B=[(2, 0), (3, 0)], C=[(4, 0)])
    assert [(step.candidates, step.matches) for step in found.steps] == [(1, 1), (2, 3), (1, 3), (None, 3)]


def test_each_declaration_by_itself() -> None:
    # rising runs: 5@1, 3@2 and 7@3 alone, and 5-7, 3-7
    found = progress(
        """EVENT e(v) AS PATTERN A t WHERE v = t.x PER INTERVAL;
           EVENT e(v) AS PATTERN SEQ(e p, A t) WHERE t.x > p.v AND v = t.x PER INTERVAL;""",
        A=[(1, 5), (2, 3), (3, 7)],
    )
    assert [(step.way, step.rows, step.matches) for step in found.steps] == [
        ("declaration 1", 3, 3),
        ("declaration 2", 5, 5),
        ("declaration 2", 3, 2),
        (None, None, 5),
        (None, None, 5),
    ]


def test_facts_make_matches_but_no_candidates() -> None:
    program = inkling.parse(
        STREAMS + "TABLE near(x INT, y INT) FROM 'near.csv'; EVENT e(y) AS PATTERN A a WHERE near(a.x, y);"
    )
    near = {"near": [{"x": 1, "y": 5}, {"x": 1, "y": 6}]}
    (first, _) = program.why("e", rows(A=[(1, 1), (2, 2)]), near).progress.steps
    assert (first.rows, first.candidates, first.matches) == (2, 1, 2)


def test_policies_and_windows() -> None:
    given = {"A": [(1, 0), (2, 0), (3, 0)], "B": [(4, 0), (5, 0)]}
    found = progress("EVENT e AS PATTERN SEQ(A a, B b) CONSUME RECENT;", **given)
    assert [(step.what, step.matches) for step in found.steps][-2:] == [("CONSUME RECENT", 1), ("PER MATCH", 1)]
    found = progress("EVENT e AS PATTERN WINDOW A w LAST 2 EVENTS RETURN COUNT(w) AS n;", **given)
    assert counted(found)[0] == ("WINDOW A w LAST 2 EVENTS", 3, 3, 3, None)


def test_unknown_event() -> None:
    with pytest.raises(InputError, match="INK0561"):
        inkling.parse(STREAMS + "EVENT e AS PATTERN A a;").why("f", rows())
