"""Rows that only withdraw events need no other columns than id and op."""

from __future__ import annotations

import inkling

PROGRAM = inkling.parse(
    "STREAM A(id INTEGER, v INTEGER, t INTEGER) ID id TIME t LATENESS 9 TICKS SPECULATIVE OP op FOR 9 TICKS;"
    "EVENT both() AS PATTERN SEQ(A a[v = 1], A b[v = 2]) WITHIN 9 TICKS;"
)


def test_an_event_is_withdrawn_by_its_id_alone() -> None:
    stream = PROGRAM.open()
    stream.push_event("A", {"id": 1, "v": 1, "t": 1, "op": "+"})
    stream.push_event("A", {"id": 2, "v": 2, "t": 3, "op": "+"})
    found = stream.push_event("A", {"id": 1, "op": "-"})
    assert found["both"].select(["op", "start", "end"]).to_pylist() == [{"op": "-", "start": 1, "end": 3}]
    assert not len(found.rejects)


def test_the_first_row_may_be_a_withdrawal() -> None:
    stream = PROGRAM.open()
    stream.push({"A": [{"id": 1, "op": "-"}]})
    stream.push({"A": [{"id": 1, "v": 1, "t": 1, "op": "+"}, {"id": 2, "v": 2, "t": 3, "op": "+"}]})
    assert not stream.finish().n_results


def test_an_id_that_other_keys_share_keeps_their_rows() -> None:
    """Without OP an id may occur again with another key; a row that repeats another displaces only that one."""
    program = inkling.parse(
        "STREAM A(id INTEGER, k STRING, v INTEGER, t INTEGER) ID id KEY k TIME t LATENESS 9 TICKS SPECULATIVE;"
        "EVENT seen(a.k, a.v) AS PATTERN A a;"
    )
    stream = program.open()
    rows = [{"id": 1, "k": "x", "v": 5, "t": 1}, {"id": 1, "k": "y", "v": 6, "t": 1}]
    assert len(stream.push({"A": rows})["seen"]) == 2
    told = stream.push({"A": [{"id": 1, "k": "x", "v": 4, "t": 1}]})["seen"].to_pylist()
    assert [(row["op"], row["k"], row["v"]) for row in told] == [("-", "x", 5), ("+", "x", 4)]
