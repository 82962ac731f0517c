"""Kills streams at random: `python -m tests.kills --kills 100`; writes what happened into the page on what was tried.

Two streams, one over files and one over topics of a real broker, read the same rows as they arrive. Ends with status 1
if what they leave differs from what undisturbed streams leave of the same rows.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.kafka import sensors
from tests.kafka.broker import Broker, running_broker
from tests.kafka.sensors import EVENTS
from tests.kills.driver import FILES, JOBS, TOPICS, results_topic
from tests.kills.feeding import Feeder
from tests.kills.lives import MOMENTS, VICTIMS, Lives
from tests.kit.tried_page import section, write_section

SECTION = "python -m tests.kills"
_FIGURES = "<!-- figures: "


def main() -> int:
    parser = argparse.ArgumentParser(prog=SECTION, description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="time between chunks of rows")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no further life after this time")
    parser.add_argument("--folder", type=Path, help="keep everything here")
    parser.add_argument("--more", action="store_true", help="add to the figures on the page")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="inkling-kills-") as scratch:
        folder = asked.folder or Path(scratch)
        with running_broker(folder / "broker") as broker:
            return kill_and_compare(
                folder, broker, asked.kills, asked.seed, asked.every, asked.minutes, more=asked.more
            )


def kill_and_compare(
    folder: Path, broker: Broker, n_kills: int, seed: int, every: float, minutes: float, *, more: bool
) -> int:
    began = time.monotonic()

    def say(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:6.0f} s  {len(lives.kills):3d} kills  {text}\n")
        sys.stdout.flush()

    feeder = Feeder(folder / "in", broker, every)
    feeder.prepare()
    lives = _lives(folder / "killed", feeder, broker, seed)
    calm = _lives(folder / "calm", feeder, broker, seed)
    with feeder:
        while len(lives.kills) < n_kills and time.monotonic() - began < 60 * minutes:
            lives.live_and_die(say)
    lives.finish()
    say("the killed streams have finished")
    calm.finish()
    say("the undisturbed streams have finished")
    differences = list(_differences(lives, calm, feeder, broker))
    tried = _tried(lives, feeder, _repeated(lives, broker), time.monotonic() - began)
    _write(tried + (_before() if more else Counter()), differences)
    sys.stdout.write("\n".join([*differences, ""]))
    return 1 if differences else 0


def _lives(folder: Path, feeder: Feeder, broker: Broker, seed: int) -> Lives:
    folder.mkdir(parents=True)
    for name in ("", ".late", ".rejects"):
        broker.create_topic(f"{results_topic(folder)}{name}")
    return Lives(folder, feeder.folder, broker.address, random.Random(seed))


def _differences(lives: Lives, calm: Lives, feeder: Feeder, broker: Broker) -> Iterator[str]:
    """What was lost or added, in comparison with undisturbed streams and with the local runner."""
    expected = sensors.expected(range(feeder.n_chunks))
    for one in (lives, calm):
        found = {FILES: sensors.written_matches(one.folder / FILES / "out"), TOPICS: _messages(one, broker)}
        for job in JOBS:
            for event in EVENTS:
                lost, added = expected[event] - found[job][event], found[job][event] - expected[event]
                if lost or added:
                    what = f"{lost.total()} results of {event} are lost, {added.total()} are added"
                    yield f"{one.folder.name}, {job}: {what}"
        for name, n_expected in (("late", 0), ("rejects", feeder.n_rejects)):
            n_written = len(sensors.written(one.folder / FILES / "out", name))
            n_sent = len(set(_keys(f"{results_topic(one.folder)}.{name}", broker)))
            for job, n in ((FILES, n_written), (TOPICS, n_sent)):
                if n != n_expected:
                    yield f"{one.folder.name}, {job}: {n} rows are {name}, {n_expected} are expected"


def _messages(lives: Lives, broker: Broker) -> dict[str, Counter[str]]:
    """The results in a topic, each key once, as a consumer is told to read it."""
    found = {message.key(): message.value() for message in broker.messages(results_topic(lives.folder))}
    rows = [json.loads(value) for value in found.values()]
    return {event: sensors.bag(row for row in rows if row["event"] == event) for event in EVENTS}


def _keys(topic: str, broker: Broker) -> list[bytes]:
    return [message.key() for message in broker.messages(topic)]


def _repeated(lives: Lives, broker: Broker) -> int:
    keys = _keys(results_topic(lives.folder), broker)
    return len(keys) - len(set(keys))


def _tried(lives: Lives, feeder: Feeder, n_repeated: int, seconds: float) -> Counter[str]:
    """The numbers of a run, by name; those of several runs are added up."""
    found = Counter[str](
        lives=lives.n_lives,
        chunks=feeder.n_chunks,
        repeated=n_repeated,
        overloads=lives.overloads,
        seconds=int(seconds),
    )
    found["results"] = sum(each.total() for each in sensors.expected(range(feeder.n_chunks)).values())
    for kill in lives.kills:
        found[kill.victim] += 1
        found.update(f"{kill.victim}, {job}: {moment}" for job, moment in kill.moments.items())
    return found


def _before() -> Counter[str]:
    """The numbers on the page."""
    line = next((one for one in section(SECTION).splitlines() if one.startswith(_FIGURES)), None)
    return Counter({} if line is None else json.loads(line.removeprefix(_FIGURES).removesuffix(" -->")))


def _write(tried: Counter[str], differences: list[str]) -> None:
    moments = [f"{job}: {moment}" for job in JOBS for moment in MOMENTS]
    rows = "\n".join(
        f"| {name} | {tried[victim]} | {' | '.join(str(tried[f'{victim}, {one}']) for one in moments)} |"
        for victim, name in VICTIMS.items()
    )
    outcome = (
        f"All {tried['results']:,} results, and every rejected row, were there once, as after undisturbed streams over "
        "the same rows, and as the local runner finds them."
        if not differences
        else "\n".join(["The outputs differ:", "", *(f"- {one}" for one in differences)])
    )
    told = (
        f"These are {sum(tried[victim] for victim in VICTIMS)} kills in {tried['lives']} lives of the process, while "
        f"{tried['chunks']:,} chunks of rows arrived. A kill counts for each stream that its victim worked for. "
        f"{tried['repeated']} messages were in the topic twice, with the same key. {tried['overloads']} lives ended "
        "because a worker did not start in time on the busy machine."
    )
    write_section(
        SECTION,
        f"""\
## Streams killed at random

Two streams of one process read the same rows while they arrive: one as files in a folder, into files; the other as
messages of a Kafka broker, into a topic. Again and again something of the process is killed with `SIGKILL` and the
process started again: everything it started, the Python process alone, the Java process alone, or one Python worker. A
kill comes *before* a delivery (a micro-batch is planned, read, or computed), *inside* it, *after* it (the results are
written, the micro-batch is not committed), or *between* micro-batches. `python -m tests.kills` wrote this section.

| killed | kills | {" | ".join(moments)} |
|---|---:|{"---:|" * len(moments)}
{rows}

{textwrap.fill(told, 120)}

{textwrap.fill(outcome, 120) if not differences else outcome}

The last run ended on {datetime.now(UTC):%Y-%m-%d}; all took {tried["seconds"] / 60:.0f} minutes.

{_FIGURES}{json.dumps(tried)} -->
""",
    )


if __name__ == "__main__":
    sys.exit(main())
