"""Words that Spark understands when a delivery ends early: by a stop that was asked for, or by a failure.

Spark looks through the text of a Python error for signs of an interruption, with a pattern that needs as much stack as
the text is long. A long text kills the query's thread without a trace, so what is raised to Spark is short.
"""

from __future__ import annotations

import logging


class DeliveryError(Exception):
    """Stands in, towards Spark, for what went wrong; the original is kept where it was caught."""


def log_only_the_unexpected() -> None:
    """Py4J logs every error that passes it; these are told by other means."""
    logger = logging.getLogger("py4j.clientserver")
    if _is_unexpected not in logger.filters:
        logger.addFilter(_is_unexpected)


def _is_unexpected(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], DeliveryError))


def short_form(problem: Exception, batch: int, *, stopping: bool) -> DeliveryError:
    """An error to raise `from None` inside `foreachBatch`."""
    if stopping:
        sign = "py4j.protocol.Py4JJavaError: An error occurred while calling stop: java.lang.InterruptedException"
        return DeliveryError(sign)
    first_line = next(iter(str(problem).strip().splitlines()), "")
    return DeliveryError(f"batch {batch}: {type(problem).__name__}: {first_line[:300]}")
