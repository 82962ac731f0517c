"""The rows of many small frames at once: a job for each would take far longer than the rows do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.spark.streaming.outputs import Output

Rows = dict[str, list[dict[str, object]]]


def rows_in_one_job(frames: Mapping[str, DataFrame]) -> Rows:
    """The rows of every frame; of streams in ticks, whose values JSON holds as they are."""
    found: Rows = {name: [] for name in frames}
    written = [
        frame.select(F.lit(name).alias("name"), F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row"))
        for name, frame in frames.items()
    ]
    if written:
        for one in reduce(DataFrame.unionByName, written).coalesce(2).toArrow().to_pylist():
            found[one["name"]].append(json.loads(one["row"]))
    return found


class KeptRows:
    """A sink that keeps what every micro-batch delivered last."""

    def __init__(self) -> None:
        self._batches: dict[int, Rows] = {}

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        self._batches[batch] = rows_in_one_job({output.name: output.frame for output in outputs})

    def rows(self) -> Rows:
        together: Rows = {}
        for batch in self._batches.values():
            for name, rows in batch.items():
                together.setdefault(name, []).extend(rows)
        return together
