"""Certain and uncertain events in one running program: each kind answers as if it were alone."""

import pyarrow as pa
import pytest

import inkling
from inkling.errors import InputError
from inkling.local_stream import LocalStream

TEXT = """
STREAM Door(id STRING, who STRING, room STRING, t BIGINT) ID id KEY who TIME t ORDER BY id LATENESS 2 TICKS;
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t LATENESS 2 TICKS PROBABILITY p;

EVENT moved(who) AS
  PATTERN SEQ NEXT(Door a[room = 'hall'], Door b[room = 'lab'])
  WITHIN 10 TICKS
  PARTITION BY who;

EVENT coffee(who) AS
  PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'kitchen'])
  PARTITION BY who
  PER END;

EVENT met(who) AS
  PATTERN SEQ(Door a, Seen b[room = 'kitchen'])
  WITHIN 10 TICKS
  PARTITION BY who
  PER END;
"""

DOORS = [
    {"id": "d1", "who": "ada", "room": "hall", "t": 1},
    {"id": "d2", "who": "bob", "room": "hall", "t": 2},
    {"id": "d3", "who": "ada", "room": "lab", "t": 4},
]
SEEN = [
    {"id": "s1", "who": "ada", "room": "hall", "t": 3, "p": 0.5},
    {"id": "s1", "who": "ada", "room": "lab", "t": 3, "p": 0.5},
    {"id": "s2", "who": "ada", "room": "kitchen", "t": 5, "p": 0.8},
]
# s1 is in the hall with 0.5 and s2 in the kitchen with 0.8, independently; both doors of ada come before s2
EXPECTED = {"moved": [("ada", 1.0)], "coffee": [("ada", 0.4)], "met": [("ada", 0.8)]}


def told(tables: list[dict[str, pa.Table]]) -> dict[str, list[tuple[str, float]]]:
    """Results by event; a probability may be off by the error that its row states."""
    return {
        name: [
            (row["who"], pytest.approx(row["probability"], abs=row["error"] + 1e-12))
            for one in tables
            for row in one[name].to_pylist()
        ]
        for name in EXPECTED
    }


def test_a_batch_answers_both_kinds() -> None:
    assert told([dict(inkling.parse(TEXT).run_local({"Door": DOORS, "Seen": SEEN}).tables)]) == EXPECTED


@pytest.mark.parametrize("restores", [False, True])
def test_pushed_rows_lead_to_the_same(restores: bool) -> None:
    program = inkling.parse(TEXT)
    stream = program.open()
    found = []
    for name, rows in (("Door", DOORS[:1]), ("Seen", SEEN[:2]), ("Door", DOORS[1:]), ("Seen", SEEN[2:])):
        found.append(dict(stream.push({name: rows}).tables))
        if restores:
            stream = LocalStream.restore(program, stream.snapshot())
    found.append(dict(stream.finish().tables))
    assert told(found) == EXPECTED


def test_a_stream_that_both_kinds_read_has_its_rejects_reported_once() -> None:
    stream = inkling.parse(TEXT).open()
    stream.push({"Door": DOORS[:1]})
    found = stream.push({"Door": [{"id": "x", "who": "ada", "room": "hall", "t": None}]})
    assert found.rejects["id"].to_pylist() == ["x"]


def test_rejects_of_a_stream_that_nobody_reads_are_reported() -> None:
    stream = inkling.parse(TEXT + "STREAM Idle(id STRING, t BIGINT) ID id TIME t;").open()
    stream.push({"Door": DOORS[:1]})
    assert stream.push({"Idle": [{"id": "x", "t": None}]}).rejects["id"].to_pylist() == ["x"]


def test_open_matches_of_a_certain_event_are_shown_beside_uncertain_ones() -> None:
    text = TEXT.replace("SEQ NEXT(Door a[room = 'hall'], Door b[room = 'lab'])", "SEQ(Door a, Seat b)")
    text = text.replace(
        "EVENT moved", "STREAM Seat(id STRING, who STRING, t BIGINT) ID id KEY who TIME t;\nEVENT moved"
    )
    stream = inkling.parse(text).open()
    stream.push({"Door": DOORS[:2], "Seen": SEEN[:2]})
    assert len(stream.open_matches("moved")) == 2
    assert set(stream.open_matches("coffee")["method"].to_pylist()) <= {"exact"}


def test_windows_of_certain_and_uncertain_streams_can_be_changed() -> None:
    stream = inkling.parse(TEXT).open()
    stream.push({"Door": DOORS[:1], "Seen": [{**SEEN[0], "t": 10}]})
    stream.change_windows("Door", lateness="0 TICKS")
    stream.change_windows("Seen", lateness="0 TICKS")
    late = stream.push({"Door": [{"id": "d9", "who": "ada", "room": "lab", "t": 12}], "Seen": []})
    assert not len(late.late)
    assert len(stream.push({"Seen": [{**SEEN[2], "t": 9}]}).late) == 1


def test_a_row_that_the_old_window_would_have_taken_is_late_in_the_new_one() -> None:
    rows = {"Door": [{"id": "d8", "who": "eve", "room": "hall", "t": 20}], "Seen": [{**SEEN[0], "t": 20}]}
    late = {"Seen": [{**SEEN[2], "t": 18}]}
    kept, changed = inkling.parse(TEXT).open(), inkling.parse(TEXT).open()
    for stream in (kept, changed):
        stream.push(rows)
    changed.change_windows("Seen", lateness="0 TICKS")
    changed.change_windows("Door", lateness="0 TICKS")
    changed.push({})
    assert (len(kept.push(late).late), len(changed.push(late).late)) == (0, 1)


def test_an_unknown_forecast_is_rejected_beside_an_uncertain_stream() -> None:
    stream = inkling.parse(TEXT).open()
    with pytest.raises(InputError, match="INK0622"):
        stream.control("nothing", confidence=0.5)
