"""`inkling check`, `explain` and `fmt`: quick answers about programs, without data."""

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app
from inkling.cli.terminal.failures import exit_status
from inkling.errors import InklingError, InputError, InternalError, NotSupportedYet, ProgramError
from inkling.spark.jvm.java import NoJavaError

RIGHT = "STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;\n\nEVENT big AS\n  PATTERN A a[x > 3];\n"
WRONG = "STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;\nEVENT big AS PATTERN A a[y > 3];\n"
UNCERTAIN = "STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;\nEVENT big AS PATTERN A a OR A b AND A c;\n"


def call(*words: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


@pytest.fixture
def right(tmp_path: Path) -> Path:
    path = tmp_path / "right.ink"
    path.write_text(RIGHT)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.ink"
    path.write_text(WRONG)
    return path


def test_a_right_program_is_summed_up(right: Path) -> None:
    result = call("check", right)
    assert (result.exit_code, result.stdout) == (0, f"{right}: OK (1 event, 1 stream)\n")
    assert result.stderr == ""


def test_a_wrong_program_gets_carets_on_stderr(wrong: Path) -> None:
    result = call("check", wrong)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error[INK0207]: ")
    assert "--> wrong.ink:2:26" in result.stderr
    assert "^" in result.stderr


def test_every_program_is_checked_even_after_an_error(right: Path, wrong: Path) -> None:
    result = call("check", wrong, right)
    assert result.exit_code == 1
    assert str(right) in result.stdout


def test_warnings_are_shown_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "mixed.ink"
    path.write_text(UNCERTAIN)
    result = call("check", path)
    assert result.exit_code == 0
    assert "OK, with 2 warnings" in result.stdout
    assert "warning[INK0324]" in result.stderr
    assert call("check", "--quiet", path).output == ""


def test_findings_as_json(wrong: Path) -> None:
    result = call("check", "--json", wrong)
    (finding,) = json.loads(result.stdout)["diagnostics"]
    assert (finding["code"], finding["line"], finding["column"]) == ("INK0207", 2, 26)
    assert result.exit_code == 1


def test_a_missing_file_is_an_input_problem(tmp_path: Path) -> None:
    result = call("check", tmp_path / "nowhere.ink")
    assert result.exit_code == 3
    assert "there is no file" in result.stderr


def test_no_trace_unless_asked(wrong: Path) -> None:
    assert "Traceback" not in call("explain", wrong).output
    assert call("explain", wrong, "--debug").exception.__class__.__name__ == "ProgramError"


@pytest.mark.parametrize("words", [["chek"], ["check"], ["explain", "--stage", "wrong", "x.ink"]])
def test_a_wrong_command_line_is_a_usage_problem(words: list[str]) -> None:
    assert call(*words).exit_code == 2


@pytest.mark.parametrize("stage", ["logical", "rewritten", "verdicts", "physical"])
def test_explain_prints_one_stage(right: Path, stage: str) -> None:
    whole = call("explain", right).stdout
    part = call("explain", right, "--stage", stage)
    assert part.exit_code == 0
    assert f"== {stage} ==\n{part.stdout.strip()}" in whole


def test_explain_answers_quickly(right: Path) -> None:
    call("explain", right)
    started = time.perf_counter()
    call("explain", right)
    assert time.perf_counter() - started < 1


def test_fmt_prints_the_standard_layout(tmp_path: Path) -> None:
    path = tmp_path / "loose.ink"
    path.write_text("stream A(id string,x bigint,t bigint) id id time t;event big as pattern A a[x>3];")
    assert call("fmt", path).stdout == RIGHT
    assert call("fmt", "-", text=path.read_text()).stdout == RIGHT


def test_fmt_checks_and_writes(tmp_path: Path, right: Path) -> None:
    path = tmp_path / "loose.ink"
    path.write_text(RIGHT.replace("EVENT", "event"))
    checked = call("fmt", "--check", path, right)
    assert checked.exit_code == 1
    assert "-event big AS\n+EVENT big AS\n" in checked.stdout
    assert call("fmt", "--write", path).exit_code == 0
    assert path.read_text() == RIGHT
    assert call("fmt", "--check", path, right).output == ""
    assert call("fmt", "--check", "--write", path).exit_code == 2


def test_fmt_rejects_what_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "broken.ink"
    path.write_text("EVENT big AS PATTERN (A;")
    assert call("fmt", "--write", path).exit_code == 1
    assert path.read_text() == "EVENT big AS PATTERN (A;"


def test_explain_error_knows_every_spelling_of_a_code() -> None:
    for code in ("INK0305", "ink0305", "305"):
        assert call("explain-error", code).stdout.startswith("INK0305: ")
    unknown = call("explain-error", "INK0999")
    assert unknown.exit_code == 3
    assert "INK0901" in unknown.stderr


@pytest.mark.parametrize(
    ("kind", "status"), [(ProgramError, 1), (NotSupportedYet, 1), (InputError, 3), (NoJavaError, 3), (InternalError, 4)]
)
def test_every_kind_of_error_has_its_exit_status(kind: type[InklingError], status: int) -> None:
    assert exit_status(kind.of("INK0901", "words")) == status
    assert exit_status(KeyError("nobody foresaw this")) == 4


def test_version() -> None:
    assert call("--version").stdout.startswith("inkling 0.")
