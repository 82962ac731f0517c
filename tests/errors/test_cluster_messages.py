"""Messages about where a run takes place: masters, workers, outputs, and integers in columns of timestamps."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import inkling
from inkling.cli.execution import Execution
from inkling.cli.inputs import GivenInputs
from inkling.cli.outputs import check_output
from inkling.cli.terminal.failures import EXIT_INPUT, diagnostics_of, exit_status
from inkling.errors import InputError, render
from inkling.spark.session import check_master

MESSAGES = Path(__file__).parent / "cluster"
NO_DAEMON = """An error occurred while calling o57.collectToPython.
Error from python worker:
  /usr/bin/python3: Error while finding module specification for 'inkling.spark.worker_daemon'
  (ModuleNotFoundError: No module named 'inkling')
PYTHONPATH was:
  /opt/spark/python/lib/pyspark.zip"""


DAMAGED = """An error occurred while calling o812.parquet.
: org.apache.spark.SparkException: [FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] Encountered error while reading file \
file:/data/trips.parquet. Could not read footer. Please ensure that the file is in either ORC or Parquet format.
Caused by: java.io.IOException: Could not read footer for file: file:/data/trips.parquet
Caused by: java.lang.RuntimeException: file:/data/trips.parquet is not a Parquet file. Expected magic number at tail"""


def _of_spark(text: str) -> str:
    problem = RuntimeError(text)
    assert exit_status(problem) == EXIT_INPUT
    return render(diagnostics_of(problem)) + "\n"


def message(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return f"{caught.value}\n"


def worker_without_package() -> str:
    problem = RuntimeError(NO_DAEMON)
    assert exit_status(problem) == EXIT_INPUT
    return render(diagnostics_of(problem)).replace(python_version(), "X.Y") + "\n"


def python_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def test_epoch_in_a_timestamp() -> None:
    """The summary of a run names the declaration that reads such numbers."""
    program = inkling.parse("STREAM S(a INT, seen TIMESTAMP) TIME t; EVENT e AS PATTERN S;")
    rows = [{"a": 1, "seen": "1767225600000", "t": "2026-01-01T00:00:00Z"}]
    results = program.run_local({"S": rows})
    assert list(Execution(program, GivenInputs(), results, "local", 0.0).summary())[-2:] == [
        "rejected: bad value in 1 row; in S: `seen` is '1767225600000', expected a timestamp",
        "help: if the numbers in `seen` count milliseconds since 1970, add `EPOCH MILLISECONDS` to the declaration of "
        "`S`",
    ]


def foreign(problem: Exception) -> str:
    assert exit_status(problem) == EXIT_INPUT
    return render(diagnostics_of(problem)) + "\n"


SPARK = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times: "

LATE = "Timed out while waiting for the Python worker to connect back"


def without_spark() -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyspark", None)
        return message(lambda: inkling.spark_session)


CASES: dict[str, Callable[[], str]] = {
    "unknown_master": lambda: message(lambda: check_master("nonsense")),
    "master_without_bracket": lambda: message(lambda: check_master("local[4")),
    "master_without_scheme": lambda: message(lambda: check_master("localhost:7077")),
    "output_on_s3": lambda: message(lambda: check_output("s3://bucket/found.csv")),
    "no_spark": without_spark,
    "worker_without_package": worker_without_package,
    "worker_died": lambda: foreign(RuntimeError(f"{SPARK}Python worker exited unexpectedly (crashed)")),
    "worker_late": lambda: foreign(RuntimeError(f"{SPARK}{LATE}")),
    "java_ended": lambda: foreign(RuntimeError("Answer from Java side is empty")),
    "java_without_memory": lambda: foreign(RuntimeError(f"{SPARK}java.lang.OutOfMemoryError: Java heap space")),
    "disk_full": lambda: foreign(OSError(28, "No space left on device", "/tmp/blockmgr")),
    "memory_exhausted": lambda: foreign(MemoryError("Unable to allocate 8.00 GiB for an array with shape (1,)")),
    "damaged_parquet": lambda: _of_spark(DAMAGED),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str, accept: bool) -> None:
    golden = MESSAGES / f"{case}.txt"
    text = CASES[case]()
    if accept:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "master", ["local", "local[1]", "local[*]", "local[4, 2]", "local-cluster[2,1,1024]", "yarn", "spark://host:7077"]
)
def test_masters_of_spark_are_accepted(master: str) -> None:
    check_master(master)
