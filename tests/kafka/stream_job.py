"""A process that runs streaming jobs over topics, to be killed and started again: `python -m … FOLDER`.

`jobs.json` in the folder names the inputs and the output of each job; a file `finish` ends them all.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.kafka.sensors import PROGRAM

import inkling
from inkling.spark.kafka.connector import kafka_settings
from inkling.spark.session import spark_session


def main(folder: Path) -> None:
    jobs = json.loads((folder / "jobs.json").read_text())
    spark = spark_session(master="local[2]", app_name="inkling-jobs", quick=True, config=kafka_settings())
    queries = [
        inkling.parse(PROGRAM).stream(
            spark,
            job["inputs"],
            checkpoint=folder / name / "checkpoint",
            to=job["to"],
            settings=inkling.StreamSettings(buckets=2, idle_after=None),
        )
        for name, job in jobs.items()
    ]
    while not (folder / "finish").exists():
        for query in queries:
            assert not query.await_end(1), "a job ended by itself"
    for query in queries:
        query.finish()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
