"""What a worker on Spark says in its own words is what the user reads; a trace is an error of inkling."""

from __future__ import annotations

from inkling.cli.terminal.failures import EXIT_INPUT, EXIT_INTERNAL, diagnostics_of, exit_status
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
