"""Mutated programs, bad files and damaged states end in messages of inkling or in rejects; `__main__` runs more."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.attack import files, programs, stored
from tests.attack.programs import Finding


def report(found: list[Finding]) -> str:
    return "\n\n".join(f"{one.what}: {one.kind} at {one.place}\n{one.example}" for one in found)


LENGTHS = [150, pytest.param(6000, marks=pytest.mark.long)]


@pytest.mark.parametrize("n", LENGTHS)
def test_mutated_programs(n: int) -> None:
    _, found = programs.attack(seed=n, n=n, everywhere=n > 1000)
    assert not found, report(found)


@pytest.mark.parametrize("n", [40, pytest.param(400, marks=pytest.mark.long)])
def test_bad_files(n: int, tmp_path: Path) -> None:
    _, found = files.attack(n, n, tmp_path, (files.run_locally, files.run_pushed))
    assert not found, report(found)


@pytest.mark.long
def test_bad_files_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    _, found = files.attack(5, 60, tmp_path, (files.on_spark(spark),))
    assert not found, report(found)


@pytest.mark.parametrize("n", [200, pytest.param(3000, marks=pytest.mark.long)])
def test_damage(n: int, tmp_path: Path) -> None:
    _, found = stored.attack(n, n, tmp_path)
    assert not found, report(found)
