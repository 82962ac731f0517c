"""Relations between segments with lost ends on Structured Streaming: what one run over all rows gives, told in time.

The query ends in the middle of the stream, and another one continues from its checkpoint.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kit.arrow import arrow_streams
from tests.kit.exact_events import relations_of

import inkling
from inkling.query import Program
from inkling.spark.streaming.query import LiveQuery

N_TIMES, BORDER, LATENESS, TIMEOUT = 60, 30, 2, 15
LINES = ("p", "q", "r")
STREAMS = f"""
    TABLE stops(n BIGINT, stop STRING) FROM 'stops.csv';
    STREAM Bus(id STRING, line STRING, bus STRING, stop STRING, role STRING, n BIGINT, t BIGINT)
      ID id KEY line, bus TIME t LATENESS {LATENESS} TICKS
      NUMBERED BY n KNOWN FROM stops SEGMENTS ROLE role TIMEOUT {TIMEOUT} TICKS;
    STREAM Tram(id STRING, line STRING, tram STRING, n BIGINT, total BIGINT, t BIGINT, until BIGINT, since BIGINT)
      ID id KEY line, tram TIME t LATENESS {LATENESS} TICKS
      NUMBERED BY n GAPS ERLANG 2 SEGMENTS COUNT total BOUNDS since TO until;
    STREAM Work(id STRING, line STRING, crew STRING, s BIGINT, e BIGINT)
      ID id KEY line, crew TIME FROM s TO e LATENESS {LATENESS} TICKS;
"""
BY_LINE = inkling.parse(
    STREAMS
    + """
    EVENT together(line, x.bus AS one, y.bus AS other, k) AS
      PATTERN AT LEAST k FROM 1 TO 3 Bus x INTERSECTS SOME Bus y ON SAME stop WHERE x.role = 'in' PARTITION BY line;
    EVENT soon(line, x.bus AS one, y.bus AS other, k) AS PATTERN AT LEAST k FROM 1 TO 3 Bus x INTERSECTS SOME Bus y
      PARTITION BY line CONFIDENCE > 0.5 EARLY;
    EVENT twice(line, x.tram AS one, y.tram AS other) AS PATTERN AT LEAST 2 Tram x INTERSECTS SOME Tram y
      HAVING x.tram < y.tram PARTITION BY line EXACT;
    """
)
ALL_LINES = inkling.parse(
    STREAMS
    + """
    EVENT changed(x.line AS line, x.bus AS bus, y.line AS other, y.tram AS tram) AS
      PATTERN SOME Bus x {OVERLAPS, DURING} SOME Tram y CONFIDENCE > 0.3;
    EVENT met(x.line AS line, x.tram AS tram, y.line AS other, y.bus AS bus, k) AS
      PATTERN AT LEAST k FROM 1 TO 2 Tram x INTERSECTS SOME Bus y WHERE y.stop = 'a' CONFIDENCE > 0.6 EARLY;
    EVENT after(x.line AS line, x.tram AS tram, y.line AS other, y.crew AS crew) AS
      PATTERN ALL Tram x PRECEDES SOME Work y;
    """
)
ENDLESS = inkling.parse(
    STREAMS
    + """
    EVENT together(line, x.bus AS one, y.bus AS other, k) AS
      PATTERN AT LEAST k FROM 1 TO 3 Bus x INTERSECTS SOME Bus y ON SAME stop PARTITION BY line;
    EVENT soon(line, x.bus AS one, y.bus AS other, k) AS PATTERN AT LEAST k FROM 1 TO 3 Bus x INTERSECTS SOME Bus y
      PARTITION BY line CONFIDENCE > 0.5 EARLY;
    """
)
STOPS = [{"n": number, "stop": "aabb"[(number - 1) % 4]} for number in range(1, 20)]
Row = dict[str, object]
Rows = dict[str, list[Row]]


def rows_of(rng: random.Random) -> Rows:
    rows: Rows = {"Bus": [], "Tram": [], "Work": []}
    for line in LINES:
        for number in range(4):
            first = rng.randrange(N_TIMES // 2)
            times = sorted(rng.sample(range(first + 1, first + 14), 6))
            key = {"line": line, "bus": f"b{number}"}
            rows["Bus"].append({"id": f"{line}{number}", **key, "stop": None, "role": "mark", "n": 0, "t": first})
            for n, t in enumerate(times, start=1):
                role = "in" if n % 2 else "out"
                if rng.random() < 0.7 and (line != "r" or role == "out"):  # other lines say what the others are called
                    about = {**key, "stop": STOPS[n - 1]["stop"], "role": role, "n": n, "t": t}
                    rows["Bus"].append({"id": f"{line}{number}/{n}", **about})
            first = rng.randrange(N_TIMES // 2)
            times = sorted(rng.sample(range(first + 1, first + 14), 4))
            whole = {"line": line, "tram": f"t{number}", "total": 4, "since": first, "until": first + 14}
            kept = [(n, t) for n, t in enumerate(times, start=1) if n == 2 or rng.random() < 0.7]
            rows["Tram"] += [{"id": f"{line}{number}.{n}", **whole, "n": n, "t": t} for n, t in kept]
            start = rng.randrange(N_TIMES - 20)
            crew = {"line": line, "crew": f"c{number % 2}", "s": start, "e": start + rng.randrange(1, 20)}
            rows["Work"].append({"id": f"{line}{number}w", **crew})
    for line in LINES:  # time continues for all
        rows["Bus"].append(_beat(line, "Bus", "bus", role="mark", n=0, stop=None))
    return rows


def _beat(line: str, stream: str, key: str, **more: object) -> Row:
    return {"id": f"{line}{stream}", "line": line, key: "zz", "t": N_TIMES, **more}


AFTER_TIMEOUT: Row = {"id": "back", "line": "p", "bus": "b0", "stop": "a", "role": "in", "n": 7, "t": N_TIMES - 1}
TOO_LATE: Row = {"id": "late", "line": "q", "bus": "bl", "stop": "a", "role": "in", "n": 1, "t": 3}


def time_of(row: Row) -> int:
    return int(str(row["e"] if "e" in row else row["t"]))


def arrival(row: Row) -> int:
    """Later than its time, by no more than may be."""
    return time_of(row) + sum(map(ord, str(row["id"]))) % (LATENESS + 1)


def write(folder: Path, program: Program, pieces: list[Rows]) -> None:
    for number, rows in enumerate(pieces):
        for name, table in arrow_streams(program.plan, rows).items():
            (folder / name).mkdir(exist_ok=True)
            file = folder / name / f"{number:03d}.parquet"
            pq.write_table(table, file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times


def pieces_of(rows: Rows, borders: list[int]) -> list[Rows]:
    """Rows by when they arrive."""
    spans = zip([-1, *borders], [*borders, 10 * N_TIMES], strict=True)
    return [
        {name: [row for row in some if low < arrival(row) <= high] for name, some in rows.items()}
        for low, high in spans
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "buckets"), [(BY_LINE, 3), (ALL_LINES, 1), (ENDLESS, 3)], ids=["by line", "all lines", "endless"]
)
def test_pieces_and_a_restart_eq_one_run(spark: SparkSession, tmp_path: Path, program: Program, buckets: int) -> None:
    assert relations_of(program.plan).keys() == {event.name for event in program.plan.events}
    rows = rows_of(random.Random(5))
    rows["Bus"].append(AFTER_TIMEOUT)
    found: dict[str, list[Row]] = {}

    def keep(name: str, frame: DataFrame, batch: int) -> None:
        found.setdefault(name, []).extend(frame.toArrow().to_pylist())

    def start() -> LiveQuery:
        frames = {
            name: spark.readStream.schema(spark.read.parquet(str(tmp_path / name)).schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(tmp_path / name))
            for name in rows
        }
        return program.stream(
            spark,
            frames,
            {"stops": STOPS},
            checkpoint=tmp_path / "checkpoint",
            to=keep,
            settings=inkling.StreamSettings(available_now=True, buckets=buckets, unbounded=program is not ENDLESS),
        )

    before, rest = pieces_of(rows, [BORDER])
    write(tmp_path, program, [before])
    start().await_end()
    told_before = {name: list(some) for name, some in found.items()}
    rest["Bus"].append(TOO_LATE)
    write(tmp_path, program, [before, *pieces_of(rest, [BORDER + 15])])
    query = start()
    query.await_end()
    query.finish()
    expected = program.run_local(arrow_streams(program.plan, rows), {"stops": STOPS})
    assert [row["id"] for row in found.pop("late")] == ["late"]
    assert rejected(found.pop("rejects")) == rejected(expected.rejects.to_pylist()) != []
    for name, table in expected.tables.items():
        assert len(table) > 3, name
        assert lines(found.get(name, [])) == lines(table.to_pylist()), name
    pushed = program.open({"stops": STOPS}, unbounded=True).push(arrow_streams(program.plan, before))
    assert any(map(len, pushed.tables.values()))
    for name, table in pushed.tables.items():
        assert lines(told_before.get(name, [])) == lines(table.to_pylist()), name
    watermark = min(max(map(time_of, some)) for some in before.values()) - LATENESS
    for event in (event for event in program.plan.events if event.confidence is not None and event.confidence.early):
        every = expected.tables[event.name].to_pylist()
        assert sum(row["method"] == "bounds" for row in every) > 1
        # all keys are complete some time, so there always is a time from which on a result is certain
        assert lines(told_before[event.name]) == lines([row for row in every if row["detected_at"] <= watermark])


def rejected(rows: list[Row]) -> list[tuple[object, ...]]:
    return sorted((row["stream"], row["reason"], row["id"], row["detail"]) for row in rows)


def lines(rows: list[Row]) -> list[str]:
    return sorted(repr(sorted((name, _rounded(value)) for name, value in row.items())) for row in rows)


def _rounded(value: object) -> object:
    return round(value, 10) if isinstance(value, float) else value
