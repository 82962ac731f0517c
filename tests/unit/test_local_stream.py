"""Programs that run in this process: what is pushed, what is rejected, what a snapshot keeps."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

import inkling
from inkling import InputError, LocalStream, ProgramError
from inkling.model.batch import FOREVER

TRAFFIC = """
STREAM Traffic(id STRING, car STRING, speed DOUBLE, at TIMESTAMP) ID id KEY car TIME at ORDER BY id;
EVENT braked(car) AS
  PATTERN SEQ NEXT (Traffic a[speed > 100], Traffic b[speed < 30]) PARTITION BY car PER END RETURN a.speed AS before;
"""


def moment(second: int) -> datetime:
    return datetime(2026, 1, 1, 12, 0, second, tzinfo=UTC)


def row(number: int, speed: float, second: int | None = None) -> dict[str, object]:
    at = moment(number if second is None else second)
    return {"id": f"t{number}", "car": "red", "speed": speed, "at": at}


def test_one_event_at_a_time() -> None:
    stream = inkling.parse(TRAFFIC).open()
    assert stream.push_event("Traffic", row(1, 120.0)).n_results == 0
    assert stream.push_event("Traffic", row(2, 20.0)).n_results == 0  # another row of the same time may come
    found = stream.push_event("Traffic", row(3, 50.0))
    assert found["braked"].select(["car", "before", "end", "lineage"]).to_pylist() == [
        {"car": "red", "before": 120.0, "end": moment(2), "lineage": ["t1", "t2"]}
    ]
    assert not len(found.late)
    assert not len(found.rejects)


def test_any_data_can_be_pushed() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [row(1, 120.0), row(2, 20.0)]
    for data in (rows, pa.Table.from_pylist(rows), pandas.DataFrame(rows)):
        stream = inkling.parse(TRAFFIC).open()
        stream.push({"Traffic": data})
        assert stream.finish().n_results == 1


def test_watermark() -> None:
    stream = inkling.parse(TRAFFIC).open()
    assert stream.watermark is None
    stream.push_event("Traffic", row(1, 1.0))
    assert stream.watermark == int(moment(1).timestamp() * 1e6) - 1
    stream.finish()
    assert stream.watermark == FOREVER


def test_a_row_after_the_end_is_late() -> None:
    stream = inkling.parse(TRAFFIC).open()
    stream.push_event("Traffic", row(5, 1.0))
    stream.finish()
    late = stream.push_event("Traffic", row(6, 1.0)).late
    assert late.select(["stream", "id", "time"]).to_pylist() == [{"stream": "Traffic", "id": "t6", "time": moment(6)}]


def test_rows_without_a_time_decide_no_clock() -> None:
    text = TRAFFIC.replace("at TIMESTAMP", "n INT")
    stream = inkling.parse(text).open()
    rejected = stream.push({"Traffic": [{"id": "t0", "car": "red", "speed": 1.0, "at": None, "n": 0}]})
    assert rejected.rejects["reason"].to_pylist() == ["null time"]
    found = stream.push(
        {"Traffic": [{"id": f"t{at}", "car": "red", "speed": 200.0 / at**5, "at": at, "n": 0} for at in (1, 2, 3)]}
    )
    assert found["braked"]["end"].to_pylist() == [2]


def test_streams_must_agree_on_what_times_count() -> None:
    text = """
    STREAM A(k STRING) TIME t;
    STREAM B(k STRING) TIME t;
    EVENT e AS PATTERN SEQ ANY (A a, B b) WITHIN 5 EVENTS;
    """
    stream = inkling.parse(text).open(unbounded=True)
    stream.push({"A": [{"k": "x", "t": 1}]})
    with pytest.raises(InputError, match="INK0505"):
        stream.push({"B": [{"k": "x", "t": moment(1)}]})
    stream.push({"B": [{"k": "x", "t": 2}]})  # a push that is rejected changes nothing
    assert stream.finish().n_results == 1


def test_what_was_said_before_the_first_row_counts() -> None:
    text = """
    STREAM A(k STRING, t INT) KEY k TIME t;
    STREAM B(k STRING, t INT) KEY k TIME t;
    EVENT e(k) AS PATTERN A PARTITION BY k OVER (A, B);
    """
    stream = inkling.parse(text).open()
    stream.idle("B")
    again = LocalStream.restore(inkling.parse(text), stream.snapshot())
    for one in (stream, again):
        one.push_event("A", {"k": "x", "t": 1})
        assert one.push_event("A", {"k": "x", "t": 2}).n_results == 1


def test_snapshot_goes_on_where_it_was() -> None:
    program = inkling.parse(TRAFFIC)
    stream = program.open()
    stream.push_event("Traffic", row(1, 120.0))
    saved = stream.snapshot()
    for _ in range(2):  # a snapshot can be used more than once
        again = LocalStream.restore(program, saved)
        again.push_event("Traffic", row(2, 20.0))
        assert again.finish()["braked"]["lineage"].to_pylist() == [["t1", "t2"]]


def test_snapshot_of_another_program_is_rejected() -> None:
    saved = inkling.parse(TRAFFIC).open().snapshot()
    LocalStream.restore(inkling.parse(TRAFFIC.replace("\n", "\n\n")), saved)  # layout does not matter
    with pytest.raises(InputError, match="another program"):
        LocalStream.restore(inkling.parse(TRAFFIC.replace("100", "90")), saved)
    with pytest.raises(InputError, match="no snapshot"):
        LocalStream.restore(inkling.parse(TRAFFIC), b"something else")


def test_unknown_stream() -> None:
    stream = inkling.parse(TRAFFIC).open()
    with pytest.raises(InputError, match="no stream called `Cars`"):
        stream.push({"Cars": []})
    with pytest.raises(InputError, match="no stream called `Cars`"):
        stream.idle("Cars")


def test_a_missing_column_changes_nothing() -> None:
    stream = inkling.parse(TRAFFIC).open()
    stream.push_event("Traffic", row(1, 120.0))
    with pytest.raises(InputError, match="no column `speed`"):
        stream.push_event("Traffic", {"id": "t2", "car": "red", "at": moment(2)})
    stream.push_event("Traffic", row(2, 20.0))
    assert stream.finish().n_results == 1


def test_a_program_without_bounds_is_rejected() -> None:
    program = inkling.parse(TRAFFIC.replace("PER END", "PER MATCH"))
    with pytest.raises(ProgramError, match="INK0605"):
        program.open()
    assert program.open(unbounded=True).finish().n_results == 0


DOORS = "STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;"
BACK = "EVENT back(person) AS PATTERN SEQ NEXT(Door a, Door b[room = a.room]) WITHIN 100 TICKS PARTITION BY person;"
LOST = "EVENT lost(person) AS PATTERN SEQ(Door a, NOT Door b, AFTER 5 TICKS) PARTITION BY person;"
KNOWN = (
    "TABLE open(room STRING) FROM 'open.csv'; EVENT shut(person) AS PATTERN Door d[NOT open(room)] PARTITION BY person;"
)


def door(number: int, person: str, room: str, t: int) -> dict[str, object]:
    return {"id": f"d{number}", "person": person, "room": room, "t": t}


def test_kept_events_go_on_and_new_ones_begin() -> None:
    """The example of docs/how-to/change-a-running-program.md."""
    stream = inkling.parse(f"{DOORS} {BACK}").open()
    stream.push([door(1, "ada", "lab", 10), door(2, "bob", "hall", 11)])
    changes = stream.replace(inkling.parse(f"{DOORS} {LOST} {BACK}"))
    assert (changes.kept, changes.started, changes.restarted, changes.stopped) == (("back",), ("lost",), (), ())
    assert str(changes) == "kept: back; started: lost"
    pushed = stream.push([door(3, "ada", "lab", 20), door(4, "bob", "roof", 21)])
    ended = stream.finish()
    assert [*pushed["back"]["lineage"].to_pylist(), *ended["back"]["lineage"].to_pylist()] == [["d1", "d3"]]
    assert sorted(ended["lost"]["lineage"].to_pylist()) == [["d3"], ["d4"]]


def test_a_snapshot_after_a_change_belongs_to_the_new_program() -> None:
    old, new = inkling.parse(f"{DOORS} {BACK}"), inkling.parse(f"{DOORS} {LOST} {BACK}")
    stream = old.open()
    stream.push([door(1, "ada", "lab", 10)])
    stream.replace(new)
    with pytest.raises(InputError, match="another program"):
        LocalStream.restore(old, stream.snapshot())
    again = LocalStream.restore(new, stream.snapshot())
    again.push([door(3, "ada", "lab", 20)])
    ended = again.finish()
    assert ended["back"]["lineage"].to_pylist() == [["d1", "d3"]]
    assert ended["lost"]["lineage"].to_pylist() == [["d3"]]


def test_before_the_first_row_any_program_can_be_replaced() -> None:
    stream = inkling.parse(f"{DOORS} {BACK}").open()
    changes = stream.replace(
        inkling.parse(f"{DOORS} {BACK.replace('PARTITION BY person', '').replace('(person)', '')}")
    )
    assert changes.restarted == ("back",)
    stream.push([door(1, "ada", "lab", 10), door(2, "bob", "lab", 11)])
    assert stream.finish()["back"]["lineage"].to_pylist() == [["d1", "d2"]]


def test_a_program_that_cannot_replace_the_running_one_changes_nothing() -> None:
    stream = inkling.parse(f"{DOORS} {BACK}").open()
    stream.push([door(1, "ada", "lab", 10)])
    ticks = DOORS.replace("t BIGINT", "t TIMESTAMP")
    for text, reason in (
        (f"{DOORS} {BACK} STREAM Bell(t BIGINT) TIME t;", "the running program reads Door, the new one Bell, Door"),
        (f"{ticks} {BACK.replace('100 TICKS', '1 HOUR')}", "the clock of the streams would change"),
        (f"{DOORS} {BACK} EVENT two AS PATTERN SEQ(Door a, Door b) WITHIN 5 TICKS;", "another partition key"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            stream.replace(inkling.parse(text))
        assert caught.value.diagnostics[0].code == "INK0606"
    with pytest.raises(ProgramError, match="INK0605"):
        stream.replace(inkling.parse(f"{DOORS} {BACK.replace('WITHIN 100 TICKS', '')}"))
    stream.push([door(3, "ada", "lab", 20)])
    assert stream.finish()["back"]["lineage"].to_pylist() == [["d1", "d3"]]


def test_tables_of_a_new_program_are_read_again() -> None:
    program = inkling.parse(f"{DOORS} {KNOWN}")
    stream = program.open({"open": [{"room": "lab"}]})
    stream.push([door(1, "ada", "lab", 1), door(2, "ada", "hall", 2)])
    assert not stream.replace(program)
    assert stream.replace(program, {"open": [{"room": "hall"}]}).tables == ("open",)
    pushed = stream.push([door(3, "ada", "lab", 3), door(4, "ada", "hall", 4)])
    found = [*pushed["shut"]["lineage"].to_pylist(), *stream.finish()["shut"]["lineage"].to_pylist()]
    assert found == [["d2"], ["d3"]]
