"""``python -m benchmarks.peers``: run all engines in turns, check that they agree, and write the page of peers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import ROOT
from benchmarks.peers import engines
from benchmarks.peers.page import page
from benchmarks.peers.workloads import WORKLOADS, readings, write_for_java

PAGE = ROOT / "docs" / "reference" / "peers.md"
FOLDER = ROOT / "out" / "peers"
EVENTS, ROUNDS, REPEATS = 1_000_000, 3, 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, help="readings of the largest workloads")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often engines take their turns")
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, help="runs of each pattern in a turn, of which the least counts"
    )
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    data = FOLDER / "readings.bin"
    write_for_java(readings(arguments.events), data)
    ready, missing = _ready(arguments.events, data)
    tasks = [f"{one.key}:{int(arguments.events * one.shares)}:{arguments.repeats}" for one in WORKLOADS]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for _ in range(arguments.rounds):
        for engine in ready:
            for row in engine.rows(tasks):
                figures = {name: float(number) for name, number in row.items() if name != "workload"}
                before = found.setdefault(str(row["workload"]), {}).setdefault(engine.name, figures)
                before |= {name: min(number, before[name]) for name, number in figures.items()}
                print(engine.name, row, flush=True)
    for workload in WORKLOADS:
        matches = {name: row["matches"] for name, row in found[workload.key].items()}
        if len(set(matches.values())) != 1:
            raise AssertionError(f"{workload.title}: the engines disagree: {matches}")
    given = {"--events": (arguments.events, EVENTS), "--rounds": (arguments.rounds, ROUNDS)}
    given["--repeats"] = (arguments.repeats, REPEATS)
    options = " ".join(f"{name} {value}" for name, (value, usual) in given.items() if value != usual)
    command = f'make bench-peers ARGS="{options}"' if options else "make bench-peers"
    versions = {one.name: one.version for one in ready}
    PAGE.write_text(page(found, versions, missing, command, arguments.events))
    print(f"written to {PAGE.relative_to(ROOT)}")


def _ready(events: int, data: Path) -> tuple[list[engines.Engine], list[str]]:
    makers: list[Callable[[], engines.Engine]] = [
        *(lambda name=name: engines.in_python(name, events) for name in ("inkling", "polars", "duckdb")),
        lambda: engines.esper(FOLDER, data),
        lambda: engines.flink(FOLDER, data),
    ]
    ready, missing = [], []
    for make in makers:
        try:
            ready.append(make())
        except engines.MissingEngineError as problem:
            missing.append(str(problem))
    return ready, missing


if __name__ == "__main__":
    main()
