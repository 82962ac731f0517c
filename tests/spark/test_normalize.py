"""Spark reads, types and rejects the same rows as a local run, whichever way it reads them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from inkling.errors import InputError
from inkling.io import normalize, read_table
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.spark.read.inputs import LinesOfFiles, WholeFiles, read_frame
from inkling.spark.read.normalize import normalize_frame

POINTS = StreamSchema(
    "Trip",
    (
        Column("id", Type.STRING),
        Column("bus", Type.STRING),
        Column("n", Type.INTEGER),
        Column("speed", Type.DOUBLE),
        Column("late", Type.BOOLEAN),
        Column("t", Type.TIME),
    ),
    id="id",
    key=("bus",),
    start="t",
    end="t",
)
NUMBERED = replace(POINTS, id=None, order_by="n")
INTERVALS = replace(POINTS, columns=(*POINTS.columns, Column("u", Type.TIME)), id=None, end="u")

INTEGERS = ["3", "3.0", "+3", "0x1F", " 4 ", "9223372036854775807", "9223372036854775808", "1e3", "null", "", "x"]
DOUBLES = ["1.5", "1e400", "NaN", "inf", "1e-400", ".5", "5.", "1d", " 2 ", "null", "", "1,5"]
TRUTHS = ["true", "FALSE", "t", "f", "1", "0", "yes", " true", ""]
TIMES = [
    "2024-02-29",
    "2023-02-29",
    "2024-02-29T12:00:00Z",
    "2024-02-29T12:00:00+05:30",
    "2024-02-29 12:00:00.123456789",
    "1969-12-31T23:59:59.9999999",
    "0000-01-01",
    "2024-02-29T24:00:00",
    "2024-02-29T12",
    "12",
    "",
    " 2024-02-29 ",
]
KEYS = ["a", "é", "事", 'say ""x""', "a,b", " a ", "null", "", "\U0001f980"]


def csv_text() -> str:
    """Every awkward spelling in every column, with malformed and blank lines between."""
    lines = ["\ufeffid, bus ,n,speed,late,t,extra"]
    for i in range(40):
        key = KEYS[i % len(KEYS)]
        quoted = f'"{key}"' if i % 2 or '"' in key or "," in key else key
        values = [INTEGERS[i % 11], DOUBLES[i % 12], TRUTHS[i % 9], TIMES[i % 12]]
        cells = [f'"{value}"' if "," in value else value for value in values]
        good = [str(i), quoted, *(cell if i % 4 == place else "1" for place, cell in enumerate(cells[:3]))]
        lines.append(",".join([*good, cells[3] if i % 4 == 3 else "2024-01-01", "e"]))
        if i % 7 == 3:
            lines += ["", "  \t", "1,2,3", ",,,,,,,,"]
    lines += [",b,1,1,1,2024-01-01,", "77,,1,1,1,2024-01-01,", ",,,,,,"]
    return "\r\n".join(lines)


def json_text() -> str:
    lines = []
    for i in range(40):
        row: dict[str, object] = {"id": i, "bus": KEYS[i % len(KEYS)], "n": 1, "speed": 1.0, "t": "2024-01-01"}
        changes = [{"n": INTEGERS[i % 11]}, {"speed": DOUBLES[i % 12]}, {"late": TRUTHS[i % 9]}, {"t": TIMES[i % 12]}]
        lines.append(json.dumps({**row, **changes[i % 4]}, ensure_ascii=bool(i % 2)))
        if i % 7 == 3:
            lines += ["", "  ", '{"id": 1', "[]", '{"id": true, "bus": 3.50, "n": 1E2, "speed": 12345678901234567890}']
    return "\n".join(lines)


def write_parquet(path: Path, unit: str, n: int = 6) -> None:
    nan, infinity = float("nan"), float("inf")
    pa.parquet.write_table(
        pa.table(
            {
                "t": pa.array([-1, 0, 1_709_164_800_000_001, None, 5, 6][:n], pa.timestamp(unit)),
                "bus": pa.array(["a", None, "c", "d", "e", "f"][:n]).dictionary_encode(),
                "n": pa.array([1.0, 2.0, 2.5, nan, 5.0, infinity][:n], pa.float32()),
                "speed": pa.array([0.1, nan, infinity, None, 2.5, 1.0][:n]),
                "late": pa.array([1, 0, None, 1, 2, 0][:n], pa.int8()),
                "id": pa.array([1, 2, 3, 4, 5, None][:n], pa.int32()),
                "unused": pa.array([[1]] * n),
            }
        ),
        path,
    )


@pytest.fixture
def small_blocks(spark: SparkSession) -> Iterator[None]:
    """Files of a few lines fall into several blocks."""
    name = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(name)
    spark.conf.set(name, "1k")
    yield
    spark.conf.set(name, before or "128MB")


def assert_same(
    spark: SparkSession, data: object, schema: StreamSchema = POINTS, whole_file_bytes: int = 1 << 20
) -> None:
    """Rows, rejects, clock and number of records are those of a local run."""
    expected = normalize(read_table(data, what="Trip"), schema)
    columns = [column.name for column in schema.columns]
    raw = read_frame(spark, data, what="Trip", columns=columns, whole_file_bytes=whole_file_bytes)
    found = normalize_frame(raw, schema)
    assert found.clock is expected.clock
    assert found.raw.count() == expected.n_read
    rows = found.rows.toArrow()
    assert rows.column_names == expected.rows.column_names
    assert rows.schema.types == expected.rows.schema.types
    assert sorted_rows(rows) == sorted_rows(expected.rows)
    assert sorted_rows(found.rejects.toArrow()) == sorted_rows(expected.rejects)


def sorted_rows(table: pa.Table) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in table.to_pylist())


@pytest.mark.parametrize("whole_file_bytes", [1 << 20, 0], ids=["whole", "lines"])
@pytest.mark.parametrize("schema", [POINTS, NUMBERED], ids=["id", "numbered"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.usefixtures("small_blocks")
def test_awkward_text(
    spark: SparkSession, tmp_path: Path, suffix: str, schema: StreamSchema, whole_file_bytes: int
) -> None:
    file = tmp_path / f"awkward {suffix}.{suffix}"
    file.write_text(csv_text() if suffix == "csv" else json_text(), newline="", encoding="utf-8")
    expected = normalize(read_table(file, what="Trip"), schema)
    assert expected.rows.num_rows > 10
    assert len(set(expected.rejects["reason"].to_pylist())) >= 4
    assert_same(spark, file, schema, whole_file_bytes)


BAD_CSV = b"id,bus,n,speed,late,t\n1,caf\xe9,1,1,t,1\n2,caf\xe8,1,1,t,2\n3,caf\xc3\xa9,1,1,t,3\n4,\xff\n"
BAD_JSON = (
    b'{"id":1,"bus":"caf\xe9","n":1,"speed":1,"late":"t","t":1}\n'
    b'{"id":2,"bus":"caf\xc3\xa9","n":1,"speed":1,"late":"t","t":2}\n'
)


@pytest.mark.parametrize("whole_file_bytes", [1 << 20, 0], ids=["whole", "lines"])
@pytest.mark.parametrize(
    ("name", "content", "n_bad"), [("a.csv", BAD_CSV, 3), ("a.jsonl", BAD_JSON, 1)], ids=["csv", "json"]
)
def test_text_that_is_not_utf8(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes, n_bad: int, whole_file_bytes: int
) -> None:
    (file := tmp_path / name).write_bytes(content)
    expected = normalize(read_table(file, what="Trip"), POINTS)
    assert expected.rows["bus"].to_pylist() == ["café"]
    assert expected.rejects["reason"].to_pylist() == ["malformed"] * n_bad
    assert "not UTF-8: byte 0xe9 in `bus`" in expected.rejects["detail"].to_pylist()
    assert_same(spark, file, POINTS, whole_file_bytes)


@pytest.mark.parametrize("whole_file_bytes", [1 << 20, 0], ids=["whole", "lines"])
def test_files_in_utf16(spark: SparkSession, tmp_path: Path, whole_file_bytes: int) -> None:
    (file := tmp_path / "a.csv").write_text(csv_text(), encoding="utf-16")
    with pytest.raises(InputError, match="the file is UTF-16, not UTF-8"):
        assert_same(spark, file, POINTS, whole_file_bytes)


@pytest.mark.parametrize("whole_file_bytes", [1 << 20, 0], ids=["whole", "lines"])
@pytest.mark.usefixtures("small_blocks")
def test_folder_of_files_with_other_orders_of_columns(
    spark: SparkSession, tmp_path: Path, whole_file_bytes: int
) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    header, *lines = csv_text().removeprefix("\ufeff").split("\r\n")
    (folder / "c.csv").write_text("\n".join([header, *lines]))
    (folder / "a.csv").write_text("t,n,bus,id,late,speed\n" + "5,1,a,1,1,1\n" * 20)
    (folder / "b.csv").write_text(header)
    (folder / "d.csv.gz").write_bytes(gzip.compress("\n".join([header, *lines[:5]]).encode()))
    assert_same(spark, folder, NUMBERED, whole_file_bytes)


@pytest.mark.usefixtures("small_blocks")
def test_values_of_several_lines(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = "".join(f'{i},"one\ntwo {i}",1,1,1,{i}\n' for i in range(30))
    file.write_text("id,bus,n,speed,late,t\n" + rows)
    assert isinstance(read_frame(spark, file, what="Trip", columns=[], whole_file_bytes=0), LinesOfFiles)
    assert_same(spark, file, NUMBERED, whole_file_bytes=0)


def test_columns_that_appear_late_in_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    plain = '{"id": 1, "bus": "a", "n": 1, "speed": 1, "t": 5}\n'
    file.write_text(plain * 1500 + '{"id": 1, "bus": "a", "n": 1, "speed": 1, "late": "t", "t": 6}\n')
    for whole_file_bytes in (0, 1 << 20):
        assert_same(spark, file, POINTS, whole_file_bytes)
    file.write_text(plain)
    for whole_file_bytes in (0, 1 << 20):
        with pytest.raises(InputError, match="INK0504"):
            assert_same(spark, file, POINTS, whole_file_bytes)


@pytest.mark.parametrize("schema", [POINTS, replace(NUMBERED, order_by=None)], ids=["id", "numbered"])
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_parquet(spark: SparkSession, tmp_path: Path, unit: str, schema: StreamSchema) -> None:
    folder = tmp_path / "parquet"
    folder.mkdir()
    write_parquet(folder / "b.parquet", unit)
    write_parquet(folder / "a.parquet", unit, n=3)
    raw = read_frame(spark, folder, what="Trip", columns=[])
    assert isinstance(raw, WholeFiles) == (unit == "ns")
    assert_same(spark, folder, schema)


def test_typed_intervals(spark: SparkSession, tmp_path: Path) -> None:
    days = [date(1969, 12, 31), None, date(2024, 2, 29)]
    zoned = pa.array([0, 1, 1_700_000_000_000], pa.timestamp("ms", "Europe/Paris"))
    pa.parquet.write_table(
        pa.table(
            {
                "t": pa.array(days),
                "u": zoned,
                "bus": [1, 2, 3],
                "n": [True, None, False],
                "speed": [1, None, 2**53 + 1],
                "late": [True, False, None],
                "id": ["x", "y", "z"],
            }
        ),
        tmp_path / "a.parquet",
    )
    assert_same(spark, tmp_path / "a.parquet", INTERVALS)


def test_columns_that_catalyst_leaves_to_the_workers(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1.0, 2.5, None, 4.0]),
            "bus": pa.array([Decimal("1.50"), None, Decimal("3.00"), Decimal("4.25")]),
            "n": pa.array([1, 2**63, 3, None], pa.uint64()),
            "speed": pa.array([Decimal("0.1"), Decimal("2.0"), None, Decimal("3.3")]),
            "late": pa.array(["t", "maybe", None, "0"]),
            "t": pa.array(["2024-01-01", "soon", "2024-01-01T00:00:00+01:00", "2024-01-02"]),
        }
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    assert_same(spark, tmp_path / "a.parquet")


def test_rows_in_memory_and_tables_by_name(spark: SparkSession) -> None:
    rows = [
        {"id": 1, "bus": "a", "n": 1, "speed": float("nan"), "late": None, "t": 5},
        {"id": 2, "bus": None, "n": "many", "speed": 1, "late": True, "t": 6},
    ]
    assert_same(spark, rows)
    typed = [{"id": "1", "bus": "a", "n": 1, "speed": 1.5, "late": True, "t": 5}]
    spark.createDataFrame(pa.Table.from_pylist(typed)).createOrReplaceTempView("trips")
    expected = normalize(read_table(typed, what="Trip"), POINTS)
    for data in ("trips", spark.table("trips")):
        found = normalize_frame(read_frame(spark, data, what="Trip", columns=[]), POINTS)
        assert found.rows.toArrow().to_pylist() == expected.rows.to_pylist()
        assert found.rejects.count() == 0


def test_times_without_a_zone_are_utc_whatever_the_session_says(spark: SparkSession, tmp_path: Path) -> None:
    july = 1_720_000_000_000_000
    table = pa.table(
        {"id": ["a"], "bus": ["b"], "n": [1], "speed": [1.0], "late": [True], "t": pa.array([july], pa.timestamp("us"))}
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        assert_same(spark, tmp_path / "a.parquet")
    finally:
        spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def read_and_normalize(spark: SparkSession, data: object, whole_file_bytes: int) -> None:
    normalize_frame(read_frame(spark, data, what="Trip", columns=[], whole_file_bytes=whole_file_bytes), POINTS)


def test_errors_are_told_before_a_job_starts(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,bus,n,sped,late,t\n")
    (tmp_path / "b.csv").write_text("")
    cases = {tmp_path / "a.csv": "INK0504", tmp_path / "b.csv": "INK0509", tmp_path / "c.csv": "INK0550"}
    for file, code in cases.items():
        for whole_file_bytes in (-1, 1 << 20):
            with pytest.raises(InputError, match=code):
                read_and_normalize(spark, file, whole_file_bytes)
    listed = spark.sql("SELECT array(1) AS t, '' AS id, '' AS bus, 1 AS n, 1 AS speed, true AS late")
    with pytest.raises(InputError, match="INK0511"):
        normalize_frame(listed, POINTS)
