"""`inkling run` in this process: formats in and out, rejected rows, and what each error exits with."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app

PROGRAM = """
STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
TABLE labs(room STRING, floor BIGINT) FROM 'labs.csv';

EVENT visit(d.person AS person, floor) AS
  PATTERN Door d
  WHERE labs(d.room, floor);

EVENT back(person) AS
  PATTERN SEQ NEXT(Door a, Door b[room = a.room])
  PARTITION BY person
  RETURN END(b) - START(a) AS away;
"""
ROWS = [
    {"id": "d1", "person": "ada", "room": "lab", "t": 1},
    {"id": "d2", "person": "bob", "room": "hall", "t": 2},
    {"id": "d3", "person": "ada", "room": "hall", "t": 3},
    {"id": "d4", "person": "ada", "room": "lab", "t": 7},
]
FIXED = {"probability": 1.0, "method": "exact", "error": 0.0, "op": "+"}
EXPECTED = [
    {"event": "visit", "person": "ada", "floor": 2, "start": 1, "end": 1, "detected_at": 1, "lineage": ["d1"]},
    {"event": "visit", "person": "ada", "floor": 2, "start": 7, "end": 7, "detected_at": 7, "lineage": ["d4"]},
    {"event": "back", "person": "ada", "away": 6, "start": 1, "end": 7, "detected_at": 7, "lineage": ["d1", "d4"]},
]


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["run", "doors.ink", "--runner", "local", *map(str, words)])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("doors.ink").write_text(PROGRAM)
    Path("labs.csv").write_text("room,floor\nlab,2\n")
    Path("Door.csv").write_text("id,person,room,t\n" + "".join(",".join(map(str, row.values())) + "\n" for row in ROWS))
    return tmp_path


def with_fixed(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{**row, **FIXED} for row in rows]


def test_json_lines_on_stdout() -> None:
    result = run("-i", "Door=Door.csv", "-o", "-")
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == with_fixed(EXPECTED)
    assert result.stderr.splitlines()[:2] == ["visit  2 results", "back   1 result"]
    assert "4 rows read" in result.stderr


def test_columns_stand_in_the_promised_order() -> None:
    first = run("-i", "Door=Door.csv", "-o", "-", "--quiet").stdout.splitlines()[0]
    assert list(json.loads(first)) == [
        *("event", "person", "floor", "start", "end", "detected_at"),
        *("probability", "method", "error", "op", "lineage"),
    ]


def write_door(path: str) -> None:
    if path.endswith(".jsonl"):
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        pa.parquet.write_table(pa.Table.from_pylist(ROWS), path)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_other_formats_in(suffix: str) -> None:
    write_door(f"rows{suffix}")
    result = run("-i", f"Door=rows{suffix}", "-o", "-", "--quiet")
    assert [json.loads(line) for line in result.stdout.splitlines()] == with_fixed(EXPECTED)


def test_a_folder_holds_a_file_per_stream() -> None:
    Path("data").mkdir()
    write_door("data/Door.parquet")
    Path("data/labs.csv").write_text("room,floor\nhall,0\n")
    rows = [json.loads(line) for line in run("-i", "data", "-o", "-").stdout.splitlines()]
    assert [row["lineage"] for row in rows if row["event"] == "visit"] == [["d2"], ["d3"]]


def test_a_table_can_be_given() -> None:
    Path("others.csv").write_text("room,floor\nhall,0\n")
    result = run("-i", "Door=Door.csv", "-t", "labs=others.csv", "-o", "-")
    assert result.stdout.count('"floor": 0') == 2


def test_csv_unites_the_columns_of_all_events() -> None:
    assert run("-i", "Door=Door.csv", "-o", "out/results.csv").exit_code == 0
    with Path("out/results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["event"], row["floor"], row["away"]) for row in rows] == [
        ("visit", "2", ""),
        ("visit", "2", ""),
        ("back", "", "6"),
    ]
    assert json.loads(rows[2]["lineage"]) == ["d1", "d4"]


def test_parquet_keeps_types() -> None:
    assert run("-i", "Door=Door.csv", "-o", "results.parquet").exit_code == 0
    table = pa.parquet.read_table("results.parquet")
    assert table.schema.field("lineage").type == pa.list_(pa.string())
    assert table.column("away").to_pylist() == [None, None, 6]


def test_a_folder_gets_one_file_per_event() -> None:
    assert run("-i", "Door=Door.csv", "-o", "found/").exit_code == 0
    assert sorted(path.name for path in Path("found").iterdir()) == ["back.parquet", "visit.parquet"]
    assert pa.parquet.read_table("found/back.parquet").num_rows == 1


def test_timestamps_are_written_as_they_are_read() -> None:
    Path("doors.ink").write_text(PROGRAM.replace("t BIGINT) ID", "t TIMESTAMP) ID"))
    Path("Door.csv").write_text("id,person,room,t\nd1,ada,lab,2024-05-01T10:00:00.250Z\n")
    row = json.loads(run("-i", "Door=Door.csv", "-o", "-", "--quiet").stdout)
    assert row["start"] == "2024-05-01T10:00:00.250000Z"


def test_rejected_rows_are_written_with_the_reason() -> None:
    with Path("Door.csv").open("a") as file:
        file.write("d5,ada,lab,noon\nd6,,lab,9\n")
    result = run("-i", "Door=Door.csv", "-o", "results.jsonl", "--rejects", "rejects.jsonl")
    assert result.exit_code == 0
    assert "6 rows read, 2 rows rejected" in result.stderr
    rejects = [json.loads(line) for line in Path("rejects.jsonl").read_text().splitlines()]
    assert sorted((row["stream"], row["id"]) for row in rejects) == [("Door", "d5"), ("Door", "d6")]
    assert all(row["reason"] for row in rejects)


def test_a_report_is_written() -> None:
    assert run("-i", "Door=Door.csv", "-o", "results.jsonl", "--report", "page.html").exit_code == 0
    page = Path("page.html").read_text()
    assert "doors.ink" in page
    assert "<script" in page


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["-i", "Dor=Door.csv", "-o", "-"], 3, "`-i Door=…`"),
        (["-i", "Door=nowhere.csv", "-o", "-"], 3, "there is no file or folder `nowhere.csv`"),
        (["-i", "Door.csv", "-o", "-"], 3, "`-i Door=Door.csv`"),
        (["-i", ".", "-t", "labs.csv", "-o", "-"], 3, "expected `-t NAME=PATH`"),
        (["-i", ".", "-t", "lab=labs.csv", "-o", "-"], 3, "`-t labs=…`"),
        (["-i", "Door=Door.csv", "-o", "results.xml"], 3, "the name of `results.xml` does not show its format"),
        (["-i", "Door=labs.csv", "-o", "-"], 3, "has no column `id`"),
        (["-o", "-"], 2, "--input"),
    ],
)
def test_errors_of_the_command_line(words: list[str], status: int, said: str) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (status, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_stream_without_data_is_named(folder: Path) -> None:
    (folder / "empty").mkdir()
    result = run("-i", "empty", "-o", "-")
    assert result.exit_code == 3
    assert "no data for stream `Door`" in result.stderr


def test_a_wrong_program_stops_before_the_data_is_read() -> None:
    Path("doors.ink").write_text(PROGRAM.replace("d.person", "d.persn"))
    result = run("-i", "Door=nowhere.csv", "-o", "-")
    assert result.exit_code == 1
    assert "did you mean `person`" in result.stderr


def test_what_nobody_foresaw_is_an_error_of_inkling(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("cannot happen")

    monkeypatch.setattr("inkling.local.run", fail)
    result = run("-i", "Door=Door.csv", "-o", "-")
    assert result.exit_code == 4
    assert "error[INK0901]: inkling failed" in result.stderr
    assert "ZeroDivisionError: cannot happen" in result.stderr


def test_an_event_is_no_way_out_of_the_folder(folder: Path) -> None:
    Path("doors.ink").write_text(PROGRAM.replace("EVENT visit", 'EVENT "../../visit"'))
    result = run("-i", "Door=Door.csv", "-o", "in/here/")
    assert result.exit_code == 0
    assert sorted(path.name for path in (folder / "in" / "here").iterdir()) == [
        "..%2F..%2Fvisit.parquet",
        "back.parquet",
    ]
    assert not [*folder.glob("visit*")]


@pytest.mark.parametrize("output", ["results.csv", "results.parquet", "results.jsonl"])
def test_a_run_that_fails_leaves_earlier_results(output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("-i", "Door=Door.csv", "-o", output).exit_code == 0
    before = Path(output).read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("inkling.cli.outputs._csv_cell", fail)
    monkeypatch.setattr("json.dumps", fail)
    monkeypatch.setattr("pyarrow.parquet.write_table", fail)
    result = run("-i", "Door=Door.csv", "-o", output)
    assert result.exit_code == 3
    assert f"error[INK0565]: `{output}` cannot be written" in result.stderr
    assert Path(output).read_bytes() == before


@pytest.mark.parametrize("output", ["Door.csv/results.csv", "Door.csv/folder/"])
def test_a_place_that_cannot_be_written_is_named(output: str) -> None:
    result = run("-i", "Door=Door.csv", "-o", output)
    assert result.exit_code == 3
    assert "error[INK0565]" in result.stderr
