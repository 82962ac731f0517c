"""The attack at length: `python -m tests.attack --programs 1000000 --files 2000 --spark 2000`.

Adds its figures to `docs/explanation/what-was-tried.md`, or begins them anew with `--anew`; several may run at one
time. What ended otherwise is kept in `out/attack/found.jsonl`; `--again` tries that again, after it was mended. Ends
with status 1 if anything was found.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path

from tests.attack import checkpoints, files, page, programs, stored
from tests.attack.children import Tried, in_children
from tests.attack.files_on_spark import attack_on_spark, on_spark
from tests.attack.findings import Finding
from tests.attack.seed_programs import NOTATIONS, seeds_of

import inkling

FOUND = page.OUT / "found.jsonl"
_AT_ONCE = {"programs": 2000, "files": 50, "spark": 250, "checkpoints": 10}
_KEPT = 20
"""Examples of each place."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    for name, n in (("programs", 1_000_000), ("files", 2000), ("spark", 2000), ("damages", 5000), ("checkpoints", 200)):
        parser.add_argument(f"--{name}", type=int, default=n, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first program and file")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--anew", action="store_true", help="begin the figures on the page anew")
    parser.add_argument("--again", action="store_true", help="try what was found again, and nothing else")
    asked = parser.parse_args()
    if asked.anew:
        page.begin()
    if asked.again:
        return _again()
    begun, found = time.monotonic(), Counter[tuple[str, str]]()

    def take(tried: Tried) -> None:
        nonlocal begun
        for one in tried[1]:
            place = (one.kind, one.place)
            found[place] += 1
            if found[place] == 1:
                sys.stdout.write(f"{one.what}: {one.kind} at {one.place}\n{one.example[:1500]}\n\n")
                sys.stdout.flush()
            if found[place] <= _KEPT:
                _keep(one)
        page.add(tried[0], tried[1], time.monotonic() - begun)
        begun = time.monotonic()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.programs:
            seeds = seeds_of(everywhere=True)
            page.put({f"seeds {notation}": len(seeds[notation]) for notation in NOTATIONS})
            tasks = _tasks(asked.first, asked.programs, _AT_ONCE["programs"])
            for tried in in_children(partial(_programs, asked.seed), tasks, asked.jobs, partial(_program, asked.seed)):
                take(tried)
        tasks = _tasks(asked.first, asked.files, _AT_ONCE["files"])
        for tried in in_children(partial(_files, asked.seed, folder), tasks, asked.jobs, partial(_file, asked.seed)):
            take(tried)
        if asked.damages:
            n, bad = stored.attack(asked.seed, asked.damages, folder)
            take((Counter({"damaged snapshots and models": n}), bad))
        if asked.spark or asked.checkpoints:
            spark = inkling.spark_session(master="local[2]")
            for numbers in _tasks(asked.first, asked.spark, _AT_ONCE["spark"]):
                take(attack_on_spark(spark, asked.seed, numbers))
            for numbers in _tasks(asked.first, asked.checkpoints, _AT_ONCE["checkpoints"]):
                here = folder / f"checkpoints{numbers.start}"
                take(checkpoints.attack(spark, asked.seed, numbers, here))
    return 1 if found else 0


def _tasks(first: int, n: int, size: int) -> list[range]:
    return [range(at, min(at + size, first + n)) for at in range(first, first + n, size)]


def _programs(seed: int, numbers: range, begin: object) -> Tried:
    return programs.attack(seed, numbers, everywhere=True, begin=begin)  # type: ignore[arg-type]


def _program(seed: int, number: int) -> tuple[str, str]:
    notation, text = programs.program(seed, number, seeds_of(everywhere=True))
    return f"program {notation}", text


def _files(seed: int, folder: Path, numbers: range, begin: object) -> Tried:
    here = folder / f"{seed}-{numbers.start}"
    here.mkdir(exist_ok=True)
    return files.attack(seed, numbers, here, files.LOCAL_RUNS, begin)  # type: ignore[arg-type]


def _file(seed: int, number: int) -> tuple[str, str]:
    bad = files.bad_file(seed, number)
    return f"file {bad.name}", f"number {number}: {bad.program} {bad.data!r:.2000}"


def _keep(finding: Finding) -> None:
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    with FOUND.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(finding)) + "\n")


def _again() -> int:
    known = [Finding(**json.loads(line)) for line in FOUND.read_text(encoding="utf-8").splitlines()]
    spark_runs: dict[str, files.Run] = {}
    if any(one.case.startswith("on Spark") for one in known):
        spark_runs["on Spark"] = on_spark(inkling.spark_session(master="local[2]"))
    still = set[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as folder:
        for one in known:
            kind, _, notation = one.what.partition(" ")
            if kind == "program":
                ended = programs.outcome(one.example, notation)
            elif kind == "file" and one.case:
                name, seed, number = one.case.rsplit(" ", 2)
                run = {**files.LOCAL_RUNS, **spark_runs}[name]
                ended = files.outcome(files.bad_file(int(seed), int(number)), Path(folder), run)
            else:
                continue
            if isinstance(ended, Finding):
                still.add((one.kind, one.place))
                sys.stdout.write(f"{one.what}: {ended.kind} at {ended.place}\n{one.example[:1500]}\n\n")
    page.tried_again({(one.kind, one.place) for one in known}, still)
    return 1 if still else 0


if __name__ == "__main__":
    sys.exit(main())
