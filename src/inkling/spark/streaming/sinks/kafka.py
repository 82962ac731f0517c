"""Results to a topic. Kafka cannot replace what it holds, so a batch that is delivered again leaves out what arrived.

What a crash cut off may have arrived in part. The key of a message has the batch and the row: consumers that keep one
message per key see each row once even if a message was still on its way when the restarted run looked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from inkling.spark.streaming.sinks.outputs import LATE, REJECTS, Output
from inkling.spark.streaming.sinks.protocol import TIMES, Beginning, in_few_files
from inkling.spark.streaming.sinks.result_id import RESULT_ID, net, with_result_id

BATCH_HEADER = "inkling-batch"
CLOCK_SLACK_MS = 600_000
"""How far the clocks of machines may disagree, for finding what a repeated batch has written."""


@dataclass(slots=True)
class KafkaSink:
    """Results of all events to one topic, late rows and rejects to `<topic>.late` and `<topic>.rejects`.

    If it keeps what is current, the key of a message is the id of its result, and a withdrawal is a message without a
    value: a compacted topic, or whoever reads it into a table, then holds what holds now.
    """

    servers: str
    topic: str
    options: Mapping[str, str] = field(default_factory=dict)
    keeps_current: bool = False
    _beginning: Beginning | None = None
    _last_tried: int = -1  # of the batches, which may be there whole or in part

    def begin(self, beginning: Beginning) -> None:
        from inkling.spark.kafka.connector import require_kafka

        require_kafka(beginning.spark)
        planned = beginning.checkpoint.inside("spark").inside("offsets").names()
        self._beginning = beginning
        self._last_tried = max((int(name) for name in planned if name.isdigit()), default=-1)

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        run, may_repeat = self._run(), batch <= self._last_tried
        self._last_tried = max(self._last_tried, batch)
        for output in outputs:
            aside = output.only_grows if self.keeps_current else output.name in (LATE, REJECTS)
            topic = f"{self.topic}.{output.name}" if aside else self.topic
            is_table = self.keeps_current and not output.only_grows
            messages = _changes(output, run, batch) if is_table else _messages(output.frame, run, batch)
            if may_repeat:
                messages = self._not_there_yet(messages, topic, run, batch)
            writer = messages.write.format("kafka").options(**self._kafka_options())
            writer.option("topic", topic).option("includeHeaders", "true").save()

    def _kafka_options(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.servers, **self.options}

    def _run(self) -> str:
        """A name that all restarts with one checkpoint share."""
        assert self._beginning is not None
        stored = self._beginning.checkpoint.inside("spark").read("metadata")
        return str(json.loads(stored)["id"]) if stored else ""

    def _not_there_yet(self, messages: DataFrame, topic: str, run: str, batch: int) -> DataFrame:
        since = self._first_tried_ms(batch) - CLOCK_SLACK_MS
        reader = messages.sparkSession.read.format("kafka").options(**self._kafka_options())
        reader = reader.option("subscribe", topic).option("includeHeaders", "true")
        reader = reader.option("startingTimestamp", str(max(since, 0)))
        reader = reader.option("startingOffsetsByTimestampStrategy", "latest")
        try:
            written = reader.load().where(_is_of(run, batch)).select("key").collect()
        except PySparkException as problem:
            if "UnknownTopicOrPartition" in str(problem):
                return messages  # a first result, so there is no topic yet
            raise
        keys = [bytes(row["key"]) for row in written if row["key"] is not None]
        return messages.where(~F.col("key").isin(keys)) if keys else messages

    def _first_tried_ms(self, batch: int) -> int:
        """When Spark first began the batch, which it writes down before and never changes."""
        assert self._beginning is not None
        stored = self._beginning.checkpoint.inside("spark").inside("offsets").read(str(batch))
        return int(json.loads(stored.decode().splitlines()[1])["batchTimestampMs"]) if stored else 0


def _header(run: str, batch: int) -> str:
    return f"{run} {batch}"


def _is_of(run: str, batch: int) -> Column:
    return F.exists(
        "headers", lambda one: (one["key"] == BATCH_HEADER) & (one["value"].cast("string") == _header(run, batch))
    )


def _messages(frame: DataFrame, run: str, batch: int) -> DataFrame:
    """The same rows give the same keys, whoever computes them; equal rows are numbered."""
    rows = frame.select(_as_json().alias("value"))
    number = F.row_number().over(Window.partitionBy("value").orderBy(F.lit(0)))
    key = F.sha2(F.concat_ws("\n", F.lit(_header(run, batch)), "value", number), 256)
    return rows.select(F.encode(key, "UTF-8").alias("key"), "value", _headers(run, batch))


def _changes(output: Output, run: str, batch: int) -> DataFrame:
    """One message per result, by its id; without a value if the result is withdrawn."""
    rows = net(with_result_id(in_few_files(output)))
    value = F.when(F.col("op") == "+", _as_json())
    return rows.select(F.encode(RESULT_ID, "UTF-8").alias("key"), value.alias("value"), _headers(run, batch))


def _as_json() -> Column:
    return F.to_json(F.struct("*"), {"ignoreNullFields": "false", "timestampFormat": TIMES})


def _headers(run: str, batch: int) -> Column:
    stored = F.struct(F.lit(BATCH_HEADER).alias("key"), F.encode(F.lit(_header(run, batch)), "UTF-8").alias("value"))
    return F.array(stored).alias("headers")
