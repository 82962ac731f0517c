"""Bad files on Spark: each ends in a message, or has the rows and rejects of a local run.

Files that a local run reads, of one format and with the same columns, are read by one job, as the files of one folder.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit
from tests.attack.files import Run, bad_file, outcome, program_of
from tests.attack.findings import Finding

import inkling
from inkling.io import read_table

_TOGETHER = 40


class DifferentEndError(Exception):
    """Spark has results where a local run ends in a message."""


def on_spark(spark: SparkSession) -> Run:
    """A run on Spark, which rejects as many rows as a local run."""

    def run(program: inkling.Program, path: Path) -> tuple[int, int]:
        rejected: inkling.InklingError | None = None
        try:
            local = program.run_local({"S": path})
        except inkling.InklingError as problem:
            rejected = problem
        results = program.run(spark, {"S": path})
        try:
            frames = {"one": results["one"], "rise": results["rise"], "rejects": results.rejects}
            one, rise, rejects = (frame.select(lit(name).alias("what")) for name, frame in frames.items())
            counts = {row[0]: row[1] for row in one.union(rise).union(rejects).groupBy("what").count().collect()}
        finally:
            results.close()
        if rejected is not None:
            if path.suffix == ".parquet":  # Arrow notices other damage than Spark
                return 0, 0
            raise DifferentEndError(f"local: {rejected}; on Spark: {counts}")
        if counts.get("rejects", 0) != len(local.rejects):
            return len(local.rejects), counts.get("rejects", 0)
        return local.input_rows["S"], counts.get("one", 0) + counts.get("rejects", 0)

    return run


@dataclass(frozen=True, slots=True)
class _Together:
    """Numbers of files with the same columns, for one program."""

    program: str
    suffix: str
    numbers: tuple[int, ...]


def attack_on_spark(
    spark: SparkSession, seed: int, numbers: range, begin: Callable[[int], object] = int
) -> tuple[Counter[str], list[Finding]]:
    """Run bad files on Spark; returns how many were tried and how many ran, and the findings."""
    counts, found, run = Counter[str](), list[Finding](), on_spark(spark)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for together in _grouped(seed, numbers, folder):
            begin(together.numbers[0])
            for one in _ends(together, seed, folder, run):
                counts["files on Spark"] += 1
                counts["files on Spark that ran"] += one is True
                if isinstance(one, Finding):
                    found.append(one)
    return counts, found


def _grouped(seed: int, numbers: range, folder: Path) -> list[_Together]:
    alike, alone = defaultdict[tuple[str, ...], list[int]](list), list[_Together]()
    for number in numbers:
        bad = bad_file(seed, number)
        suffix, path = bad.name.removeprefix("bad"), folder / bad.name
        path.write_bytes(bad.data)
        try:
            program_of(bad.program).run_local({"S": path})
            columns = read_table(path, what="S").schema
        except Exception:
            alone.append(_Together(bad.program, suffix, (number,)))
        else:
            alike[(bad.program, suffix, str(sorted(map(str, columns))))].append(number)
        path.unlink()
    return [
        *alone,
        *(
            _Together(program, suffix, tuple(some[at : at + _TOGETHER]))
            for (program, suffix, _), some in alike.items()
            for at in range(0, len(some), _TOGETHER)
        ),
    ]


def _ends(together: _Together, seed: int, folder: Path, run: Run) -> list[bool | Finding]:
    """How each of the files ended: together, or one by one if they end otherwise together."""
    if len(together.numbers) > 1:
        here = folder / f"together{together.numbers[0]}"
        here.mkdir()
        for number in together.numbers:
            (here / f"{number}{together.suffix}").write_bytes(bad_file(seed, number).data)
        if _is_accounted(program_of(together.program), here, run):
            return [True] * len(together.numbers)
    return [
        replace(ended, case=f"on Spark {seed} {number}") if isinstance(ended, Finding) else ended
        for number in together.numbers
        for ended in [outcome(bad_file(seed, number), folder, run)]
    ]


def _is_accounted(program: inkling.Program, path: Path, run: Run) -> bool:
    try:
        n_read, n_known = run(program, path)
    except Exception:
        return False
    return n_read == n_known
