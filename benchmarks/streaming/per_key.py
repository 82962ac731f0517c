"""The same pattern through Spark's own interface for state, which is kept and called for each key."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

FOUND = "a bigint, b bigint, c bigint"
NONE = -1


class ThreeSteps(StatefulProcessor):
    """Open matches of a key: time and id of the first step, and id of the second or none, as one array of bytes."""

    def __init__(self, window_us: int) -> None:
        self._window_us = window_us

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._open = handle.getValueState("open", "open binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        stored = self._open.get()
        flat = array("q", bytes(stored[0]) if stored else b"")
        runs = [(flat[i], flat[i + 1], flat[i + 2]) for i in range(0, len(flat), 3)]
        for row in sorted(rows, key=lambda row: row.us):
            oldest = row.us - self._window_us
            if row.kind == 0 and row.level > 0.5:
                runs.append((row.us, row.id, NONE))
            elif row.kind == 1 and row.code >= 500:
                runs = [(us, a, row.id if b == NONE else b) for us, a, b in runs if us >= oldest]
            elif row.kind == 2:
                for us, a, b in runs:
                    if b != NONE and us >= oldest:
                        yield Row(a=a, b=b, c=row.id)
                runs = [run for run in runs if run[2] == NONE]
        if runs:
            self._open.update((array("q", [value for run in runs for value in run]).tobytes(),))
        elif stored:
            self._open.clear()

    def close(self) -> None:
        pass


def found(readings: DataFrame, window_us: int) -> DataFrame:
    """The ids of the three events of every match."""
    with_us = readings.withColumn("us", F.unix_micros("t"))
    return with_us.groupBy("device").transformWithState(ThreeSteps(window_us), FOUND, "Append", "None")
