"""Writes a scenario to a folder: a Parquet file per stream, a CSV file per table, and the truth as JSON."""

import csv
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from inkling.scenarios.catalog import CHUNK_ROWS, scenario
from inkling.scenarios.scenario import HasExtraTables, HasVariants, Scenario, Truth, in_chunks

NEVER_REPEATED = frozenset({"id", "t", "lo", "hi", "lat", "lon"})
"""Columns with mostly distinct values, which are written without dictionary encoding."""

Progress = Callable[[int, int], None]
"""Called with the number of written events and the number of all events."""


class _StreamFile:
    """A Parquet file with row groups of an even size, however small the batches; complete once closed."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._schema = schema
        self._unfinished = path.with_suffix(".parquet.unfinished")
        repeated = [column for column in schema.names if column not in NEVER_REPEATED]
        self._writer = pa.parquet.ParquetWriter(self._unfinished, schema, compression="zstd", use_dictionary=repeated)
        self._held: list[pa.RecordBatch] = []
        self._n_held = 0

    def append(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._n_held += batch.num_rows
        if self._n_held >= CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        rows = pa.Table.from_batches(self._held, self._schema)
        self._writer.write_table(rows, row_group_size=2 * CHUNK_ROWS)
        self._held, self._n_held = [], 0

    def finish(self) -> None:
        if self._n_held:
            self._flush()
        self._writer.close()
        self._unfinished.replace(self._path)

    def abandon(self) -> None:
        self._writer.close()
        self._unfinished.unlink(missing_ok=True)


def write(
    name: str,
    folder: str | Path,
    *,
    events: int,
    keys: int | None = None,
    seed: int = 0,
    start: datetime | int | None = None,
    progress: Progress | None = None,
) -> Truth:
    """Write `<Stream>.parquet`, `<table>.csv` and `truth.json`; files appear once they are complete.

    Variants of the scenario, if any, are written to folders with their names.
    """
    source = scenario(name, events=events, keys=keys, seed=seed, start=start)
    folder = Path(folder)
    _write_streams(source, folder, lambda n_written: progress(n_written, events) if progress is not None else None)
    extra = source.extra_tables() if isinstance(source, HasExtraTables) else {}
    for name, table in {**source.tables(), **extra}.items():
        _write_csv(table, folder / f"{name}.csv")
    if isinstance(source, HasVariants):
        for name, variant in source.variants().items():
            _write_streams(variant, folder / name, lambda _: None)
    truth = source.truth()
    (folder / "truth.json").write_text(json.dumps(asdict(truth), indent=2) + "\n")
    return truth


def _write_streams(source: Scenario, folder: Path, progress: Callable[[int], None]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: _StreamFile(folder / f"{name}.parquet", schema) for name, schema in source.streams.items()}
    with ExitStack() as abandoning:
        for file in files.values():
            abandoning.callback(file.abandon)
        n_written = 0
        for chunk in in_chunks(source, CHUNK_ROWS):
            for stream, rows in chunk.items():
                files[stream].append(rows)
            n_written += chunk[source.main].num_rows
            progress(n_written)
        abandoning.pop_all()
    for file in files.values():
        file.finish()


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(table.column_names)
        lines.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
