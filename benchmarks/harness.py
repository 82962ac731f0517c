"""Runs suites in processes of their own, and gathers what they say line by line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.results import Report, Row, row_of
from benchmarks.sizes import FULL, QUICK
from benchmarks.suites import SUITES

MARK = "row: "
ROOT = Path(__file__).parents[1]


def gather(names: Sequence[str], *, quick: bool, wanted: str, say: Callable[[str, Row], None]) -> Report:
    """A report of the named suites; `wanted` keeps the benchmarks with these words in their names.

    A process for each suite, so that none warms up or slows down another; in a hurry, one for all.
    """
    suites: dict[str, list[Row]] = {}
    for together in [names] if quick else [[name] for name in names]:
        for name, row in _in_own_process(together, quick=quick, wanted=wanted):
            suites.setdefault(name, []).append(row)
            say(name, row)
    return Report(suites, quick=quick)


def _in_own_process(names: Sequence[str], *, quick: bool, wanted: str) -> Iterator[tuple[str, Row]]:
    command = [sys.executable, "-m", "benchmarks.harness", "quick" if quick else "full", wanted, *names]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                name, row = json.loads(line.removeprefix(MARK))
                yield name, row_of(row)
    if process.returncode:
        raise SystemExit(f"{', '.join(names)} failed")


def main() -> None:
    """Run suites here and print their rows for the process that started this one."""
    size, wanted, *names = sys.argv[1:]
    for name in names:
        for benchmark in SUITES[name].benchmarks(QUICK if size == "quick" else FULL):
            if wanted in benchmark.name:
                for row in benchmark.run():
                    print(MARK + json.dumps([name, asdict(row)]), flush=True)


if __name__ == "__main__":
    main()
