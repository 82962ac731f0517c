"""The stateful processor that Spark calls with the messages to a bucket.

Before a query starts, Spark unpickles a processor in a new process to ask for its state variables, with a limit of ten
seconds. So everything else is loaded with the first message.
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
    """One operator of a job, pickled; it is unpickled once per worker."""

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
"""More than a program has stages; beyond that, operators of replaced programs are discarded."""
