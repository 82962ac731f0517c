"""Late and withdrawn events on Structured Streaming: what was told and not taken back is what the definition gives.

Many events share a program and many small streams share its data as keys, so that one query checks many cases. The
query is stopped and started again on the way, and its sink fails in the middle of a correction.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.one_job import KeptRows, Rows, rows_in_one_job
from tests.streaming.packed_program import packed_program

import inkling
from inkling.errors import InklingError
from inkling.physical.plan import Evaluator
from inkling.query import Program
from inkling.spark.streaming.outputs import Output
from inkling.spark.streaming.query import LiveQuery
from inkling.testing.arrow import arrow_streams, arrow_tables
from inkling.testing.comparison import same_results
from inkling.testing.oracle import oracle
from inkling.testing.revised_streams import Reference
from inkling.testing.revisions import Mode, Step, random_script, revising
from inkling.testing.streams import pack, random_rows, random_tables
from inkling.testing.universe import TABLES, Declared, Kind

MICRO_BATCHES, RESTARTED_AFTER, FAILS_AT = 4, 1, 2
DATASETS = 6
EVENTS = {"points": 15, "ordered": 14, "mixed": 14, "policies": 9}
STREAMS = {
    "A": Declared("A", Kind.POINTS, True, "seq", ""),
    "B": Declared("B", Kind.POINTS, True, "seq", ""),
    "V": Declared("V", Kind.ORDERED, True, "seq", "SINCE_CHANGE(s)"),
    "W": Declared("W", Kind.ORDERED, True, "seq", ""),
    "D": Declared("D", Kind.POINTS, True, "seq", "x - PREV(x)"),
    "L": Declared("L", Kind.INTERVALS, True, "seq", ""),
}
READ = {"points": "AB", "ordered": "VW", "mixed": "DL", "policies": "AL"}
MODES = {
    "A": Mode(4, speculative=True, window=6),
    "B": Mode(3, speculative=True),
    "V": Mode(0, window=6),
    "W": Mode(3, speculative=True),
    "D": Mode(20, speculative=True, window=20),
    "L": Mode(2, speculative=True, window=8),
}
POLICIES = frozenset({"CONSUME RECENT", "CONSUME CHRONOLOGICAL"})


class FailsOnce(KeptRows):
    """Breaks down after a part of a micro-batch that corrects something."""

    def __init__(self) -> None:
        super().__init__()
        self.has_failed = False

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        every = list(outputs)
        if not self.has_failed and any(row.get("op") == "-" for rows in self.told(every).values() for row in rows):
            self.has_failed = True
            super().deliver(every[: len(every) // 2], batch)
            raise ConnectionError("the database does not answer")
        super().deliver(every, batch)

    def told(self, outputs: Sequence[Output]) -> Rows:
        return rows_in_one_job(outputs)


def test_net_of_revisions_eq_definition(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random("revisions on streams")
    plain = _program(rng)
    program = inkling.parse(revising(plain.text, MODES))
    tables = random_tables(rng)
    steps = _steps(rng, program)
    reference = Reference(program.plan, MODES)
    late: Counter[tuple[str, str]] = Counter()
    refused: Counter[tuple[str, str, str]] = Counter()
    for step in steps:
        said = reference.take(step)
        late, refused = late + said.late, refused + said.refused
    refused += reference.finish().refused
    expected = oracle(plain.plan, reference.corrected(), tables)
    assert sum(map(bool, expected.values())) > len(plain.plan.events) // 2
    frames = _folders(spark, program, steps[:RESTARTED_AFTER], tmp_path)
    sink = FailsOnce()

    def started() -> LiveQuery:
        return program.stream(
            spark,
            frames,
            arrow_tables(program.plan, tables),
            checkpoint=tmp_path / "checkpoint",
            to=sink,
            trigger={"availableNow": True},
            buckets=2,
            unbounded=True,
        )

    n_failures = 0
    for some in (steps[:RESTARTED_AFTER], steps[RESTARTED_AFTER:]):
        if some is not steps[:RESTARTED_AFTER]:
            _write(program, some, tmp_path, RESTARTED_AFTER)
        try:
            query = started()
            query.await_end()
        except InklingError:
            n_failures += 1
            query = started()
            query.await_end()
    query.finish()
    found = sink.rows()
    assert n_failures == 1
    assert Counter((row["stream"], row["id"]) for row in found.pop("late", [])) == late
    told = Counter((row["stream"], row["id"], row["reason"]) for row in found.pop("rejects", []))
    assert {one: n for one, n in told.items() if one[2] != "duplicate id"} == dict(refused)
    taken_back = sum(row["op"] == "-" for rows in found.values() for row in rows)
    assert taken_back > 50, "too little was corrected to tell anything"
    same_results(plain.plan, expected, {event.name: net(found.get(event.name, [])) for event in plain.plan.events})


def net(rows: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """What was told and not taken back; each withdrawal is that of a row that was told."""
    standing: Counter[str] = Counter()
    texts: dict[str, Mapping[str, object]] = {}
    for row in rows:
        about = {name: value for name, value in row.items() if name != "op"}
        text = repr(sorted(about.items()))
        texts[text] = about
        standing[text] += 1 if row["op"] == "+" else -1
    assert min(standing.values(), default=0) >= 0, "something was taken back that was never told"
    return [texts[text] for text in standing.elements()]


def _program(rng: random.Random) -> Program:
    """All streams, and events over some of them each."""
    events: list[str] = []
    for world, n in EVENTS.items():
        streams = [STREAMS[name] for name in READ[world]]
        text = packed_program(rng, streams, n, 0, POLICIES if world == "policies" else frozenset()).text
        for event in text.split("EVENT ")[1:]:
            events.append("EVENT " + re.sub(r"\be\d+(?=_late\b|\b)", f"e{len(events)}", event))
    declared = "\n".join(map(str, STREAMS.values()))
    return inkling.parse("\n".join([declared, TABLES, *events]))


def _steps(rng: random.Random, program: Program) -> list[Step]:
    """Rows and withdrawals of many small streams, in a few micro-batches."""
    rows = pack([random_rows(rng, list(STREAMS.values()), n_events=18, bad_rows=False) for _ in range(DATASETS)])
    pieces = [step.rows for step in random_script(rng, program.plan, rows, MODES) if not step.idle]
    steps: list[Step] = []
    for number in range(MICRO_BATCHES):
        mine = pieces[number * len(pieces) // MICRO_BATCHES : (number + 1) * len(pieces) // MICRO_BATCHES]
        steps.append(Step({name: [row for piece in mine for row in piece.get(name, ())] for name in STREAMS}))
    return steps


def _folders(spark: SparkSession, program: Program, steps: Sequence[Step], root: Path) -> dict[str, DataFrame]:
    for name in STREAMS:
        (root / name).mkdir()
    _write(program, steps, root, 0)
    frames = {}
    for name in STREAMS:
        schema = spark.read.parquet(str(root / name)).schema
        frames[name] = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(root / name))
    return frames


def _write(program: Program, steps: Sequence[Step], root: Path, first: int) -> None:
    for number, step in enumerate(steps, first):
        for name, table in arrow_streams(program.plan, step.rows).items():
            file = root / name / f"{number:03d}.parquet"
            pq.write_table(table, file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times


def test_there_are_fifty_programs() -> None:
    assert sum(EVENTS.values()) >= 50
