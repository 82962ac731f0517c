"""``python -m benchmarks.compare OLD NEW``: how many times as long each benchmark takes now.

OLD and NEW are files that ``--json`` wrote, or two source trees. Trees are measured here: a process each, which take
turns benchmark by benchmark, so that a busy machine hinders both alike. A first round, which compiles, does not count;
of the others, the least processor time does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.harness import MARK
from benchmarks.results import Report, Row, row_of
from benchmarks.suites import SUITES

ONE_TREE = Path(__file__).with_name("tree.py")


def compared(old: Report, new: Report) -> Table:
    """How many times as long, in wall and processor time, each benchmark takes now."""
    table = Table("benchmark", "wall s before", "now", "×", "CPU s before", "now", "×")
    for column in table.columns[1:]:
        column.justify = "right"
    for suite, rows in new.suites.items():
        before = {(row.name, row.data): row for row in old.suites.get(suite, ())}
        for row in rows:
            was = before.get((row.name, row.data))
            if was is not None:
                table.add_row(
                    row.name,
                    f"{was.seconds:.4g}",
                    f"{row.seconds:.4g}",
                    f"{row.seconds / was.seconds:.2f}",
                    f"{was.cpu_seconds:.4g}",
                    f"{row.cpu_seconds:.4g}",
                    f"{row.cpu_seconds / was.cpu_seconds:.2f}" if was.cpu_seconds else "",
                )
    return table


class Tree:
    """A source tree, and the process that runs its benchmarks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.names: list[str] = self._told()
        self.least: dict[tuple[str, str], Row] = {}

    def run(self, name: str, *, counts: bool) -> None:
        """Run a benchmark once; a run that `counts` is remembered if none was cheaper."""
        assert self._process.stdin is not None
        print(json.dumps(name), file=self._process.stdin, flush=True)
        for row in map(row_of, self._told()):
            key = row.name, row.data
            if counts and (key not in self.least or row.cpu_seconds < self.least[key].cpu_seconds):
                self.least[key] = row

    def _told(self) -> list[Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(MARK):
                told: list[Any] = json.loads(line.removeprefix(MARK))
                return told
        raise SystemExit(f"the benchmarks of {self._process.args} failed")


@contextmanager
def opened(folder: Path, suite: str, *, quick: bool) -> Iterator[Tree]:
    """The benchmarks of a suite as they are in a source tree."""
    folder = folder.resolve()
    command = [sys.executable, "-P", str(ONE_TREE), "quick" if quick else "full", suite]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)])}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Tree(process)
        assert process.stdin is not None
        process.stdin.close()


def in_turns(
    old: Path, new: Path, suites: Sequence[str], *, quick: bool, wanted: str, rounds: int
) -> tuple[Report, Report]:
    """Benchmarks that both trees have, the cheapest run of each."""
    found: tuple[dict[str, list[Row]], dict[str, list[Row]]] = ({}, {})
    for suite in suites:
        with ExitStack() as stack:
            trees = [stack.enter_context(opened(folder, suite, quick=quick)) for folder in (old, new)]
            for name in trees[1].names:
                if wanted in name and name in trees[0].names:
                    for number in range(rounds + 1):
                        for tree in trees[:: 1 if number % 2 else -1]:
                            tree.run(name, counts=number > 0)
            for rows, tree in zip(found, trees, strict=True):
                rows[suite] = list(tree.least.values())
    before, now = (Report(rows, quick=quick) for rows in found)
    return before, now


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--full", action="store_true", help="trees: the sizes of `make bench`")
    parser.add_argument("--suite", choices=SUITES, action="append", help="trees: one suite; again for another")
    parser.add_argument("--only", metavar="NAME", default="", help="trees: part of a benchmark's name")
    parser.add_argument("--rounds", type=int, default=3, help="trees: runs of each that count")
    given = parser.parse_args()
    if given.old.is_dir():
        chosen = {"quick": not given.full, "wanted": given.only, "rounds": given.rounds}
        old, new = in_turns(given.old, given.new, given.suite or list(SUITES), **chosen)
    else:
        old, new = Report.read(given.old), Report.read(given.new)
    Console().print(compared(old, new))


if __name__ == "__main__":
    main()
