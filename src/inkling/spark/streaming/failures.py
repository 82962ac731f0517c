"""Why a stream stopped, as an actionable error: what failed, in which micro-batch, and what to do."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from inkling.errors import Diagnostic, InklingError, StoredError
from inkling.foreign_errors import WORKER_DIED, foreign_diagnostic
from inkling.masking import masked
from inkling.spark.kafka.connector import kafka_trouble
from inkling.spark.streaming.sources.missing_files import InputFiles

IN_PLACE = "inkling: in "
"""The beginning of the note that names the place of an error on a worker."""

_RESUME = "start again with the same checkpoint: the batch is repeated, without lost or duplicate results"
_LONGEST = 300


class StreamError(InklingError):
    """A running program has stopped because of a failure."""


class SinkError(Exception):
    """An exception of a sink, as distinct from one while results are computed."""


@contextmanager
def by_sink() -> Iterator[None]:
    """Turns every exception in this context into a `SinkError`."""
    try:
        yield
    except Exception as problem:
        raise SinkError(_first_line(str(problem))) from problem


@contextmanager
def intact(checkpoint: str) -> Iterator[None]:
    """Reports every exception in this context as a damaged checkpoint."""
    try:
        yield
    except Exception as problem:
        raise StreamError(_about_checkpoint(checkpoint, _cause_of(problem))) from None


def _cause_of(problem: Exception) -> str:
    if isinstance(problem, StoredError):
        found = problem.diagnostics[0]
        return "; ".join([found.message, *found.notes])
    return _first_line(str(problem))


@contextmanager
def in_place(name: str) -> Iterator[None]:
    """Adds a note with the place to every exception in this context."""
    try:
        yield
    except Exception as problem:
        problem.add_note(f"{IN_PLACE}{name}")
        raise


@dataclass(frozen=True, slots=True)
class FailedRun:
    """The checkpoint and the sink of a failed query, and the micro-batch that it was delivering."""

    checkpoint: str
    sink: str
    batch: int | None = None


def sink_name(sink: object) -> str:
    """The name of a sink in messages: its place, if it has one."""
    function = getattr(sink, "function", None)
    if function is not None:
        return f"the function `{getattr(function, '__name__', function)}`"
    place = getattr(sink, "path", None) or getattr(sink, "prefix", None)
    return f"`{place}`" if place else type(sink).__name__


def require_inputs_of_batch(files: InputFiles, run: FailedRun) -> None:
    """Raise an error if a file of the batch is missing; Spark would silently read the others."""
    missing = None if run.batch is None else files.missing_file(run.batch)
    if missing is not None:
        raise StreamError(_about_missing_file(missing, run))


def stream_failed(problem: BaseException, run: FailedRun) -> InklingError:
    """The error to show for an exception of Spark, a worker or a sink."""
    if isinstance(problem, InklingError):
        return problem
    if isinstance(problem, SinkError) and isinstance(problem.__cause__, InklingError):
        return problem.__cause__
    return StreamError(_diagnostic(problem, run))


def in_use(checkpoint: str, owner: str) -> StreamError:
    """The error for a checkpoint that another query uses."""
    return StreamError.of(
        "INK0581",
        f"the checkpoint `{checkpoint}` is in use" + (f" by {owner}" if owner else ""),
        notes=("two queries on one checkpoint would deliver the same micro-batches",),
        helps=("stop the other query first, or give this one its own checkpoint and its own output",),
    )


def _diagnostic(problem: BaseException, run: FailedRun) -> Diagnostic:
    chain = _chain(problem)
    text = "\n".join(chain)
    batch = "a batch" if run.batch is None else f"batch {run.batch}"
    if trouble := kafka_trouble(text):
        return replace(trouble, notes=(*trouble.notes, _cause(chain)))
    if missing := _MISSING_FILE.search(text):
        return _about_missing_file(missing["path"].removeprefix("file:"), run)
    if _LOST_OFFSETS.search(text):
        return Diagnostic(
            "INK0612",
            f"a topic no longer has the messages of {batch}",
            notes=(_cause(chain),),
            helps=(
                "`failOnDataLoss=false` as an option of the source continues with the remaining data",
                "topics keep messages for a limited time; increase the retention time, or run the stream more often",
            ),
        )
    if isinstance(problem, SinkError):
        return _about_sink(chain, batch, run)
    if "Multiple streaming jobs detected" in text:
        return Diagnostic(
            "INK0581",
            f"the checkpoint `{run.checkpoint}` is in use by another query",
            notes=(_cause(chain),),
            helps=("stop one of the two, and start again with its own checkpoint and its own output",),
        )
    if LOG.search(text):
        return _about_log(run.checkpoint, _cause(chain, _FILE))
    if full := _FULL.search(text):
        return Diagnostic(
            "INK0614",
            f"the stream stopped while {batch} was computed, because a disk is full",
            notes=(full[0],),
            helps=(f"free space for the checkpoint `{run.checkpoint}` and Spark's own files, and {_RESUME}",),
        )
    if _CHECKPOINT.search(text):
        cause = _python_cause(text) if "Traceback" in text else _cause(chain, _FILE)
        return _about_checkpoint(run.checkpoint, cause)
    if WORKER_DIED.search(text):
        return Diagnostic(
            "INK0591",
            f"a Python worker died while {batch} was computed",
            notes=(
                "the operating system kills workers when memory runs out; check its log",
                "`spark.task.maxFailures`, or `local[2,4]`, sets the number of attempts per task",
            ),
            helps=("use smaller batches or more buckets, so that a worker needs less memory", _RESUME),
        )
    if foreign := foreign_diagnostic(problem) or foreign_diagnostic(RuntimeError(text)):
        return replace(foreign, helps=(*foreign.helps, _RESUME))
    if place := _PLACE.search(text):
        return Diagnostic(
            "INK0613",
            f"{place['place']} failed while {batch} was computed",
            notes=(_python_cause(text),),
            helps=(f"this is a bug in inkling or in a function it calls; once it is fixed, {_RESUME}",),
        )
    return Diagnostic(
        "INK0614", f"the stream stopped while {batch} was computed", notes=(_cause(chain),), helps=(_RESUME,)
    )


def _about_checkpoint(checkpoint: str, cause: str) -> Diagnostic:
    return Diagnostic(
        "INK0611",
        f"the checkpoint `{checkpoint}` cannot be continued",
        notes=(cause, "the state of open matches is needed to continue"),
        helps=(
            "if it belongs to another program, name another folder",
            "if it was damaged, restore it from a copy, or start with a new checkpoint and a new output",
        ),
    )


def _about_log(checkpoint: str, cause: str) -> Diagnostic:
    return Diagnostic(
        "INK0611",
        f"a log of the checkpoint `{checkpoint}` is damaged",
        notes=(cause, "Spark reads there which inputs belong to which micro-batch"),
        helps=("restore the checkpoint from a copy, or start with a new checkpoint and a new output",),
    )


def _about_missing_file(path: str, run: FailedRun) -> Diagnostic:
    return Diagnostic(
        "INK0612",
        f"`{path}` is missing, and batch {run.batch} reads it",
        notes=(f"the checkpoint `{run.checkpoint}` lists it as an input file",),
        helps=(f"put the file back and {_RESUME}",),
    )


def _about_sink(chain: list[str], batch: str, run: FailedRun) -> Diagnostic:
    text = "\n".join(chain)
    if full := _FULL.search(text):
        return Diagnostic(
            "INK0610",
            f"no space is left for the results of {batch} in {run.sink}",
            notes=(full[0],),
            helps=(f"free space and {_RESUME}",),
        )
    return Diagnostic(
        "INK0610",
        f"the results of {batch} could not be delivered to {run.sink}",
        notes=(_python_cause(text) if "Traceback" in text else _cause(chain),),
        helps=(f"remove the cause and {_RESUME}",),
    )


_FULL = re.compile(r"No space left on device|Disk quota exceeded|quota of \S+ is exceeded", re.IGNORECASE)
_MISSING_FILE = re.compile(
    r"FAILED_READ_FILE\.FILE_NOT_EXIST\][^\n]*?(?P<path>(?:\w+:)?/\S+?)\.? (?:File does|File|It)"
)
_LOST_OFFSETS = re.compile(r"failOnDataLoss|KAFKA_DATA_LOSS|UnknownTopicOrPartition|Some data may have been lost")
_CHECKPOINT = re.compile(
    r"MALFORMED_LOG_FILE|STREAMING_STATEFUL_OPERATOR|STATE_STORE_|CANNOT_LOAD_STATE_STORE|CANNOT_LOAD_CHECKPOINT"
    r"|STATE_DATA_SOURCE|Failed to read log file|Incomplete log file|UNSUPPORTED_LOG_VERSION|state store metadata"
    r"|INVALID_CHECKPOINT|INCOMPATIBLE_CHECKPOINT|Detected .* sources? .* checkpoint|error\[INK056[67]\]"
)
_FILE = re.compile(r"\bfile:", re.IGNORECASE)
LOG = re.compile(
    r"MALFORMED_LOG_FILE|Failed to read log file|Incomplete log file|UNSUPPORTED_LOG_VERSION|UNDEFINED_LOG"
    r"|Concurrent update to the log|JsonParseException|JsonEOFException|MismatchedInputException"
    r"|batch \d+ doesn't exist|doesn't exist \(latestId|STREAMING_CHECKPOINT_MISSING_METADATA_FILE"
    r"|does not exist in the (?:offset|commit) log"
)
"""Spark's own logs of a checkpoint, which say up to where inputs are read."""
_PLACE = re.compile(rf"{IN_PLACE}(?P<place>[^\n]+)")
_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Invalid|Failed|Warning)\b: .+$", re.MULTILINE)
_CONDITION = re.compile(r"^(?:[\w.$]+: )?(?:\[[A-Z_.]+\] )?")
_SQL_STATE = re.compile(r"\s*SQLSTATE: \w+")


def _chain(problem: BaseException) -> list[str]:
    """The messages of an exception and of its causes, those of Java included; the innermost last."""
    messages: list[str] = []
    current: BaseException | None = problem
    while current is not None:
        java = getattr(current, "java_exception", None) or getattr(current, "_origin", None)
        messages += _java_chain(java) if java is not None else [f"{type(current).__name__}: {current}"]
        current = current.__cause__
    return messages


def _java_chain(java: Any) -> list[str]:
    messages: list[str] = []
    while java is not None and len(messages) < 20:
        messages.append(str(java.toString()))
        java = java.getCause()
    return messages


def _cause(chain: list[str], preferred: re.Pattern[str] | None = None) -> str:
    """The innermost message; of those that match `preferred`, if any do."""
    lines = [_first_line(text) for text in chain if text.strip()]
    better = [line for line in lines if preferred is not None and preferred.search(line)]
    return (better or lines or ["the cause is unknown"])[-1]


def _python_cause(text: str) -> str:
    found = _PYTHON_ERROR.findall(text)
    return _shortened(found[-1]) if found else _first_line(text)


def _first_line(text: str) -> str:
    """The first line of a text, without names of Java exceptions and codes of Spark conditions."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _shortened(_SQL_STATE.sub("", _CONDITION.sub("", line, count=1)).strip())


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


class DeliveryError(Exception):
    """A short exception that is raised to Spark in place of the original one, which is kept where it was caught.

    Spark searches the text of a Python exception for signs of an interruption, with a pattern whose use of the stack
    grows with the text. A long text would kill the thread of the query without a trace.
    """


def log_only_the_unexpected() -> None:
    """Keep Py4J from logging `DeliveryError`, which is reported by other means."""
    logger = logging.getLogger("py4j.clientserver")
    if _is_unexpected not in logger.filters:
        logger.addFilter(_is_unexpected)


def _is_unexpected(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], DeliveryError))


def short_form(problem: Exception, batch: int, *, stopping: bool) -> DeliveryError:
    """The exception to raise `from None` inside `foreachBatch`."""
    if stopping:
        sign = "py4j.protocol.Py4JJavaError: An error occurred while calling stop: java.lang.InterruptedException"
        return DeliveryError(sign)
    first_line = masked(next(iter(str(problem).strip().splitlines()), ""))
    return DeliveryError(f"batch {batch}: {type(problem).__name__}: {first_line[:300]}")
