"""Whole programs over a real broker, exactly once, shown by killing: JSON into files, Avro into a topic.

One process runs both jobs. It is killed with everything it started while messages come in, and started again; between
its lives messages come in too.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeAlias

import pytest
from tests.kafka import sensors
from tests.kafka.broker import Broker
from tests.kafka.sensors import BAD_AVRO, BAD_JSON, LATENESS, Row, chunk, in_avro, in_json
from tests.streaming.faults import is_session_gone, kill_session, with_tests_on_path

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240.0
JSON_READINGS, AVRO_READINGS, VISITS, RESULTS = "json-readings", "avro-readings", "visits", "results"
READINGS = {"json": JSON_READINGS, "avro": AVRO_READINGS}
TOO_SLOW = "waiting for the Python worker to connect back"
"""Spark gives a worker ten seconds to start, which is not always enough on a machine with too much to do."""

Watch: TypeAlias = Callable[[], object]
"""What there is to see now of something that grows."""


@dataclass(slots=True)
class Sent:
    """What has been produced so far."""

    broker: Broker
    n_chunks: int = 0
    late: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {"Reading": [], "Visit": []})

    def chunk(self) -> None:
        rows = chunk(self.n_chunks)
        self.n_chunks += 1
        self._send(rows)

    def late_rows(self, n: int) -> None:
        """Rows that are behind the watermark whatever the micro-batches were; all of what came before must be read."""
        rows: dict[str, list[Row]] = {
            "Reading": [{"id": f"late{place}", "sensor": "a", "value": 9.0, "t": place} for place in range(n)],
            "Visit": [{"id": f"late{place}", "sensor": "a", "t": place} for place in range(n)],
        }
        for stream, some in rows.items():
            latest = max(int(str(row["t"])) for number in range(self.n_chunks) for row in chunk(number)[stream])
            assert latest - LATENESS > n
            self.late[stream] += [(int(str(row["t"])), latest - int(str(row["t"]))) for row in some]
        self._send(rows)

    def damaged(self) -> None:
        for partition in (0, 1):
            self.broker.produce(JSON_READINGS, BAD_JSON, partition=partition)
            self.broker.produce(AVRO_READINGS, BAD_AVRO, partition=partition)
        self.broker.produce(VISITS, BAD_JSON)

    def _send(self, rows: dict[str, list[Row]]) -> None:
        for partition in (0, 1):
            half = rows["Reading"][partition::2]
            self.broker.produce(JSON_READINGS, map(in_json, half), partition=partition)
            self.broker.produce(AVRO_READINGS, map(in_avro, half), partition=partition)
        self.broker.produce(VISITS, map(in_json, rows["Visit"]))


def test_killed_jobs_lose_nothing_and_say_nothing_twice(broker: Broker, tmp_path: Path) -> None:
    for topic in (JSON_READINGS, AVRO_READINGS):
        broker.create_topic(topic, partitions=2)
    for topic in (VISITS, f"{RESULTS}.late", f"{RESULTS}.rejects"):
        broker.create_topic(topic)
    broker.create_topic(RESULTS, partitions=2)
    describe_jobs(broker, tmp_path)
    sent = Sent(broker)

    sent.chunk()
    with Jobs(tmp_path) as jobs:
        for _ in range(3):
            sent.chunk()
        jobs.until(lambda: has_read_all(broker, tmp_path))
        sent.late_rows(3)
        sent.damaged()
        jobs.until(lambda: has_read_all(broker, tmp_path))
        jobs.kill_at(topic_watch(broker), sent.chunk)
        for watch in (files_watch(tmp_path), log_watch(tmp_path, "commits")):
            sent.chunk()
            jobs.start()
            jobs.kill_at(watch, sent.chunk)
        jobs.start()
        sent.chunk()
        jobs.until(lambda: has_read_all(broker, tmp_path))
        sent.damaged()
        jobs.finish()

    matches = sensors.expected(range(sent.n_chunks))
    assert min(found.total() for found in matches.values()) > 10
    out = tmp_path / "json" / "out"
    assert sensors.written_matches(out) == matches
    check_late(sensors.written(out, "late"), sent)
    check_rejects(sensors.written(out, "rejects"), broker, {JSON_READINGS: BAD_JSON, VISITS: BAD_JSON})
    results = messages_of(broker, RESULTS)
    assert {event: sensors.bag(row for row in results if row["event"] == event) for event in matches} == matches
    check_late(messages_of(broker, f"{RESULTS}.late"), sent)
    rejects = messages_of(broker, f"{RESULTS}.rejects")
    check_rejects(rejects, broker, {AVRO_READINGS: BAD_AVRO, VISITS: BAD_JSON})
    keys = [message.key() for message in broker.messages(RESULTS)]
    assert None not in keys
    assert len(set(keys)) == len(keys)


def check_late(rows: list[Row], sent: Sent) -> None:
    for stream, told in sent.late.items():
        assert Counter((row["time"], row["delay"]) for row in rows if row["stream"] == stream) == Counter(told)


def check_rejects(rows: list[Row], broker: Broker, damaged: dict[str, tuple[bytes | None, ...]]) -> None:
    """Each damaged message once, by its place in its topic, and nothing else."""
    places = Counter(
        f"{topic} {message.partition()} {message.offset()}"
        for topic, values in damaged.items()
        for message in broker.messages(topic)
        if (message.value() or None) in {value or None for value in values}
    )
    assert places.total() > 2 * len(BAD_JSON)
    pattern = re.compile(r"\(topic (\S+), partition (\d+), offset (\d+)\)$")
    found = [pattern.search(str(row["detail"])) for row in rows]
    assert {row["reason"] for row in rows} == {"malformed"}
    assert Counter(" ".join(one.groups()) for one in found if one is not None) == places


def messages_of(broker: Broker, topic: str) -> list[Row]:
    return [json.loads(value) for value in broker.values(topic) if value is not None]


def describe_jobs(broker: Broker, folder: Path) -> None:
    schema = folder / "reading.avsc"
    schema.write_text(sensors.AVRO_SCHEMA)
    server = f"kafka://{broker.address}"
    visits = {"Visit": f"{server}/{VISITS}"}
    jobs = {
        "json": {"inputs": {"Reading": f"{server}/{JSON_READINGS}", **visits}, "to": str(folder / "json" / "out")},
        "avro": {
            "inputs": {"Reading": f"{server}/{AVRO_READINGS}?format=avro&schema={schema}", **visits},
            "to": f"{server}/{RESULTS}",
        },
    }
    assert jobs.keys() == READINGS.keys()
    (folder / "jobs.json").write_text(json.dumps(jobs))


class Jobs:
    """The process that runs them, leader of a session of its own, which is gone afterwards."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        while not is_session_gone(self._process.pid):
            kill_session(self._process.pid)
            time.sleep(0.01)
        self._process.wait()

    def start(self) -> None:
        with (self._folder / "jobs.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.kafka.stream_job", str(self._folder)],
                cwd=ROOT,
                env=with_tests_on_path(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def until(self, happens: Callable[[], bool]) -> None:
        ends = time.monotonic() + PATIENCE_S
        while not happens():
            if self._process.poll() is not None:
                self._start_again()
            assert time.monotonic() < ends, f"the jobs got nowhere:\n{self._log()}"
            time.sleep(0.02)

    def kill_at(self, watch: Watch, first: Callable[[], None]) -> None:
        """Ends all at once, as soon as something is there that was not before."""
        before = watch()
        first()
        self.until(lambda: watch() != before)
        kill_session(self._process.pid)
        assert self._process.wait() == -signal.SIGKILL, self._log()

    def finish(self) -> None:
        (self._folder / "finish").touch()
        self.until(lambda: self._process.poll() == 0)

    def _start_again(self) -> None:
        assert TOO_SLOW in self._log(), f"the jobs ended by themselves:\n{self._log()}"
        self.__exit__()
        self.start()

    def _log(self) -> str:
        return (self._folder / "jobs.log").read_text()[-4000:]


def log_watch(folder: Path, log: str) -> Watch:
    """Which micro-batches were begun, or finished."""
    return lambda: [_last(folder, job, log) for job in READINGS]


def files_watch(folder: Path) -> Watch:
    """What is on its way to files."""
    return lambda: sum(1 for _ in (folder / "json" / "out").glob("*/batch=*/**"))


def topic_watch(broker: Broker) -> Watch:
    """What has come to the topic."""
    return lambda: broker.ends(RESULTS)


def _last(folder: Path, job: str, log: str) -> int:
    """The last batch in a log of the checkpoint; -1 without one."""
    place = folder / job / "checkpoint" / "spark" / log
    files = place.iterdir() if place.exists() else ()
    return max((int(file.name) for file in files if file.name.isdigit()), default=-1)


def has_read_all(broker: Broker, folder: Path) -> bool:
    """Whether both jobs have finished all messages that are there now."""
    for job, readings in READINGS.items():
        batch = _last(folder, job, "commits")
        if batch < 0:
            return False
        lines = (folder / job / "checkpoint" / "spark" / "offsets" / str(batch)).read_text().splitlines()[2:]
        offsets = [json.loads(line) for line in lines if line.startswith("{")]
        for topic in (readings, VISITS):
            ends = {str(partition): end for partition, end in enumerate(broker.ends(topic))}
            if {topic: ends} not in offsets:
                return False
    return True
