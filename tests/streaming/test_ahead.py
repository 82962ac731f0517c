"""On Structured Streaming, rows far in the future are rejects and do not make later rows late, also after a restart."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.errors import InputError
from inkling.spark.streaming.sinks.protocol import MemorySink

STAMPED = "STREAM S(a BIGINT, t TIMESTAMP) TIME t; EVENT f(s.a AS a) AS PATTERN S s;"
DAYS = [f"{n},2024-01-{n:02}T00:00:00\n" for n in range(1, 10)]


def run(spark: SparkSession, folder: Path, found: MemorySink, *, ahead: str | None = None, end: bool = False) -> int:
    """Run the program over what has arrived; returns how many rows were too far ahead."""
    settings = inkling.StreamSettings(buckets=1, available_now=True, ahead=ahead)
    query = inkling.parse(STAMPED).stream(
        spark, f"{folder}/in?format=csv", checkpoint=folder / "checkpoint", to=found, settings=settings
    )
    try:
        assert query.await_end(300)
        if end:
            query.finish()
        assert sum(sum(one.read.values()) for one in query.tallies) or end
        return sum(one.ahead for one in query.tallies)
    finally:
        query.stop()


@pytest.mark.parametrize("ahead", [None, "none"])
def test_a_row_of_the_year_9999(spark: SparkSession, tmp_path: Path, ahead: str | None) -> None:
    found = MemorySink()
    arrive(tmp_path / "in", "1.csv", "".join(["a,t\n", *DAYS[:4], "99,9999-01-01T00:00:00\n"]), 1)
    assert run(spark, tmp_path, found, ahead=ahead) == (ahead is None)
    arrive(tmp_path / "in", "2.csv", "".join(["a,t\n", *DAYS[4:]]), 2)
    run(spark, tmp_path, found, ahead=ahead, end=True)
    results = sorted(row["a"] for row in found.rows("f"))
    rejects = [(row["reason"], row["detail"]) for row in found.rows("rejects")]
    if ahead is None:
        detail = "`t` is '9999-01-01T00:00:00', more than 1 DAYS after its arrival"
        assert (results, rejects, found.rows("late")) == (list(range(1, 10)), [("too far ahead", detail)], [])
    else:
        assert (results, rejects, len(found.rows("late"))) == ([1, 2, 3, 4, 99], [], 5)


def test_integers_have_no_guard_yet(spark: SparkSession, tmp_path: Path, accept: bool) -> None:
    arrive(tmp_path / "in", "1.csv", "a,t\n1,1\n", 1)
    program = inkling.parse("STREAM S(a BIGINT, t BIGINT) TIME t AHEAD 5 TICKS; EVENT f(s.a AS a) AS PATTERN S s;")
    with pytest.raises(InputError) as caught:
        program.stream(spark, f"{tmp_path}/in?format=csv", checkpoint=tmp_path / "checkpoint", to=MemorySink())
    golden = Path(__file__).parents[1] / "errors" / "running" / "guard_of_integers.txt"
    if accept:
        golden.write_text(f"{caught.value}\n", encoding="utf-8")
    assert f"{caught.value}\n" == golden.read_text(encoding="utf-8")
