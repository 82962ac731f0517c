"""On Structured Streaming, rows far in the future are rejects and do not make later rows late, also after a restart."""

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive
from tests.streaming.in_process import InProcess, Rows, job_of

import inkling
from inkling.errors import InputError
from inkling.local_stream import Found
from inkling.spark.streaming.sinks.outputs import BatchTally
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


TICKING = """
STREAM S(id BIGINT, a BIGINT, t BIGINT) ID id KEY a TIME t {};
EVENT f(s.id AS id) AS PATTERN S s;
EVENT g(x.id AS one, y.id AS two) AS PATTERN SEQ(S x, S y) PARTITION BY a WITHIN 9 TICKS;
"""
DECLARED = {
    "in order": "AHEAD 7 TICKS",
    "late": "LATENESS 4 TICKS AHEAD 7 TICKS",
    "withdrawn": "LATENESS 4 TICKS AHEAD 7 TICKS OP op FOR 30 TICKS",
    "speculative": "LATENESS 4 TICKS SPECULATIVE AHEAD 7 TICKS",
    "imprecise": "± 1 TICKS LATENESS 4 TICKS AHEAD 7 TICKS",
}


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("seed", range(6))
def test_integers_read_by_many_workers(declared: str, seed: int) -> None:
    """Buckets that join the chains of several readers reject the rows that one process rejects."""
    draw = random.Random(seed)
    program = inkling.parse(TICKING.format(DECLARED[declared]))
    local, query = program.open(), InProcess(job_of(program.physical, n_buckets=3), seed)
    now, number, told, wanted = 0, 0, Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for _ in range(8):
        rows = []
        for _ in range(draw.randint(1, 6)):
            now, number = now + draw.randint(0, 3), number + 1
            far = draw.choice([0] * 8 + [draw.randint(5, 40), 10**15])
            rows.append({"id": number, "a": draw.randint(0, 1), "t": now + far, "op": "+"})
        if declared == "withdrawn" and number > 3:
            rows.append({"id": draw.randint(1, number - 1), "a": None, "t": None, "op": "-"})
        table = pa.Table.from_pylist(rows)
        wanted += outcome(_shown(local.push(rows)))
        told += outcome(query.push({"S": table}, n_readers=draw.randint(1, 4)))
    wanted += outcome(_shown(local.finish()))
    told += outcome(query.finish())
    assert told - wanted == Counter()
    assert wanted - told == Counter()
    assert any("too far ahead" in key for key in wanted)


def _shown(found: Found) -> Rows:
    tables = {**found.tables, "late": found.late, "rejects": found.rejects}
    return {name: table.to_pylist() for name, table in tables.items() if len(table)}


def outcome(rows: Rows) -> Counter[tuple[str, ...]]:
    """How often each result was valid, less how often it was withdrawn; rejects; late rows, each of them once."""
    found = Counter[tuple[str, ...]]()
    for name, some in rows.items():
        for row in {(one["id"], one["time"]): one for one in some}.values() if name == "late" else some:
            key = [row.get(column) for column in ("reason", "id", "lineage", "detail")]
            values = sorted(json.loads(row["row"]).items()) if name == "rejects" else ()
            found[(name, *map(str, [*key, values]))] += -1 if row.get("op") == "withdrawn" else 1
    return found


def test_integers_after_a_restart(spark: SparkSession, tmp_path: Path, accept: bool) -> None:
    program = inkling.parse(TICKING.format("AHEAD 7 TICKS"))
    found = MemorySink()

    def run(text: str, ahead: str | None = None) -> list[BatchTally]:
        settings = inkling.StreamSettings(buckets=2, available_now=True, ahead=ahead)
        query = inkling.parse(text).stream(
            spark, f"{tmp_path}/in?format=csv", checkpoint=tmp_path / "checkpoint", to=found, settings=settings
        )
        try:
            assert query.await_end(300)
            return query.tallies
        finally:
            query.stop()

    arrive(tmp_path / "in", "1.csv", "id,a,t\n1,1,1\n2,1,3\n3,1,1000\n", 1)
    (tally,) = run(program.text)
    assert (tally.rejects, tally.ahead, tally.good, tally.latest) == (1, 1, {"S": 2}, 3)
    assert tally.reasons == ((("S", "too far ahead"), 1),)
    arrive(tmp_path / "in", "2.csv", "id,a,t\n4,1,9\n5,1,500\n6,1,12\n", 2)
    (tally,) = run(program.text)
    assert (tally.rejects, tally.ahead, tally.late) == (1, 1, 0)
    arrive(tmp_path / "in", "3.csv", "id,a,t\n7,1,600\n", 3)  # the stream has paused for longer than its guard allows
    (tally,) = run(program.text, ahead="none")
    assert (tally.rejects, tally.latest) == (0, 600)
    arrive(tmp_path / "in", "4.csv", "id,a,t\n8,1,602\n9,1,900\n", 4)
    (tally,) = run(program.text)
    assert (tally.rejects, tally.late, tally.latest) == (1, 0, 602)
    assert [row["id"] for row in found.rows("rejects")] == ["3", "5", "9"]
    assert sorted(row["one"] for row in found.rows("g")) == [1, 1, 2, 2, 4]

    unguarded = tmp_path / "unguarded"
    plain = inkling.parse(TICKING.format(""))
    settings = inkling.StreamSettings(buckets=2, available_now=True)
    query = plain.stream(spark, f"{tmp_path}/in?format=csv", checkpoint=unguarded, to=MemorySink(), settings=settings)
    assert query.await_end(300)
    query.stop()
    with pytest.raises(InputError) as caught:
        program.stream(spark, f"{tmp_path}/in?format=csv", checkpoint=unguarded, to=MemorySink(), settings=settings)
    golden = Path(__file__).parents[1] / "errors" / "running" / "guard_of_integers.txt"
    if accept:
        golden.write_text(f"{caught.value}\n", encoding="utf-8")
    assert f"{caught.value}\n" == golden.read_text(encoding="utf-8")
