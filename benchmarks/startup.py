"""How long Spark takes until the first answers, from a fresh process: ``python benchmarks/startup.py``."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pyarrow as pa

from inkling.spark.jvm.java import find_java
from inkling.spark.jvm.prepare import end_virtual_machine, prepare

PROCESSOR = "processor"
STEPS = ("session", "first job", "first shuffle", "first Python job", "later Python job")
VARIANTS = {
    "PySpark's defaults": "defaults",
    "inkling, no class archive": "slow",
    "inkling": "normal",
    "inkling, quick=True": "quick",
}


def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def start(variant: str):
    if variant == "defaults":
        from pyspark.sql import SparkSession

        return SparkSession.builder.master("local[2]").getOrCreate()
    from inkling.spark.session import spark_session

    return spark_session(master="local[2]", quick=variant == "quick")


def measure_here(variant: str) -> dict[str, float]:
    seconds: dict[str, float] = {}

    def lap(step: str, since: float) -> float:
        now = time.perf_counter()
        seconds[step] = now - since
        return now

    now = time.perf_counter()
    spark = start(variant)
    now = lap("session", now)
    spark.range(1000).count()
    now = lap("first job", now)
    spark.range(1000).groupBy("id").count().count()
    now = lap("first shuffle", now)
    for step in ("first Python job", "later Python job"):
        spark.range(1000).repartition(2, "id").mapInArrow(unchanged, "id long").count()
        now = lap(step, now)
    end_virtual_machine(spark)
    ended = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    seconds[PROCESSOR] = sum(usage.ru_utime + usage.ru_stime for usage in ended)
    return seconds


def measure(variant: str) -> dict[str, float]:
    """One fresh process; the variant without an archive gets an empty cache."""
    with tempfile.TemporaryDirectory() as empty:
        environ = os.environ | {"PYSPARK_PYTHON": sys.executable}
        if variant == "slow":
            environ["INKLING_CACHE_DIR"] = empty
        command = [sys.executable, __file__, "--here", variant]
        ran = subprocess.run(command, env=environ, check=True, capture_output=True)
    return json.loads(ran.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--here", choices=VARIANTS.values(), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(measure_here(arguments.here)))
        return
    print(prepare())
    print(f"Java {find_java().version}; seconds, the least of {arguments.repeats} fresh processes\n")
    print(f"| configuration | {' | '.join(STEPS)} | all | {PROCESSOR} |\n|---|{'---|' * (len(STEPS) + 2)}")
    for name, variant in VARIANTS.items():
        try:
            runs = [measure(variant) for _ in range(arguments.repeats)]
        except subprocess.CalledProcessError:
            print(f"| {name} | does not start |", flush=True)
            continue
        best = min(runs, key=lambda run: sum(run[step] for step in STEPS))
        figures = [best[step] for step in STEPS]
        figures += [sum(figures), min(run[PROCESSOR] for run in runs)]
        print(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} |", flush=True)


if __name__ == "__main__":
    main()
