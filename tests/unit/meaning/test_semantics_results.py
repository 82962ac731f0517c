"""The definition of a result: PER, witnesses, CONSUME RESTART, partitions, derived events."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle
from tests.kit.plans import column, compare, event, leaf, plus, program, seq, stream, strict, table, ticks
from tests.kit.rows import Rows, points, word

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.meaning.semantics import Result
from inkling.model.types import Type

NUMBERED = {"k": Type.STRING, "x": Type.INTEGER}
a, b, c = (leaf(slot, name) for slot, name in enumerate("ABC"))
x = {slot: column(slot, "x", Type.INTEGER) for slot in range(4)}


def summary(results: tuple[Result, ...]) -> list[tuple[tuple[object, ...], int, int, str]]:
    return [(one.values, one.start, one.end, " ".join(str(n) for n in one.lineage)) for one in results]


def run(plan: p.EventPlan, rows: Rows | str, *, order_by: str | None = None) -> tuple[Result, ...]:
    declared = tuple(stream(name, NUMBERED, key=("k",), order_by=order_by) for name in "ABC")
    rows = points(rows) if isinstance(rows, str) else rows
    keyed = {name: [{"k": "k", "x": 0, "seq": n, **row} for n, row in enumerate(some)] for name, some in rows.items()}
    return oracle(program(declared, plan), keyed)[plan.name]


class TestPer:
    ROWS = "a1 a2 b3 b4"

    def of(self, per: p.Per, **head: e.Expr) -> list[tuple[tuple[object, ...], int, int, str]]:
        return summary(run(event("x", seq(a, b), per=per, head=head), self.ROWS))

    def test_match(self) -> None:
        assert [one[3] for one in self.of(p.Per.MATCH)] == ["a1 b3", "a2 b3", "a1 b4", "a2 b4"]

    def test_interval(self) -> None:
        assert [one[1:3] for one in self.of(p.Per.INTERVAL)] == [(1, 3), (2, 3), (1, 4), (2, 4)]

    def test_end_speaks_through_its_earliest_match(self) -> None:
        assert self.of(p.Per.END) == [((), 1, 3, "a1 b3"), ((), 1, 4, "a1 b4")]

    def test_values_reaches_from_the_first_start_to_the_last_end(self) -> None:
        assert self.of(p.Per.VALUES) == [((), 1, 4, "a1 b3")]

    def test_the_head_tells_results_apart(self) -> None:
        started = e.TimeOf(e.Edge.START, 0)
        assert self.of(p.Per.END, started=started) == [
            ((1,), 1, 3, "a1 b3"),
            ((2,), 2, 3, "a2 b3"),
            ((1,), 1, 4, "a1 b4"),
            ((2,), 2, 4, "a2 b4"),
        ]

    def test_a_result_is_known_when_its_first_match_is(self) -> None:
        (found,) = run(event("x", seq(a, b), per=p.Per.VALUES), self.ROWS)
        assert found.detected_at == 3

    @pytest.mark.parametrize(("order_by", "n_results"), [(None, 1), ("seq", 2)])
    def test_with_an_order_the_end_is_a_place_too(self, order_by: str | None, n_results: int) -> None:
        rows: Rows = {"A": [{"id": "one", "t": 5, "seq": 1}, {"id": "two", "t": 5, "seq": 2}]}
        assert len(run(event("x", a, per=p.Per.END), rows, order_by=order_by)) == n_results


class TestWitness:
    def test_the_earliest_events_speak(self) -> None:
        plan = event("x", seq(a, plus(b, 0), c), per=p.Per.END)
        assert summary(run(plan, "a1 b2 b3 c4")) == [((), 1, 4, "a1 b2 b3 c4")]

    def test_a_list_that_ends_is_later_than_one_that_goes_on(self) -> None:
        plan = event("x", seq(a, plus(b, 0)), per=p.Per.VALUES)
        assert summary(run(plan, "a1 b2 b3")) == [((), 1, 3, "a1 b2 b3")]

    def test_the_earliest_start_comes_first(self) -> None:
        """In the order of the pattern a stands first, but b1 starts earlier than b2."""
        plan = event("x", p.Conjunction((a, b)), per=p.Per.END)
        assert summary(run(plan, "b1 b2 a3")) == [((), 1, 3, "a3 b1")]

    def test_RETURN_is_what_the_witness_says(self) -> None:
        plan = event("x", seq(a, b), returns={"x": x[0]}, per=p.Per.END)
        rows: Rows = {
            "A": [{"id": f"a{t}", "t": t, "x": value} for t, value in ((1, 7), (2, 8))],
            "B": [{"id": "b", "t": 3}],
        }
        assert summary(run(plan, rows)) == [((7,), 1, 3, "a1 b")]

    def test_of_the_same_events_the_earlier_slot_speaks(self) -> None:
        plan = event("x", p.Disjunction((a, leaf(3, "A"))), returns={"first": x[0], "second": x[3]})
        assert summary(run(plan, {"A": [{"id": "a", "t": 1, "x": 7}]})) == [((7, None), 1, 1, "a")]

    def test_of_several_table_rows_the_smallest_speaks(self) -> None:
        near = table("near", place=Type.STRING)
        atom = p.TableAtom(0, "near", near.columns, (None,))
        place = e.FactColumn(0, "place", Type.STRING)
        plan = program("A", event("x", leaf(0, "A", atoms=(atom,)), returns={"place": place}), tables=(near,))
        facts = {"near": [{"place": name} for name in ("port", "coast")]}
        assert summary(oracle(plan, points("a1"), facts)["x"]) == [(("coast",), 1, 1, "a1")]


class TestRestart:
    def test_matches_start_after_the_reported_end(self) -> None:
        plan = event("x", seq(a, b), restart=True)
        assert [one[3] for one in summary(run(plan, "a1 a2 b3 b4 a4 a5 b6"))] == ["a1 b3", "a2 b3", "a4 b6", "a5 b6"]

    def test_what_HAVING_removes_was_not_reported(self) -> None:
        late = compare(e.TimeOf(e.Edge.END, 1), ">", 3)
        plan = event("x", seq(a, b), having=(late,), restart=True)
        assert [one[3] for one in summary(run(plan, "a1 b3 b4"))] == ["a1 b4"]

    def test_what_lasts_too_long_was_not_reported(self) -> None:
        plan = event("x", seq(a, b), within=ticks(2), restart=True)
        assert [one[3] for one in summary(run(plan, "a1 a2 b4 b5"))] == ["a2 b4"]

    def test_with_an_order_the_place_counts(self) -> None:
        rows = {"V": [{**row, "t": 1} for row in word("HHHHH")["V"]]}
        pair = strict(leaf(0, "V"), leaf(1, "V"))
        plan = program((stream("V", order_by="seq"),), event("x", pair, per=p.Per.END, restart=True))
        assert [one.lineage for one in oracle(plan, rows)["x"]] == [("1", "2"), ("3", "4")]

    def test_each_partition_restarts_on_its_own(self) -> None:
        plan = event("x", seq(a, b), partition={"k": Type.STRING}, restart=True)
        rows: Rows = {
            "A": [{"id": f"a{k}", "t": 1, "k": k} for k in "pq"],
            "B": [{"id": f"b{k}", "t": t, "k": k} for k, t in (("p", 2), ("q", 3))],
        }
        assert [one[3] for one in summary(run(plan, rows))] == ["ap bp", "aq bq"]


class TestPartitions:
    def test_each_key_alone(self) -> None:
        plan = event("x", seq(a, b), partition={"k": Type.STRING}, head={"k": e.KeyColumn("k", Type.STRING)})
        rows: Rows = {
            "A": [{"id": f"a{k}", "t": 1, "k": k} for k in "pq"],
            "B": [{"id": f"b{k}", "t": 2, "k": k} for k in "pq"],
        }
        assert sorted(summary(run(plan, rows))) == [(("p",), 1, 2, "ap bp"), (("q",), 1, 2, "aq bq")]

    def test_an_equality_shrinks_no_scope(self) -> None:
        same = compare(column(1, "k"), "=", column(0, "k"))
        plan = event("x", strict(a, leaf(1, "B", conditions=(same,))))
        rows: Rows = {
            "A": [{"id": "a", "t": 1, "k": "p"}],
            "B": [{"id": "other", "t": 2, "k": "q"}, {"id": "b", "t": 3, "k": "p"}],
        }
        assert run(plan, rows) == ()

    def test_an_event_without_key_is_in_no_partition(self) -> None:
        plan = event("x", a, partition={"x": Type.INTEGER})
        rows: Rows = {"A": [{"id": "a1", "t": 1, "x": None}, {"id": "a2", "t": 2, "x": 5}]}
        assert [one[3] for one in summary(run(plan, rows))] == ["a2"]


class TestDerivedEvents:
    def test_lineage_reaches_down_to_the_streams(self) -> None:
        pair = event("PAIR", seq(a, b), head={"x": x[0]})
        then = event("THEN", seq(leaf(0, "PAIR"), leaf(1, "C")), head={"x": x[0]})
        declared = tuple(stream(name, {"x": Type.INTEGER}) for name in "ABC")
        rows: Rows = {
            "A": [{"id": "a", "t": 1, "x": 7}],
            "B": [{"id": "b", "t": 2, "x": 0}],
            "C": [{"id": "c2", "t": 2, "x": 0}, {"id": "c3", "t": 3, "x": 0}],
        }
        assert summary(oracle(program(declared, pair, then), rows)["THEN"]) == [((7,), 1, 3, "a b c3")]

    def test_results_with_the_same_events_but_other_values_are_different_inputs(self) -> None:
        near = table("near", place=Type.STRING)
        atom = p.TableAtom(0, "near", near.columns, (None,))
        spot = event("SPOT", leaf(0, "A", atoms=(atom,)), head={"place": e.FactColumn(0, "place", Type.STRING)})
        then = event("THEN", seq(leaf(0, "SPOT"), leaf(1, "B")))
        facts = {"near": [{"place": name} for name in ("port", "coast")]}
        results = oracle(program("AB", spot, then, tables=(near,)), points("a1 b2"), facts)
        assert [one.lineage for one in results["THEN"]] == [("a1", "b2"), ("a1", "b2")]

    def test_what_rests_on_a_late_result_is_known_late(self) -> None:
        """The absence is settled at 6, after c at 3."""
        lonely = event("LONELY", seq(a, p.Absent(leaf(9, "B")), within=ticks(5)), within=ticks(5))
        then = event("THEN", seq(leaf(0, "LONELY"), c))
        results = oracle(program("ABC", lonely, then), points("a1 c3"))
        assert [(one.start, one.end, one.detected_at) for one in results["LONELY"]] == [(1, 1, 6)]
        assert [(one.start, one.end, one.detected_at) for one in results["THEN"]] == [(1, 3, 6)]

    @pytest.mark.parametrize(("is_ordered", "expected"), [(True, [("a", "b3")]), (False, [])])
    def test_a_derived_event_has_a_place_when_all_its_events_have(
        self, is_ordered: bool, expected: list[tuple[str, ...]]
    ) -> None:
        declared = tuple(stream(name, order_by="seq") for name in "AB")
        copy = event("COPY", leaf(0, "A"), is_ordered=is_ordered)
        then = event("THEN", seq(leaf(0, "COPY"), leaf(1, "B")))
        rows: Rows = {
            "A": [{"id": "a", "t": 1, "seq": 2}],
            "B": [{"id": f"b{place}", "t": 1, "seq": place} for place in (1, 3)],
        }
        results = oracle(program(declared, copy, then), rows)
        assert [one.lineage for one in results["THEN"]] == expected


class TestNulls:
    @pytest.mark.parametrize("operator", ["=", "<>", "<", ">="])
    def test_a_comparison_with_null_is_false(self, operator: str) -> None:
        plan = event("x", leaf(0, "A", conditions=(compare(x[0], operator, 0),)))
        assert run(plan, {"A": [{"id": "a", "t": 1, "x": None}]}) == ()

    def test_and_its_negation_is_true(self) -> None:
        plan = event("x", leaf(0, "A", conditions=(e.Not(compare(x[0], "=", 0)),)))
        assert [one[3] for one in summary(run(plan, {"A": [{"id": "a", "t": 1, "x": None}]}))] == ["a"]

    def test_null_finds_nothing_in_a_table(self) -> None:
        facts = table("facts", x=Type.INTEGER)
        plan = event("y", leaf(0, "A", conditions=(e.InTable("facts", (x[0],)),)))
        rows: Rows = {"A": [{"id": "a", "t": 1, "x": None}]}
        declared = program((stream("A", {"x": Type.INTEGER}),), plan, tables=(facts,))
        assert oracle(declared, rows, {"facts": [{"x": None}]})["y"] == ()
