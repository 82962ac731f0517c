"""A written folder holds what was generated, in whole files or none."""

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.kit.seeds import first_of

from inkling.scenarios import SCENARIOS, generate, scenario, write

pytestmark = pytest.mark.slow

EVERY_SCENARIO = pytest.mark.parametrize("name", first_of(SCENARIOS, 4))


@EVERY_SCENARIO
def test_files_hold_what_is_generated(name: str, tmp_path: Path) -> None:
    truth = write(name, tmp_path / "data", events=150_000, keys=30, seed=8)
    chunks = list(generate(name, events=150_000, keys=30, seed=8))
    for stream in chunks[0]:
        whole = pa.Table.from_batches([chunk[stream] for chunk in chunks])
        assert pq.read_table(tmp_path / "data" / f"{stream}.parquet") == whole
    for table, rows in scenario(name, events=1, keys=30, seed=8).tables().items():
        assert pa.csv.read_csv(tmp_path / "data" / f"{table}.csv") == rows
    assert json.loads((tmp_path / "data" / "truth.json").read_text()) == asdict(truth)


@EVERY_SCENARIO
def test_same_seed_same_bytes(name: str, tmp_path: Path) -> None:
    for copy in ("first", "second"):
        write(name, tmp_path / copy, events=20_000, seed=5)
    first, second = (
        sorted(file.relative_to(tmp_path / copy) for file in (tmp_path / copy).rglob("*") if file.is_file())
        for copy in ("first", "second")
    )
    assert first == second
    for file in first:
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()


def test_row_groups_are_even_however_rare_the_events(tmp_path: Path) -> None:
    write("fleet", tmp_path, events=400_000, seed=1)
    vehicle = pq.ParquetFile(tmp_path / "Vehicle.parquet").metadata
    sizes = [vehicle.row_group(group).num_rows for group in range(vehicle.num_row_groups)]
    assert sum(sizes) == 400_000
    assert all(100_000 <= size <= 250_000 for size in sizes[:-1])
    assert pq.ParquetFile(tmp_path / "Alarm.parquet").metadata.num_row_groups == 1


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    write("port", tmp_path, events=300_000, progress=lambda done, total: told.append((done, total)))
    assert len(told) > 1
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (300_000, 300_000)


def test_an_interrupted_write_leaves_no_half_file(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write("fleet", tmp_path, events=300_000, progress=stop)
    assert list(tmp_path.iterdir()) == []
