"""What a worker on Spark says in its own words is what the user reads; a trace is an error of inkling."""

from __future__ import annotations

import pytest

from inkling.cli.terminal.failures import EXIT_INPUT, EXIT_INTERNAL, diagnostics_of, exit_status
from inkling.cli.terminal.retries import retrying
from inkling.errors import InputError

SAID = InputError.of("INK0646", "this takes too long", notes=("it is large",), helps=("make it smaller", "or wait"))
TRACE = f"""Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times:
Traceback (most recent call last):
  File "worker.py", line 1, in process
inkling.errors.InputError: {SAID}

\tat org.apache.spark.api.python.BasePythonRunner.compute
"""


def test_words_of_a_worker() -> None:
    (found,) = diagnostics_of(RuntimeError(TRACE))
    assert (found.code, found.message) == ("INK0646", "this takes too long")
    assert (found.notes, found.helps) == (("it is large",), ("make it smaller", "or wait"))
    assert exit_status(RuntimeError(TRACE)) == EXIT_INPUT


def test_any_other_trace() -> None:
    trace = TRACE.replace("inkling.errors.InputError: error[INK0646]", "ValueError: x")
    (found,) = diagnostics_of(RuntimeError(trace))
    assert found.code == "INK0901"
    assert exit_status(RuntimeError(trace)) == EXIT_INTERNAL


LATE = (
    "java.net.SocketTimeoutException: Timed out while waiting for the Python worker to connect back after 15000 ms",
    "org.apache.spark.SparkException: Python worker failed to connect back.",
    "org.apache.spark.SparkException: Python daemon failed to launch worker with code 1",
    "[STREAMING_PYTHON_RUNNER_INITIALIZATION_TIMEOUT_FAILURE] Streaming Runner initialization failed.",
)


@pytest.mark.parametrize("said", LATE)
def test_work_is_repeated_after_a_worker_that_did_not_start(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    problems = [RuntimeError(said)]

    def work() -> str:
        if problems:
            raise problems.pop()
        return "done"

    assert retrying(work) == "done"
    assert capsys.readouterr().err.startswith("INK0592: a Python worker of Spark did not start in time: ")
    assert exit_status(RuntimeError(said)) == EXIT_INPUT


def test_work_is_not_repeated_after_other_failures() -> None:
    with pytest.raises(InputError):
        retrying(lambda: raised(SAID))


def raised(problem: Exception) -> None:
    raise problem
