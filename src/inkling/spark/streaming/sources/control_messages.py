"""Control messages of users, from a growing file or a topic; and those of the driver to a running query.

Messages of the driver are files that the query reads as one more source, so that a replay repeats them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.forecasting.adaptation.steering import FIELDS
from inkling.model.watermarks import Watermarks
from inkling.spark.kafka.connector import require_kafka
from inkling.spark.streaming.addresses import address_of, servers_and_topic
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.messages import watermarks_payload

Position = int | str
"""How far a source is read, as JSON: number and digest of the lines of a file, or offsets of a topic; 0 at first."""

PAUSE_S = 1.0
"""The least number of seconds between two reads of a topic."""


class Messages(Protocol):
    """A source of control messages."""

    def after(self, heard: Position) -> tuple[list[Mapping[str, object]], Position]:
        """The messages after a position, and the new position."""
        ...


def messages_of(spark: SparkSession, place: str | Path) -> Messages:
    """The source at `kafka://HOST:PORT/TOPIC` or in a file: CSV with the suffix `.csv`, else JSON lines."""
    address = address_of(str(place))
    if address.kind == "kafka":
        require_kafka(spark)
        return MessageTopic(spark, *servers_and_topic(address), address.options)
    return MessageFile(Path(address.place))


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A growing file; a line is read once it is complete. If earlier lines change, the file is read from its beginning.

    The first line of CSV names the fields. If it names none of them, it is a message, with the fields in the order of
    `FIELDS`.
    """

    path: Path

    def after(self, heard: Position) -> tuple[list[Mapping[str, object]], Position]:
        try:
            text = self.path.read_bytes().decode("utf-8-sig", errors="replace")
        except FileNotFoundError:
            return [], heard
        lines = [line for line in text[: text.rfind("\n") + 1].splitlines() if line.strip()]
        head: list[str] = []
        if self.path.suffix == ".csv":
            is_headed = bool(lines) and not set(FIELDS).isdisjoint(next(csv.reader(lines[:1])))
            head, lines = (lines[:1], lines[1:]) if is_headed else ([",".join(FIELDS)], lines)
        known = _known(heard, lines)
        return [_message(line, head) for line in lines[known:]], _heard(lines)


def _heard(lines: list[str]) -> Position:
    return json.dumps({"lines": len(lines), "digest": _digest(lines)}) if lines else 0


def _known(heard: Position, lines: list[str]) -> int:
    """The number of lines that are read already, 0 if these lines have changed."""
    stored = json.loads(heard) if isinstance(heard, str) else {"lines": heard}
    known = stored.get("lines")
    if not isinstance(known, int) or known > len(lines):
        return 0
    return known if stored.get("digest") in (None, _digest(lines[:known])) else 0


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@dataclass(slots=True)
class MessageTopic:
    """A topic whose values are JSON objects, in the order of each partition."""

    spark: SparkSession
    servers: str
    topic: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    _asked: float = field(default=-PAUSE_S)

    def after(self, heard: Position) -> tuple[list[Mapping[str, object]], Position]:
        if time.monotonic() - self._asked < PAUSE_S:
            return [], heard
        self._asked = time.monotonic()
        known: dict[str, int] = json.loads(heard).get(self.topic, {}) if isinstance(heard, str) else {}
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.servers)
        reader = reader.option("subscribe", self.topic).option("failOnDataLoss", "false").options(**self.options)
        # new partitions are read from their beginning
        rows = reader.load().select("partition", "offset", "timestamp", F.col("value").cast("string").alias("value"))
        found = [row for row in rows.collect() if row["offset"] >= known.get(str(row["partition"]), 0)]
        found.sort(key=lambda row: (row["timestamp"], row["partition"], row["offset"]))
        for row in found:
            known[str(row["partition"])] = max(known.get(str(row["partition"]), 0), row["offset"] + 1)
        return [_message(row["value"] or "", []) for row in found], json.dumps({self.topic: known})


def _message(line: str, head: list[str]) -> Mapping[str, object]:
    """The fields of a message; an invalid line becomes the only field `line`."""
    if head:
        names, fields = (next(csv.reader([one]), []) for one in (head[0], line))
        return dict(zip(names, fields, strict=False)) if len(fields) <= len(names) else {"line": line}
    try:
        found: Any = json.loads(line)
    except ValueError:
        return {"line": line}
    return found if isinstance(found, dict) else {"line": line}


_SENDING = threading.Lock()  # each message takes the next number


@dataclass(frozen=True, slots=True)
class Control:
    """The messages of the driver: files in a folder of the checkpoint, read once in the order of their names."""

    folder: CheckpointFolder

    @classmethod
    def inside(cls, checkpoint: CheckpointFolder) -> Control:
        folder = checkpoint.inside("control")
        folder.make()
        return cls(folder)

    def send(self, watermarks: Watermarks) -> None:
        with _SENDING:
            self.folder.write(f"{len(self.folder.names()):09d}.json", watermarks_payload(watermarks) + b"\n")

    def read_stream(self) -> DataFrame:
        return self.folder.spark.readStream.schema("value string").text(self.folder.path)
