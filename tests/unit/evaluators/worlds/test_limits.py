"""What cannot be answered as demanded is rejected, with the part of the data that stands in the way."""

from datetime import UTC, datetime, timedelta

import pytest

from inkling import InputError, parse
from inkling.evaluators.sampling import Sampling

PROGRAM = """
STREAM Cpu(id INT, node STRING, lo INT) ID id KEY node TIME BETWEEN lo AND hi;
EVENT e AS PATTERN SEQ(Cpu a, Cpu b) PARTITION BY node PER VALUES {demand};
"""
ROWS = {"Cpu": [{"id": n, "node": "n1" if n else "n2", "lo": n, "hi": n + 9} for n in range(5)]}


def test_exact_that_is_out_of_reach_names_the_part() -> None:
    with pytest.raises(InputError) as raised:
        parse(PROGRAM.format(demand="EXACT")).run_local(ROWS, sampling=Sampling(exact_up_to=100))
    (found,) = raised.value.diagnostics
    assert found.code == "INK0615"
    assert "where node = 'n1': 4 uncertain events of Cpu" in found.notes


def test_exact_within_reach_is_exact() -> None:
    found = parse(PROGRAM.format(demand="EXACT")).run_local(ROWS, sampling=Sampling(exact_up_to=10_000))
    assert set(found.tables["e"]["method"].to_pylist()) == {"exact"}


def test_sampled_is_sampled_although_it_could_be_counted() -> None:
    found = parse(PROGRAM.format(demand="SAMPLED")).run_local(ROWS, sampling=Sampling(exact_up_to=10_000))
    assert set(found.tables["e"]["method"].to_pylist()) == {"sampled"}


def test_times_must_leave_room_for_lost_events() -> None:
    program = parse("""
        STREAM Door(door STRING, n INT, t INT) KEY door TIME t NUMBERED BY n;
        EVENT e AS PATTERN SEQ(Door a, Door b) PARTITION BY door;
    """)
    far = [{"door": "d", "n": n, "t": 2**50 + n} for n in (1, 3)]
    with pytest.raises(InputError) as raised:
        program.run_local({"Door": far})
    assert [one.code for one in raised.value.diagnostics] == ["INK0559"]


@pytest.mark.parametrize(("number", "fits"), [(3, True), (5, False)])
def test_no_more_events_are_lost_than_there_are_microseconds(number: int, fits: bool) -> None:
    program = parse("""
        STREAM Door(door STRING, n INT, t TIMESTAMP) KEY door TIME t NUMBERED BY n;
        EVENT e AS PATTERN SEQ STRICT(Door a, Door b) PARTITION BY door;
    """)
    first = datetime(2024, 1, 1, tzinfo=UTC)
    rows = [{"door": "d", "n": 1, "t": first}, {"door": "d", "n": number, "t": first + timedelta(microseconds=2)}]
    if fits:
        found = program.run_local({"Door": rows}, sampling=Sampling(exact_up_to=0)).tables["e"]
        assert found["probability"].to_pylist() == [1.0, 1.0]
    else:
        with pytest.raises(InputError) as raised:
            program.run_local({"Door": rows})
        assert [one.code for one in raised.value.diagnostics] == ["INK0559"]


def test_times_without_room_are_rejected_row_by_row_on_a_stream() -> None:
    program = parse("""
        STREAM Door(door STRING, n INT, t INT) KEY door TIME t NUMBERED BY n;
        EVENT e AS PATTERN SEQ(Door a, Door b) PARTITION BY door;
    """)
    stream = program.open(unbounded=True, sampling=Sampling(epsilon=0.3, delta=0.3))
    found = stream.push({"Door": [{"door": "d", "n": n, "t": t} for n, t in ((1, 1), (2, 2**50), (2, 3))]})
    assert [row["reason"] for row in found.rejects.to_pylist()] == ["bad time"]
    assert stream.finish()["e"]["probability"].to_pylist() == [1.0]


def test_a_role_that_was_never_recorded_has_a_usual_counterpart() -> None:
    """The horn at 4 sounds while the gate is open unless it closed before: 1 - 4 / 10."""
    program = parse("""
        STREAM Gate(gate STRING, n INT, way STRING, t INT) KEY gate TIME t NUMBERED BY n SEGMENTS ROLE way;
        STREAM Horn(gate STRING, t INT) KEY gate TIME t;
        EVENT open_at AS PATTERN SEQ(Gate g[n = 1], NOT Gate[way = 'close'], Horn h) PARTITION BY gate;
    """)
    gates = [{"gate": "g", "n": n, "way": "open", "t": t} for n, t in ((1, 0), (3, 10))]
    found = program.run_local({"Gate": gates, "Horn": [{"gate": "g", "t": 4}]})
    assert found.tables["open_at"]["probability"].to_pylist() == [pytest.approx(0.6)]


def test_columns_of_worlds_clash_with_no_name() -> None:
    program = parse("""
        STREAM W(id STRING, "world#" STRING, t BIGINT) ID id TIME t PROBABILITY p;
        EVENT e(a."world#" AS w) AS PATTERN W a;
    """)
    found = program.run_local({"W": [{"id": "x", "world#": "mine", "t": 1, "p": 0.25}]})
    assert found.tables["e"].select(["w", "probability"]).to_pylist() == [{"w": "mine", "probability": 0.25}]


@pytest.mark.parametrize("settings", [{"exact_up_to": 10**7}, {"exact_up_to": -1}, {"budget": 0}, {"seed": -1}])
def test_settings_that_make_no_sense(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Sampling(**settings)  # type: ignore[arg-type]
