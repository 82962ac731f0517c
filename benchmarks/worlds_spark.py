"""Sampled worlds on Spark: how much sooner two cores are done than one, by keys and by worlds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import FULL, QUICK, Sizes
from benchmarks.worlds_local import REGULAR, SEQUENCE, alternatives, imprecise
from inkling.evaluators.sampling import Sampling
from inkling.query import parse

ROOT = Path(__file__).parents[1]
LEAST_SPEEDUP = 1.7
MARK = "cost: "


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    rows: Callable[[int, int], dict[str, pa.Table]]
    times: float  # the events of the other benchmarks

    def n_events(self, sizes: Sizes) -> int:
        return int(sizes.world_events * self.times)


QUERIES = {
    "regular pattern in worlds on Spark, by keys": Query(REGULAR, alternatives, 10),
    "sequence in worlds on Spark, by worlds": Query(SEQUENCE, imprecise, 0.5),
}


def run(name: str, sizes: Sizes) -> Iterator[Row]:
    (one, one_cpu, _), (two, two_cpu, n_results) = (_in_own_process(name, cores, sizes) for cores in (1, 2))
    n_events = QUERIES[name].n_events(sizes)
    n_worlds = _sampling(sizes).n_worlds
    yield Row(
        name,
        f"{quantity(n_events)} events, {quantity(n_worlds)} worlds",
        two,
        two_cpu,
        n_events * n_worlds,
        f"{quantity(n_results)} results",
        (Baseline("one core", one, one_cpu),),
        (Goal("× as fast as one core", one / two, least=LEAST_SPEEDUP),),
    )


def _sampling(sizes: Sizes) -> Sampling:
    return Sampling(epsilon=sizes.world_epsilon / 10**0.5, delta=0.01, exact_up_to=0, budget=1)


def _in_own_process(name: str, cores: int, sizes: Sizes) -> tuple[float, float, int]:
    """Seconds, processor seconds and results; a process has one Spark, which has its number of cores for life."""
    command = [sys.executable, "-m", __name__, name, str(cores), "quick" if sizes == QUICK else "full"]
    # Arrow would use a second core where Spark has one
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, capture_output=True, text=True
    )
    (line,) = (line for line in done.stdout.splitlines() if line.startswith(MARK))
    seconds, cpu_seconds, n_results = json.loads(line.removeprefix(MARK))
    return seconds, cpu_seconds, n_results


def main() -> None:
    """Run one query here and print what it costs once workers have started."""
    from benchmarks.meter import best_of
    from inkling.spark.session import spark_session

    name, cores, size = sys.argv[1:]
    sizes = QUICK if size == "quick" else FULL
    query, sampling = QUERIES[name], _sampling(sizes)
    program = parse(query.text)
    spark = spark_session(master=f"local[{cores}]", app_name="inkling benchmarks")
    rows = query.rows(query.n_events(sizes), sizes.seed)

    def found(settings: Sampling) -> int:
        results = program.run(spark, rows, sampling=settings)
        try:
            return sum(frame.count() for frame in results.values())
        finally:
            results.close()

    found(Sampling(epsilon=0.2, delta=0.2, exact_up_to=0, budget=1))
    (cost,) = best_of(sizes.repeats, lambda: found(sampling))
    print(MARK + json.dumps([cost.seconds, cost.cpu_seconds, cost.answer]), flush=True)


if __name__ == "__main__":
    main()
