"""What Spark calls with the messages to a bucket; everything else is loaded when the first of them comes.

Before a query starts, Spark unpacks a processor in a fresh process to ask which state it wants, and gives it ten
seconds.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from inkling.spark.streaming.job import Job
    from inkling.spark.streaming.operator import BucketOperator

STATE_SCHEMA = "steps bigint, definition int, state binary"

_operators: dict[bytes, BucketOperator] = {}


class BucketProcessor(StatefulProcessor):
    """One operator of a job, packed; unpacked once per worker."""

    def __init__(self, job: Job, number: int) -> None:
        self._packed = pickle.dumps((job, number))

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getValueState("bucket", STATE_SCHEMA)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        yield from self._operator().handled(int(key[0]), rows, self._state)

    def close(self) -> None:
        pass

    def _operator(self) -> BucketOperator:
        if self._packed not in _operators:
            if len(_operators) > MANY_OPERATORS:
                _operators.clear()
            _operators[self._packed] = _operator_of(*pickle.loads(self._packed))
        return _operators[self._packed]


def _operator_of(job: Job, number: int) -> BucketOperator:
    from inkling.spark.streaming.operator import BucketOperator

    return BucketOperator(job, number)


MANY_OPERATORS = 16
"""More than a program has stages: those of a program that was replaced are let go."""
