"""Settings of a program on Structured Streaming; importing them does not load Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inkling.forecasting.adaptation.steering import Rejected
    from inkling.spark.streaming.sinks.outputs import BatchTally

BUCKETS_PER_CORE = 4
"""The default number of buckets, into which keys and their state are divided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """Settings of `Program.stream`, named like the options of `inkling stream`.

    Parameters
    ----------
    trigger
        The time between micro-batches, such as ``"5 seconds"``; by default, a micro-batch starts once the last one
        is done.
    available_now
        Process the data that is available, then stop. The next run with the same checkpoint continues there.
    buckets
        The number of parts into which keys and their state are divided, 4 per core by default; fixed by the first run
        with a checkpoint.
    idle_after
        Stop waiting for a stream after this many seconds without rows; None waits forever.
    ahead
        How far in the future a row may be, such as ``"2 HOURS"``, in place of what the streams declare; ``"none"``
        accepts every time.
    unbounded
        Run the program although its state has no limit: for streams that end.
    control
        Messages that change settings of forecasts: a file to which lines are added, CSV or JSON, or
        ``kafka://HOST:PORT/TOPIC``. Messages have the fields forecast, parameter and value.
    on_tally
        Receives the counts of each micro-batch.
    on_rejected
        Receives each control message that is invalid; by default, it is logged.
    on_steered
        Receives a text for each change by control messages; by default, it is logged.

    Examples
    --------
    >>> StreamSettings(trigger="5 seconds", idle_after=None).trigger
    '5 seconds'
    >>> StreamSettings(trigger="5 seconds", available_now=True)
    Traceback (most recent call last):
        ...
    ValueError: expected trigger or available_now, found both
    """

    trigger: str | None = None
    available_now: bool = False
    buckets: int | None = None
    idle_after: float | None = 60.0
    ahead: str | None = None
    unbounded: bool = False
    control: str | Path | None = None
    on_tally: Callable[[BatchTally], None] | None = None
    on_rejected: Callable[[Rejected], None] | None = None
    on_steered: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.trigger is not None and self.available_now:
            raise ValueError("expected trigger or available_now, found both")
        if self.trigger is not None and not isinstance(self.trigger, str):
            raise ValueError(f"expected trigger to be a time such as '5 seconds', found {self.trigger!r}")
        if self.buckets is not None and self.buckets < 1:
            raise ValueError(f"expected buckets to be at least 1, found {self.buckets}")
        if self.idle_after is not None and self.idle_after <= 0:
            raise ValueError(f"expected idle_after to be more than 0 seconds, or None, found {self.idle_after}")

    @property
    def spark_trigger(self) -> Mapping[str, object]:
        """The trigger in the words of Spark."""
        return {"availableNow": True} if self.available_now else {"processingTime": self.trigger or "0 seconds"}
