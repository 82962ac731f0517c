"""Where control messages come from: a file to which lines are added, or a topic; each is read once.

What the driver says to a running query, as files that are one more source of it: so a replay hears it again.
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
from inkling.spark.streaming.checkpoint.storage import Folder
from inkling.spark.streaming.messages import watermarks_payload

Heard = int | str
"""How far a source was read, in JSON: lines of a file and what they were, or offsets of a topic; 0 at first."""

PAUSE_S = 1.0
"""A topic is asked no more often."""


class Messages(Protocol):
    """A source of control messages."""

    def after(self, heard: Heard) -> tuple[list[Mapping[str, object]], Heard]:
        """Messages that came since, and how far has been read now."""
        ...


def messages_of(spark: SparkSession, place: str | Path) -> Messages:
    """`kafka://HOST:PORT/TOPIC`, or a file: CSV if its name says so, else JSON lines."""
    address = address_of(str(place))
    if address.kind == "kafka":
        require_kafka(spark)
        return MessageTopic(spark, *servers_and_topic(address))
    return MessageFile(Path(address.place))


@dataclass(frozen=True, slots=True)
class MessageFile:
    """Lines count once they are complete; a file whose beginning is another one is read from its beginning again.

    The first line of CSV names the fields. If it names none of them, it is a message, and so are all others, with the
    fields in their usual order.
    """

    path: Path

    def after(self, heard: Heard) -> tuple[list[Mapping[str, object]], Heard]:
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


def _heard(lines: list[str]) -> Heard:
    return json.dumps({"lines": len(lines), "digest": _digest(lines)}) if lines else 0


def _known(heard: Heard, lines: list[str]) -> int:
    """How many of the lines have been read; none of them if they are not those that were there."""
    stored = json.loads(heard) if isinstance(heard, str) else {"lines": heard}
    known = stored.get("lines")
    if not isinstance(known, int) or known > len(lines):
        return 0
    return known if stored.get("digest") in (None, _digest(lines[:known])) else 0


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@dataclass(slots=True)
class MessageTopic:
    """Values are JSON objects; those of one partition count in their order."""

    spark: SparkSession
    servers: str
    topic: str
    _asked: float = field(default=-PAUSE_S)

    def after(self, heard: Heard) -> tuple[list[Mapping[str, object]], Heard]:
        if time.monotonic() - self._asked < PAUSE_S:
            return [], heard
        self._asked = time.monotonic()
        known: dict[str, int] = json.loads(heard).get(self.topic, {}) if isinstance(heard, str) else {}
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.servers)
        reader = reader.option("subscribe", self.topic).option("failOnDataLoss", "false")
        # offsets of partitions that are new are those of their beginning
        rows = reader.load().select("partition", "offset", "timestamp", F.col("value").cast("string").alias("value"))
        found = [row for row in rows.collect() if row["offset"] >= known.get(str(row["partition"]), 0)]
        found.sort(key=lambda row: (row["timestamp"], row["partition"], row["offset"]))
        for row in found:
            known[str(row["partition"])] = max(known.get(str(row["partition"]), 0), row["offset"] + 1)
        return [_message(row["value"] or "", []) for row in found], json.dumps({self.topic: known})


def _message(line: str, head: list[str]) -> Mapping[str, object]:
    """The fields of a line; a line that is none has a field `line`, and lacks all others."""
    if head:
        names, fields = (next(csv.reader([one]), []) for one in (head[0], line))
        return dict(zip(names, fields, strict=False)) if len(fields) <= len(names) else {"line": line}
    try:
        found: Any = json.loads(line)
    except ValueError:
        return {"line": line}
    return found if isinstance(found, dict) else {"line": line}


_SPEAKING = threading.Lock()  # whoever speaks takes the next number


@dataclass(frozen=True, slots=True)
class Control:
    """A folder inside the checkpoint; files in it are read once, in the order of their names."""

    folder: Folder

    @classmethod
    def inside(cls, checkpoint: Folder) -> Control:
        folder = checkpoint.inside("control")
        folder.make()
        return cls(folder)

    def send(self, watermarks: Watermarks) -> None:
        with _SPEAKING:
            self.folder.write(f"{len(self.folder.names()):09d}.json", watermarks_payload(watermarks) + b"\n")

    def read_stream(self) -> DataFrame:
        return self.folder.spark.readStream.schema("value string").text(self.folder.path)
