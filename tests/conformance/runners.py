"""The runners, behind one protocol: a program and its inputs in, the public rows of every event out.

What a runner says is the net of it: what was told and taken back again is gone.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tests.conformance.case import LATENESS
from tests.kit.arrival import coming_by

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.forecasting.models.model import ForecastModel
from inkling.local_stream import LocalStream
from inkling.logical.plan import StreamPlan
from inkling.query import Program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from inkling.spark.streaming.query import LiveQuery
    from inkling.spark.streaming.sinks.outputs import SinkOutput

Row = dict[str, Any]
Tables = dict[str, list[Row]]

EXACT = Sampling(exact_up_to=1_000_000)
"""Over complete data all worlds are enumerated."""
SAMPLED = Sampling(epsilon=0.1, delta=0.001, seed=5, exact_up_to=0, budget=1)
"""On streams a fixed number of worlds is sampled; a run over complete data can be asked for the same ones."""
PIECES = 4


@dataclass(frozen=True, slots=True)
class Inputs:
    """Rows of streams, facts of tables and models."""

    streams: Mapping[str, pa.Table]
    tables: Mapping[str, pa.Table | ForecastModel] = field(default_factory=dict)


class Runner(Protocol):
    """A way to run programs."""

    name: str
    samples_worlds: bool  # where events need worlds; other events are exact everywhere

    def run(self, program: Program, inputs: Inputs) -> Tables:
        """The results of every event, and what was `late`."""
        ...


@dataclass(frozen=True, slots=True)
class LocalBatch:
    """All rows at once in this process."""

    sampling: Sampling = EXACT
    name: ClassVar[str] = "local batch"

    @property
    def samples_worlds(self) -> bool:
        return self.sampling is not EXACT

    def run(self, program: Program, inputs: Inputs) -> Tables:
        results = program.run_local(inputs.streams, inputs.tables, sampling=self.sampling)
        return {name: table.to_pylist() for name, table in results.tables.items()}


@dataclass(frozen=True, slots=True)
class Pushed:
    """Rows pushed in pieces; between them the state goes through a snapshot now and then."""

    seed: int
    n_pieces: int = PIECES
    name: ClassVar[str] = "pushed"
    samples_worlds: ClassVar[bool] = True

    def run(self, program: Program, inputs: Inputs) -> Tables:
        rng = random.Random(self.seed)
        stream = program.open(inputs.tables, unbounded=True, sampling=SAMPLED)
        told: Tables = {}
        for piece in pieces_of(rng, program, inputs.streams, self.n_pieces):
            if rng.random() < 0.5:
                stream = LocalStream.restore(program, stream.snapshot(), inputs.tables, sampling=SAMPLED)
            _add(told, stream.push(piece))
        stream = LocalStream.restore(program, stream.snapshot(), inputs.tables, sampling=SAMPLED)
        _add(told, stream.finish())
        return net(told)


def _add(told: Tables, found: Any) -> None:
    for name, table in [*found.tables.items(), ("late", found.late)]:
        told.setdefault(name, []).extend(table.to_pylist())


@dataclass(frozen=True, slots=True)
class SparkBatch:
    """All rows at once on Spark, in so many partitions."""

    spark: SparkSession
    partitions: int
    sampling: Sampling = EXACT
    name: ClassVar[str] = "Spark batch"
    samples_worlds: ClassVar[bool] = False

    def run(self, program: Program, inputs: Inputs) -> Tables:
        results = program.run(
            self.spark, inputs.streams, inputs.tables, partitions=self.partitions, sampling=self.sampling
        )
        try:
            found: Tables = {name: [] for name in results}
            return found | _collected(results)
        finally:
            results.close()


@dataclass(frozen=True, slots=True)
class SparkStream:
    """Files that Structured Streaming takes one by one; half-way the query stops, and another one continues."""

    spark: SparkSession
    folder: Path
    seed: int
    buckets: int = 2
    n_pieces: int = PIECES
    name: ClassVar[str] = "Structured Streaming"
    samples_worlds: ClassVar[bool] = True

    def run(self, program: Program, inputs: Inputs) -> Tables:
        pieces = list(pieces_of(random.Random(self.seed), program, inputs.streams, self.n_pieces))
        kept = _Kept()
        half = len(pieces) // 2
        self._write(pieces[:half], 0)
        self._query(program, inputs, kept).await_end()
        self._write(pieces[half:], half)
        query = self._query(program, inputs, kept)
        query.await_end()
        query.finish()
        return net(kept.rows())

    def _write(self, pieces: list[dict[str, pa.Table]], first: int) -> None:
        for number, piece in enumerate(pieces, start=first):
            for name, table in piece.items():
                file = self.folder / name / f"{number:03d}.parquet"
                file.parent.mkdir(exist_ok=True)
                pq.write_table(table, file)
                os.utime(file, (number, number))  # Spark takes files in the order of their times

    def _query(self, program: Program, inputs: Inputs, kept: _Kept) -> LiveQuery:
        frames = {
            name: self.spark.readStream.schema(self.spark.createDataFrame(table.slice(0, 0)).schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(self.folder / name))
            for name, table in inputs.streams.items()
        }
        return program.stream(
            self.spark,
            frames,
            inputs.tables,
            checkpoint=self.folder / "checkpoint",
            to=kept,
            settings=inkling.StreamSettings(available_now=True, buckets=self.buckets, unbounded=True),
            sampling=SAMPLED,
        )


class _Kept:
    """A sink that keeps what every micro-batch delivered last."""

    def __init__(self) -> None:
        self._batches: dict[int, Tables] = {}

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        self._batches[batch] = _collected({one.name: one.frame for one in outputs if one.n_rows})

    def rows(self) -> Tables:
        together: Tables = {}
        for batch in self._batches.values():
            for name, rows in batch.items():
                together.setdefault(name, []).extend(rows)
        return together


def _collected(frames: Mapping[str, DataFrame]) -> Tables:
    """Rows of many frames in one job: a job for each would take far longer than the rows do."""
    if not len(frames):
        return {}
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    written = []
    for name, frame in frames.items():
        # texts of times depend on a setting of the session; their microseconds do not
        columns = [
            F.unix_micros(F.col(f"`{one}`")).alias(one) if kind == "timestamp" else F.col(f"`{one}`")
            for one, kind in frame.dtypes
        ]
        text = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
        written.append(frame.select(F.lit(name).alias("name"), text.alias("row")))
    found: Tables = {}
    for row in reduce(DataFrame.unionByName, written).coalesce(2).toArrow().to_pylist():
        found.setdefault(row["name"], []).append(json.loads(row["row"]))
    return found


def pieces_of(
    rng: random.Random, program: Program, given: Mapping[str, pa.Table], n_pieces: int
) -> Iterator[dict[str, pa.Table]]:
    """Rows in a random order that the lateness of their streams permits, cut anywhere.

    Rows that have no ids are numbered as they come, so they come in the order of their table. Withdrawals come with
    the last piece.
    """
    orders = {}
    for stream in program.plan.streams:
        table = given[stream.schema.name]
        last = _withdrawals(stream, table)
        orders[stream.schema.name] = _order(rng, stream, table.filter(pc.invert(last))), table.filter(last)
    cuts = {
        name: [0, *sorted(rng.randint(0, len(rows)) for _ in range(n_pieces - 1)), len(rows)]
        for name, (rows, _) in orders.items()
    }
    for number in range(n_pieces):
        piece = {
            name: rows.slice(cuts[name][number], cuts[name][number + 1] - cuts[name][number])
            for name, (rows, _) in orders.items()
        }
        if number == n_pieces - 1:
            piece = {name: pa.concat_tables([some, orders[name][1]]) for name, some in piece.items()}
        yield piece


def _withdrawals(stream: StreamPlan, table: pa.Table) -> pa.Array:
    if stream.schema.op is None:
        return pa.array([False] * len(table), pa.bool_())
    return pa.array([op == "-" for op in table[stream.schema.op].to_pylist()], pa.bool_())


def _order(rng: random.Random, stream: StreamPlan, table: pa.Table) -> pa.Table:
    """A stream without LATENESS comes in the order of its times."""
    schema = stream.schema
    times = [0 if one is None else one for one in table[coming_by(schema)].cast(pa.int64()).to_pylist()]
    if schema.id is None and schema.uncertainty is None:
        return table
    late = 0 if schema.late is None else LATENESS if max(times, default=0) < 10**9 else LATENESS * 1_000_000
    places = rng.sample(range(len(table)), len(table))
    delays = [time + rng.randint(0, late) for time in times]
    return table.take(pa.array(sorted(places, key=lambda place: delays[place]), pa.int64()))


def net(told: Tables) -> Tables:
    """What was told and not taken back; nothing is taken back that was never told."""
    found: Tables = {}
    for name, rows in told.items():
        standing: Counter[str] = Counter()
        texts: dict[str, Row] = {}
        for row in rows:
            about = {key: value for key, value in row.items() if key != "op"}
            text = repr(sorted(about.items()))
            texts[text] = row if row.get("op") != "-" else texts.get(text, row)
            standing[text] += -1 if row.get("op") == "-" else 1
        assert min(standing.values(), default=0) >= 0, f"{name} took back what it never told"
        found[name] = [texts[text] for text in standing.elements()]
    return found
