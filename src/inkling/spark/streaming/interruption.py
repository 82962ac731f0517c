"""Words that Spark understands when a delivery ends early: by a stop that was asked for, or by a failure.

Spark looks through the text of a Python error for signs of an interruption, with a pattern that needs as much stack as
the text is long. A long text kills the query's thread without a trace, so what is raised to Spark is short.
"""

from __future__ import annotations


class DeliveryFailed(Exception):
    """Stands in, towards Spark, for what went wrong; the original is kept where it was caught."""


def short_form(problem: Exception, batch: int, *, stopping: bool) -> DeliveryFailed:
    """An error to raise `from None` inside `foreachBatch`."""
    if stopping:
        sign = "py4j.protocol.Py4JJavaError: An error occurred while calling stop: java.lang.InterruptedException"
        return DeliveryFailed(sign)
    first_line = next(iter(str(problem).strip().splitlines()), "")
    return DeliveryFailed(f"batch {batch}: {type(problem).__name__}: {first_line[:300]}")
