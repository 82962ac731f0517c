"""Streams whose past can change, and outputs of what was withdrawn, in the plan."""

from __future__ import annotations

from fractions import Fraction

from tests.kit.oracle import bound

import inkling
from inkling.model.time import Duration

TRADES = (
    "STREAM Trade(id STRING, price INT, op STRING, t INT) ID id TIME t LATENESS 5 TICKS SPECULATIVE OP op FOR 9 TICKS;"
)


def test_the_schema_has_all_of_it() -> None:
    schema = bound(TRADES).streams[0].schema
    assert (schema.op, schema.op_for, schema.speculative) == ("op", Duration(Fraction(9), "TICKS"), True)
    assert [column.name for column in schema.columns] == ["id", "price", "t"]
    assert schema.revises


def test_a_program_revises_if_a_stream_does() -> None:
    plain = "STREAM News(t INT) TIME t LATENESS 5 TICKS;"
    assert not bound(plain).revises
    assert bound(f"{plain}\n{TRADES}").revises
    assert bound("STREAM News(t INT) TIME t LATENESS 5 TICKS SPECULATIVE;").revises


def test_the_output_of_what_was_withdrawn_is_no_event() -> None:
    plan = bound(f"{TRADES}\nEVENT e AS PATTERN Trade x ON RETRACT undo;")
    assert [(event.name, event.retracted_as) for event in plan.events] == [("e", "undo")]


def test_united_events_have_one_output() -> None:
    one, other = (f"EVENT e(x.id) AS PATTERN Trade x[price {sign} 3] ON RETRACT undo;" for sign in "<>")
    plan = bound("\n".join([TRADES, one, other]))
    assert [(event.name, event.retracted_as) for event in plan.events] == [("e", "undo")]


def test_over_complete_tables_nothing_is_told_that_is_withdrawn() -> None:
    program = inkling.parse(f"{TRADES}\nEVENT e(x.id) AS PATTERN Trade x ON RETRACT undo;")
    rows = [{"id": "1", "price": 1, "t": 1, "op": "+"}, {"id": "2", "price": 1, "t": 2, "op": "+"}]
    rows.append({"id": "1", "price": None, "t": None, "op": "-"})
    found = program.run_local({"Trade": rows})
    assert found.tables["e"]["id"].to_pylist() == ["2"]
    assert found.tables["undo"].num_rows == 0
    assert found.tables["undo"].schema == found.tables["e"].schema
