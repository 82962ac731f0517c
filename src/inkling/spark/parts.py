"""Runs the parts of an evaluator on Spark: one shuffle and one pass of Python workers for each."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from inkling.evaluators.division import IDENTITY, EvaluatorPart, EventMatches, Note, Notes, SummedPart
from inkling.evaluators.result_rows import (
    ESTIMATED,
    EVENT,
    LINEAGE,
    METHOD,
    best,
    filled,
    lineage_name,
    result_columns,
    results_schema,
)
from inkling.logical.evaluate import ExpressionContext
from inkling.results import UNDECIDED
from inkling.spark.packed import PackedEvent
from inkling.spark.partitioning import Partitioning, Pieces
from inkling.spark.results import finished
from inkling.spark.shuffle import UnionLayout, shuffled
from inkling.spark.stage_frame import named
from inkling.spark.worker import mapped

NOTE = "@note"

NO_EVENT = -1
"""The number of the event in rows that are notes."""


@dataclass(frozen=True, slots=True)
class RunNotes:
    """The notes of workers about a run; reading them runs the program, if it has not run yet."""

    frame: DataFrame
    meaning: Notes

    def text(self) -> str:
        return self.meaning.text(self._notes())

    def require(self) -> None:
        """Raise the error of an event that demands EXACT and cannot have it, as a run in this process does."""
        if self.meaning.demands and (problem := self.meaning.rejection(self._notes())) is not None:
            self.frame.unpersist()
            raise problem

    def _notes(self) -> list[Any]:
        rows = self.frame.where(named(EVENT) == NO_EVENT).select(named(NOTE)).collect()
        return [pickle.loads(bytes(row[0])) for row in rows]


@dataclass(frozen=True, slots=True)
class Frames:
    """The results of each event under internal column names; `cached` frames can be freed.

    Of `packed` events, this process can fetch the results of many in one job.
    """

    events: Mapping[str, DataFrame]
    cached: tuple[DataFrame, ...] = ()
    notes: RunNotes | None = None
    packed: Mapping[str, PackedEvent] = field(default_factory=dict)


def part_frames(
    part: EvaluatorPart, sources: Mapping[str, DataFrame], context: ExpressionContext, partitioning: Partitioning
) -> Frames:
    """Plan the results of a part.

    Nothing runs before rows are read, unless an event demands EXACT, results may need further samples, or rows are cut
    into slices of time.
    """
    rows, layout, pieces = shuffled(part, sources, context, partitioning)

    def worked(part: EvaluatorPart) -> DataFrame:
        return mapped(rows, partial(_found, part, layout, pieces), _schema(part))

    if isinstance(part, SummedPart):
        return _added_up(part, worked, partitioning)
    found = worked(part)
    may_be_rejected = any(one.not_exact is not None for one in part.finishes.values())
    if len(part.events) == 1 and not may_be_rejected and part.notes is None:
        return Frames(_events(part, found))
    found = found.persist(StorageLevel.MEMORY_AND_DISK)
    return Frames(_events(part, found), (found,), _notes(part, found))


def _added_up(part: SummedPart, sums_of: Callable[[EvaluatorPart], DataFrame], partitioning: Partitioning) -> Frames:
    """Results from the sums of all shares of worlds, with further samples where results are undecided."""

    def added(some: DataFrame, part: SummedPart) -> DataFrame:
        mine = some.where(named(EVENT) != NO_EVENT).repartition(partitioning.cores, named(EVENT), named(IDENTITY))
        return mapped(mine, partial(_sums_added, part), _results_schema(part))

    sums = sums_of(part).persist(StorageLevel.MEMORY_AND_DISK)
    notes, every = _notes(part, sums), sums
    if part.may_sample_again:
        columns = [EVENT, *(field.name for field in part.further)]
        undecided = added(sums, part).where(named(METHOD) == UNDECIDED).select(*map(named, columns))
        if (again := part.again(undecided.toArrow())) is not None:
            part, every, notes = again, sums.unionByName(sums_of(again)), _notes(again, sums)
    found = added(every, part).persist(StorageLevel.MEMORY_AND_DISK)
    return Frames(_events(part, found), (sums, found), notes)


def _notes(part: EvaluatorPart, found: DataFrame) -> RunNotes | None:
    if part.notes is None:
        return None
    notes = RunNotes(found, part.notes)
    notes.require()
    return notes


def _events(part: EvaluatorPart, found: DataFrame) -> dict[str, DataFrame]:
    frames = {}
    for number, event in enumerate(part.events):
        mine, lineage = found.where(named(EVENT) == number), lineage_name(part.ids, part.ids[event.name])
        if lineage != LINEAGE:
            mine = mine.withColumn(LINEAGE, named(lineage))
        frames[event.name] = finished(event, mine, part.finish(event))
    return frames


def _schema(part: EvaluatorPart) -> pa.Schema:
    """The columns that workers return."""
    schema = part.sums_schema if isinstance(part, SummedPart) else _results_schema(part)
    return schema if part.notes is None else schema.append(pa.field(NOTE, pa.binary()))


def _results_schema(part: EvaluatorPart) -> pa.Schema:
    return results_schema(part.events, part.ids, (*ESTIMATED, *part.further))


def _found(part: EvaluatorPart, layout: UnionLayout, pieces_of: Pieces, rows: pa.Table) -> Iterator[pa.Table]:
    """The results of all pieces of a partition."""
    pieces = pieces_of(rows)
    del rows
    for some, piece in pieces:
        arrived = [layout.tables(some)]
        del some
        yield from _tables(part, part.found(arrived.pop(), piece), _schema(part))


def _sums_added(part: SummedPart, rows: pa.Table) -> Iterator[pa.Table]:
    """The results in a partition, whose sums are added up."""
    yield from _tables(part, part.added(rows), _results_schema(part))


def _tables(
    part: EvaluatorPart, found: Iterable[EventMatches | Note | pa.Table], schema: pa.Schema
) -> Iterator[pa.Table]:
    """Results and notes as tables for Spark; with TOP, only results that may be among the most probable ones of all."""
    kept: dict[int, pa.Table] = {}
    numbers = {event.name: number for number, event in enumerate(part.events)}
    for one in found:
        if isinstance(one, pa.Table):
            yield filled(dict(zip(one.column_names, one.columns, strict=True)), schema)
            continue
        if isinstance(one, Note):
            note = pa.array([pickle.dumps(one.content)], pa.binary())
            yield filled({EVENT: pa.array([NO_EVENT], pa.int32()), NOTE: note}, schema)
            continue
        number = numbers[one.event]
        event, finish = part.events[number], part.finish(part.events[number])
        columns = result_columns(number, event, one.matches, lineage_name(part.ids, part.ids[one.event]))
        table = filled({**columns, **one.further}, schema)
        if event.top is None or finish.negligible is not None or not finish.is_ranked:
            yield table
        else:
            kept[number] = best([kept[number], table] if number in kept else [table], event.top, schema)
    yield from kept.values()
