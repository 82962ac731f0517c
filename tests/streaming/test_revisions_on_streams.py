"""Late and withdrawn events on Structured Streaming: what was told and not taken back is what the definition gives.

Many events share a program and many small streams share its data as keys, so that one query checks many cases. Another
one has every kind of state: it is stopped, continues with other windows, and its sink fails during a correction.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.oracle import oracle
from tests.kit.revised_streams import Reference
from tests.kit.revisions import Mode, Step, random_script, revising
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import TABLES, Declared, Kind
from tests.streaming import corrected_doors as doors
from tests.streaming.packed_program import packed_program
from tests.streaming.revised_query import (
    FailsOnce,
    KeptMessages,
    Outcomes,
    RevisedQuery,
    late_and_rejected,
    n_withdrawn,
    net,
    only_messages,
    regrouped,
)

import inkling
from inkling.analysis.choice import Evaluator
from inkling.errors import InklingError, InputError
from inkling.query import Program

MICRO_BATCHES = 2
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


@pytest.mark.long
def test_net_of_random_programs_eq_definition(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inkling.spark.streaming.query.outputs_of", only_messages)
    rng = random.Random("revisions on streams 11")
    plain = _program(rng)
    program = inkling.parse(revising(plain.text, MODES))
    tables = random_tables(rng)
    rows = pack([random_rows(rng, list(STREAMS.values()), n_events=18, bad_rows=False) for _ in range(DATASETS)])
    steps = regrouped(random_script(rng, program.plan, rows, MODES), MICRO_BATCHES, STREAMS)
    outcomes = Outcomes(Reference(program.plan, MODES))
    outcomes.take(*steps)
    outcomes.finish()
    expected = oracle(plain.plan, outcomes.reference.corrected(), tables)
    assert sum(map(bool, expected.values())) > len(plain.plan.events) // 2
    sink = KeptMessages([event.name for event in program.plan.events])
    running = RevisedQuery(spark, tmp_path, arrow_tables(program.plan, tables), sink)
    running.add(program, steps)
    query = running.start(program)
    query.await_end()
    query.finish()
    found = sink.rows()
    assert late_and_rejected(found) == outcomes.late_and_rejected
    assert n_withdrawn(found) > 30, "too little was corrected to tell anything"
    same_results(plain.plan, expected, {event.name: net(found.get(event.name, [])) for event in plain.plan.events})


def _program(rng: random.Random) -> Program:
    """All streams, and events over some of them each."""
    events: list[str] = []
    for world, n in EVENTS.items():
        streams = [STREAMS[name] for name in READ[world]]
        text = packed_program(rng, streams, n, 0, POLICIES if world == "policies" else frozenset()).text
        for event in text.split("EVENT ")[1:]:
            events.append("EVENT " + re.sub(r"\be\d+(?=_late\b|\b)", f"e{len(events)}", event))
    return inkling.parse("\n".join([*map(str, STREAMS.values()), TABLES, *events]))


def test_there_are_fifty_programs() -> None:
    assert sum(EVENTS.values()) >= 50


CERTAIN = {*Evaluator} - {Evaluator.CHAIN, Evaluator.QUERY, Evaluator.RELATION, Evaluator.WORLDS}


@pytest.mark.long
def test_net_of_every_evaluator_eq_batch_after_restart_and_crash(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(7)
    plain = inkling.parse(doors.PROGRAM)
    kinds = {step.evaluator for stage in plain.physical.stages for step in stage.steps}
    assert kinds == CERTAIN, "an evaluator is missing"
    longer = doors.MODES | {"Door": replace(doors.MODES["Door"], window=20)}
    first, second = (inkling.parse(revising(doors.PROGRAM, modes)) for modes in (doors.MODES, longer))
    models = doors.models(rng, plain)
    steps = doors.steps(rng, first, 3)
    outcomes = Outcomes(Reference(first.plan, doors.MODES))
    outcomes.take(*steps[:1])
    for time in outcomes.reference.times:
        time.streams = {**time.streams, "Door": longer["Door"]}
    outcomes.take(*steps[1:])
    outcomes.finish()
    sink = FailsOnce(fails_at=1)
    running = RevisedQuery(spark, tmp_path, models, sink)
    running.add(first, steps[:1])
    running.start(first).await_end()
    running.add(first, steps[1:])
    query = running.start(second)
    assert query.changes.lateness == ("Door",)
    with pytest.raises(InklingError, match="the database does not answer"):
        query.await_end()
    with pytest.raises(InputError, match="cannot continue from another one whose results can still change"):
        running.start(inkling.parse(second.text.replace("30 TICKS", "29 TICKS")))
    query = running.start(second)
    query.await_end()
    query.finish()
    found = sink.rows()
    assert n_withdrawn(sink.rows_of(1)) > 5, "the sink was to fail while it corrects something"
    assert late_and_rejected(found) == outcomes.late_and_rejected
    for outcome in doors.BAD_NOTES:
        assert outcome in (*outcomes.late, *outcomes.rejected)
    expected = plain.run_local(arrow_streams(plain.plan, outcomes.reference.corrected()), models).tables
    told_again = found.pop("no_meeting")
    assert all(row["op"] == "+" and row["event"] == "no_meeting" for row in told_again)
    assert doors.bag(told_again) == doors.bag(row for row in found["meeting"] if row["op"] == "-")
    for name, table in expected.items():
        assert len(table) or name == "no_meeting", f"{name} is never found"
        assert doors.bag(net(found.get(name, []))) == doors.bag(table.to_pylist()), name


SEEN = """
STREAM Seen(id STRING, k STRING, t INT) ID id KEY k TIME t ± 1 TICKS;
EVENT twice(k) AS PATTERN SEQ(Seen a, Seen b) WITHIN 5 TICKS PARTITION BY k;
"""


@pytest.mark.long
def test_corrected_probabilities_eq_batch(spark: SparkSession, tmp_path: Path) -> None:
    plain = inkling.parse(SEEN)
    program = inkling.parse(revising(SEEN, {"Seen": Mode(6, speculative=True, window=20)}))
    rows = [{"id": f"{k}{t}", "k": k, "t": t, "op": "+"} for k in "pqr" for t in (1, 2, 4, 5, 9, 10)]
    late = [row for row in rows if row["t"] in (2, 5)]
    gone = [{"id": name, "k": None, "t": None, "op": "-"} for name in ("p1", "q4", "r5")]
    steps = [Step({"Seen": [row for row in rows if row not in late]}), Step({"Seen": [*late, *gone]})]
    sink = FailsOnce(fails_at=1)
    running = RevisedQuery(spark, tmp_path, {}, sink)
    running.add(program, steps)
    with pytest.raises(InklingError, match="the database does not answer"):
        running.start(program).await_end()
    query = running.start(program)
    query.await_end()
    assert n_withdrawn(sink.rows_of(1)) >= 3, "no probability was corrected"
    query.finish()
    left = [row for row in rows if row["id"] not in {one["id"] for one in gone}]
    expected = plain.run_local(arrow_streams(plain.plan, {"Seen": left})).tables["twice"].to_pylist()
    assert any(0 < row["probability"] < 1 for row in expected)
    found = [{**row, "probability": round(float(str(row["probability"])), 9)} for row in net(sink.rows()["twice"])]
    wanted = [{**row, "probability": round(row["probability"], 9)} for row in expected]
    for rows_of in (found, wanted):
        rows_of.sort(key=lambda row: str(row["lineage"]))
    about = ("k", "start", "end", "probability", "lineage")
    assert [[row[name] for name in about] for row in found] == [[row[name] for name in about] for row in wanted]
