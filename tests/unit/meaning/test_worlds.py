"""Worlds of every kind of uncertainty, with probabilities worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product

import pytest

from inkling.meaning.worlds import joint_worlds, probabilities, worlds
from inkling.model.schema import Column, StreamSchema, certain
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue, Rows, Uncertainty, exact, probability

WHEN = ImpreciseTime("lo", "hi", "weights")
WHAT = ProbableValue("p")
NEXT = ProbableValue("p", ("previous_room",))
LOST = LostEvents("seq", role="role")


def declared(uncertainty: Uncertainty | None, name: str = "S") -> StreamSchema:
    imprecise = isinstance(uncertainty, ImpreciseTime)
    return StreamSchema(
        name,
        (Column("k", Type.STRING), Column("room", Type.STRING)),
        id=None,
        key=("k",),
        start="lo" if imprecise else "t",
        end="hi" if imprecise else "t",
        time_type=Type.INTEGER,
        uncertainty=uncertainty,
    )


def mass(possible: Iterable[tuple[Fraction, object]]) -> Fraction:
    return sum((prob for prob, _ in possible), start=Fraction(0))


def chance(rows: Rows, uncertainty: Uncertainty, holds: Callable[[Rows], bool]) -> Fraction:
    """Probability of a condition; the masses of all worlds must sum to 1."""
    possible = list(worlds(rows, declared(uncertainty)))
    assert mass(possible) == 1
    assert all(prob > 0 for prob, _ in possible)
    return probabilities(possible, lambda world: ["yes"] if holds(world) else []).get("yes", Fraction(0))


def test_a_certain_stream_is_one_world() -> None:
    rows = [{"k": "a", "t": 1}]
    assert list(worlds(rows, declared(None))) == [(1, rows)]


def test_numbers_are_read_as_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact("1/3") == Fraction(1, 3)
    with pytest.raises(TypeError, match="no number"):
        exact(None)


@pytest.mark.parametrize("wrong", [-0.1, 1.5])
def test_a_probability_lies_between_0_and_1(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"lies in \[0, 1\]"):
        probability(wrong)


class TestWhen:
    def test_two_intervals_in_order(self) -> None:
        """Example 13: a in [1, 2] and b in [2, 3]; only a = b = 2 is not in order."""
        rows = [{"k": "a", "lo": 1, "hi": 2}, {"k": "b", "lo": 2, "hi": 3}]
        assert chance(rows, WHEN, lambda world: world[0]["lo"] < world[1]["lo"]) == Fraction(3, 4)

    def test_weights(self) -> None:
        rows = [{"k": "a", "lo": 1, "hi": 3, "weights": [2, 0, 6]}]
        assert [(prob, row["lo"], row["hi"]) for prob, (row,) in worlds(rows, declared(WHEN))] == [
            (Fraction(1, 4), 1, 1),
            (Fraction(3, 4), 3, 3),
        ]

    @pytest.mark.parametrize("weights", [[1], [0, 0], [2, -1]])
    def test_weights_that_make_no_distribution(self, weights: list[int]) -> None:
        with pytest.raises(ValueError, match="weights"):
            list(worlds([{"k": "a", "lo": 1, "hi": 2, "weights": weights}], declared(WHEN)))

    def test_an_interval_does_not_end_before_it_starts(self) -> None:
        with pytest.raises(ValueError, match="ends before it starts"):
            list(worlds([{"k": "a", "lo": 2, "hi": 1}], declared(WHEN)))

    def test_a_world_holds_points(self) -> None:
        assert (certain(declared(WHEN)).start, certain(declared(WHEN)).end) == ("lo", "lo")


def rooms(rows: Iterable[tuple[object, ...]]) -> list[dict[str, object]]:
    """Rows of key, time, room, probability and maybe the previous room."""
    return [dict(zip(("k", "t", "room", "p", "previous_room"), row, strict=False)) for row in rows]


def seen(world: Rows) -> list[object]:
    return [row["room"] for row in world]


class TestWhat:
    def test_alternatives_exclude_each_other_and_the_rest_is_nothing(self) -> None:
        rows = rooms([("joe", 1, "326", "0.2"), ("joe", 1, "327", "0.7")])
        possible = {tuple(seen(world)): prob for prob, world in worlds(rows, declared(WHAT))}
        assert possible == {("326",): Fraction(1, 5), ("327",): Fraction(7, 10), (): Fraction(1, 10)}

    def test_times_and_keys_are_independent(self) -> None:
        rows = rooms([("joe", 1, "a", "1/2"), ("joe", 2, "a", "1/3"), ("sue", 1, "a", "3/4")])
        assert chance(rows, WHAT, lambda world: len(world) == 3) == Fraction(1, 8)
        assert chance(rows, WHAT, lambda world: len(world) == 0) == Fraction(1, 12)

    def test_nothing_of_probability_0_is_a_world(self) -> None:
        rows = rooms([("joe", 1, "a", 0), ("joe", 1, "b", 1)])
        assert [seen(world) for _, world in worlds(rows, declared(WHAT))] == [["b"]]

    def test_more_than_certain_is_rejected(self) -> None:
        rows = rooms([("joe", 1, "a", 0.6), ("joe", 1, "b", 0.47)])
        with pytest.raises(ValueError, match=r"sum to 1\.07"):
            list(worlds(rows, declared(WHAT)))


class TestWhatGivenThePreviousValue:
    CHAIN = rooms(
        [
            ("joe", 1, "A", "2/5"),
            ("joe", 1, "B", "3/5"),
            ("joe", 2, "A", 1, "A"),
            ("joe", 2, "C", "1/2", "B"),
            ("joe", 2, "D", "1/2", "B"),
        ]
    )

    def test_a_path_multiplies_its_steps(self) -> None:
        possible = {tuple(seen(world)): prob for prob, world in worlds(self.CHAIN, declared(NEXT))}
        expected = {("A", "A"): Fraction(2, 5), ("B", "C"): Fraction(3, 10), ("B", "D"): Fraction(3, 10)}
        assert possible == expected

    def test_missing_mass_is_no_event_and_rows_without_previous_value_follow_it(self) -> None:
        """From a: half stays, half vanishes; after nothing, a returns with a quarter."""
        step = [("joe", time, "a", prob, before) for time in (2, 3) for prob, before in (("1/2", "a"), ("1/4", None))]
        rows = rooms([("joe", 1, "a", 1), *step])
        assert chance(rows, NEXT, lambda world: [row["t"] for row in world] == [1, 3]) == Fraction(1, 8)
        assert chance(rows, NEXT, lambda world: [row["t"] for row in world] == [1]) == Fraction(3, 8)

    def test_a_time_with_initial_rows_only_starts_a_new_chain(self) -> None:
        rows = rooms([("joe", 1, "a", "1/2"), ("joe", 2, "b", "1/3")])
        assert chance(rows, NEXT, lambda world: seen(world) == ["a", "b"]) == Fraction(1, 6)

    def test_rows_that_all_equal_the_next_marginal_make_times_independent(self) -> None:
        marginal = [("a", "1/3"), ("b", "1/2")]
        chained = rooms(
            ("joe", time, room, prob, before)
            for time in (1, 2)
            for room, prob in marginal
            for before in ((None,) if time == 1 else (None, "a", "b"))
        )
        plain = rooms(("joe", time, room, prob) for time in (1, 2) for room, prob in marginal)

        def by_world(rows: Rows, uncertainty: Uncertainty) -> dict[tuple[object, ...], Fraction]:
            return probabilities(
                worlds(rows, declared(uncertainty)), lambda world: [tuple((row["t"], row["room"]) for row in world)]
            )

        assert by_world(chained, NEXT) == by_world(plain, WHAT)

    def test_every_value_needs_a_previous_one(self) -> None:
        with pytest.raises(ValueError, match="one column for each of room"):
            list(worlds(self.CHAIN, declared(ProbableValue("p", ("previous_room", "previous_door")))))


def recorded(key: str, *times: int | None) -> list[dict[str, object]]:
    """Numbered events of one key, opening and closing in turn; None was lost."""
    return [
        {"k": key, "seq": number, "t": time, "role": "open" if number % 2 else "close"}
        for number, time in enumerate(times, start=1)
        if time is not None
    ]


Segments = list[tuple[Fraction, Fraction]]


def segments(world: Rows, key: str) -> Segments:
    """Segments of a key: pairs of what opens and what closes, by number."""
    mine = sorted((row for row in world if row["k"] == key), key=lambda row: row["seq"])
    assert [row["role"] for row in mine] == ["open", "close"] * (len(mine) // 2)
    times = [exact(row["t"]) for row in mine]
    assert times == sorted(times)
    return list(zip(times[::2], times[1::2], strict=True))


def sharing(left: Segments, right: Segments) -> int:
    """How many segments of the left intersect some segment of the right."""
    return sum(any(a <= d and c <= b for c, d in right) for a, b in left)


def counts(rows: Rows, uncertainty: LostEvents = LOST, left: str = "A", right: str = "B") -> dict[int, Fraction]:
    possible = list(worlds(rows, declared(uncertainty)))
    assert mass(possible) == 1
    return probabilities(possible, lambda world: [sharing(segments(world, left), segments(world, right))])


class TestWhether:
    def test_example_22_one_lost_opening(self) -> None:
        """x = [0, 4]; y closed at -3, opened unseen, closed at 6: it opened before 4 with 7/9."""
        rows = [*recorded("x", 0, 4), *recorded("y", -5, -3, None, 6)]
        assert counts(rows, left="x", right="y")[1] == Fraction(7, 9)

    def test_O1_ten_worlds(self) -> None:
        rows = [*recorded("A", 0, 2, 4, 6), *recorded("B", 1, None, None, 10)]
        weights = sorted(prob for prob, _ in worlds(rows, declared(LOST)))
        assert weights == sorted(Fraction(n, 81) for n in (1, 4, 4, 8, 4, 8, 16, 4, 16, 16))
        assert counts(rows) == {1: Fraction(8, 27), 2: Fraction(19, 27)}
        assert counts(rows, left="B", right="A")[2] == Fraction(25, 81)

    def test_O9_one_lost_each(self) -> None:
        rows = [*recorded("A", 0, 3, None, 9), *recorded("B", 1, None, 7, 8)]
        assert len(list(worlds(rows, declared(LOST)))) == 7
        assert counts(rows) == {1: Fraction(1, 6), 2: Fraction(5, 6)}

    def test_O10_three_segments(self) -> None:
        rows = [*recorded("A", 0, None, None, 6, 8, 11), *recorded("B", 1, 3, None, None, None, 12)]
        assert len(list(worlds(rows, declared(LOST)))) == 186
        assert counts(rows) == {
            0: Fraction(11, 2187),
            1: Fraction(5389, 52488),
            2: Fraction(12503, 26244),
            3: Fraction(21829, 52488),
        }

    def test_O12_recorded_ties_are_one_world(self) -> None:
        rows = [*recorded("A", 0, 4, 6, 8), *recorded("B", 4, 6)]
        assert counts(rows) == {2: Fraction(1)}

    def test_O8_bounds_and_count_for_what_was_lost_at_the_ends(self) -> None:
        """A = [2, lost until 10], B = [lost from 0, 6]."""
        uncertainty = LostEvents("seq", role="role", count="n", bounds=("first", "last"))
        bounds = {"n": 2, "first": 0, "last": 10}
        rows = [{**row, **bounds} for row in (*recorded("A", 2, None), *recorded("B", None, 6))]

        def relation(world: Rows) -> Iterable[str]:
            ((a, b),), ((c, d),) = segments(world, "A"), segments(world, "B")
            if b < c:
                yield "precedes"
            if a < c < b < d:
                yield "overlaps"
            if a < c and d < b:
                yield "contains"
            if c < a and b < d:
                yield "during"
            if c < a < d < b:
                yield "overlapped_by"

        found = probabilities(worlds(rows, declared(uncertainty)), relation)
        assert found == {
            "precedes": Fraction(1, 6),
            "overlaps": Fraction(1, 6),
            "contains": Fraction(1, 3),
            "during": Fraction(1, 6),
            "overlapped_by": Fraction(1, 6),
        }

    def test_O17_a_closing_that_is_only_counted(self) -> None:
        uncertainty = LostEvents("seq", role="role", count="n", bounds=("first", "last"))
        ends = {"first": 0, "last": 12}
        rows = [
            *({**row, "n": 4, **ends} for row in recorded("A", 0, 2, 4, 6)),
            *({**row, "n": 4, **ends} for row in recorded("B", 1, None, None, None)),
        ]
        assert counts(rows, uncertainty)[2] == Fraction(980, 1331)

    def test_O18_lost_events_of_three_keys(self) -> None:
        """One lost event each in (0, 6), (2, 8) and (4, 10): in order with 91/162, in 44 worlds."""
        rows = [*recorded("a", 0, None, 6), *recorded("b", 2, None, 8), *recorded("c", 4, None, 10)]
        possible = list(worlds(rows, declared(LostEvents("seq"))))

        def lost_times(world: Rows) -> list[Fraction]:
            return [exact(row["t"]) for key in "abc" for row in world if row["k"] == key and row["seq"] == 2]

        in_order = [prob for prob, world in possible if lost_times(world) == sorted(lost_times(world))]
        assert sum(in_order) == Fraction(91, 162)
        assert len(possible) == 44

    def test_lost_events_without_bounds_are_rejected(self) -> None:
        with pytest.raises(ValueError, match="BOUNDS"):
            list(worlds(recorded("A", None, 6), declared(LOST)))

    def test_a_number_is_given_once(self) -> None:
        with pytest.raises(ValueError, match="given twice"):
            list(worlds([*recorded("A", 1, 2), *recorded("A", 3, 4)], declared(LOST)))

    def test_nothing_is_lost_in_no_time(self) -> None:
        with pytest.raises(ValueError, match="in no time"):
            list(worlds(recorded("A", 1, None, 1, 2), declared(LOST)))


class TestSeveralStreams:
    def test_streams_are_independent(self) -> None:
        rows = {"A": [{"k": "a", "lo": 1, "hi": 2}], "B": rooms([("joe", 2, "a", "1/3")]), "C": [{"k": "c", "t": 9}]}
        schemas = [declared(WHEN, "A"), declared(WHAT, "B"), declared(None, "C")]
        possible = list(joint_worlds(rows, schemas))
        assert [prob for prob, _ in possible] == [
            one * other for one, other in product((Fraction(1, 2),) * 2, (Fraction(1, 3), Fraction(2, 3)))
        ]
        assert all(world["C"] == rows["C"] for _, world in possible)

    def test_lost_events_lie_among_the_times_of_other_streams(self) -> None:
        """Lost in (0, 10), a certain event at 4 and one at 6 or 7: between them with (2/10 + 3/10) / 2."""
        rows: dict[str, Sequence[dict[str, object]]] = {
            "A": recorded("a", 0, None, 10),
            "B": [{"k": "b", "t": 4}],
            "C": [{"k": "c", "lo": 6, "hi": 7}],
        }
        schemas = [declared(LostEvents("seq"), "A"), declared(None, "B"), declared(WHEN, "C")]

        def between(world: dict[str, Rows]) -> bool:
            (lost,) = (exact(row["t"]) for row in world["A"] if row["seq"] == 2)
            return 4 < lost < exact(world["C"][0]["lo"])

        possible = list(joint_worlds(rows, schemas))
        assert mass(possible) == 1
        assert sum(prob for prob, world in possible if between(world)) == Fraction(1, 4)

    def test_lost_events_of_two_streams_are_placed_together(self) -> None:
        """Two events lost in the same window come in either order with one half."""
        rows = {"A": recorded("a", 0, None, 10), "B": recorded("b", 0, None, 10)}
        schemas = [declared(LostEvents("seq"), name) for name in "AB"]
        possible = list(joint_worlds(rows, schemas))

        def lost(world: dict[str, Rows], name: str) -> Fraction:
            return next(exact(row["t"]) for row in world[name] if row["seq"] == 2)

        assert mass(possible) == 1
        assert sum(prob for prob, world in possible if lost(world, "A") < lost(world, "B")) == Fraction(1, 2)
