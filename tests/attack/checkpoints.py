"""Damaged checkpoints of a stream: the stream is rejected by name, or resumes with the same results."""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.attack.findings import Finding, finding_about
from tests.attack.stored import damaged

import inkling
from inkling.cli.terminal.failures import diagnostics_of
from inkling.errors import InternalError

PROGRAM = """
STREAM S(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t LATENESS 2 TICKS;
EVENT e(a.k AS k) AS PATTERN SEQ(S a[x > 2], S b[x < a.x]) PARTITION BY k WITHIN 9 TICKS;
"""
WAYS = ("change", "change", "empty", "remove")


def attack(
    spark: SparkSession, seed: int, numbers: range, folder: Path, begin: Callable[[int], object] = int
) -> tuple[Counter[str], list[Finding]]:
    """Damage one file of a checkpoint at a time; returns how many were tried and how many resumed, and the findings."""
    program, work, kept = inkling.parse(PROGRAM), folder / "work", folder / "kept"
    _write(work, 0, 12)
    _run(program, spark, work)
    _write(work, 12, 24)
    shutil.copytree(work, kept)
    _run(program, spark, work)
    wanted = _found(work)
    assert len(wanted) > len(_found(kept)) > 0
    files = sorted(one.relative_to(kept) for one in (kept / "checkpoint").rglob("*") if one.is_file())
    counts, found = Counter[str](), list[Finding]()
    for number in numbers:
        begin(number)
        draw = random.Random(seed * 10**9 + number)
        file, way = files[number % len(files)], draw.choice(WAYS)
        shutil.rmtree(work)
        shutil.copytree(kept, work)
        _damage(work / file, way, draw)
        counts["damaged checkpoints"] += 1
        what, example = "checkpoint", f"seed {seed}, number {number}: {way} {file}"
        try:
            _run(program, spark, work)
        except Exception as problem:
            if isinstance(problem, InternalError) or any(one.code == "INK0901" for one in diagnostics_of(problem)):
                found.append(finding_about(problem, what, f"{example}: {problem!s:.500}"))
            continue
        counts["damaged checkpoints that ran"] += 1
        if (results := _found(work)) != wanted:
            found.append(Finding(what, "other results", f"{way} {_kind(file)}", f"{example}: {results} for {wanted}"))
    return counts, found


def _kind(file: Path) -> str:
    """The path of a file without numbers."""
    return "/".join("N" if part.isdigit() else part for part in file.parts)


def _damage(path: Path, way: str, draw: random.Random) -> None:
    match way:
        case "remove":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case _:
            data = path.read_bytes()
            path.write_bytes(damaged(data, draw) if data else b"\0")


def _write(work: Path, first: int, last: int) -> None:
    (work / "in").mkdir(parents=True, exist_ok=True)
    rows = "".join(f"r{n},{'ab'[n % 2]},{n * 7 % 11},{n}\n" for n in range(first, last))
    (work / "in" / f"{first}.csv").write_text(f"id,k,x,t\n{rows}", encoding="utf-8")


def _run(program: inkling.Program, spark: SparkSession, work: Path) -> None:
    settings = inkling.StreamSettings(buckets=1, available_now=True)
    query = program.stream(
        spark, f"{work}/in?format=csv", checkpoint=work / "checkpoint", to=work / "found", settings=settings
    )
    try:
        assert query.await_end(600)
    finally:
        query.stop()


def _found(work: Path) -> list[str]:
    """The results, each as text; more than one of the same shows that one was delivered twice."""
    tables = [pq.ParquetFile(path).read() for path in (work / "found" / "e").rglob("*.parquet")]
    return sorted(str(row["lineage"]) for table in tables for row in table.to_pylist())
