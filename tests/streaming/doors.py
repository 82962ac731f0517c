"""A job with every kind of state, its files, and which of their rows come too late: what the crash tests run."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import inkling

LATENESS = 6
PROGRAM = f"""
STREAM Door(id BIGINT, person STRING, room STRING, badge BIGINT)
    ID id KEY person TIME t ORDER BY id LATENESS {LATENESS} TICKS
    DERIVE moved = badge - PREV(badge), stay = SINCE_CHANGE(room);
STREAM Call(person STRING, room STRING, kind STRING)
    KEY person TIME t LATENESS {LATENESS} TICKS;

-- an automaton
EVENT detour(person) AS PATTERN
    SEQ STRICT(Door[room = 'hall'], Door[room = 'lab']{{1,4}}, Door[room = 'hall']) PARTITION BY person PER END;

-- absence with a deadline
EVENT unheard(c.room AS room) AS PATTERN
    SEQ(Call c[kind = 'ask'], NOT Call[kind = 'answer'], AFTER 8 TICKS) PARTITION BY person;

-- a window, derived columns, two streams
EVENT errand(person, a.room AS room, d.moved AS moved, d.stay AS stay) AS PATTERN
    SEQ NEXT(Call[kind = 'ask'], Door a, Door d[moved > 0 AND stay >= 0]) WITHIN 12 TICKS PARTITION BY person;

-- a second stage, with other keys
EVENT meeting(x.person AS one, y.person AS other) AS PATTERN
    SEQ(errand x, errand y[person <> x.person]) WITHIN 10 TICKS PARTITION BY room;
"""
SCHEMAS = {
    "Door": pa.schema(
        {"id": pa.int64(), "person": pa.string(), "room": pa.string(), "badge": pa.int64(), "t": pa.int64()}
    ),
    "Call": pa.schema({"person": pa.string(), "room": pa.string(), "kind": pa.string(), "t": pa.int64()}),
}
SPARK_SCHEMAS = {
    "Door": "id bigint, person string, room string, badge bigint, t bigint",
    "Call": "person string, room string, kind string, t bigint",
}
ROOMS = ("hall", "lab", "lab", "store")
DOORS_PER_FILE, CALLS_PER_FILE, TICKS_PER_FILE = 40, 16, 10

Row = dict[str, object]
Pieces = dict[str, list[list[Row]]]
"""Per stream, the rows of each file, in the order of arrival."""


def random_pieces(seed: int, n_files: int) -> Pieces:
    """Rows out of order within the lateness, some far behind it, some without a time."""
    rng = random.Random(seed)
    doors, calls = [], []
    number = 0
    for piece in range(n_files):
        times = [_time(rng, piece) for _ in range(DOORS_PER_FILE)]
        doors.append(
            [
                {
                    "id": (number := number + 1),
                    "person": rng.choice("abcdef"),
                    "room": rng.choice(ROOMS),
                    "badge": rng.randrange(100),
                    "t": time,
                }
                for time in times
            ]
        )
        calls.append(
            [
                {
                    "person": rng.choice("abcdef"),
                    "room": rng.choice(ROOMS),
                    "kind": rng.choice(("ask", "ask", "answer")),
                    "t": _time(rng, piece),
                }
                for _ in range(CALLS_PER_FILE)
            ]
        )
    return {"Door": doors, "Call": calls}


def _time(rng: random.Random, piece: int) -> int | None:
    match rng.randrange(40):
        case 0:
            return None
        case 1:
            return max(0, piece * TICKS_PER_FILE - 5 * TICKS_PER_FILE)
        case _:
            return piece * TICKS_PER_FILE + rng.randrange(TICKS_PER_FILE + LATENESS)


def write_files(pieces: Pieces, folder: Path) -> None:
    for stream, files in pieces.items():
        (folder / stream).mkdir(parents=True)
        for number, rows in enumerate(files):
            file = folder / stream / f"{number:03d}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[stream]), file)
            os.utime(file, (number + 1, number + 1))  # Spark takes files in the order of their times


def read_files(spark: SparkSession, folder: Path, files_per_batch: int) -> dict[str, DataFrame]:
    """One streaming frame per stream, a few files to a micro-batch."""
    return {
        stream: spark.readStream.schema(schema)
        .option("maxFilesPerTrigger", files_per_batch)
        .parquet(str(folder / stream))
        for stream, schema in SPARK_SCHEMAS.items()
    }


@dataclass(frozen=True, slots=True)
class Sorted:
    """The rows of all files by what becomes of them: as the definition has it, said in plain Python."""

    in_time: dict[str, list[Row]]
    late: list[tuple[str, int, int]]  # stream, time, delay


Cut = list[dict[str, int]]
"""How many files of each stream were taken in after each micro-batch."""


def cut_of(checkpoint: Path) -> Cut:
    """As Spark wrote it down, sources in the order of their names.

    A driver that dies between listing a file and planning its batch leaves the file to the batch after, together with
    the next one.
    """
    logs = sorted((checkpoint / "spark" / "offsets").glob("[0-9]*"), key=lambda file: int(file.name))
    planned = [[json.loads(line) for line in file.read_text().splitlines()[2:4]] for file in logs]
    listed = [_listed(checkpoint / "spark" / "sources" / str(source)) for source in range(len(SCHEMAS))]
    return [
        {
            name: sum(entry <= offset["logOffset"] for entry in listed[source].values())
            for source, (name, offset) in enumerate(zip(sorted(SCHEMAS), offsets, strict=True))
        }
        for offsets in planned
    ]


def _listed(log: Path) -> dict[str, int]:
    """The files of a source, and the entry of its log that has them; old entries are repeated in compacted ones."""
    lines = [line for file in log.glob("[0-9]*") for line in file.read_text().splitlines()[1:]]
    return {file["path"]: file["batchId"] for file in map(json.loads, lines)}


def in_time_and_late(pieces: Pieces, cut: Cut) -> Sorted:
    """A row is late when every stream was further than its lateness beyond it, one batch before."""
    found = Sorted({name: [] for name in pieces}, [])
    latest: dict[str, int] = {}
    assert cut[-1] == {name: len(files) for name, files in pieces.items()}, "not all files were read"
    for begin, end in zip([dict.fromkeys(pieces, 0), *cut], cut, strict=False):
        arrived = {name: _chained(files[begin[name] : end[name]]) for name, files in pieces.items()}
        complete = min(latest.values()) - LATENESS - 1 if len(latest) == len(pieces) else None
        before = dict(latest)
        for name, rows in arrived.items():
            for row in rows:
                time = row["t"]
                if isinstance(time, int) and complete is not None and time <= complete:
                    found.late.append((name, time, before[name] - time))
                else:
                    found.in_time[name].append(row)
            times = [time for row in rows if isinstance(time := row["t"], int)]
            latest[name] = max([latest.get(name, 0), *times])
    return found


def _chained(files: Sequence[Iterable[Row]]) -> list[Row]:
    return [row for rows in files for row in rows]


def check_outputs(job: Path, pieces: Pieces) -> None:
    """Every output holds exactly what it should: matches as in batch, late rows, rejects; none missing, none twice."""
    out, rows = job / "out", in_time_and_late(pieces, cut_of(job / "checkpoint"))
    streams = {name: pa.Table.from_pylist(given, schema=SCHEMAS[name]) for name, given in rows.in_time.items()}
    expected = inkling.parse(PROGRAM).run_local(streams)
    for name, table in expected.tables.items():
        assert len(table) > 10, f"{name} is found too seldom to tell anything"
        assert _bag(_written(out / name, table.column_names)) == _bag(table), name
    columns = ["stream", "reason", "row"]
    assert _bag(_written(out / "rejects", columns)) == _bag(expected.rejects.select(columns))
    late = _written(out / "late", ["stream", "time", "delay"]).to_pylist()
    assert Counter((row["stream"], row["time"], row["delay"]) for row in late) == Counter(rows.late)
    assert len(rows.late) > 3


def _written(folder: Path, columns: list[str]) -> pa.Table:
    return ds.dataset(folder, format="parquet").to_table(columns=columns)


def _bag(table: pa.Table) -> Counter[str]:
    """Calls have no ids of their own, so what a match depends on is left out."""
    return Counter(repr({name: value for name, value in row.items() if name != "lineage"}) for row in table.to_pylist())
