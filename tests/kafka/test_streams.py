"""Whole programs over a real broker, exactly once, shown by killing: JSON and Avro in, files and a topic out.

One process runs three jobs. It is killed with everything it started while messages come in, and started again; between
its lives messages come in too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.kafka import sensors
from tests.kafka.broker import Broker
from tests.kafka.sensors import BAD_AVRO, BAD_JSON, LATENESS, Row, chunk, in_avro, in_json
from tests.streaming.faults import is_session_gone, kill_session, with_tests_on_path

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240.0
JSON_READINGS, AVRO_READINGS, VISITS, RESULTS = "json-readings", "avro-readings", "visits", "results"
JOBS = ("json", "avro", "topic")
AVRO_JOB = "avro"


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
    begun = {"state": offsets_watch, "sink": files_watch, "topic": topic_watch, "commit": commits_watch}
    kills = []

    sent.chunk()
    with running(tmp_path) as process:
        for _ in range(3):
            sent.chunk()
        until(process, lambda: has_read_all(broker, tmp_path))
        sent.late_rows(3)
        sent.damaged()
        until(process, lambda: has_read_all(broker, tmp_path))
        kills.append(kill_at(process, begun["topic"](broker, tmp_path), sent.chunk))
    for place in ("sink", "topic", "state", "commit"):
        sent.chunk()
        with running(tmp_path) as process:
            kills.append(kill_at(process, begun[place](broker, tmp_path), sent.chunk))
    with running(tmp_path) as process:
        sent.chunk()
        until(process, lambda: has_read_all(broker, tmp_path))
        sent.damaged()
        (tmp_path / "finish").touch()
        assert process.wait(PATIENCE_S) == 0, log_of(tmp_path)

    assert kills == [-9] * 5
    matches = sensors.expected(range(sent.n_chunks))
    assert min(found.total() for found in matches.values()) > 10
    for job in ("json", "avro"):
        out = tmp_path / job / "out"
        assert sensors.written_matches(out) == matches, job
        check_late(sensors.written(out, "late"), sent)
        check_rejects(sensors.written(out, "rejects"), broker, AVRO_READINGS if job == AVRO_JOB else JSON_READINGS)
    results = messages_of(broker, RESULTS)
    assert {event: sensors.bag(row for row in results if row["event"] == event) for event in matches} == matches
    check_late(messages_of(broker, f"{RESULTS}.late"), sent)
    check_rejects(messages_of(broker, f"{RESULTS}.rejects"), broker, JSON_READINGS)
    keys = [message.key() for message in broker.messages(RESULTS)]
    assert None not in keys
    assert len(set(keys)) == len(keys)


def check_late(rows: list[Row], sent: Sent) -> None:
    for stream, told in sent.late.items():
        assert Counter((row["time"], row["delay"]) for row in rows if row["stream"] == stream) == Counter(told)


def check_rejects(rows: list[Row], broker: Broker, readings: str) -> None:
    """Each damaged message once, by its place in its topic, and nothing else."""
    places = Counter(
        f"{topic} {message.partition()} {message.offset()}"
        for topic, damaged in {readings: BAD_AVRO if readings == AVRO_READINGS else BAD_JSON, VISITS: BAD_JSON}.items()
        for message in broker.messages(topic)
        if (message.value() or None) in {value or None for value in damaged}
    )
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
    from_json = {"Reading": f"{server}/{JSON_READINGS}", **visits}
    jobs = {
        "json": {"inputs": from_json, "to": str(folder / "json" / "out")},
        "avro": {
            "inputs": {"Reading": f"{server}/{AVRO_READINGS}?format=avro&schema={schema}", **visits},
            "to": str(folder / "avro" / "out"),
        },
        "topic": {"inputs": from_json, "to": f"{server}/{RESULTS}"},
    }
    assert tuple(jobs) == JOBS
    (folder / "jobs.json").write_text(json.dumps(jobs))


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process as the leader of a session of its own, which is gone afterwards."""
    with (folder / "jobs.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.kafka.stream_job", str(folder)],
            cwd=ROOT,
            env=with_tests_on_path(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        while not is_session_gone(process.pid):
            kill_session(process.pid)
            time.sleep(0.01)
        process.wait()


def log_of(folder: Path) -> str:
    return (folder / "jobs.log").read_text()[-5000:]


def until(process: subprocess.Popen[bytes], happens: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not happens():
        assert process.poll() is None, "the jobs ended by themselves"
        assert time.monotonic() < ends, "the jobs got nowhere"
        time.sleep(0.02)


def kill_at(process: subprocess.Popen[bytes], is_there: Callable[[], bool], first: Callable[[], None]) -> int:
    """How the process ended, killed as soon as something is there that was not before `first`."""
    first()
    until(process, is_there)
    kill_session(process.pid)
    return process.wait()


def offsets_watch(_: Broker, folder: Path) -> Callable[[], bool]:
    """A micro-batch was begun."""
    return _change(lambda: [_last(folder, job, "offsets") for job in JOBS])


def commits_watch(_: Broker, folder: Path) -> Callable[[], bool]:
    """A micro-batch was finished."""
    return _change(lambda: [_last(folder, job, "commits") for job in JOBS])


def files_watch(_: Broker, folder: Path) -> Callable[[], bool]:
    """A micro-batch is on its way to files."""
    return _change(lambda: sum(1 for job in JOBS for _ in (folder / job).glob("out/*/batch=*/**")))


def topic_watch(broker: Broker, _: Path) -> Callable[[], bool]:
    """A micro-batch is on its way to the topic."""
    return _change(lambda: broker.ends(RESULTS))


def _change(look: Callable[[], object]) -> Callable[[], bool]:
    before = look()
    return lambda: look() != before


def _last(folder: Path, job: str, log: str) -> int:
    """The last batch in a log of the checkpoint; -1 without one."""
    place = folder / job / "checkpoint" / "spark" / log
    files = place.iterdir() if place.exists() else ()
    return max((int(file.name) for file in files if file.name.isdigit()), default=-1)


def has_read_all(broker: Broker, folder: Path) -> bool:
    """Whether every job has finished all messages that are there now."""
    ends = {topic: broker.ends(topic) for topic in (JSON_READINGS, AVRO_READINGS, VISITS)}
    for job in JOBS:
        batch = _last(folder, job, "commits")
        if batch < 0:
            return False
        lines = (folder / job / "checkpoint" / "spark" / "offsets" / str(batch)).read_text().splitlines()[2:]
        read: dict[str, dict[str, int]] = {}
        for line in lines:
            told = json.loads(line) if line.startswith("{") else {}
            read |= {topic: offsets for topic, offsets in told.items() if topic in ends}
        wanted = AVRO_READINGS if job == AVRO_JOB else JSON_READINGS
        if any(
            [read.get(topic, {}).get(str(p)) for p in range(len(ends[topic]))] != ends[topic]
            for topic in (wanted, VISITS)
        ):
            return False
    return True
