"""The façade: a program from its text to its explanation, and what it rejects."""

import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import inkling
from inkling.language import build
from inkling.language import parse as parse_syntax

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = """
STREAM Door(id BIGINT, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
TABLE labs(room STRING) FROM 'labs.csv';

-- In one lab, then in another.
EVENT tour(person) AS
  PATTERN SEQ NEXT(Door a[labs(room)], Door b[labs(room) AND room <> a.room])
  PARTITION BY person;
"""
UNCERTAIN = """
STREAM At(person STRING, room STRING, t BIGINT, p DOUBLE) KEY person TIME t PROBABILITY p;
EVENT seen(person) AS PATTERN At a[room = 'lab'] PARTITION BY person PER END;
EVENT seen_twice(x.person AS person) AS PATTERN SEQ(seen x, seen y[person = x.person]) WITHIN 5 TICKS;
"""


def test_a_program_carries_every_stage() -> None:
    program = inkling.parse(TEXT, name="tour.ink")
    assert program.name == "tour.ink"
    assert program.text == TEXT
    assert [event.name for event in program.plan.events] == ["tour"]
    assert program.warnings == ()
    assert [step.event.name for stage in program.physical.stages for step in stage.steps] == ["tour"]


def test_explain_gives_one_stage_or_all_under_titles() -> None:
    program = inkling.parse(TEXT)
    texts = [program.explain(stage) for stage in ("logical", "rewritten", "verdicts", "physical")]
    everything = program.explain()
    positions = [everything.index(text) for text in texts]
    assert positions == sorted(positions)
    assert everything.startswith("== logical ==\n")


def test_explain_lists_the_choices_when_the_stage_is_unknown() -> None:
    with pytest.raises(ValueError, match="logical, rewritten, verdicts, physical, found 'wrong'"):
        inkling.parse(TEXT).explain("wrong")


def test_to_ink_parses_to_the_same_program() -> None:
    program = inkling.parse(TEXT)
    assert parse_syntax(program.to_ink()) == program.syntax


def test_statements_and_texts_make_a_program() -> None:
    stream, table, event = inkling.parse(TEXT).syntax.statements
    program = inkling.program(stream, table, "EVENT one(d.person AS person) AS PATTERN Door d;", event)
    assert [one.name for one in program.plan.events] == ["one", "tour"]


def test_builders_make_a_program() -> None:
    door = build.stream("Door").column("room", "STRING").column("t", "BIGINT").time("t")
    lab = build.event("lab").pattern(build.leaf("Door", "d", where=build.col("room") == "lab"))
    program = inkling.program(door, lab)
    assert program.run_local({"Door": [{"room": "lab", "t": 3}]}).tables["lab"]["start"].to_pylist() == [3]


def test_errors_carry_their_place() -> None:
    with pytest.raises(inkling.ProgramError) as caught:
        inkling.parse(TEXT.replace("Door b", "Dor b"), name="tour.ink")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "INK0205"
    assert "tour.ink:7:40" in diagnostic.render()


def test_a_program_without_a_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(inkling.InputError, match="there is no file"):
        inkling.load(tmp_path / "missing.ink")
    with pytest.raises(inkling.InputError, match="is a folder"):
        inkling.load(tmp_path)
    (tmp_path / "latin.ink").write_bytes(b"-- caf\xe9\n")
    with pytest.raises(inkling.InputError, match="cannot be read"):
        inkling.load(tmp_path / "latin.ink")


def test_load_takes_the_name_and_the_folder_from_the_path(tmp_path: Path) -> None:
    (tmp_path / "tour.ink").write_text(TEXT)
    program = inkling.load(tmp_path / "tour.ink")
    assert (program.name, program.folder) == ("tour.ink", tmp_path)


def test_uncertain_programs_are_explained() -> None:
    verdicts = inkling.parse(UNCERTAIN).explain("verdicts")
    assert verdicts.count("uncertain  what: At has alternatives") == 2
    assert verdicts.count("in possible worlds; ") == 1
    assert verdicts.count("chains of automaton states, exact; ") == 1


def test_uncertain_programs_give_probabilities() -> None:
    program = inkling.parse(UNCERTAIN, name="seen.ink")
    rows = [{"person": "ada", "room": "lab", "t": t, "p": p} for t, p in ((1, 0.5), (3, 0.25))]
    found = program.run_local({"At": rows})
    assert found.worlds == "1 part enumerated (4 worlds)"
    assert sorted(found.tables["seen"]["probability"].to_pylist()) == [0.25, 0.5]
    assert found.tables["seen_twice"]["probability"].to_pylist() == [0.125]


def test_public_names_exist_and_nothing_else_is_listed() -> None:
    for name in inkling.__all__:
        assert getattr(inkling, name) is not None
    assert sorted(inkling.__all__) == dir(inkling)
    assert 15 <= len(inkling.__all__) <= 20
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        inkling.lod  # noqa: B018


def test_no_module_has_the_name_of_a_public_function() -> None:
    """A module of that name would hide the function once it is imported."""
    modules = {module.name for module in pkgutil.iter_modules(inkling.__path__)}
    assert modules.isdisjoint(inkling.__all__)


ONE_STREAM = """
STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
STREAM Unread(t BIGINT) TIME t;
EVENT lab(d.person AS person) AS PATTERN Door d[room = 'lab'];
EVENT hall(d.person AS person) AS PATTERN Door d[room = 'hall'];
"""
TWO_STREAMS = """
STREAM A(t BIGINT) TIME t;
STREAM B(t BIGINT) TIME t;
EVENT both AS PATTERN SEQ(A a, B b) WITHIN 5 TICKS;
"""
DOORS = [{"person": "ada", "room": "lab", "t": 1}, {"person": "bob", "room": "hall", "t": 2}]


def test_the_only_stream_that_is_read_needs_no_name() -> None:
    program = inkling.parse(ONE_STREAM)
    assert program.run_local(DOORS)["lab"]["person"].to_pylist() == ["ada"]
    assert program.run_local(pa.Table.from_pylist(DOORS))["hall"]["person"].to_pylist() == ["bob"]
    stream = program.open()
    assert stream.push(DOORS)["lab"]["person"].to_pylist() == ["ada"]
    assert program.why("lab", DOORS).progress is not None


def test_an_input_without_a_name_is_rejected_if_there_are_several_streams() -> None:
    program = inkling.parse(TWO_STREAMS)
    for attempt in (program.run_local, program.open().push):
        with pytest.raises(inkling.InputError) as caught:
            attempt([{"t": 1}])
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.message == "the program reads 2 streams, so an input needs the name of its stream"
        assert diagnostic.notes == ("its streams are A, B",)
        assert diagnostic.helps == ('give inputs by stream: `{"A": …, "B": …}`',)


def test_a_program_is_a_function_of_frames(spark: "SparkSession") -> None:
    doors = spark.createDataFrame(DOORS)
    program = inkling.parse(ONE_STREAM)
    assert [row["person"] for row in doors.transform(program.on(event="lab")).collect()] == ["ada"]
    assert [row["person"] for row in doors.transform(program.on("Door", event="hall")).collect()] == ["bob"]


def test_a_function_of_frames_needs_one_stream_and_one_event() -> None:
    program = inkling.parse(ONE_STREAM)
    with pytest.raises(inkling.InputError, match=r"(?s)the program has 2 events.*its events are lab, hall"):
        program.on()
    with pytest.raises(inkling.InputError, match=r"(?s)no event called `moon`.*its events are lab, hall"):
        program.on(event="moon")
    with pytest.raises(inkling.InputError, match="no stream called `Gate`"):
        program.on("Gate", event="lab")
    with pytest.raises(inkling.InputError, match="the program reads 2 streams"):
        inkling.parse(TWO_STREAMS).on()
    with pytest.raises(inkling.InputError, match="no input was given for the stream `B`"):
        inkling.parse(TWO_STREAMS).on("A")


def test_checking_and_explaining_load_neither_spark_nor_numba() -> None:
    """In a process of its own: this one has loaded everything."""
    code = (
        "import sys, inkling\n"
        f"inkling.parse({TEXT!r}).explain()\n"
        "print(*sorted({'pyspark', 'numba', 'pandas', 'pyarrow', 'numpy', 'jinja2'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == ""
