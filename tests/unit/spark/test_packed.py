"""Packed tables: rows of bytes that hold the results of an event, whatever their size."""

from __future__ import annotations

import pyarrow as pa
import pytest

from inkling.evaluators.result_rows import EVENT
from inkling.spark import packed
from inkling.spark.packed import TABLES, Packer, unpack


def results(n: int) -> pa.Table:
    lineage = pa.array([[str(one)] * (one % 4) for one in range(n)], pa.list_(pa.string()))
    return pa.table({"n": pa.array(range(n), pa.int64()), "lineage": lineage})


def unpacked(rows: pa.Table, like: pa.Table) -> pa.Table:
    return pa.Table.from_batches(unpack(rows.select(TABLES).to_batches()), like.schema)


def test_what_is_packed_is_unpacked_in_its_order() -> None:
    rows = Packer().packed(3, results(10))
    assert rows[EVENT].to_pylist() == [3]
    assert unpacked(rows, results(10)) == results(10)


def test_no_results_are_no_rows() -> None:
    rows = Packer().packed(0, results(0))
    assert len(rows) == 0
    assert unpacked(rows, results(0)) == results(0)


def test_large_tables_are_several_rows_in_several_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of a partition stays below what Spark can move as one array, over all tables of the partition."""
    monkeypatch.setattr(packed, "MOST_BYTES", 2_000)
    monkeypatch.setattr(packed, "MOST_BYTES_OF_COLUMN", 5_000)
    packer = Packer()
    both = pa.concat_tables([packer.packed(0, results(300)), packer.packed(1, results(200))])
    held = [sum(map(len, column.drop_null().to_pylist())) for column in both.select(TABLES).columns]
    assert sum(one > 0 for one in held) >= 3
    assert max(held) < 5_000 + 2 * 2_000
    assert unpacked(both, results(1)) == pa.concat_tables([results(300), results(200)])
