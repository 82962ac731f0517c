"""A job over streams with every kind of uncertainty, its files, and what must come of them: what a crash test runs.

`python -m tests.streaming.uncertain_bells FOLDER` is the job as a process, to be killed and started again.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from tests.streaming.faults import Faults, FragileSink, make_fragile

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.spark.session import spark_session
from inkling.spark.streaming.sinks.protocol import FileSink

PROGRAM = """
STREAM Seen(id STRING, k STRING, what STRING, t INT) ID id KEY k TIME t ± off AT MOST 4 TICKS LATENESS 3 TICKS;
STREAM Sky(id STRING, k STRING, sky STRING, before STRING, p DOUBLE, t INT) ID id KEY k TIME t
    PROBABILITY p GIVEN before LATENESS 3 TICKS;
STREAM Bell(id STRING, k STRING, n INT, t INT) ID id KEY k TIME t NUMBERED BY n LATENESS 3 TICKS;

EVENT visit(k) AS PATTERN SEQ(Seen a[what = 'in'], Seen b[what = 'out']) WITHIN 6 TICKS PARTITION BY k;
EVENT soaked(k) AS PATTERN SEQ(Sky[sky = 'rain'], NOT Sky[sky = 'sun'], Seen[what = 'in']) WITHIN 5 TICKS
    PARTITION BY k PER END;
EVENT called(k) AS PATTERN SEQ(Bell b, visit v) WITHIN 9 TICKS PARTITION BY k CONFIDENCE >= 0.2;
"""
SAMPLING = Sampling(epsilon=0.15, delta=0.1, seed=5, exact_up_to=0, budget=1)
SCHEMAS = {
    "Seen": pa.schema({"id": pa.string(), "k": pa.string(), "what": pa.string(), "t": pa.int32(), "off": pa.int8()}),
    "Sky": pa.schema(
        {
            "id": pa.string(),
            "k": pa.string(),
            "sky": pa.string(),
            "before": pa.string(),
            "p": pa.float64(),
            "t": pa.int32(),
        }
    ),
    "Bell": pa.schema({"id": pa.string(), "k": pa.string(), "n": pa.int32(), "t": pa.int32()}),
}
KEYS = ("p", "q", "r", "s")
N_FILES, TICKS_PER_FILE = 4, 8
SKIES = ("sun", "rain")

Row = dict[str, object]


def rows_of(file: int) -> dict[str, list[Row]]:
    """The events in the time of one file; every stream lasts to its last tick, and numbers continue with losses."""
    rng = random.Random(file)
    begin, end = file * TICKS_PER_FILE, (file + 1) * TICKS_PER_FILE - 1
    rows: dict[str, list[Row]] = {"Seen": [], "Sky": [], "Bell": []}
    for k in KEYS:
        for lo in [*sorted(rng.sample(range(begin, end), 3)), end]:
            about = {"id": f"seen{k}{lo}", "k": k, "what": rng.choice(("in", "out"))}
            off = rng.randint(0, 1)
            rows["Seen"].append({**about, "t": lo + off, "off": off})
        for t in (begin, begin + 3, end):
            for before in (None,) if t == 0 else SKIES:
                chance = rng.choice((0.25, 0.5, 0.75))
                for sky, p in zip(SKIES, (chance, 1 - chance), strict=True):
                    about = {"id": f"sky{k}{t}{before}{sky}", "k": k, "sky": sky, "before": before}
                    rows["Sky"].append({**about, "p": p, "t": t})
        for place, t in enumerate((begin + 1, begin + 4, end)):
            number = 3 * file + place + 1
            if number == 1 or place != 1 or rng.random() < 0.4:
                rows["Bell"].append({"id": f"bell{k}{number}", "k": k, "n": number, "t": t})
    for some in rows.values():
        rng.shuffle(some)
    return rows


def whole() -> dict[str, pa.Table]:
    """The rows of all files."""
    files = [rows_of(file) for file in range(N_FILES)]
    return {
        name: pa.Table.from_pylist([row for rows in files for row in rows[name]], schema=schema)
        for name, schema in SCHEMAS.items()
    }


def write_files(folder: Path) -> None:
    for name, schema in SCHEMAS.items():
        (folder / name).mkdir(parents=True)
        for number in range(N_FILES):
            file = folder / name / f"{number:03d}.parquet"
            pq.write_table(pa.Table.from_pylist(rows_of(number)[name], schema=schema), file)
            os.utime(file, (number + 1, number + 1))  # Spark takes files in the order of their times


def read_files(spark: SparkSession, folder: Path) -> Mapping[str, DataFrame]:
    return {
        name: spark.readStream.schema(spark.read.parquet(str(folder / name)).schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / name))
        for name in SCHEMAS
    }


def main(folder: Path) -> None:
    faults = Faults(folder / "faults")
    make_fragile(faults)
    spark = spark_session(master="local[2,4]", app_name="inkling-worlds", partitions=2, quick=True)
    query = inkling.parse(PROGRAM).stream(
        spark,
        read_files(spark, folder / "in"),
        checkpoint=folder / "checkpoint",
        to=FragileSink(FileSink(str(folder / "out")), faults),
        settings=inkling.StreamSettings(available_now=True, buckets=2, idle_after=None, unbounded=True),
        sampling=SAMPLING,
    )
    query.await_end()
    query.finish()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
