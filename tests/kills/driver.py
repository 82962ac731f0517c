"""A process with two streams, one from files and one from topics, to be killed: `python -m … FOLDER INPUTS BROKER`.

A file `finish` in the folder ends both. An error ends the process with status 3, as it does in the command line.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.kafka.sensors import PROGRAM
from tests.streaming.crashing_driver import LOCAL
from tests.streaming.faults import Faults, FragileSink, make_fragile

import inkling
from inkling.cli.terminal.failures import diagnostics_of
from inkling.spark.kafka.connector import kafka_settings
from inkling.spark.session import spark_session
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks.protocol import sink_of

FILES, TOPICS = "files", "topics"
JOBS = (FILES, TOPICS)
STREAMS = ("Reading", "Visit")
FAILED = 3


def topic_of(stream: str) -> str:
    return f"{stream.lower()}s"


def results_topic(folder: Path) -> str:
    return f"results-{folder.name}"


def main(folder: Path, inputs: Path, broker: str) -> None:
    spark = spark_session(master=LOCAL, app_name="inkling-kills", partitions=2, quick=True, config=kafka_settings())

    def start(job: str) -> LiveQuery:
        faults = Faults(folder / job / "faults")
        make_fragile(faults)
        given = {
            FILES: {stream: f"{inputs / stream}?format=parquet&maxFilesPerTrigger=40" for stream in STREAMS},
            TOPICS: {stream: f"kafka://{broker}/{topic_of(stream)}" for stream in STREAMS},
        }
        to = {FILES: str(folder / FILES / "out"), TOPICS: f"kafka://{broker}/{results_topic(folder)}"}
        return inkling.parse(PROGRAM).stream(
            spark,
            given[job],
            checkpoint=folder / job / "checkpoint",
            to=FragileSink(sink_of(to[job]), faults),
            settings=inkling.StreamSettings(buckets=2, idle_after=None, trigger="2 seconds"),
        )

    queries = [start(job) for job in JOBS]
    while not (folder / "finish").exists():
        for query in queries:
            if query.await_end(1):
                raise RuntimeError("a stream ended by itself")
    for query in queries:
        query.finish()
    spark.stop()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    except Exception as problem:
        sys.stdout.write("".join(f"{one.render()}\n" for one in diagnostics_of(problem)))
        sys.stdout.flush()
        sys.exit(FAILED)
