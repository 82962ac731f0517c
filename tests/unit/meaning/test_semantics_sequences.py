"""The definition of SEQ: ties, policies, nesting and repetition."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle
from tests.kit.plans import column, compare, event, leaf, nearest, plus, program, seq, stream, strict, ticks
from tests.kit.rows import Rows, points, word

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.types import Type

a, b, c, d = (leaf(slot, name) for slot, name in enumerate("ABCD"))


def lineages(
    pattern: p.Pattern,
    rows: Rows | str,
    *,
    within: p.Window | None = None,
    having: tuple[e.Expr, ...] = (),
    over: tuple[str, ...] | None = None,
    streams: tuple[p.StreamPlan, ...] | None = None,
) -> list[str]:
    """The lineage of every match, sorted."""
    rows = points(rows) if isinstance(rows, str) else rows
    wanted = event("x", pattern, within=within, having=having, over=over)
    plan = program(streams or tuple(stream(name) for name in sorted({*"ABCD", *rows})), wanted)
    return sorted(" ".join(str(one) for one in result.lineage) for result in oracle(plan, rows)["x"])


def placed(**rows: list[tuple[int, int]]) -> Rows:
    """Rows of ordered streams from pairs of time and place, with ids like `a5#1`."""
    return {
        name: [{"id": f"{name.lower()}{t}#{seq}", "t": t, "seq": seq} for t, seq in pairs]
        for name, pairs in rows.items()
    }


class TestTies:
    def test_simultaneous_events_do_not_follow_each_other(self) -> None:
        assert lineages(seq(a, b), "a1 b1 b2") == ["a1 b2"]

    def test_with_an_order_they_do(self) -> None:
        streams = tuple(stream(name, order_by="seq") for name in "AB")
        rows = placed(A=[(5, 2)], B=[(5, 1), (5, 3)])
        assert lineages(seq(a, b), rows, streams=streams) == ["a5#2 b5#3"]

    def test_time_comes_before_place(self) -> None:
        streams = tuple(stream(name, order_by="seq") for name in "AB")
        assert lineages(seq(a, b), placed(A=[(5, 9)], B=[(6, 1)]), streams=streams) == ["a5#9 b6#1"]

    def test_one_side_without_order_is_enough_to_lose_it(self) -> None:
        streams = (stream("A", order_by="seq"), stream("B"))
        assert lineages(seq(a, b), placed(A=[(5, 1)], B=[(5, 2)]), streams=streams) == []

    def test_equal_places_do_not_follow_each_other(self) -> None:
        streams = tuple(stream(name, order_by="seq") for name in "AB")
        assert lineages(seq(a, b), placed(A=[(5, 1)], B=[(5, 1)]), streams=streams) == []

    def test_a_nested_part_is_ordered_where_its_ends_are(self) -> None:
        """`SEQ` is associative: only the event at the border decides whether a place counts."""
        streams = (stream("A", order_by="seq"), stream("B", order_by="seq"), stream("C"))
        rows = {**placed(A=[(5, 1)], B=[(5, 2)]), **points("c7")}
        flat, nested = seq(a, b, c), seq(a, seq(b, c))
        assert lineages(flat, rows, streams=streams) == ["a5#1 b5#2 c7"]
        assert lineages(nested, rows, streams=streams) == ["a5#1 b5#2 c7"]


class TestNext:
    def test_every_candidate_starts(self) -> None:
        assert lineages(nearest(a, b), "a1 a2 b3") == ["a1 b3", "a2 b3"]

    def test_ties_at_the_first_time_all_count(self) -> None:
        rows: Rows = {
            "A": [{"id": "a1", "t": 1}],
            "B": [{"id": name, "t": t} for name, t in (("one", 2), ("two", 2), ("late", 3))],
        }
        assert lineages(nearest(a, b), rows) == ["a1 one", "a1 two"]

    def test_a_candidate_is_judged_by_the_bindings_so_far(self) -> None:
        kind = {"x": Type.INTEGER}
        same = compare(column(1, "x", Type.INTEGER), "=", column(0, "x", Type.INTEGER))
        rows: Rows = {
            "A": [{"id": "a", "t": 1, "x": 1}],
            "B": [{"id": f"b{t}", "t": t, "x": x} for t, x in ((2, 2), (3, 1), (4, 1))],
        }
        pattern = nearest(a, leaf(1, "B", conditions=(same,)))
        assert lineages(pattern, rows, streams=(stream("A", kind), stream("B", kind))) == ["a b3"]

    def test_having_does_not_choose_another(self) -> None:
        having = (compare(e.TimeOf(e.Edge.START, 1), ">", 2),)
        assert lineages(nearest(a, b), "a1 b2 b3", having=having) == []

    def test_a_window_does_not_choose_another(self) -> None:
        """b2 is next after a1 and lies inside, but c9 lies outside and nothing replaces it."""
        assert lineages(nearest(a, b, c), "a1 b2 c9", within=ticks(4)) == []

    def test_an_absence_does_not_choose_another(self) -> None:
        assert lineages(nearest(a, p.Absent(d), b), "a1 d2 b3 d4 b5") == []

    def test_only_a_whole_occurrence_in_the_gap_blocks(self) -> None:
        """The pair b2 c3 lies wholly before b4 c5 and blocks it, but not b2 c5."""
        found = lineages(nearest(a, seq(b, c)), "a1 b2 c3 b4 c5")
        assert found == ["a1 b2 c3", "a1 b2 c5"]

    def test_an_occurrence_that_overlaps_does_not_block(self) -> None:
        assert lineages(nearest(a, seq(b, c)), "a1 b2 b3 c4") == ["a1 b2 c4", "a1 b3 c4"]

    def test_the_limit_of_a_nested_part_belongs_to_its_occurrences(self) -> None:
        """b2 c5 lasts too long to be an occurrence, so b6 c7 is the next one."""
        short = p.Narrowed(nearest(b, c), ticks(1), ())
        assert lineages(nearest(a, short), "a1 b2 c5 b6 c7") == ["a1 b6 c7"]

    def test_an_absence_in_a_nested_part_belongs_to_its_occurrences(self) -> None:
        pure = nearest(b, p.Absent(d), c)
        assert lineages(nearest(a, pure), "a1 b2 d3 c4 b5 c6") == ["a1 b5 c6"]


class TestStrict:
    def test_every_event_of_the_scope_blocks(self) -> None:
        assert lineages(strict(a, b), "a1 a2 b3") == ["a2 b3"]

    def test_events_outside_the_scope_do_not_block(self) -> None:
        assert lineages(strict(a, b), "a1 c2 b3") == ["a1 b3"]
        assert lineages(strict(a, b), "a1 c2 b3", over=("A", "B", "C")) == []

    def test_a_scope_may_leave_out_what_the_pattern_names(self) -> None:
        either = p.Disjunction((b, c))
        assert lineages(strict(a, either), "a1 c2 b3") == ["a1 c2"]
        assert lineages(strict(a, either), "a1 c2 b3", over=("A", "B")) == ["a1 b3", "a1 c2"]

    def test_a_tie_at_the_border_does_not_block(self) -> None:
        assert lineages(strict(a, b), "a1 c1 c3 b3", over=("A", "B", "C")) == ["a1 b3"]

    def test_any_event_of_the_scope(self) -> None:
        anything = leaf(7)
        assert lineages(strict(a, anything, b), "a1 c2 b3", over=("A", "B", "C")) == ["a1 c2 b3"]

    def test_policies_are_not_inherited(self) -> None:
        assert lineages(strict(a, seq(b, d)), "a1 b2 c3 d4", over=tuple("ABCD")) == ["a1 b2 d4"]


class TestRepetition:
    def test_any_takes_all_sub_lists(self) -> None:
        found = lineages(seq(a, plus(b)), "a1 b2 b3 b4")
        assert found == ["a1 b2", "a1 b2 b3", "a1 b2 b3 b4", "a1 b2 b4", "a1 b3", "a1 b3 b4", "a1 b4"]

    def test_next_takes_prefixes(self) -> None:
        assert lineages(nearest(a, plus(b)), "a1 b2 b3 b4") == ["a1 b2", "a1 b2 b3", "a1 b2 b3 b4"]

    def test_eager_takes_the_earliest_of_one_more_and_the_next_part(self) -> None:
        assert lineages(nearest(a, plus(b, eager=True), c), "a1 b2 b3 c4 b5 c6") == ["a1 b2 b3 c4"]

    def test_eager_takes_both_if_they_come_together(self) -> None:
        found = lineages(nearest(a, plus(b, eager=True), c), "a1 b2 b3 c3 c4")
        assert found == ["a1 b2 b3 c4", "a1 b2 c3"]

    def test_eager_looks_for_the_next_part_once_it_may_end_and_for_one_more_while_it_may_go_on(self) -> None:
        found = lineages(nearest(a, plus(b, 2, 3, eager=True), c), "a1 b2 c3 b4 b5 b6 c7")
        assert found == ["a1 b2 b4 b5 c7"]

    def test_eager_after_eager(self) -> None:
        found = lineages(nearest(a, plus(b, eager=True), plus(c, eager=True), d), "a1 b2 c3 b4 c5 d6 c7 d8")
        assert found == ["a1 b2 c3 c5 d6"]

    def test_what_is_absent_does_not_compete(self) -> None:
        assert lineages(nearest(a, plus(b, eager=True), p.Absent(c), d), "a1 b2 c3 b4 d5") == ["a1 b2 b4 d5"]

    def test_eager_at_the_end_is_plain(self) -> None:
        assert lineages(nearest(a, plus(b, eager=True)), "a1 b2 c3 b4") == ["a1 b2", "a1 b2 b4"]

    def test_strict_takes_runs(self) -> None:
        found = lineages(strict(plus(b)), "b1 b2 c3 b4", over=("B", "C"))
        assert found == ["b1", "b1 b2", "b2", "b4"]

    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [
            (2, 2, ["a1 b2 b3", "a1 b2 b4", "a1 b3 b4"]),
            (2, None, ["a1 b2 b3", "a1 b2 b3 b4", "a1 b2 b4", "a1 b3 b4"]),
            (3, 5, ["a1 b2 b3 b4"]),
            (0, 1, ["a1", "a1 b2", "a1 b3", "a1 b4"]),
        ],
    )
    def test_bounds(self, low: int, high: int | None, expected: list[str]) -> None:
        assert lineages(seq(a, plus(b, low, high)), "a1 b2 b3 b4") == expected

    def test_none_at_all_in_the_middle(self) -> None:
        assert lineages(strict(a, plus(b, 0), c), "a1 c2 a3 b4 c5") == ["a1 c2", "a3 b4 c5"]

    def test_ties_are_never_in_one_list(self) -> None:
        rows: Rows = {"B": [{"id": "one", "t": 1}, {"id": "two", "t": 1}]}
        assert lineages(seq(plus(b)), rows) == ["one", "two"]

    def test_a_group_repeats_as_a_whole(self) -> None:
        found = lineages(strict(plus(strict(a, b), 2)), "a1 b2 a3 b4 a5")
        assert found == ["a1 b2 a3 b4"]

    def test_a_part_that_may_be_empty_may_be_left_out(self) -> None:
        optional = p.Disjunction((plus(b, 0), d))
        assert lineages(strict(a, optional, c), "a1 c2 a3 b4 c5 a6 d7 c8") == ["a1 c2", "a3 b4 c5", "a6 d7 c8"]

    def test_repeating_what_may_be_empty(self) -> None:
        assert lineages(strict(a, plus(plus(b, 0, 1), 2, 2), c), "a1 c2 a3 b4 c5") == ["a1 c2", "a3 b4 c5"]

    def test_having_of_a_nested_part_may_ask_for_events(self) -> None:
        counted = p.Narrowed(strict(plus(b, 0)), None, (compare(e.Aggregate("COUNT", 1, None, Type.INTEGER), ">=", 1),))
        assert lineages(strict(a, counted, c), "a1 c2 a3 b4 c5") == ["a3 b4 c5"]

    def test_an_empty_match_is_none(self) -> None:
        assert lineages(strict(plus(b, 0)), "a1") == []


NUMBERED = {"x": Type.INTEGER}


def numbered(name: str, *values: int | None, start: int = 1) -> Rows:
    rows: list[dict[str, object]] = [
        {"id": f"{name.lower()}{t}", "t": t, "x": x} for t, x in enumerate(values, start=start)
    ]
    return {name: rows}  # type: ignore[dict-item]


class TestLookingBack:
    SMALLER = compare(column(1, "x", Type.INTEGER), "<", e.ListColumn(e.Which.LAST, 1, "x", Type.INTEGER, own=True))

    def test_the_first_repetition_drops_what_compares_with_the_previous(self) -> None:
        falling = plus(leaf(1, "B", conditions=(self.SMALLER,)))
        found = lineages(nearest(falling), numbered("B", 3, 5, 2), streams=(stream("B", NUMBERED),))
        assert found == ["b1", "b1 b3", "b2", "b2 b3", "b3"]

    def test_other_conjuncts_stay(self) -> None:
        large = compare(column(1, "x", Type.INTEGER), ">", 2)
        falling = plus(leaf(1, "B", conditions=(large, self.SMALLER)))
        found = lineages(nearest(falling), numbered("B", 5, 3, 2), streams=(stream("B", NUMBERED),))
        assert found == ["b1", "b1 b2", "b2"]

    def test_a_later_part_sees_the_complete_list(self) -> None:
        """c is larger than the last b and smaller than the first."""
        first, last = (e.ListColumn(which, 1, "x", Type.INTEGER) for which in e.Which)
        here = column(2, "x", Type.INTEGER)
        pattern = seq(
            plus(leaf(1, "B")), leaf(2, "C", conditions=(compare(here, ">", last), compare(here, "<", first)))
        )
        rows = {**numbered("B", 9, 1, 5), **numbered("C", 4, start=4)}
        assert lineages(pattern, rows, streams=(stream("B", NUMBERED), stream("C", NUMBERED))) == ["b1 b2 c4"]

    def test_a_condition_inside_a_group_means_the_repetition_at_hand(self) -> None:
        same = compare(column(1, "x", Type.INTEGER), "=", column(0, "x", Type.INTEGER))
        group = plus(strict(leaf(0, "A"), leaf(1, "B", conditions=(same,))), 2)
        rows = {
            "A": [{"id": f"a{t}", "t": t, "x": x} for t, x in ((1, 7), (3, 8))],
            "B": [{"id": f"b{t}", "t": t, "x": x} for t, x in ((2, 7), (4, 8))],
        }
        assert lineages(strict(group), rows, streams=(stream("A", NUMBERED), stream("B", NUMBERED))) == ["a1 b2 a3 b4"]

    def test_a_branch_not_taken_in_this_repetition_is_null(self) -> None:
        """The second round takes b: its c must not be compared with the a of the first round."""
        same = compare(column(2, "x", Type.INTEGER), "=", column(0, "x", Type.INTEGER))
        either = p.Disjunction((leaf(0, "A"), leaf(1, "B")))
        group = plus(strict(either, leaf(2, "C", conditions=(same,))), 2)
        rows = {
            "A": [{"id": "a1", "t": 1, "x": 7}],
            "B": [{"id": "b3", "t": 3, "x": 0}],
            "C": [{"id": f"c{t}", "t": t, "x": 7} for t in (2, 4)],
        }
        assert lineages(strict(group), rows, streams=tuple(stream(name, NUMBERED) for name in "ABC")) == []

    def test_START_inside_a_repetition_is_that_of_its_own_event(self) -> None:
        late = compare(e.TimeOf(e.Edge.START, 1), ">", 1)
        assert lineages(seq(plus(leaf(1, "B", conditions=(late,)))), "b1 b2 b3") == ["b2", "b2 b3", "b3"]

    def test_START_outside_a_repetition_is_that_of_the_list(self) -> None:
        having = (compare(e.TimeOf(e.Edge.START, 1), "=", 1), compare(e.TimeOf(e.Edge.END, 1), "=", 3))
        assert lineages(seq(plus(b)), "b1 b2 b3", having=having) == ["b1 b2 b3", "b1 b3"]


class TestComplement:
    ANYTHING = plus(leaf(90), 0)
    LETTERS = (stream("V", {"s": Type.STRING}, order_by="seq"),)

    def runs(self, other: p.Pattern, symbols: str) -> list[str]:
        pattern = strict(leaf(0, "V", s="A"), p.OtherRun(other), leaf(1, "V", s="C"))
        return lineages(pattern, word(symbols), over=("V",), streams=self.LETTERS)

    def test_the_empty_run_is_another_run(self) -> None:
        assert self.runs(leaf(2, "V", s="B"), "AC") == ["1 2"]

    def test_unless_the_pattern_may_be_empty(self) -> None:
        assert self.runs(strict(plus(leaf(2, "V", s="B"), 0)), "AC") == []

    def test_only_the_word_itself_is_left_out(self) -> None:
        one = leaf(2, "V", s="B")
        assert self.runs(one, "ABC") == []
        assert self.runs(one, "ABBC") == ["1 4"]

    def test_skipped_events_are_part_of_a_word(self) -> None:
        pair = seq(leaf(2, "V", s="B"), leaf(3, "V", s="D"))
        assert self.runs(pair, "ABXDC") == []
        assert self.runs(pair, "AXBDC") == ["1 5"]

    def test_two_runs_share_a_gap(self) -> None:
        """B B splits into an empty run and the two, none of which is a single B."""
        single = p.OtherRun(leaf(2, "V", s="B"))
        pattern = strict(leaf(0, "V", s="A"), single, p.OtherRun(leaf(3, "V", s="B")), leaf(1, "V", s="C"))
        assert lineages(pattern, word("ABBC"), over=("V",), streams=self.LETTERS) == ["1 4"]
        assert lineages(pattern, word("ABC"), over=("V",), streams=self.LETTERS) == []

    def test_a_complement_of_a_complement(self) -> None:
        once = leaf(2, "V", s="B")
        assert self.runs(p.OtherRun(once), "ABC") == ["1 3"]
        assert self.runs(p.OtherRun(once), "ABBC") == []
