"""Rows that arrive while streams run and while they do not: the same ones as files and as messages."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.kafka.broker import Broker
from tests.kafka.sensors import SCHEMAS, Row, chunk, in_json
from tests.kills.driver import STREAMS, topic_of

WITHOUT_TIME: Row = {"id": "timeless", "sensor": "a", "t": None}
REJECTED_EVERY = 7
"""Every seventh chunk has a row that is rejected, in each stream."""


@dataclass(slots=True)
class Feeder:
    """Sends a chunk of rows every few seconds, from a thread, until the context ends."""

    folder: Path
    broker: Broker
    seconds: float
    n_chunks: int = 0
    _ending: threading.Event = field(default_factory=threading.Event)
    _failure: BaseException | None = None
    _thread: threading.Thread | None = None

    @property
    def n_rejects(self) -> int:
        return len(STREAMS) * len(range(0, self.n_chunks, REJECTED_EVERY))

    def prepare(self) -> None:
        for stream in STREAMS:
            (self.folder / stream).mkdir(parents=True)
            self.broker.create_topic(topic_of(stream), partitions=2)

    def __enter__(self) -> Feeder:
        self._thread = threading.Thread(target=self._send_until_the_end, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _send_until_the_end(self) -> None:
        try:
            while True:
                self.send()
                if self._ending.wait(self.seconds):
                    return
        except BaseException as problem:
            self._failure = problem

    def send(self) -> None:
        number = self.n_chunks
        for stream, rows in chunk(number).items():
            given = [*rows, WITHOUT_TIME] if number % REJECTED_EVERY == 0 else rows
            hidden = self.folder / stream / f".{number}"
            pq.write_table(pa.Table.from_pylist(given, schema=SCHEMAS[stream]), hidden)
            hidden.rename(self.folder / stream / f"{number:05d}.parquet")
            for partition in (0, 1):
                self.broker.produce(topic_of(stream), map(in_json, given[partition::2]), partition=partition)
        self.n_chunks += 1
