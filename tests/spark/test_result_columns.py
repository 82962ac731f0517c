"""The result columns on Spark: the same tables as in one process, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kit.result_columns import estimated, some_event, some_forecast, some_matches

import inkling
from inkling import results
from inkling.errors import InputError
from inkling.evaluators import result_rows as in_workers
from inkling.evaluators.sampling import Sampling
from inkling.logical.plan import Confidence, EventPlan
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.results import Matches, public_table, result_table
from inkling.spark import results as on_spark

pytestmark = pytest.mark.spark


def result_rows(number: int, event: EventPlan, found: Iterable[Matches], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Results of one event as a worker hands them back."""
    tables = (in_workers.filled(in_workers.result_columns(number, event, some), schema) for some in found)
    for table in tables if event.top is None else [in_workers.best(tables, event.top, schema)]:
        yield from in_workers.in_batches(table)


def frame_of(spark: SparkSession, event: EventPlan, found: Iterable[Matches], ids: pa.DataType) -> DataFrame:
    """Matches as workers hand them back."""
    schema = in_workers.results_schema([event], ids)
    return spark.createDataFrame(pa.Table.from_batches(result_rows(0, event, found, schema), schema))


def certain_frame_of(spark: SparkSession, event: EventPlan, batch: MatchBatch, ids: pa.DataType) -> DataFrame:
    columns = in_workers.result_columns(0, event, batch)
    return spark.createDataFrame(in_workers.filled(columns, in_workers.results_schema([event], ids, ())))


def same(table: pa.Table, again: pa.Table) -> None:
    """The same names, types and values in the same order; Spark also says which columns are never null."""
    assert again.schema.names == table.schema.names
    assert again.schema.types == table.schema.types
    assert again.cast(table.schema).combine_chunks().equals(table.combine_chunks())


@pytest.mark.parametrize("clock", Clock)
@pytest.mark.parametrize("ids", [pa.string(), pa.int64()], ids=str)
def test_public_columns(spark: SparkSession, ids: pa.DataType, clock: Clock) -> None:
    for event in (some_event(), some_forecast()):
        batch = some_matches(event, ids, 1, 25)
        matches = estimated(batch, 1)
        frame = frame_of(spark, event, [matches], ids)
        same(public_table(event, matches, clock), on_spark.public_frame(event, frame, clock).toArrow())
        certain = on_spark.certain_frame(event, certain_frame_of(spark, event, batch, ids))
        same(result_table(event, batch, clock), on_spark.public_frame(event, certain, clock).toArrow())


def test_values_of_other_events_are_left_out(spark: SparkSession) -> None:
    one, other = some_event(), some_forecast()
    schema = in_workers.results_schema([one, other], pa.string())
    found = {event.name: estimated(some_matches(event, pa.string(), 2, 5), 2) for event in (one, other)}
    batches = [
        batch
        for number, event in enumerate((one, other))
        for batch in result_rows(number, event, [found[event.name]], schema)
    ]
    rows = pa.Table.from_batches(batches, schema)
    for number, event in enumerate((one, other)):
        mine = spark.createDataFrame(rows.filter(pa.compute.equal(rows[in_workers.EVENT], number)))
        again = on_spark.public_frame(event, mine, Clock.TICKS).toArrow()
        same(public_table(event, found[event.name], Clock.TICKS), again)


@pytest.mark.parametrize("n", [7, 15, 100])
def test_most_probable_ones(spark: SparkSession, n: int) -> None:
    event = replace(some_event(), top=n)
    parts = [estimated(some_matches(event, pa.string(), seed, 20), seed) for seed in (3, 4)]
    tables = [public_table(event, one, Clock.TICKS) for one in parts]
    expected = results.most_probable(results.in_order(event, pa.concat_tables(tables)), n)
    frame = on_spark.most_probable(event, frame_of(spark, event, parts, pa.string()))
    found = on_spark.public_frame(event, frame, Clock.TICKS).toArrow()
    # what is the same in all that decides stands in any order
    decides = ["probability", "start", "lineage", "end", *(one.name for one in event.head)]
    same(expected.select(decides), found.select(decides))


def test_workers_keep_what_may_be_among_the_most_probable_ones() -> None:
    event = replace(some_event(), top=3)
    batch = some_matches(event, pa.string(), 5, 4)
    zeros, schema = np.zeros(4), in_workers.results_schema([event], pa.string())
    parts = [Matches.of(batch, np.array(some), zeros, "exact") for some in ([0.1, 0.5, 0.2, 0.5], [0.3, 0.5, 0.5, 0.1])]
    found = pa.Table.from_batches(result_rows(0, event, parts, schema), schema)
    assert found[on_spark.PROBABILITY].to_pylist() == [0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("confidence", [None, Confidence(0.5, strict=True), Confidence(0.5, strict=False)])
def test_what_errors_leave_of_confidence(spark: SparkSession, confidence: Confidence | None) -> None:
    cases = [(p, e) for p in (0.0, 0.25, 0.4, 0.5, 0.6, 1.0) for e in (0.0, 1e-9, 0.1, 0.25, 0.5)]
    probability, error = (np.array(some) for some in zip(*cases, strict=True))
    rows = spark.createDataFrame(pa.table({on_spark.PROBABILITY: probability, on_spark.ERROR: error}))
    found = rows.select(
        on_spark.may_reach(confidence).alias("kept"), on_spark.methods(confidence, 1e-7).alias("method")
    ).toArrow()
    assert found["kept"].to_pylist() == results.may_reach(probability, error, confidence).tolist()
    assert found["method"].to_pylist() == results.methods(probability, error, confidence, 1e-7).tolist()


def test_exact_is_rejected_in_the_same_words(spark: SparkSession) -> None:
    def problem(event: EventPlan, n_sampled: int, n_answers: int, largest: float) -> InputError:
        return InputError.of("INK0655", f"{event.name}: {n_sampled} of {n_answers}, {largest}")

    event = some_event("EXACT")
    error = np.array([0.0, 0.125, 0.25, 1e-9])
    methods = results.methods(np.full(4, 0.5), error, Confidence(0.3, strict=True), 1e-7)
    assert methods.tolist() == ["exact", "sampled", "undecided", "exact"]
    found = Matches.of(some_matches(event, pa.string(), 6, 4), np.full(4, 0.5), error, methods)
    with pytest.raises(InputError) as here:
        results.require_exact(event, error, 1e-7, problem)
    frame = frame_of(spark, event, [found], pa.string())
    with pytest.raises(InputError) as there:
        on_spark.require_exact(event, frame, problem)
    assert str(there.value) == str(here.value)
    on_spark.require_exact(event, frame.where(on_spark.named(on_spark.ERROR) < 0.1), problem)


def test_withdrawn_results_become_events(spark: SparkSession) -> None:
    event = some_event()
    tables = [result_table(event, some_matches(event, pa.string(), seed, 4), Clock.TICKS, op) for seed, op in _OPS]
    every = pa.concat_tables(tables)
    again = on_spark.retracted(spark.createDataFrame(every), "undo").toArrow()
    same(results.retracted(every, "undo"), again)


_OPS = ((7, "+"), (8, "-"))

PROGRAM = """
    STREAM Sure(id BIGINT, who STRING, n BIGINT, ok BOOLEAN, since TIMESTAMP, t TIMESTAMP) ID id KEY who TIME t;
    STREAM Seen(id STRING, who STRING, since TIMESTAMP, room STRING, t TIMESTAMP, p DOUBLE)
      ID id KEY who, since TIME t PROBABILITY p;
    STREAM Vague(id STRING, who STRING, since TIMESTAMP, t TIMESTAMP) ID id KEY who TIME t ± 2 MINUTES TICK 1 MINUTES;
    STREAM Bus(id STRING, line STRING, bus STRING, n BIGINT, t TIMESTAMP)
      ID id KEY line, bus TIME t NUMBERED BY n SEGMENTS;

    EVENT certain(a.who AS who, a.since AS since, a.ok AS ok) AS PATTERN SEQ(Sure a, Sure b) WITHIN 1 HOUR
      RETURN b.n AS n, END(b) - START(a) AS wait, END(b) AS last;
    EVENT chain(a.who AS who, a.since AS since) AS PATTERN SEQ(Vague a, Vague b) WITHIN 10 MINUTES PARTITION BY who;
    EVENT likely(a.who AS who) AS PATTERN SEQ(Vague a, Vague b) WITHIN 10 MINUTES PARTITION BY who TOP 2;
    EVENT query(who, since) AS PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'kitchen'])
      PARTITION BY who, since PER END;
    EVENT relation(line, x.bus AS one, y.bus AS other) AS PATTERN SOME Bus x INTERSECTS SOME Bus y
      HAVING x.bus < y.bus PARTITION BY line;
    EVENT worlds(s.who AS who, s.since AS since) AS PATTERN SEQ(Seen s[room = 'hall'], Vague v[who = s.who])
      WITHIN 10 MINUTES RETURN END(v) AS last, END(v) - START(s) AS wait;
"""


def at(minute: int) -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(minutes=minute)


ROWS = {
    "Sure": [
        {"id": n, "who": "a", "n": n or None, "ok": None if n else True, "since": at(n), "t": at(2 * n)}
        for n in range(3)
    ],
    "Seen": [
        {"id": f"s{n}{room}", "who": "a", "since": at(7), "room": room, "t": at(n), "p": 0.25}
        for n in range(3)
        for room in ("hall", "kitchen")
    ],
    "Vague": [{"id": f"v{n}", "who": "a", "since": at(n) if n else None, "t": at(3 * n)} for n in range(3)],
    "Bus": [
        {"id": f"{bus}{n}", "line": "l", "bus": bus, "n": n, "t": at(minute)}
        for bus, n, minute in (("x", 1, 0), ("x", 4, 20), ("y", 1, 5), ("y", 2, 9), ("y", 4, 12))
    ],
}


def test_every_kind_of_event_has_the_same_columns(spark: SparkSession) -> None:
    program = inkling.parse(PROGRAM)
    inputs = {name: pa.Table.from_pylist(rows) for name, rows in ROWS.items()}
    sampling = Sampling(epsilon=0.1, delta=0.1, seed=5)
    here = program.run_local(inputs, sampling=sampling).tables
    results = program.run(spark, inputs, partitions=2, sampling=sampling)
    there = results.collect().tables
    results.close()
    assert {len(table) > 0 for table in here.values()} == {True}
    for name, table in here.items():
        assert there[name].schema.names == table.schema.names
        assert there[name].schema.types == table.schema.types
        wanted, found = (sorted(some.to_pylist(), key=_shown) for some in (table, there[name]))
        assert list(map(_shown, found)) == list(map(_shown, wanted))
        for one, other in zip(found, wanted, strict=True):
            assert (one["probability"], one["error"]) == pytest.approx(
                (other["probability"], other["error"]), abs=1e-12
            )


def _shown(row: dict[str, object]) -> str:
    return repr({name: value for name, value in row.items() if name not in ("probability", "error")})
