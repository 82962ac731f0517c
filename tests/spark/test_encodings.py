"""Files in other encodings give the same rows on Spark, in batch and on streams, as in this process."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import inkling
from inkling.spark.streaming.settings import StreamSettings

PROGRAM = inkling.parse("STREAM S(k STRING, t BIGINT) KEY k TIME t;\nEVENT e(s.k AS k) AS PATTERN S s;")


@pytest.mark.parametrize("encoding", ["latin-1", pytest.param("utf-16", marks=pytest.mark.long)])
def test_encodings(spark: SparkSession, encoding: str, tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    for number, name in enumerate(("Müller", "Noël")):
        (folder / f"{number}.csv").write_bytes(f"k,t\n{name},{number}\n".encode(encoding))
    address = f"{folder}?encoding={encoding}"
    batch = PROGRAM.run(spark, {"S": address})
    assert sorted(row["k"] for row in batch["e"].collect()) == ["Müller", "Noël"]
    assert not batch.rejects.count()
    query = PROGRAM.stream(
        spark,
        {"S": f"{folder}?format=csv&encoding={encoding}"},
        to=tmp_path / "found",
        checkpoint=tmp_path / "checkpoint",
        settings=StreamSettings(buckets=1, available_now=True, unbounded=True),
    )
    try:
        assert query.await_end(300)
        query.finish()
    finally:
        query.stop()
    found = spark.read.parquet(str(tmp_path / "found" / "e"))
    assert sorted(row["k"] for row in found.collect()) == ["Müller", "Noël"]
