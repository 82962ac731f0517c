"""Scripts of late and withdrawn rows as files of a streaming query, and what must be left when all is said."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.kit.arrow import arrow_streams
from tests.kit.revised_streams import Reference
from tests.kit.revisions import Step
from tests.spark.one_job import KeptRows, Rows
from tests.streaming.in_process import told_by

import inkling
from inkling.io.rejects import Reason
from inkling.query import Program
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks.outputs import BatchTally, SinkOutput
from inkling.spark.streaming.sinks.protocol import Sink

Row = Mapping[str, object]


class FailsOnce(KeptRows):
    """Keeps what every micro-batch delivered last; breaks down once after a part of one of them."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__()
        self._fails_at = fails_at

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        every = list(outputs)
        if batch == self._fails_at:
            self._fails_at = None
            super().deliver(every[: len(every) // 2], batch)
            raise ConnectionError("the database does not answer")
        super().deliver(every, batch)

    def rows_of(self, batch: int) -> Rows:
        return self._batches[batch]


class KeptMessages:
    """Keeps what every micro-batch said, as messages: to unpack what each of many events says takes far longer."""

    def __init__(self, event_names: Sequence[str]) -> None:
        self._event_names = event_names
        self._batches: dict[int, Rows] = {}

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        said = [row for one in outputs for row in one.frame.where(F.col("payload").isNotNull()).collect()]
        self._batches[batch] = told_by(self._event_names, said)

    def rows(self) -> Rows:
        together: Rows = {}
        for batch in self._batches.values():
            for name, rows in batch.items():
                together.setdefault(name, []).extend(rows)
        return together


def only_messages(job: Job, messages: DataFrame, tally: BatchTally) -> Iterator[SinkOutput]:
    """In place of a frame per event."""
    yield SinkOutput("messages", messages, tally.batch)


class RevisedQuery:
    """A query that takes in one step of a script per micro-batch."""

    def __init__(self, spark: SparkSession, root: Path, tables: Mapping[str, pa.Table], sink: Sink) -> None:
        self._spark, self._root, self._tables, self._sink = spark, root, tables, sink
        self._n_files = 0

    def add(self, program: Program, steps: Sequence[Step]) -> None:
        """The rows of some more steps."""
        for step in steps:
            for name, table in arrow_streams(program.plan, step.rows).items():
                (self._root / name).mkdir(exist_ok=True)
                file = self._root / name / f"{self._n_files:03d}.parquet"
                pq.write_table(table, file)
                os.utime(file, (self._n_files, self._n_files))  # Spark takes files in the order of their times
            self._n_files += 1

    def start(self, program: Program) -> LiveQuery:
        return program.stream(
            self._spark,
            {stream.schema.name: self._frame(stream.schema.name) for stream in program.plan.streams},
            self._tables,
            checkpoint=self._root / "checkpoint",
            to=self._sink,
            settings=inkling.StreamSettings(available_now=True, buckets=2, unbounded=True),
        )

    def _frame(self, name: str) -> DataFrame:
        folder = str(self._root / name)
        schema = self._spark.read.parquet(folder).schema
        return self._spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)


class Outcomes:
    """What becomes of the rows of a script besides results."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.late: Counter[tuple[str, str]] = Counter()
        self.rejected: Counter[tuple[str, str, str]] = Counter()

    def take(self, *steps: Step) -> None:
        for step in steps:
            said = self.reference.take(step)
            self.late, self.rejected = self.late + said.late, self.rejected + said.rejected

    def finish(self) -> None:
        self.rejected += self.reference.finish().rejected

    @property
    def late_and_rejected(self) -> tuple[set[tuple[str, str]], Counter[tuple[str, str, str]]]:
        return set(self.late), self.rejected


def late_and_rejected(found: Rows) -> tuple[set[tuple[object, ...]], Counter[tuple[object, ...]]]:
    """Streams and ids of late rows, and with reasons those of withdrawals that were rejected."""
    late = {(row["stream"], row["id"]) for row in found.get("late", [])}
    rejects = [(row["stream"], row["id"], row["reason"]) for row in found.get("rejects", [])]
    return late, Counter(one for one in rejects if one[2] != Reason.DUPLICATE_ID.value)


def net(rows: Iterable[Row]) -> list[Row]:
    """What was told and not taken back; nothing is taken back that was never told."""
    standing: Counter[str] = Counter()
    texts: dict[str, Row] = {}
    for row in rows:
        about = {name: value for name, value in row.items() if name != "op"}
        text = repr(sorted(about.items()))
        texts[text] = about
        standing[text] += {"+": 1, "-": -1}[str(row["op"])]
    assert min(standing.values(), default=0) >= 0, "something was taken back that was never told"
    return [texts[text] for text in standing.elements()]


def n_withdrawn(found: Mapping[str, Iterable[Row]]) -> int:
    return sum(row.get("op") == "-" for rows in found.values() for row in rows)


def regrouped(steps: Sequence[Step], n: int, streams: Iterable[str]) -> list[Step]:
    """The same rows in the same order, in so many steps; what is said about idle streams is left out."""
    pieces, names = [step.rows for step in steps if not step.idle], list(streams)
    cuts = [number * len(pieces) // n for number in range(n + 1)]
    return [
        Step({name: [row for piece in pieces[first:last] for row in piece.get(name, ())] for name in names})
        for first, last in pairwise(cuts)
    ]
