"""What ON RETRACT tells where rows are pushed: what was told and does not hold any more."""

import inkling

PROGRAM = inkling.parse("""
STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t LATENESS 5 TICKS SPECULATIVE
  OP op FOR 50 TICKS;
EVENT back(person) AS
  PATTERN SEQ(Door a, NOT Door[room = 'exit'], Door b[room = a.room]) PARTITION BY person WITHIN 20 TICKS
  ON RETRACT not_back;
EVENT seen(person) AS PATTERN Door[room = 'lab'] PARTITION BY person;
""")


def door(id: str, room: str | None, t: int | None, op: str = "+") -> dict[str, object]:
    return {"id": id, "person": None if op == "-" else "ada", "room": room, "t": t, "op": op}


def test_a_row_per_withdrawn_result() -> None:
    """By hand: a late exit stands between d1 and d2; then d2 is withdrawn, on which nothing rests any more."""
    stream = PROGRAM.open()
    found = stream.push({"Door": [door("d1", "lab", 1), door("d2", "lab", 8)]})
    assert found["back"]["lineage"].to_pylist() == [["d1", "d2"]]
    assert found["not_back"].num_rows == 0
    assert found["not_back"].schema == found["back"].schema
    assert list(found.tables) == ["back", "seen", "not_back"]

    late = stream.push({"Door": [door("d3", "exit", 4)]})
    assert late["not_back"].to_pylist() == [{**found["back"].to_pylist()[0], "event": "not_back"}]
    assert late["back"].to_pylist() == [{**found["back"].to_pylist()[0], "op": "-"}]
    assert late.n_results == 1

    withdrawn = stream.push({"Door": [door("d2", None, None, "-")]})
    assert withdrawn["seen"]["op"].to_pylist() == ["-"]
    assert withdrawn["not_back"].num_rows == 0
