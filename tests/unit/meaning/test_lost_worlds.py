"""What declarations say about lost events besides their numbers: marks, hidden points, rates, tables and timeouts.

Lists are times at which a segment opens or closes in turn; `_` is a lost event, and `mark 2 at 5` says that two events
had happened by 5. Numbers O5, O7 and so on are those of SimpMatch's oracles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import pytest

from inkling.meaning.lost_worlds import EMPTY_KEY, Intensity
from inkling.meaning.worlds import joint_worlds, probabilities, worlds
from inkling.model.schema import StreamSchema
from inkling.model.time import Duration
from inkling.model.uncertainty import LostEvents, Rate, Row, Rows, exact

SEGMENTS = LostEvents("seq", "role")
FOUR_TICKS = Duration(Fraction(4), "TICKS")


def declared(uncertainty: LostEvents = SEGMENTS, name: str = "S") -> StreamSchema:
    return StreamSchema(name, (), None, ("k",), "t", "t", uncertainty=uncertainty)


def recorded(key: str, text: str, words: tuple[str, str] = ("close", "open")) -> list[Row]:
    """`mark 0 at 2, _, 5`: the first of two events was lost after 2."""
    rows: list[Row] = []
    number = 0
    for part in text.split(", "):
        match part.split():
            case ["mark", happened, "at", time]:
                rows.append({"k": key, "seq": int(happened), "t": int(time), "role": "mark"})
            case ["_"]:
                number += 1
            case [time]:
                number += 1
                rows.append({"k": key, "seq": number, "t": int(time), "role": words[number % 2]})
    return rows


def segments(world: Rows, key: str) -> list[tuple[Fraction, Fraction]]:
    mine = sorted((row for row in world if row["k"] == key), key=lambda row: row["seq"])  # type: ignore[arg-type,return-value]
    assert [row["seq"] for row in mine] == list(range(1, len(mine) + 1))
    times = [exact(row["t"]) for row in mine]
    assert times == sorted(set(times))
    return list(zip(times[::2], times[1::2], strict=True))


def sharing(world: Rows) -> int:
    """How many segments of `a` intersect some of `b`."""
    return sum(any(s <= v and u <= e for u, v in segments(world, "b")) for s, e in segments(world, "a"))


def counts(rows: Rows, schema: StreamSchema, tables: dict[str, Rows] | None = None) -> dict[int, Fraction]:
    possible = list(worlds(rows, schema, tables or {}))
    assert sum(prob for prob, _ in possible) == 1
    return probabilities(possible, lambda world: [sharing(world)])


def relation(world: Rows) -> Iterator[str]:
    ((a, b),), ((c, d),) = segments(world, "a"), segments(world, "b")
    named = {
        "precedes": b < c,
        "overlaps": a < c < b < d,
        "contains": a < c and d < b,
        "during": c < a and b < d,
        "overlapped_by": c < a < d < b,
        "preceded_by": d < a,
    }
    yield from (name for name, holds in named.items() if holds)


class TestMarks:
    @pytest.mark.parametrize(
        ("n", "expected"),
        [(1, ["1/3", "2/3"]), (2, ["3/35", "16/35", "16/35"]), (3, ["5/231", "15/77", "34/77", "79/231"])],
    )
    def test_O5_everything_was_lost_in_a_common_window(self, n: int, expected: list[str]) -> None:
        rows = [row for key in "ab" for row in recorded(key, f"mark 0 at 0, mark {2 * n} at 1")]
        assert counts(rows, declared()) == {count: Fraction(prob) for count, prob in enumerate(expected)}

    def test_O7_one_around_a_recorded_one(self) -> None:
        rows = [*recorded("a", "mark 0 at 0, mark 2 at 10"), *recorded("b", "4, 6")]
        found = probabilities(worlds(rows, declared()), relation)
        expected = {"precedes": 4, "overlaps": 4, "contains": 8, "during": 1, "overlapped_by": 4, "preceded_by": 4}
        assert found == {name: Fraction(n, 25) for name, n in expected.items()}

    def test_O16_segments_with_labels(self) -> None:
        """A segment of `a` may only meet that of `b` with the same place."""
        rows = [*recorded("a", "mark 0 at 0, mark 4 at 12"), *recorded("b", "2, 4, 6, 10")]
        possible = list(worlds(rows, declared()))
        assert len(possible) == 70

        def same(world: Rows) -> Iterable[int]:
            pairs = zip(segments(world, "a"), segments(world, "b"), strict=True)
            return [sum(s <= v and u <= e for (s, e), (u, v) in pairs)]

        found = probabilities(possible, same)
        assert found[1] + found[2] == Fraction(1189, 1296)
        assert found[2] == Fraction(181, 324)
        assert counts(rows, declared())[0] == 1 - Fraction(425, 432)

    def test_they_take_the_place_of_bounds(self) -> None:
        """O8: A = [2, lost until 10], B = [lost from 0, 6]."""
        rows = [*recorded("a", "2, _, mark 2 at 10"), *recorded("b", "mark 0 at 0, _, 6")]
        found = probabilities(worlds(rows, declared()), relation)
        sixths = {"precedes": 1, "overlaps": 1, "contains": 2, "during": 1, "overlapped_by": 1}
        assert found == {name: Fraction(n, 6) for name, n in sixths.items()}

    def test_they_border_what_was_lost(self) -> None:
        """Events 2 and 3 were lost in (0, 10), one of them before 4, one after."""
        rows = [*recorded("a", "0, _, mark 2 at 4, _, 10"), *recorded("b", "2, 7")]
        possible = list(worlds(rows, declared()))
        assert sorted(prob for prob, _ in possible) == [Fraction(1, 4)] * 4
        assert all(row["role"] != "mark" for _, world in possible for row in world)

    def test_a_mark_where_nothing_was_lost_changes_nothing(self) -> None:
        plain = [*recorded("a", "0, 2, 4, 6"), *recorded("b", "1, _, _, 10")]
        marked = [*recorded("a", "mark 0 at -1, 0, 2, mark 2 at 2, mark 2 at 3, 4, 6"), *recorded("b", "1, _, _, 10")]
        assert counts(marked, declared()) == counts(plain, declared()) == {1: Fraction(8, 27), 2: Fraction(19, 27)}

    def test_an_empty_key_has_no_events(self) -> None:
        rows = recorded("a", "mark 0 at 1, mark 0 at 3")
        assert list(worlds(rows, declared())) == [(1, [{**rows[1], EMPTY_KEY: True}])]

    @pytest.mark.parametrize(
        "text",
        [
            "mark 0 at 5, 5",
            "5, mark 1 at 4",
            "mark 2 at 5",
            "mark 0 at 3, mark 2 at 3",
            "mark 0 at 3, mark 2 at 2",
            "mark 0 at 5, mark -1 at 6",
        ],
    )
    def test_marks_that_make_no_sense(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"\d|BOUNDS"):
            list(worlds(recorded("a", text), declared()))


class TestHiddenPoints:
    def test_O21_the_middle_of_two_gaps(self) -> None:
        """Sums of two exponential gaps keep a lost event away from the ends: before 1/3 with 7/27, not with 1/3."""
        schema = declared(LostEvents("seq", shape=2))
        rows = [{"k": "a", "seq": 1, "t": 0}, {"k": "a", "seq": 3, "t": 3}]
        others = [{"k": "b", "t": 1}]
        found = [
            (prob, next(exact(row["t"]) for row in world["S"] if row["seq"] == 2))
            for prob, world in joint_worlds(
                {"S": rows, "T": others}, [schema, StreamSchema("T", (), None, ("k",), "t", "t")]
            )
        ]
        assert sum(prob for prob, time in found if time < 1) == Fraction(7, 27)

    def test_O21_O1_with_gaps_of_two_parts(self) -> None:
        """Only `b` lost events, so it does not matter that `a` has such gaps, too."""
        rows = [*recorded("a", "0, 2, 4, 6"), *recorded("b", "1, _, _, 10")]
        assert counts(rows, declared(LostEvents("seq", "role", shape=2)))[2] == Fraction(4481, 6561)

    def test_marks_are_like_events(self) -> None:
        """Between two marks one event is the middle of three points."""
        rows = [*recorded("a", "mark 0 at 0, _, mark 1 at 4"), *recorded("b", "1, 3")]
        possible = worlds(rows, declared(LostEvents("seq", shape=2, role="role")))
        inside = sum(prob for prob, world in possible if any(1 < exact(row["t"]) < 3 for row in world))
        assert inside == 1 - 2 * Fraction(1 + 3 * 3, 64)


def quadratic(n: int) -> Rows:
    """A rate that grows with time, in steps: half of a step is its middle."""
    return [{"since": Fraction(step, n), "rate": Fraction(2 * step + 1, n)} for step in range(11 * n)]


class TestIntensity:
    def test_O22_a_rate_that_grows_with_time(self) -> None:
        """Steps of whole numbers add up to the squares of all times that were recorded: 1, 2, 4, 6 and 10."""
        rows = [*recorded("a", "0, 2, 4, 6"), *recorded("b", "1, _, _, 10")]
        schema = declared(LostEvents("seq", "role", intensity="busy"))
        assert counts(rows, schema, {"busy": quadratic(1)})[2] == Fraction(2627, 3267)

    def test_rates_of_two_streams(self) -> None:
        """One lost in (0, 2) at rates 1 and 3, one at the same rate all the time."""
        schemas = [declared(LostEvents("seq", intensity=name), name.upper()) for name in ("s", "t")]
        rows = {name: [{"k": "a", "seq": 1, "t": 0}, {"k": "a", "seq": 3, "t": 2}] for name in ("S", "T")}
        tables = {"s": [{"since": 0, "rate": 1}, {"since": 1, "rate": 3}], "t": [{"since": 5, "rate": Fraction(1, 7)}]}

        def lost(world: dict[str, Rows], name: str) -> Fraction:
            return next(exact(row["t"]) for row in world[name] if row["seq"] == 2)

        possible = list(joint_worlds(rows, schemas, tables))
        assert sum(prob for prob, _ in possible) == 1
        before = Fraction(1, 4) * (Fraction(1, 2) + Fraction(1, 4)) + Fraction(3, 4) * Fraction(1, 4)
        assert sum(prob for prob, world in possible if lost(world, "S") < lost(world, "T")) == before

    def test_the_first_rate_holds_before_its_time(self) -> None:
        steps = Intensity.of([{"since": 4, "rate": 5}, {"since": 2, "rate": 3}])
        assert steps.between(Fraction(0), Fraction(6)) == 4 * 3 + 2 * 5

    @pytest.mark.parametrize(
        "rows",
        [
            [],
            [{"since": 0, "rate": 0}],
            [{"since": 0, "rate": None}],
            [{"since": 0, "rate": 1}, {"since": 0, "rate": 2}],
        ],
    )
    def test_tables_that_make_no_sense(self, rows: Rows) -> None:
        with pytest.raises(ValueError, match="rate"):
            Intensity.of(rows)


class TestKnown:
    SCHEDULE = (
        {"seq": 1, "k": "a", "stop": "north"},
        {"seq": 2, "k": "a", "stop": None},
        {"seq": 2, "k": "b", "stop": "south"},
        {"seq": 3, "k": "a", "stop": "west"},
    )

    def test_lost_events_have_what_the_table_says(self) -> None:
        schema = declared(LostEvents("seq", "role", known="schedule"))
        rows = recorded("a", "0, _, _, 10")
        ((_, world),) = worlds(rows, schema, {"schedule": self.SCHEDULE})
        said = {row["seq"]: (row.get("stop"), row["role"]) for row in world}
        assert said == {1: (None, "open"), 2: (None, "close"), 3: ("west", "open"), 4: (None, "close")}

    def test_a_table_that_says_two_things(self) -> None:
        schema = declared(LostEvents("seq", "role", known="schedule"))
        twice = [{"seq": 2, "stop": "north"}, {"seq": 2, "stop": "south"}]
        with pytest.raises(ValueError, match="two things"):
            list(worlds(recorded("a", "0, _, _, 10"), schema, {"schedule": twice}))


class TestTimeouts:
    CLOSING = LostEvents("seq", "role", "n", ("first", "last"), timeout=FOUR_TICKS)

    def test_an_open_segment_is_closed(self) -> None:
        """One event was lost in (3, 7): before 4 with 1/4."""
        rows = [*recorded("a", "3"), *recorded("b", "4, 6")]
        possible = list(worlds(rows, declared(self.CLOSING)))
        early = [prob for prob, world in possible if segments(world, "a")[0][1] < 4]
        assert (sum(prob for prob, _ in possible), sum(early)) == (1, Fraction(1, 4))

    def test_nothing_is_missing_where_no_segment_is_open(self) -> None:
        rows = recorded("a", "1, 3")
        assert list(worlds(rows, declared(self.CLOSING))) == [(1, rows)]

    def test_what_a_count_shows_to_be_missing(self) -> None:
        rows = [{**row, "n": 6} for row in recorded("a", "1, 3")]
        ((_, world),) = worlds(rows, declared(self.CLOSING))
        assert all(3 < exact(row["t"]) < 7 for row in world[2:])
        assert [row["role"] for row in world[2:]] == ["open", "close", "open", "close"]

    def test_a_bound_may_come_first(self) -> None:
        rows = [{**row, "last": 5} for row in recorded("a", "3")] + recorded("b", "1, 4")
        found = [prob for prob, world in worlds(rows, declared(self.CLOSING)) if segments(world, "a")[0][1] < 4]
        assert found == [Fraction(1, 2)]

    def test_a_row_comes_too_late(self) -> None:
        with pytest.raises(ValueError, match="timeout"):
            list(worlds(recorded("a", "1, 5, 10"), declared(self.CLOSING)))
        assert len(list(worlds(recorded("a", "1, 5, 9, 13"), declared(self.CLOSING)))) == 1


class TestRates:
    @pytest.mark.parametrize("rate", [Rate(2.0, FOUR_TICKS), "speed"])
    def test_what_nothing_else_limits_has_no_exact_probability(self, rate: Rate | str) -> None:
        rows = [{**row, "speed": 0.5} for row in recorded("a", "_, 5")]
        with pytest.raises(ValueError, match="RATE"):
            list(worlds(rows, declared(LostEvents("seq", rate=rate))))

    def test_it_is_not_needed_where_marks_limit_what_was_lost(self) -> None:
        rows = recorded("a", "mark 0 at 1, _, 5")
        assert len(list(worlds(rows, declared(LostEvents("seq", "role", rate=Rate(2.0, FOUR_TICKS)))))) == 1


class TestRoles:
    WORDS = ("suspend", "resume")

    @pytest.mark.parametrize(
        ("roles", "expected"),
        [
            ({3: "resume", 4: "suspend"}, ["start", "suspend", "resume", "suspend", "resume", "end"]),
            ({1: "START", 4: "SUSPEND"}, ["START", "SUSPEND", "RESUME", "SUSPEND", "RESUME", "END"]),
            ({1: "start"}, ["start", "suspend", "resume", "suspend", "resume", "end"]),
            ({6: "End"}, ["Start", "Suspend", "Resume", "Suspend", "Resume", "End"]),
            ({2: "close"}, ["open", "close", "open", "close", "open", "close"]),
            ({1: "up"}, ["up", None, "up", None, "up", None]),
            ({1: "up", 2: "down"}, ["up", "down", "up", "down", "up", "down"]),
        ],
    )
    def test_lost_events_speak_like_recorded_ones(self, roles: dict[int, str], expected: list[str | None]) -> None:
        about = {"k": "a", "n": 6, "first": 0, "last": 10}
        rows = [{**about, "seq": number, "t": number, "role": role} for number, role in roles.items()]
        schema = declared(LostEvents("seq", "role", "n", ("first", "last")))
        for _, world in worlds(rows, schema):
            assert [row["role"] for row in sorted(world, key=lambda row: int(exact(row["seq"])))] == expected

    def test_the_end_says_that_nothing_follows(self) -> None:
        """A timeout would have closed what is open; after the end nothing is."""
        schema = declared(LostEvents("seq", "role", timeout=FOUR_TICKS))
        rows = recorded("a", "1, 3", ("end", "start"))
        assert list(worlds(rows, schema)) == [(1, rows)]


def test_a_gap_across_many_times() -> None:
    schemas = [declared(LostEvents("seq")), StreamSchema("T", (), None, ("k",), "t", "t")]
    rows = {
        "S": [{"k": "a", "seq": 1, "t": 0}, {"k": "a", "seq": 3, "t": 1500}],
        "T": [{"k": "b", "t": time} for time in range(1, 1500)],
    }
    assert [prob for prob, _ in joint_worlds(rows, schemas)] == [Fraction(1, 1500)] * 1500
