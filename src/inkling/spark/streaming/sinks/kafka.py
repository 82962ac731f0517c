"""Results in a Kafka topic.

Kafka cannot replace messages, so a batch that is delivered again leaves out the messages that have arrived. The key of
a message is made of the batch and the row: consumers that keep one message per key see each row once, even if a message
was still in flight when the restarted run looked for it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from inkling.spark.streaming.sinks.outputs import LATE, REJECTS, SinkOutput
from inkling.spark.streaming.sinks.protocol import TIMES, SinkStart, in_few_files
from inkling.spark.streaming.sinks.result_id import RESULT_ID, net, with_result_id

BATCH_HEADER = "inkling-batch"
CLOCK_SLACK_MS = 600_000
"""The assumed difference between clocks of machines, when the messages of a repeated batch are searched."""


@dataclass(slots=True)
class KafkaSink:
    """Results of all events to one topic, late rows and rejects to `<topic>.late` and `<topic>.rejects`.

    With `keeps_current`, the key of a message is the id of its result, and a withdrawal is a message without a value. A
    compacted topic, or a table made from it, then has the currently valid matches.
    """

    servers: str
    topic: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    keeps_current: bool = False
    _start: SinkStart | None = None
    _last_tried: int = -1  # the last batch that may have been written, at least in part

    def begin(self, start: SinkStart) -> None:
        from inkling.spark.kafka.connector import require_kafka

        require_kafka(start.spark)
        planned = start.checkpoint.inside("spark").inside("offsets").names()
        self._start = start
        self._last_tried = max((int(name) for name in planned if name.isdigit()), default=-1)

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        assert self._start is not None
        run, may_repeat = self._start.run_id, batch <= self._last_tried
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
                return messages  # the first result: there is no topic yet
            raise
        keys = [bytes(row["key"]) for row in written if row["key"] is not None]
        return messages.where(~F.col("key").isin(keys)) if keys else messages

    def _first_tried_ms(self, batch: int) -> int:
        """The time at which Spark first planned the batch, in ms since 1970."""
        assert self._start is not None
        stored = self._start.checkpoint.inside("spark").inside("offsets").read(str(batch))
        return int(json.loads(stored.decode().splitlines()[1])["batchTimestampMs"]) if stored else 0


def _header(run: str, batch: int) -> str:
    return f"{run} {batch}"


def _is_of(run: str, batch: int) -> Column:
    return F.exists(
        "headers", lambda one: (one["key"] == BATCH_HEADER) & (one["value"].cast("string") == _header(run, batch))
    )


def _messages(frame: DataFrame, run: str, batch: int) -> DataFrame:
    """Rows as messages; equal batches have equal keys, and equal rows of a batch are numbered."""
    rows = frame.select(_as_json().alias("value"))
    number = F.row_number().over(Window.partitionBy("value").orderBy(F.lit(0)))
    key = F.sha2(F.concat_ws("\n", F.lit(_header(run, batch)), "value", number), 256)
    return rows.select(F.encode(key, "UTF-8").alias("key"), "value", _headers(run, batch))


def _changes(output: SinkOutput, run: str, batch: int) -> DataFrame:
    """One message per result, by its id; without a value if the result is withdrawn."""
    rows = net(with_result_id(in_few_files(output)))
    value = F.when(F.col("op") == "+", _as_json())
    return rows.select(F.encode(RESULT_ID, "UTF-8").alias("key"), value.alias("value"), _headers(run, batch))


def _as_json() -> Column:
    return F.to_json(F.struct("*"), {"ignoreNullFields": "false", "timestampFormat": TIMES})


def _headers(run: str, batch: int) -> Column:
    stored = F.struct(F.lit(BATCH_HEADER).alias("key"), F.encode(F.lit(_header(run, batch)), "UTF-8").alias("value"))
    return F.array(stored).alias("headers")
