"""The definition gives what the language reference says beside its examples, by their numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inkling.logical.semantics import Result
from inkling.testing.oracle import bound, oracle, probable_oracle
from inkling.testing.rows import Rows, points, word

LETTERS = "\n".join(f"STREAM {name}(id STRING, t INT) ID id TIME t;" for name in ("A", "B", "C", "D"))
ORDERED = "STREAM V(id STRING, t INT, seq INT, s STRING, k STRING, n INT) ID id KEY k TIME t ORDER BY seq;"


def results(program: str, rows: Rows, event: str = "x") -> tuple[Result, ...]:
    return oracle(bound(program), rows)[event]


def lineages(program: str, rows: Rows) -> list[str]:
    return [" ".join(str(one) for one in result.lineage) for result in results(program, rows)]


def spans(program: str, rows: Rows) -> list[tuple[int, int]]:
    return [(result.start, result.end) for result in results(program, rows)]


def letters(pattern: str) -> str:
    return f"{LETTERS} EVENT x AS PATTERN {pattern};"


class TestEtalis:
    ROWS = points("a1 a2 a3 b4 b5 c6")

    def test_1_six_matches(self) -> None:
        assert sorted(lineages(letters("SEQ(A a, B b, C c)"), self.ROWS)) == [
            f"{a} {b} c6" for a in ("a1", "a2", "a3") for b in ("b4", "b5")
        ]

    def test_1_three_intervals(self) -> None:
        assert spans(letters("SEQ(A a, B b, C c) PER INTERVAL"), self.ROWS) == [(1, 6), (2, 6), (3, 6)]

    ALARM = """
        STREAM Req(id STRING, n INT, t INT) ID id TIME t; STREAM Rep(id STRING, n INT, t INT) ID id TIME t;
        EVENT x(r.n) AS PATTERN SEQ(Req r, NOT Rep[n = r.n], AFTER 10 TICKS);
    """

    @pytest.mark.parametrize(("reply", "expected"), [(9, []), (10, [(0, 10)])])
    def test_2_alarm(self, reply: int, expected: list[tuple[int, int]]) -> None:
        rows = {"Req": [{"id": "q", "n": 7, "t": 0}], "Rep": [{"id": "p", "n": 7, "t": reply}]}
        assert spans(self.ALARM, rows) == expected

    def test_2_the_alarm_is_known_at_its_deadline(self) -> None:
        (alarm,) = results(self.ALARM, {"Req": [{"id": "q", "n": 7, "t": 0}], "Rep": []})
        assert (alarm.values, alarm.detected_at, alarm.lineage) == ((7,), 10, ("q",))

    def test_4_pure(self) -> None:
        pure = letters("SEQ(A, B, C) EQUALS (NOT (A OR C) BETWEEN A AND C) PER INTERVAL")
        assert spans(pure, points("a1 b2 a3 c4")) == []
        assert spans(pure, points("a1 b2 c4")) == [(1, 4)]

    def test_5_a_table_supplies_a_variable(self) -> None:
        """The look-up is a table here; every solution is one result."""
        program = """
            STREAM Fix(id STRING, spot STRING, t INT) ID id TIME t;
            TABLE area_of(z STRING, spot STRING) FROM 'areas.csv';
            EVENT x(z) AS PATTERN Fix f WHERE area_of(z, f.spot);
        """
        areas = [{"z": z, "spot": spot} for z, spot in (("north", "p"), ("harbor", "p"), ("south", "q"))]
        rows = {"Fix": [{"id": "f", "spot": "p", "t": 1}]}
        found = oracle(bound(program), rows, {"area_of": areas})["x"]
        assert sorted(result.values for result in found) == [("harbor",), ("north",)]


def automaton(pattern: str, clauses: str = "") -> str:
    return f"{ORDERED} EVENT x AS PATTERN {pattern} PARTITION BY k {clauses} PER END;"


def ends(program: str, symbols: str) -> list[int]:
    rows = {"V": [{**row, "k": "k"} for row in word(symbols)["V"]]}
    return [result.end for result in results(program, rows)]


class TestWayeb:
    def test_7_theft(self) -> None:
        assert ends(automaton("SEQ STRICT(V[s = 'P']{3,})"), "PPPPP") == [3, 4, 5]
        assert ends(automaton("SEQ STRICT(V[s = 'P']{3,})", "CONSUME RESTART"), "PPPPP") == [3]

    GAPLESS = automaton("SEQ STRICT(V[s='A'], COMPLEMENT(SEQ STRICT(_*, V[s='B'], _*)), V[s='C'])")

    @pytest.mark.parametrize(("symbols", "expected"), [("AXC", [3]), ("ABC", [])])
    def test_8_gapless(self, symbols: str, expected: list[int]) -> None:
        assert ends(self.GAPLESS, symbols) == expected

    def test_9_mixed(self) -> None:
        mixed = automaton("SEQ NEXT(V[s='A'], SEQ STRICT(V[s='B'], V[s='C']), V[s='D'])")
        assert ends(mixed, "ABXBCD") == [6]

    @pytest.mark.parametrize(
        ("speeds", "expected"),
        [((5, 4, 4, 6), [4]), ((5, 4, 4, 4, 6), []), ((5, 6), [2]), ((5, 5), [])],
        ids=["the fourth event", "one event too many", "at once", "not faster"],
    )
    def test_10_faster_within_four_events(self, speeds: tuple[int, ...], expected: list[int]) -> None:
        program = automaton("SEQ STRICT(V x[s='A'], _*, V y[n > x.n]) WITHIN 4 EVENTS").replace("EVENT x", "EVENT e")
        rows = {
            "V": [
                {"id": str(t), "t": t, "seq": t, "k": "k", "s": "A" if t == 1 else "B", "n": n}
                for t, n in enumerate(speeds, start=1)
            ]
        }
        assert [result.end for result in results(program, rows, "e")] == expected


class TestSase:
    ROWS = points("a1 b2 b3 c4 d5")

    def test_12_any_and_next(self) -> None:
        assert lineages(letters("SEQ ANY(A a, B b, C c, D d)"), self.ROWS) == ["a1 b2 c4 d5", "a1 b3 c4 d5"]
        assert lineages(letters("SEQ NEXT(A a, B b, C c, D d)"), self.ROWS) == ["a1 b2 c4 d5"]

    def test_13_confidence(self) -> None:
        program = """
            STREAM A(id STRING, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
            STREAM B(id STRING, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
            EVENT x AS PATTERN SEQ(A a, B b);
        """
        rows = {"A": [{"id": "a", "lo": 1, "hi": 2}], "B": [{"id": "b", "lo": 2, "hi": 3}]}
        (pair,) = probable_oracle(bound(program), rows)["x"]
        assert (pair.probability, pair.start, pair.end) == (Fraction(3, 4), 1, 3)
        assert pair.lineage == ("a", "b")

    @pytest.mark.parametrize("time", [2, 3, 4, 5, 6])
    def test_14_killed_by_3_to_5_not_by_2_or_6(self, time: int) -> None:
        after = letters("SEQ(A a, B b, NOT C) WITHIN 5 POINTS")
        assert lineages(after, points(f"a1 b2 c{time}")) == ([] if 3 <= time <= 5 else ["a1 b2"])

    def test_14_the_end_is_the_last_event_and_the_absence_is_known_later(self) -> None:
        (found,) = results(letters("SEQ(A a, B b, NOT C) WITHIN 5 POINTS"), points("a1 b2"))
        assert (found.start, found.end, found.detected_at) == (1, 2, 5)

    def test_15_without_eager_also_the_shorter_list(self) -> None:
        found = lineages(letters("SEQ NEXT(A a, B b+, C c)"), points("a1 b2 b3 c4"))
        assert sorted(found) == ["a1 b2 b3 c4", "a1 b2 c4"]

    @pytest.mark.parametrize(("key", "expected"), [("other", ["a c"]), ("k", [])])
    def test_16_contiguity_in_a_partition(self, key: str, expected: list[str]) -> None:
        streams = "\n".join(f"STREAM {name}(id STRING, k STRING, t INT) ID id KEY k TIME t;" for name in "ABC")
        program = f"{streams} EVENT x AS PATTERN SEQ STRICT(A a, C c) PARTITION BY k OVER (A, B, C);"
        rows: Rows = {
            "A": [{"id": "a", "k": "k", "t": 1}],
            "B": [{"id": "b", "k": key, "t": 2}],
            "C": [{"id": "c", "k": "k", "t": 3}],
        }
        assert lineages(program, rows) == expected


class TestLahar:
    AT = "STREAM At(person STRING, room STRING, t INT) KEY person TIME t;"

    def times(self, event: str, rooms: str) -> list[int]:
        rows = {"At": [{"person": "joe", "room": room, "t": t} for t, room in enumerate(rooms, start=1)]}
        return [result.end for result in results(f"{self.AT} EVENT x(person) AS PATTERN {event}", rows)]

    def test_17_a_condition_in_brackets_skips(self) -> None:
        pre = "SEQ NEXT(At a[room='a'], At c[room='c']) PARTITION BY person PER END;"
        assert self.times(pre, "abc") == [3]

    def test_18_HAVING_does_not_skip(self) -> None:
        post = "SEQ NEXT(At a[room='a'], At c) HAVING c.room='c' PARTITION BY person PER END;"
        assert self.times(post, "abc") == []
        assert self.times(post, "acc") == [2]

    def test_17_and_18_with_a_probability(self) -> None:
        """With HAVING, c at 2 uses the hop up: a and b are not enough, c must be missing as well."""
        stream = "STREAM R(name STRING, t INT, p DOUBLE) KEY name TIME t PROBABILITY p;"
        rows = {
            "R": [
                {"name": "a", "t": 1, "p": "1/2"},
                {"name": "c", "t": 2, "p": "1/3"},
                {"name": "b", "t": 3, "p": "3/4"},
            ]
        }
        pre = bound(f"{stream} EVENT x AS PATTERN SEQ NEXT(R[name='a'], R[name='b']) PER END;")
        post = bound(f"{stream} EVENT x AS PATTERN SEQ NEXT(R[name='a'], R y) HAVING y.name='b' PER END;")
        assert [(one.end, one.probability) for one in probable_oracle(pre, rows)["x"]] == [(3, Fraction(3, 8))]
        assert [(one.end, one.probability) for one in probable_oracle(post, rows)["x"]] == [(3, Fraction(1, 4))]
