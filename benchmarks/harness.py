"""Runs suites, each in its own process, and gathers what they say line by line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from benchmarks.results import Report, Row, row_of
from benchmarks.sizes import FULL, QUICK
from benchmarks.suites import SUITES

MARK = "row: "
ROOT = Path(__file__).parents[1]


def gather(names: Iterable[str], *, quick: bool, wanted: str, say: Callable[[str, Row], None]) -> Report:
    """A report of the named suites; `wanted` keeps the benchmarks with these words in their names."""
    suites: dict[str, list[Row]] = {}
    for name in names:
        for row in _in_own_process(name, quick=quick, wanted=wanted):
            suites.setdefault(name, []).append(row)
            say(name, row)
    return Report(suites, quick=quick)


def _in_own_process(name: str, *, quick: bool, wanted: str) -> Iterable[Row]:
    command = [sys.executable, "-m", "benchmarks.harness", name, "quick" if quick else "full", wanted]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                yield row_of(json.loads(line.removeprefix(MARK)))
    if process.returncode:
        raise SystemExit(f"the suite {name} failed")


def main() -> None:
    """Run one suite here and print its rows for the process that started this one."""
    name, size, wanted = sys.argv[1:]
    for benchmark in SUITES[name].benchmarks(QUICK if size == "quick" else FULL):
        if wanted in benchmark.name:
            for row in benchmark.run():
                print(MARK + json.dumps(asdict(row)), flush=True)


if __name__ == "__main__":
    main()
