"""Mutated programs, bad files and damaged states end in messages of inkling or in rejects; `__main__` runs more."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.attack import checkpoints, files, programs, stored
from tests.attack.files_on_spark import attack_on_spark
from tests.attack.findings import Finding, by_place


def report(found: list[Finding]) -> str:
    return "\n\n".join(f"{one.what}: {one.kind} at {one.place}\n{one.example}" for one in by_place(found))


LENGTHS = [150, pytest.param(6000, marks=pytest.mark.long)]


@pytest.mark.parametrize("n", LENGTHS)
def test_mutated_programs(n: int) -> None:
    _, found = programs.attack(n, range(n), everywhere=n > 1000)
    assert not found, report(found)


@pytest.mark.parametrize("n", [40, pytest.param(400, marks=pytest.mark.long)])
def test_bad_files(n: int, tmp_path: Path) -> None:
    _, found = files.attack(n, range(n), tmp_path, files.LOCAL_RUNS)
    assert not found, report(found)


@pytest.mark.long
def test_bad_files_on_spark(spark: SparkSession) -> None:
    _, found = attack_on_spark(spark, 5, range(120))
    assert not found, report(found)


@pytest.mark.parametrize("n", [200, pytest.param(3000, marks=pytest.mark.long)])
def test_damage(n: int, tmp_path: Path) -> None:
    _, found = stored.attack(n, n, tmp_path)
    assert not found, report(found)


@pytest.mark.long
def test_damaged_checkpoints(spark: SparkSession, tmp_path: Path) -> None:
    _, found = checkpoints.attack(spark, 1, range(8), tmp_path)
    assert not found, report(found)
