"""`x+ CHECK (c)`: an event that fails the condition is next all the same, and breaks the repetition off."""

from __future__ import annotations

import pytest
from tests.kit.oracle import bound, oracle

import inkling
from inkling.errors import InklingError
from inkling.logical import plan as p
from inkling.logical.printing.text import PartTexts

STREAMS = "\n".join(f"STREAM {name}(id STRING, x INT, t BIGINT, n INT) ID id TIME t ORDER BY n;" for name in "ABC")
Rows = dict[str, list[dict[str, object]]]


def rows(text: str) -> Rows:
    """`b2=1` is an event of B at time 2 with x = 1; those of one time stand in any order."""
    found: Rows = {"A": [], "B": [], "C": []}
    for word in text.split():
        id, _, x = word.partition("=")
        time = int(id[1:].rstrip("'"))
        found[id[0].upper()].append({"id": id, "x": int(x) if x else None, "t": time, "n": time})
    return found


def matches(pattern: str, text: str) -> list[str]:
    """The lineage of every match, by the definition; the network finds the same, and an automaton the same ends."""
    given = rows(text)
    found = []
    for per in ("MATCH", "END"):
        program = f"{STREAMS} EVENT e AS PATTERN {pattern} PER {per};"
        expected = sorted(" ".join(map(str, one.lineage)) for one in oracle(bound(program), given)["e"])
        table = inkling.parse(program).run_local(given).tables["e"]
        assert sorted(" ".join(one["lineage"]) for one in table.to_pylist()) == expected
        found.append(expected)
    return found[0]


@pytest.mark.parametrize(
    ("part", "events", "expected"),
    [
        ("B b[x > 0]+", "a1 b2=1 b3=0 b4=1 c5", ["a1 b2 b4 c5", "a1 b2 c5"]),
        ("B b+ CHECK (b.x > 0)", "a1 b2=1 b3=0 b4=1 c5", ["a1 b2 c5"]),
        ("B b+ CHECK (b.x > 0)", "a1 b2=1 b3=1 b4=0 c5", ["a1 b2 b3 c5", "a1 b2 c5"]),
        ("B b+ CHECK (b.x > 0)", "a1 b2=0 b3=1 c4", []),
        ("B b+ CHECK (b.x > 0)", "a1 b2 b3=1 c4", []),
        ("B b* CHECK (b.x > 0)", "a1 b2=0 b3=1 c4", ["a1 c4"]),
        ("B b? CHECK (b.x > 0)", "a1 b2=0 b3=1 c4", ["a1 c4"]),
        ("B b{2} CHECK (b.x > 0)", "a1 b2=1 b3=1 b4=0 c5", ["a1 b2 b3 c5"]),
        ("B b[x <> 5]+ CHECK (b.x > 0)", "a1 b2=1 b3=5 b4=1 b5=0 b6=1 c7", ["a1 b2 b4 c7", "a1 b2 c7"]),
        ("B b+ CHECK (b.x > LAST(b).x)", "a1 b2=1 b3=3 b4=2 b5=4 c6", ["a1 b2 b3 c6", "a1 b2 c6"]),
        ("B b+ CHECK (b.x > 0 AND b.x > a.x)", "a1=1 b2=2 b3=1 b4=2 c5", ["a1 b2 c5"]),
        ("B b+ EAGER CHECK (b.x > 0)", "a1 b2=1 b3=1 c4 b5=0 c6", ["a1 b2 b3 c4"]),
        ("B b+ EAGER CHECK (b.x > 0)", "a1 b2=1 b3=0 c4", []),
        ("B b+ EAGER, B d+ CHECK (d.x > 0)", "a1 b2=0 b3=0 b4=1 c5", ["a1 b2 b3 b4 c5"]),
    ],
)
def test_it_breaks_off(part: str, events: str, expected: list[str]) -> None:
    assert matches(f"SEQ NEXT(A a, {part}, C c)", events) == expected


def test_of_several_that_are_next_some_may_pass() -> None:
    text = STREAMS.replace(" ORDER BY n", "") + "EVENT e AS PATTERN SEQ NEXT(A a, B b+ CHECK (b.x > 0), C c);"
    given = rows("a1 b2=0 b2'=1 c3")
    expected = [" ".join(map(str, one.lineage)) for one in oracle(bound(text), given)["e"]]
    found = [" ".join(one["lineage"]) for one in inkling.parse(text).run_local(given).tables["e"].to_pylist()]
    assert found == expected == ["a1 b2' c3"]


def test_no_hop_leads_to_the_first_part() -> None:
    assert matches("SEQ NEXT(B b+ CHECK (b.x > 0), C c)", "b1=0 b2=1 b3=0 b4=1 c5") == ["b2 c5", "b4 c5"]


@pytest.mark.parametrize(
    "pattern", ["SEQ({}, C c)", "SEQ STRICT({}, C c)", "({}) AND C c", "SEQ NEXT(A a, NOT {}, C c)"]
)
def test_elsewhere_it_is_a_condition(pattern: str) -> None:
    checked = bound(f"{STREAMS} EVENT e AS PATTERN {pattern.format('B b+ CHECK (b.x > 0)')};")
    assert checked == bound(f"{STREAMS} EVENT e AS PATTERN {pattern.format('B b[b.x > 0]+')};")


def test_of_a_group_it_is_a_condition_on_each_round() -> None:
    assert matches("SEQ(A a, (SEQ(B b, C c)){2} CHECK (b.x < c.x))", "a1 b2=1 c3=2 b4=1 c5=1 c6=2") == [
        "a1 b2 c3 b4 c6"
    ]


@pytest.mark.parametrize(("events", "expected"), [("a1 b9=0", ["a1"]), ("a1 b2=0", []), ("a1 b2=1 b3=0", ["a1 b2"])])
def test_what_is_broken_off_has_not_run_out_of_time(events: str, expected: list[str]) -> None:
    text = f"{STREAMS} EVENT e AS PATTERN SEQ NEXT(A a, B b+ CHECK (b.x > 0), C c) WITHIN 5 TICKS ON TIMEOUT late;"
    given = rows(events)
    meant = [" ".join(map(str, one.lineage)) for one in oracle(bound(text), given)["late"]]
    found = [" ".join(one["lineage"]) for one in inkling.parse(text).run_local(given).tables["late"].to_pylist()]
    assert found == meant == expected


def test_an_automaton_can_do_it() -> None:
    text = f"{STREAMS} EVENT e AS PATTERN SEQ NEXT(A a, B b+ CHECK (b.x > 0), C c) PER END;"
    assert "Automaton e" in inkling.parse(text).explain()


def test_it_is_told_as_written() -> None:
    plan = bound(f"{STREAMS} EVENT e AS PATTERN SEQ NEXT(A a, B b[x < 9]{{2,}} EAGER CHECK (b.x > 0), C c);").events[0]
    assert PartTexts.of(plan).part(plan.pattern) == "SEQ NEXT(A a, B b[b.x < 9]{2,} EAGER CHECK (b.x > 0), C c)"
    repetition = next(part for part in p.sub_patterns(plan.pattern) if isinstance(part, p.Repetition))
    assert isinstance(repetition.pattern, p.Leaf)
    assert len(repetition.pattern.conditions) == len(repetition.pattern.checks) == 1


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("SEQ NEXT(A a, B b+ CHECK (COUNT(b) > 1), C c)", "INK0315"),
        ("SEQ NEXT(A a+, B b+ CHECK (COUNT(a) > 1), C c)", "INK0315"),
        ("SEQ NEXT(A a, (B b+ CHECK (b.x > 0) OR C d), C c)", "INK0393"),
        ("SEQ NEXT(A a, (SEQ(B b, C d))+ CHECK (b.x > 0), C c)", "INK0393"),
        ("SEQ NEXT(A a, (B b CHECK (b.x > 0))?, C c)", "INK0393"),
        ("SEQ(A a, B b+ EAGER CHECK (b.x > 0), C c)", "INK0385"),
        ("SEQ NEXT(A a, B b* EAGER CHECK (b.x > 0), C c)", "INK0386"),
        ("SEQ NEXT(A a, B b+ CHECK (c.x > 0), C c)", "INK0308"),
    ],
)
def test_what_it_cannot_be(pattern: str, code: str) -> None:
    with pytest.raises(InklingError) as error:
        bound(f"{STREAMS} EVENT e AS PATTERN {pattern};")
    assert [one.code for one in error.value.diagnostics] == [code]


def test_inside_not_it_is_tested_there() -> None:
    """The next B after the C that NOT looks for has x = 0, so it is checked, and the C is no obstacle."""
    part = "NOT SEQ NEXT(C c, B b CHECK (b.x > 0))"
    assert matches(f"SEQ NEXT(A a, {part}, A d)", "a1 c2 b3=0 b4=1 a5") == ["a1 a5"]
    assert matches(f"SEQ NEXT(A a, {part}, A d)", "a1 c2 b3=1 b4=0 a5") == []
