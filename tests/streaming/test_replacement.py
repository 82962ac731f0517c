"""Programs that are replaced while they run on Structured Streaming, and crashes around the switch."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kit.probable_oracle import summed_over

import inkling
from inkling.errors import InklingError, InputError
from inkling.evaluators.sampling import Sampling
from inkling.meaning.worlds import joint_worlds
from inkling.query import Program
from inkling.runtime.replacement import Changes
from inkling.spark.streaming.checkpoint.definition import Definitions
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.watch import Watcher, files_of

STREAM = "STREAM Seen(id INT, who STRING, where STRING, t INT) ID id KEY who TIME t ORDER BY id LATENESS 2 TICKS;"
TABLE = "TABLE closed(where STRING) FROM 'closed.csv'; RULE shut(place) IF closed(place);"
CLIMB = """EVENT climb(who) AS PATTERN SEQ NEXT(Seen[where = 'a'], Seen[where = 'b'], Seen[where = 'c'])
    PARTITION BY who PER END;"""
LOOP = "EVENT loop(who) AS PATTERN SEQ(Seen x[where = 'a'], Seen y[where = 'c']) WITHIN 9 TICKS PARTITION BY who;"
SHORTER = LOOP.replace("9 TICKS", "4 TICKS")
GONE = "EVENT gone(who) AS PATTERN Seen x[where = 'd'] PARTITION BY who;"
BACK = "EVENT back(who) AS PATTERN SEQ(climb x, Seen y[where = 'a']) WITHIN 6 TICKS PARTITION BY who;"
LONELY = """EVENT lonely(x.who AS who) AS PATTERN SEQ(Seen x[where = 'b'], NOT Seen y[who = x.who], AFTER 3 TICKS)
    PARTITION BY who;"""
LOCKED = "EVENT locked(who, x.where AS where) AS PATTERN Seen x[closed(where) AND shut(where)] PARTITION BY who;"
OTHER_KEY = "EVENT together AS PATTERN SEQ(Seen x, Seen y) WITHIN 2 TICKS PARTITION BY where;"

Row = dict[str, object]
Delivered = dict[str, dict[int, list[Row]]]


def rows_between(first: int, last: int) -> list[Row]:
    """Two of three people at a time, in places that make everything happen now and then."""
    rng = random.Random(22)
    rows = [
        {"id": 10 * t + place, "who": who, "where": rng.choice("aabbccd"), "t": t}
        for t in range(32)
        for place, who in enumerate(["ann", "ben", "cy"])
        if rng.random() < 0.66
    ]
    return [row for row in rows if first <= row["t"] < last]


class Place:
    """Folders of one test, and what was delivered."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.incoming = root / "incoming"
        self.incoming.mkdir()
        self.delivered: Delivered = {}
        self.fails_at: int | None = None
        self.n_files = 0

    def add(self, rows: list[Row]) -> None:
        hidden = self.root / "part"
        pq.write_table(pa.Table.from_pylist(rows), hidden)
        os.utime(hidden, (self.n_files, self.n_files))
        hidden.rename(self.incoming / f"{self.n_files:03d}.parquet")
        self.n_files += 1

    def close(self, *places: str) -> None:
        pa.csv.write_csv(pa.table({"where": list(places)}), self.root / "closed.csv")

    def program(self, *events: str) -> Program:
        return inkling.parse("\n".join([STREAM, TABLE, *events]), folder=self.root)

    def keep(self, name: str, frame: DataFrame, batch: int) -> None:
        if batch == self.fails_at:
            raise RuntimeError("the sink is full")
        self.delivered.setdefault(name, {})[batch] = frame.toArrow().to_pylist()

    def start(self, program: Program, *, available_now: bool = False) -> LiveQuery:
        schema = "id bigint, who string, where string, t bigint"
        frame = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(self.incoming))
        return program.stream(
            self.spark,
            {"Seen": frame},
            checkpoint=self.root / "checkpoint",
            to=self.keep,
            settings=inkling.StreamSettings(available_now=available_now, buckets=3, unbounded=True),
        )

    def results(self, name: str, from_time: int = 0) -> list[tuple[object, ...]]:
        found = [row for rows in self.delivered.get(name, {}).values() for row in rows]
        return as_tuples([row for row in found if int(str(row["end"])) >= from_time])


def as_tuples(rows: list[Row]) -> list[tuple[object, ...]]:
    return sorted((tuple(map(str, row.values())) for row in rows), key=str)


def by_batch(program: Program, rows: list[Row], event: str) -> list[tuple[object, ...]]:
    return as_tuples(program.run_local({"Seen": rows}).tables[event].to_pylist())


def climbs_followed(program: Program, rows: list[Row], since: int) -> list[tuple[object, ...]]:
    """What `back` finds if it sees climbs and rows that end after some time; climbs may have begun before."""
    found = program.run_local({"Seen": rows}).tables
    early = {str(row["lineage"]) for row in found["climb"].to_pylist() if row["end"] <= since}
    back = found["back"].to_pylist()
    return as_tuples([row for row in back if str(row["lineage"][:3]) not in early and row["end"] > since])


def wait_for_rows(query: LiveQuery, n_rows: int) -> None:
    """Until so many rows have been read, or the query ended."""
    for _ in range(600):
        if sum(tally.read["Seen"] for tally in query.tallies) >= n_rows or not query.query.isActive:
            return
        time.sleep(0.1)
    raise AssertionError("the rows were not read")


def look_twice(watcher: Watcher) -> None:
    watcher.look()
    watcher.look()


@pytest.mark.long
def test_a_running_program_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(spark, tmp_path)
    place.close("a")
    early, late = rows_between(0, 12), rows_between(12, 30)
    old, new = place.program(CLIMB, LOOP, GONE, LOCKED), place.program(LONELY, LOCKED, BACK, CLIMB, SHORTER)
    place.add(early)
    query = place.start(old)
    wait_for_rows(query, len(early))

    with pytest.raises(InputError, match="`together` needs another partition key"):
        query.replace(place.program(CLIMB, OTHER_KEY))
    assert not query.replace(inkling.parse(f"-- as before\n{old.text}\n\n", folder=tmp_path))
    file, told = tmp_path / "seen.ink", list[Changes | Exception]()
    file.write_text(old.text)
    watcher = Watcher(
        query,
        lambda: inkling.load(file),
        lambda program: files_of(file, program, {}),
        told.append,
        told.append,
        inkling.load(file),
    )
    file.write_text("EVENT oops AS PATTERN")
    look_twice(watcher)
    assert isinstance(told.pop(), InklingError)
    assert query.query.isActive

    place.close("b", "c")
    file.write_text(new.text)
    look_twice(watcher)
    assert told == [Changes(("locked", "climb"), ("lonely", "back"), ("loop",), ("gone",), (), ("closed",))]
    place.add(late)
    wait_for_rows(query, len(early) + len(late))
    query.finish()

    everything = [*early, *late]
    over_the_border = len(by_batch(new, everything, "climb")) - sum(
        len(by_batch(new, some, "climb")) for some in (early, late)
    )
    assert over_the_border > 0
    assert place.results("climb") == by_batch(new, everything, "climb")
    assert place.results("gone") == by_batch(old, [row for row in early if row["t"] <= 8], "gone")
    assert place.results("lonely") == by_batch(new, late, "lonely") != []
    assert place.results("loop", from_time=9) == by_batch(new, late, "loop") != []
    assert place.results("back") == climbs_followed(new, everything, since=11) != []
    place.close("a")
    before = by_batch(new, early, "locked")
    place.close("b", "c")
    assert place.results("locked") == sorted([*before, *by_batch(new, late, "locked")], key=str)


@pytest.mark.long
def test_a_batch_that_was_begun_is_finished_by_its_program(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(spark, tmp_path)
    place.close("a")
    pieces = [rows_between(first, first + 8) for first in (0, 8, 16, 24)]
    for piece in pieces:
        place.add(piece)
    everything = [row for piece in pieces for row in piece]
    old, new = place.program(CLIMB, GONE), place.program(LONELY, CLIMB)

    place.fails_at = 1
    with pytest.raises(InklingError, match="the sink is full"):
        place.start(old, available_now=True).await_end()
    place.fails_at = 2  # the first batch of the new program
    with pytest.raises(InklingError, match="the sink is full"):
        place.start(new, available_now=True).await_end()
    stored = Definitions(CheckpointFolder(spark, str(tmp_path / "checkpoint")).inside("inkling").inside("definitions"))
    assert [stored.read(number).first_batch for number in stored.numbers()] == [0, 2]
    place.fails_at = None
    place.start(new, available_now=True).finish()

    assert place.results("climb") == by_batch(new, everything, "climb")
    decided = [row for piece in pieces[:2] for row in piece if row["t"] <= 12]
    assert place.results("gone") == by_batch(old, decided, "gone")
    assert max(place.delivered["gone"]) == 1
    assert place.results("lonely") == by_batch(new, [row for piece in pieces[2:] for row in piece], "lonely") != []


UNCERTAIN = """
STREAM Seen(id STRING, who STRING, where STRING, t INT) ID id KEY who TIME t LATENESS 2 TICKS;
STREAM Felt(id STRING, who STRING, where STRING, t INT) ID id KEY who TIME t PROBABILITY p LATENESS 2 TICKS;
"""
WENT = "EVENT went(who) AS PATTERN SEQ NEXT(Felt a[where = 'a'], Felt b[where = 'b']) PARTITION BY who PER END;"
SOON = """EVENT soon(who, a.where AS place) AS PATTERN SEQ(Felt a, Seen b[where = 'b']) WITHIN 4 TICKS
    PARTITION BY who;"""
LATER = "EVENT later(who) AS PATTERN SEQ(Felt a[where = 'a'], Seen b[where = 'c']) WITHIN 4 TICKS PARTITION BY who;"
PAIR = "EVENT pair(who) AS PATTERN SEQ(Seen x[where = 'a'], Seen y[where = 'b']) WITHIN 6 TICKS PARTITION BY who;"
COARSE = Sampling(epsilon=0.2, delta=0.2, seed=5)


def felt(rows: list[Row]) -> list[Row]:
    """For each row two alternatives."""
    return [
        {**row, "id": f"{row['id']}{where}", "where": where, "p": p}
        for row in rows
        for where, p in (("a", 0.625), ("b", 0.25))
    ]


@pytest.mark.long
def test_certain_and_uncertain_events_are_replaced(spark: SparkSession, tmp_path: Path) -> None:
    pieces = [[{**row, "id": str(row["id"])} for row in rows_between(first, first + 6)] for first in (0, 6, 12, 18, 24)]
    delivered: dict[str, list[Row]] = {}

    def run(program: Program, pieces: list[list[Row]], finish: bool = False) -> None:
        for number, piece in enumerate(pieces):
            for name, rows in (("Seen", piece), ("Felt", felt(piece))):
                folder = tmp_path / name
                folder.mkdir(exist_ok=True)
                pq.write_table(pa.Table.from_pylist(rows), tmp_path / "part")
                (tmp_path / "part").rename(folder / f"{rows[0]['t']:03d}-{number}.parquet")
        query = program.stream(
            spark,
            {name: str(tmp_path / name) for name in ("Seen", "Felt")},
            checkpoint=tmp_path / "checkpoint",
            to=lambda name, frame, _batch: delivered.setdefault(name, []).extend(frame.toArrow().to_pylist()),
            settings=inkling.StreamSettings(available_now=True, buckets=2, unbounded=True),
            sampling=COARSE,
        )
        query.finish() if finish else query.await_end()

    old = inkling.parse(UNCERTAIN + WENT + SOON + PAIR.replace("6 TICKS", "5 TICKS"))
    other = inkling.parse(UNCERTAIN + WENT + SOON + PAIR)
    new = inkling.parse(UNCERTAIN + SOON + LATER + PAIR)
    run(old, pieces[:1])
    run(other, pieces[1:2])  # a certain event only
    run(other, pieces[2:3])
    run(new, pieces[3:4])
    run(new, pieces[4:], finish=True)
    stored = Definitions(CheckpointFolder(spark, str(tmp_path / "checkpoint")).inside("inkling").inside("definitions"))
    assert [stored.read(number).first_batch for number in stored.numbers()] == [0, 1, 3]

    def by_one_run(name: str, some: list[list[Row]]) -> list[tuple[object, ...]]:
        rows = [row for piece in some for row in piece]
        stream = new.open(sampling=COARSE, unbounded=True)
        found = [stream.push({"Seen": rows, "Felt": felt(rows)}), stream.finish()]
        return as_tuples([row for one in found for row in one.tables[name].to_pylist()])

    assert as_tuples(delivered["soon"]) == by_one_run("soon", pieces) != []
    later = as_tuples(delivered["later"])
    assert later == by_one_run("later", pieces[3:]) != by_one_run("later", pieces[2:])
    assert len(later) > len(by_one_run("later", pieces[4:])) > 0
    late = [row for row in delivered["pair"] if row["start"] >= 6]
    assert as_tuples(late) == by_one_run("pair", pieces[1:]) != []
    assert 12 <= max(int(str(row["end"])) for row in delivered["went"]) < 18


NUMBERED = """
STREAM Jam(id STRING, k STRING, n INT, total INT, since INT, until INT, t INT) ID id KEY k TIME t LATENESS 20 TICKS
  NUMBERED BY n SEGMENTS COUNT total BOUNDS since TO until;
EVENT old(x.k AS one, y.k AS other) AS PATTERN SOME Jam x INTERSECTS SOME Jam y HAVING x.k < y.k;
"""
ADDED = "EVENT added(x.k AS one, y.k AS other) AS PATTERN SOME Jam x PRECEDES SOME Jam y HAVING x.k <> y.k;"


def jams() -> list[Row]:
    """Keys before and around a time, and one after it; each has lost some of its events."""
    kept = {
        "a": (8, 2, {1: 4, 2: 9, 5: 13, 7: 20}),
        "b": (8, 2, {1: 4, 6: 13, 7: 15, 8: 16}),
        "c": (4, 12, {3: 15, 4: 17}),
        "d": (2, 1, {1: 3, 2: 8}),
    }
    return [
        {"id": f"{k}{n}", "k": k, "n": n, "total": total, "since": since, "until": 24, "t": t}
        for k, (total, since, times) in kept.items()
        for n, t in times.items()
    ]


@pytest.mark.long
def test_an_event_over_a_numbered_stream_is_added(spark: SparkSession, tmp_path: Path) -> None:
    old, new = inkling.parse(NUMBERED), inkling.parse(NUMBERED + ADDED)
    border = 9
    pieces = [[row for row in jams() if (row["t"] <= border) == is_early] for is_early in (True, False)]
    delivered: dict[str, list[Row]] = {}
    for number, (program, piece) in enumerate(zip((old, new), pieces, strict=True)):
        folder = tmp_path / "Jam"
        folder.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(piece), tmp_path / "part")
        (tmp_path / "part").rename(folder / f"{number}.parquet")
        query = program.stream(
            spark,
            {"Jam": str(folder)},
            checkpoint=tmp_path / "checkpoint",
            to=lambda name, frame, _batch: delivered.setdefault(name, []).extend(frame.toArrow().to_pylist()),
            settings=inkling.StreamSettings(available_now=True, buckets=2, unbounded=True),
        )
        query.finish() if number else query.await_end()

    worlds = joint_worlds({"Jam": pieces[1]}, [new.plan.streams[0].schema], begun=border)
    expected = {one.values: float(one.probability) for one in summed_over(worlds, new.plan)["added"]}
    found = {(row["one"], row["other"]): row["probability"] for row in delivered["added"]}
    assert found == pytest.approx(expected)
    assert 0 < expected["a", "c"] < 1
    whole = new.run_local({"Jam": jams()})
    assert as_tuples(delivered["old"]) == as_tuples(whole["old"].to_pylist())
    assert len(expected) < len(whole["added"])
