"""What a declaration says about lost events, once its names are resolved."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.kit.oracle import bound

import inkling
from inkling.errors import InklingError, ProgramError
from inkling.logical.printing.explain import explain
from inkling.model.time import Duration
from inkling.model.uncertainty import LostEvents, Rate

TABLES = (
    "TABLE busy(since INT, rate DOUBLE) FROM 'busy.csv'; TABLE plan(bus STRING, n INT, stop STRING) FROM 'plan.csv';"
)
COLUMNS = "bus STRING, stop STRING, role STRING, t INT"


def uncertainty(options: str, columns: str = COLUMNS, tables: str = TABLES) -> LostEvents:
    schema = bound(f"{tables} STREAM Bus({columns}) KEY bus TIME t {options};").streams[0].schema
    assert isinstance(schema.uncertainty, LostEvents)
    return schema.uncertainty


def errors(options: str, columns: str = COLUMNS, tables: str = TABLES) -> list[str]:
    with pytest.raises(ProgramError) as raised:
        uncertainty(options, columns, tables)
    return [found.code for found in raised.value.diagnostics]


def test_everything_about_the_numbering() -> None:
    assert uncertainty("NUMBERED BY n GAPS ERLANG 3 INTENSITY busy KNOWN FROM plan") == LostEvents(
        "n", shape=3, intensity="busy", known="plan"
    )


def test_everything_about_segments() -> None:
    found = uncertainty("NUMBERED BY n SEGMENTS ROLE role COUNT c BOUNDS lo TO hi RATE 0.5 PER 4 TICKS TIMEOUT 9 TICKS")
    per, timeout = Duration(Fraction(4), "TICKS"), Duration(Fraction(9), "TICKS")
    assert found == LostEvents("n", "role", "c", ("lo", "hi"), Rate(0.5, per), timeout=timeout)
    assert found.spans == (per, timeout)
    assert uncertainty("NUMBERED BY n SEGMENTS RATE often").rate == "often"
    assert uncertainty("NUMBERED BY n SEGMENTS RATE often", f"{COLUMNS}, often DOUBLE").rate == "often"


def test_it_is_explained() -> None:
    plan = bound(
        f"{TABLES} STREAM Bus({COLUMNS}) KEY bus TIME t NUMBERED BY n GAPS ERLANG 2 KNOWN FROM plan"
        " SEGMENTS ROLE role RATE 12 PER 3 TICKS TIMEOUT 5 TICKS;"
    )
    said = "losses numbered by n, role role, rate 12 per 3 TICKS, gaps of shape 2, known from plan, timeout 5 TICKS"
    assert said in explain(plan)


@pytest.mark.parametrize(
    "columns",
    [
        "since INT",
        "since INT, rate DOUBLE, more INT",
        "since TIMESTAMP, rate DOUBLE",
        "since INT, rate STRING",
        "rate DOUBLE, since INT",
    ],
)
def test_intensity_is_a_time_and_a_rate(columns: str) -> None:
    assert errors("NUMBERED BY n INTENSITY q", tables=f"TABLE q({columns}) FROM 'q.csv';") == ["INK0338"]


@pytest.mark.parametrize("kind", ["INT", "TIMESTAMP"])
def test_intensity_where_only_the_data_tell_what_times_are(kind: str) -> None:
    tables = f"TABLE q(since {kind}, rate INT) FROM 'q.csv';"
    assert uncertainty("NUMBERED BY n INTENSITY q", "bus STRING", tables).intensity == "q"
    ticking = "TICK 1 SECONDS NUMBERED BY n INTENSITY q"
    if kind == "INT":
        assert uncertainty(ticking, "bus STRING", tables).intensity == "q"
    else:
        assert errors(ticking, "bus STRING", tables) == ["INK0338"]


@pytest.mark.parametrize(
    "columns",
    [
        "stop STRING",  # no number
        "n INT",  # nothing besides
        "n INT, bus STRING",
        "n STRING, stop STRING",  # types
        "n INT, stop INT",
        "n INT, bus INT, stop STRING",
        "n INT, platform STRING",  # not of the stream
        "n INT, stop STRING, t INT",  # other roles
        "n INT, stop STRING, role STRING",
        "n INT, stop STRING, c INT",
        "n INT, stop STRING, lo INT",
        "n INT, stop STRING, r DOUBLE",
    ],
)
def test_known_events_have_a_number_and_columns_of_the_stream(columns: str) -> None:
    options = "NUMBERED BY n KNOWN FROM q SEGMENTS ROLE role COUNT c BOUNDS lo TO hi RATE r"
    assert errors(options, tables=f"TABLE q({columns}) FROM 'q.csv';") == ["INK0338"]


def test_a_number_that_is_also_an_id_may_be_looked_up() -> None:
    tables = "TABLE q(n INT, stop STRING) FROM 'q.csv';"
    assert uncertainty("ID n NUMBERED BY n KNOWN FROM q", f"n INT, {COLUMNS}", tables).known == "q"


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ("NUMBERED BY n INTENSITY nowhere", ["INK0206"]),
        ("NUMBERED BY n KNOWN FROM nowhere", ["INK0206"]),
        ("NUMBERED BY n INTENSITY busy SEGMENTS RATE r", ["INK0302"]),
        ("NUMBERED BY n SEGMENTS TIMEOUT 0 TICKS", ["INK0304"]),
        ("NUMBERED BY n SEGMENTS TIMEOUT 5 MINUTES", ["INK0304"]),
        ("NUMBERED BY n SEGMENTS RATE 5 PER HOUR", ["INK0304"]),
        ("NUMBERED BY n SEGMENTS RATE stop", ["INK0216"]),
        ("NUMBERED BY n SEGMENTS COUNT c RATE c", ["INK0302"]),
        ("SEGMENTS RATE 5 PER TICK", ["INK0302"]),
        ("SEGMENTS TIMEOUT 5 TICKS", ["INK0302"]),
    ],
)
def test_what_does_not_fit(options: str, codes: list[str]) -> None:
    assert errors(options) == codes


def test_tables_that_only_a_stream_names_are_read(tmp_path: Path) -> None:
    program = inkling.parse(
        f"{TABLES} STREAM Bus({COLUMNS}, n INT) KEY bus TIME t NUMBERED BY n KNOWN FROM plan;"
        "EVENT seen(b.bus) AS PATTERN Bus b PER VALUES;",
        folder=tmp_path,
    )
    assert [table.name for table in program.rewritten.plan.tables] == ["busy", "plan"]
    (tmp_path / "busy.csv").write_text("since,rate\n0,1.5\n")
    row = {"bus": "9", "stop": "a", "role": "open", "t": 1, "n": 1}
    with pytest.raises(InklingError, match=r"plan\.csv"):
        program.run_local({"Bus": [row]})
    (tmp_path / "plan.csv").write_text("bus,n,stop\n9,2,b\n")
    assert program.run_local({"Bus": [row]}).tables["seen"]["bus"].to_pylist() == ["9"]


def test_a_column_with_the_rate_is_read() -> None:
    program = inkling.parse(
        "STREAM Bus(bus STRING) KEY bus TIME t NUMBERED BY n SEGMENTS COUNT c RATE often;"
        "EVENT seen(b.bus) AS PATTERN Bus b PER VALUES;"
    )
    with pytest.raises(InklingError, match="no column `often`"):
        program.run_local({"Bus": [{"bus": "9", "t": 1, "n": 1, "c": 1}]})


def test_lengths_have_to_fit_what_the_times_of_the_data_count() -> None:
    program = inkling.parse(
        "STREAM Bus(bus STRING) KEY bus TIME t NUMBERED BY n SEGMENTS TIMEOUT 5 MINUTES;"
        "EVENT seen(b.bus) AS PATTERN Bus b PER VALUES;"
    )
    with pytest.raises(InklingError, match="INK0507"):
        program.run_local({"Bus": [{"bus": "9", "t": 1, "n": 1}]})
