"""The definition of NOT, AT START, AFTER and WITHIN."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle
from tests.kit.plans import column, compare, event, leaf, plus, program, seq, stream, ticks
from tests.kit.rows import Rows, intervals, points

from inkling.logical import plan as p
from inkling.meaning.semantics import Result
from inkling.model.types import Type

a, b, c = (leaf(slot, name) for slot, name in enumerate("ABC"))
n = p.Absent(leaf(9, "N"))


def results(
    pattern: p.Pattern,
    rows: Rows | str,
    *,
    within: p.Window | None = None,
    over: tuple[str, ...] | None = None,
    streams: tuple[p.StreamPlan, ...] | None = None,
) -> tuple[Result, ...]:
    rows = points(rows) if isinstance(rows, str) else rows
    is_interval = any("begun" in row for one in rows.values() for row in one)
    names = sorted({*"ABCN", *rows})
    declared = streams or tuple(stream(name, interval=is_interval) for name in names)
    return oracle(program(declared, event("x", pattern, within=within, over=over)), rows)["x"]


def lineages(pattern: p.Pattern, rows: Rows | str, **options: object) -> list[str]:
    found = results(pattern, rows, **options)  # type: ignore[arg-type]
    return sorted(" ".join(str(one) for one in result.lineage) for result in found)


class TestBetween:
    @pytest.mark.parametrize("time", [1, 2, 3, 4])
    def test_the_gap_is_open(self, time: int) -> None:
        assert lineages(seq(a, n, b), f"a1 b4 n{time}") == ([] if time in (2, 3) else ["a1 b4"])

    def test_with_an_order_the_border_is_the_place(self) -> None:
        streams = tuple(stream(name, order_by="seq") for name in "ABN")
        rows: Rows = {
            "A": [{"id": "a", "t": 1, "seq": 2}],
            "B": [{"id": "b", "t": 1, "seq": 5}],
            "N": [{"id": "n", "t": 1, "seq": 9}],
        }
        assert lineages(seq(a, n, b), rows, streams=streams) == ["a b"]
        rows["N"] = [{"id": "n", "t": 1, "seq": 3}]
        assert lineages(seq(a, n, b), rows, streams=streams) == []

    def test_the_events_at_the_border_are_not_between_them(self) -> None:
        rows: Rows = {"A": [{"id": f"a{place}", "t": 1, "seq": place} for place in (1, 2, 3)]}
        pattern = seq(a, p.Absent(leaf(8, "A")), leaf(9, "A"))
        assert lineages(pattern, rows, streams=(stream("A", order_by="seq"),)) == ["a1 a2", "a2 a3"]

    @pytest.mark.parametrize(
        ("span", "expected"), [("n[2,3]", []), ("n[1,3]", ["a[0,1] b[5,5]"]), ("n[2,5]", ["a[0,1] b[5,5]"])]
    )
    def test_only_what_lies_wholly_in_the_gap_counts(self, span: str, expected: list[str]) -> None:
        assert lineages(seq(a, n, b), intervals(f"a[0,1] b[5,5] {span}")) == expected

    def test_a_pattern_can_be_absent(self) -> None:
        pair = p.Absent(seq(leaf(8, "C"), leaf(9, "N")))
        assert lineages(seq(a, pair, b), "a1 n2 c3 b4") == ["a1 b4"]
        assert lineages(seq(a, pair, b), "a1 c2 n3 b4") == []

    def test_the_whole_sequence_is_known_to_the_absence(self) -> None:
        """The absent event is compared with c, which comes after the gap."""
        kinds = {"x": Type.INTEGER}
        same = compare(column(9, "x", Type.INTEGER), "=", column(2, "x", Type.INTEGER))
        pattern = seq(a, p.Absent(leaf(9, "N", conditions=(same,))), b, c)
        rows: Rows = {name: [{"id": name, "t": t, "x": 1}] for name, t in (("A", 1), ("N", 2), ("B", 3))}
        rows["C"] = [{"id": f"c{x}", "t": 4, "x": x} for x in (1, 2)]
        assert lineages(pattern, rows, streams=tuple(stream(name, kinds) for name in "ABCN")) == ["A B c2"]

    def test_two_absences_in_one_gap(self) -> None:
        other = p.Absent(leaf(8, "C"))
        assert lineages(seq(a, n, other, b), "a1 b4") == ["a1 b4"]
        assert lineages(seq(a, n, other, b), "a1 c2 b4") == []
        assert lineages(seq(a, n, other, b), "a1 n2 b4") == []

    def test_the_gap_reaches_to_the_part_that_is_there(self) -> None:
        """Without the optional b, nothing may lie between a and c."""
        pattern = seq(a, n, plus(b, 0, 1), c)
        assert lineages(pattern, "a1 b2 n3 c4") == ["a1 b2 c4"]
        assert lineages(pattern, "a1 b2 c4") == ["a1 b2 c4", "a1 c4"]


class TestFirst:
    def pattern(self) -> p.Sequence:
        return seq(n, a, b, within=ticks(5))

    @pytest.mark.parametrize(("time", "killed"), [(4, False), (5, True), (7, True), (8, False), (9, False)])
    def test_none_from_the_end_minus_the_limit_to_the_start(self, time: int, killed: bool) -> None:
        found = lineages(self.pattern(), f"a8 b10 n{time}", within=ticks(5))
        assert found == ([] if killed else ["a8 b10"])

    def test_it_changes_no_time(self) -> None:
        (found,) = results(self.pattern(), "a8 b10", within=ticks(5))
        assert (found.start, found.end, found.detected_at) == (8, 10, 10)

    def test_an_interval_counts_by_its_start_and_end(self) -> None:
        rows = intervals("a[8,8] b[10,10] n[4,6]")
        assert lineages(self.pattern(), rows, within=ticks(5)) == ["a[8,8] b[10,10]"]
        rows = intervals("a[8,8] b[10,10] n[5,7]")
        assert lineages(self.pattern(), rows, within=ticks(5)) == []


class TestLast:
    def pattern(self) -> p.Sequence:
        return seq(a, b, n, within=ticks(5))

    @pytest.mark.parametrize(("time", "killed"), [(2, False), (3, False), (4, True), (6, True), (7, False)])
    def test_none_from_the_end_to_the_start_plus_the_limit(self, time: int, killed: bool) -> None:
        found = lineages(self.pattern(), f"a1 b3 n{time}", within=ticks(5))
        assert found == ([] if killed else ["a1 b3"])

    def test_the_end_stays_and_the_result_is_known_when_the_limit_is_over(self) -> None:
        (found,) = results(self.pattern(), "a1 b3", within=ticks(5))
        assert (found.start, found.end, found.detected_at) == (1, 3, 6)

    def test_first_and_last(self) -> None:
        other = p.Absent(leaf(8, "C"))
        pattern = seq(n, a, other, within=ticks(2))
        assert lineages(pattern, "a5", within=ticks(2)) == ["a5"]
        assert lineages(pattern, "n3 a5", within=ticks(2)) == []
        assert lineages(pattern, "a5 c7", within=ticks(2)) == []
        assert lineages(pattern, "n2 a5 c8", within=ticks(2)) == ["a5"]


class TestStart:
    def test_never_before(self) -> None:
        pattern = seq(p.StreamStart(), n, a)
        assert lineages(pattern, "a1 n2 a2 a3") == ["a1", "a2"]

    def test_a_limit_does_not_shorten_never(self) -> None:
        """The other absence needs the limit; the one since the start does not look at it."""
        pattern = seq(p.StreamStart(), n, a, b, p.Absent(leaf(8, "C")), within=ticks(5))
        assert lineages(pattern, "a10 b12", within=ticks(5)) == ["a10 b12"]
        assert lineages(pattern, "n1 a10 b12", within=ticks(5)) == []
        assert lineages(pattern, "a10 b12 c15", within=ticks(5)) == []

    def test_next_still_starts_everywhere(self) -> None:
        pattern = seq(p.StreamStart(), n, a, policy=p.Policy.NEXT)
        assert lineages(pattern, "a1 a2") == ["a1", "a2"]


class TestDeadline:
    def test_the_result_ends_at_it(self) -> None:
        (found,) = results(seq(a, n, p.Deadline(ticks(3))), "a2")
        assert (found.start, found.end, found.detected_at, found.lineage) == (2, 5, 5, ("a2",))

    @pytest.mark.parametrize(("time", "killed"), [(2, False), (3, True), (4, True), (5, False)])
    def test_a_tie_with_it_is_harmless(self, time: int, killed: bool) -> None:
        assert lineages(seq(a, n, p.Deadline(ticks(3))), f"a2 n{time}") == ([] if killed else ["a2"])

    def test_it_counts_from_the_part_before(self) -> None:
        (found,) = results(seq(a, b, p.Deadline(ticks(3))), "a1 b4")
        assert (found.start, found.end) == (1, 7)

    def test_a_deadline_at_once_does_not_move_the_start(self) -> None:
        """Of two simultaneous events the one with the earlier place stands between a1 and b."""
        streams = tuple(stream(name, order_by="seq") for name in "AB")
        rows: Rows = {
            "A": [{"id": "a1", "t": 1, "seq": 1}, {"id": "a2", "t": 2, "seq": 2}],
            "B": [{"id": "b", "t": 2, "seq": 3}],
        }
        due = seq(b, p.Deadline(ticks(0)))
        assert lineages(seq(a, due, policy=p.Policy.STRICT), rows, streams=streams) == ["a2 b"]

    def test_a_limit_applies_to_the_deadline_too(self) -> None:
        assert lineages(seq(a, b, p.Deadline(ticks(3))), "a1 b4", within=ticks(6)) == ["a1 b4"]
        assert lineages(seq(a, b, p.Deadline(ticks(3))), "a1 b4", within=ticks(5)) == []


class TestWithin:
    @pytest.mark.parametrize(("limit", "expected"), [(3, ["a1 b4"]), (2, [])])
    def test_a_duration_is_inclusive(self, limit: int, expected: list[str]) -> None:
        assert lineages(seq(a, b), "a1 b4", within=ticks(limit)) == expected

    @pytest.mark.parametrize(("count", "expected"), [(4, ["a1 b4"]), (3, [])])
    def test_points_count_both_ends(self, count: int, expected: list[str]) -> None:
        assert lineages(seq(a, b), "a1 b4", within=p.Points(count)) == expected

    @pytest.mark.parametrize(("count", "expected"), [(2, ["a2 b3"]), (3, ["a1 b3", "a2 b3"]), (1, [])])
    def test_events_of_the_scope_count(self, count: int, expected: list[str]) -> None:
        assert lineages(seq(a, b), "a1 a2 b3", within=p.EventCount(count)) == expected

    def test_events_outside_the_scope_do_not_count(self) -> None:
        assert lineages(seq(a, b), "a1 c2 b3", within=p.EventCount(2)) == ["a1 b3"]
        assert lineages(seq(a, b), "a1 c2 b3", within=p.EventCount(2), over=("A", "B", "C")) == []

    def test_ties_with_the_first_event_count(self) -> None:
        rows: Rows = {"A": [{"id": name, "t": 1} for name in ("one", "two")], "B": [{"id": "b", "t": 2}]}
        assert lineages(seq(a, b), rows, within=p.EventCount(2)) == []
        assert lineages(seq(a, b), rows, within=p.EventCount(3)) == ["one b", "two b"]

    def test_with_an_order_ties_before_the_first_event_do_not(self) -> None:
        streams = (stream("A", order_by="seq"), stream("B", order_by="seq"))
        rows: Rows = {
            "A": [{"id": f"a{seq}", "t": 1, "seq": seq} for seq in (1, 2)],
            "B": [{"id": "b", "t": 1, "seq": 3}],
        }
        assert lineages(seq(a, b), rows, within=p.EventCount(2), streams=streams) == ["a2 b"]
