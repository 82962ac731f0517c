"""What a stranger's program may read and write: nothing outside of the root, nor of the folder of results."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import inkling
from inkling.cli import app
from inkling.cli.outputs import check_output
from inkling.errors import InklingError
from inkling.spark.read.inputs import read_facts
from inkling.spark.streaming.sinks.current_versions import TablesVersions
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import FileSink, sink_of

DOORS = "STREAM Door(room STRING, t INT) TIME t;"
LAB = 'EVENT "{event}" AS PATTERN Door d WHERE labs(d.room);'


def program(place: str, event: str = "visit") -> str:
    return f"{DOORS}\nTABLE labs(room STRING) FROM '{place}';\n{LAB.format(event=event)}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `in`, which is the root, with a program and a table; and a table outside of it."""
    (tmp_path / "in" / "tables").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for place in ("in/labs.csv", "in/tables/labs.csv", "outside.csv"):
        Path(place).write_text("room\nlab\n")
    Path("Door.csv").write_text("room,t\nlab,1\n")
    Path("in/link.csv").symlink_to(tmp_path / "outside.csv")
    Path("in/linked").mkdir()
    Path("in/linked/labs.csv").symlink_to(tmp_path / "outside.csv")
    return tmp_path


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, [*words])


def run(*words: str) -> Result:
    given = ["-i", "Door=Door.csv", "-o", "-", "--runner", "local", "--root", "in"]
    return invoke("run", "in/doors.ink", *given, *words)


@pytest.mark.parametrize("place", ["labs.csv", "tables", "../in/labs.csv"])
def test_what_lies_inside_is_read(place: str) -> None:
    Path("in/doors.ink").write_text(program(place))
    result = run()
    assert result.exit_code == 0, result.stderr
    assert '"visit"' in result.stdout


OUTSIDE = [
    "../outside.csv",
    "link.csv",
    "linked",
    "tables/../../outside.csv",
    "/etc",
    "link.csv?encoding=latin-1",
    "../no such file.csv",
]


@pytest.mark.parametrize("place", OUTSIDE)
def test_what_lies_outside_is_not_read(place: str) -> None:
    Path("in/doors.ink").write_text(program(place))
    result = run()
    assert (result.exit_code, "INK0580" in result.stderr, result.stdout) == (3, True, "")
    checked = invoke("check", "in/doors.ink", "--root", "in")
    assert (checked.exit_code, "INK0580" in checked.stderr) == (3, True)


def test_rows_that_are_given_by_name_are_the_choice_of_the_caller() -> None:
    Path("in/doors.ink").write_text(program("../outside.csv"))
    assert run("-t", "labs=outside.csv").exit_code == 0


def test_programs_python_and_declarations_lie_inside(folder: Path) -> None:
    Path("aggregates.py").write_text("raise SystemExit('imported')\n")
    Path("in/doors.ink").write_text(program("labs.csv"))
    assert "INK0580" in run("--python", "aggregates.py").stderr
    Path("doors.ink").write_text(program("in/labs.csv"))
    assert "INK0580" in invoke("check", "doors.ink", "--root", "in").stderr
    Path("in/pairs.sre").write_text(";(hot,hot)\n")
    Path("outside.sre").write_text("")
    given = ["--declarations", str(folder / "outside.sre"), "--root", "in"]
    assert "INK0580" in invoke("explain", "in/pairs.sre", *given).stderr


def each_way() -> dict[str, Callable[[], object]]:
    text, rows = program("../outside.csv"), [{"room": "lab", "t": 1}]
    confined = inkling.parse(text, folder="in", root="in")
    return {
        "run_local": lambda: confined.run_local(rows),
        "open": confined.open,
        "why": lambda: confined.why("visit", {"Door": rows}),
    }


@pytest.mark.parametrize("way", ["run_local", "open", "why"])
def test_the_same_from_python(way: str) -> None:
    with pytest.raises(InklingError, match="INK0580"):
        each_way()[way]()
    inkling.parse(program("../outside.csv"), folder="in").run_local([{"room": "lab", "t": 1}])


def test_a_program_that_is_confined_reads_no_catalog(spark: SparkSession) -> None:
    spark.createDataFrame([("lab",)], "room string").createOrReplaceTempView("labs_view")
    text = program("labs_view")
    assert len(read_facts(spark, inkling.parse(text, folder="in"), {})["labs"]) == 1
    with pytest.raises(InklingError, match="no file or folder"):
        read_facts(spark, inkling.parse(text, folder="in", root="in"), {})


def test_no_name_leads_out_of_a_folder_of_inputs(folder: Path) -> None:
    Path("in/doors.ink").write_text(
        'STREAM "../outside"(room STRING, t INT) TIME t;\nEVENT visit AS PATTERN "../outside";\n'
    )
    Path("outside.csv").write_text("room,t\nlab,1\n")
    result = invoke("run", "in/doors.ink", "-i", "in", "-o", "-", "--runner", "local")
    assert (result.exit_code, "INK0555" in result.stderr) == (3, True)


def test_no_name_of_a_model_leads_out_of_its_folder(folder: Path) -> None:
    text = """STREAM Door(room STRING, t INT) TIME t ORDER BY t;
    EVENT pair AS PATTERN SEQ NEXT(Door a[room = 'lab'], Door b[room = 'lab']);
    FORECAST soon OF pair WITHIN 3 EVENTS MODEL "../../model";"""
    Path("in/tables/pair.ink").write_text(text)
    Path("rooms.csv").write_text("room,t\n" + "".join(f"{'lab' if t % 3 else 'hall'},{t}\n" for t in range(60)))
    for out in ([], ["-o", "in/tables"]):
        result = invoke("fit", "in/tables/pair.ink", "-i", "Door=rooms.csv", "--runner", "local", *out)
        assert result.exit_code == 0, result.stderr
    assert [path.name for path in Path("in/tables").glob("*.parquet")] == ["..%2F..%2Fmodel.parquet"]
    assert not [*folder.glob("*.parquet")]
    result = invoke("run", "in/tables/pair.ink", "-i", "Door=rooms.csv", "-o", "-", "--runner", "local")
    assert result.exit_code == 0, result.stderr


def test_no_name_leads_out_of_a_folder_of_current_matches() -> None:
    place = TablesVersions(None, "out").new_folder("..", "1")  # type: ignore[arg-type]
    assert os.path.normpath(f"pieces/{place}").startswith("pieces/")


JSON = "out?format=json&formulas=escape"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "plain", "a=b", ""]


def test_formulas_of_a_csv_file_are_escaped() -> None:
    pq.write_table(pa.table({"room": FORMULAS, "t": pa.array(range(-4, 4))}), "Door.parquet")
    Path("formulas.ink").write_text(f'{DOORS} EVENT visit(d.room AS "=room", d.t AS t) AS PATTERN Door d;')
    for output, mark in (("out.csv?formulas=escape", "'"), ("out.csv", "")):
        result = invoke("run", "formulas.ink", "-i", "Door=Door.parquet", "-o", output, "--runner", "local")
        assert result.exit_code == 0, result.stderr
        with Path("out.csv").open(newline="") as file:
            rows = [*csv.DictReader(file)]
        expected = [f"{mark}{one}" if one.startswith(("=", "+", "-", "@", "\t")) else one for one in FORMULAS]
        assert [row[f"{mark}=room"] for row in rows] == expected
        assert [row["t"] for row in rows] == [str(t) for t in range(-4, 4)]


def test_formulas_of_a_stream_are_escaped(spark: SparkSession, tmp_path: Path) -> None:
    sink = sink_of(f"{tmp_path}/found?format=csv&formulas=escape")
    assert isinstance(sink, FileSink)
    frame = spark.createDataFrame([(one, 7) for one in FORMULAS], "`=room` string, t int")
    sink.deliver([SinkOutput("visit", frame, len(FORMULAS))], 0)
    (file,) = (tmp_path / "found" / "visit" / "batch=0").glob("*.csv")
    with file.open(newline="") as lines:
        rows = [*csv.reader(lines)]
    assert rows[0] == ["'=room", "t"]
    assert {row[0] for row in rows[1:]} == {"'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "plain", "a=b", ""}


@pytest.mark.parametrize("choose", [lambda: check_output("out.csv?formulas=keep"), lambda: sink_of(JSON)])
def test_wrong_choices_are_named(choose: Callable[[], object]) -> None:
    with pytest.raises(InklingError, match="INK0515"):
        choose()
