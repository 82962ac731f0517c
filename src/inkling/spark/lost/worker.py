"""What a Python worker does with rows of whole groups of keys: it compares its share of them with all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.lost.evaluator import Found, RelationEvaluator, Sides
from inkling.evaluators.lost.sides import Keys
from inkling.lost.program import LostProgram
from inkling.lost.results import matches_of
from inkling.lost.run import told
from inkling.results import ROUNDING, Matches, refused
from inkling.spark.lost.rows import Carried
from inkling.spark.lost.shares import Share, shares_of
from inkling.spark.results import result_rows
from inkling.spark.worlds.rows import Layout

IDS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class RelationTask:
    """Everything a worker needs to answer relations that share a shuffle."""

    program: LostProgram
    events: tuple[str, ...]
    carried: tuple[Carried, ...]
    layout: Layout
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    schema: pa.Schema  # of the results

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = [batch for batch in batches if batch.num_rows]
        if not gathered:
            return
        rows = pa.Table.from_batches(gathered).rename_columns(list(self.columns))
        gathered.clear()
        for share in shares_of(rows):
            arrived = self.layout.tables(share.rows)
            ready = {one.stream.schema.name: one.ready(arrived[one.stream.schema.name]) for one in self.carried}
            for number, name in enumerate(self.events):
                evaluator = self.program.evaluators[name]
                sides = evaluator.sides(ready)
                found = self._answers(evaluator, sides, share)
                yield from result_rows(number, evaluator.event, found, self.schema)

    def _answers(self, evaluator: RelationEvaluator, sides: Sides, share: Share) -> Iterator[Matches]:
        """Answers; where EXACT cannot be had, those that were sampled, for who complains about it."""
        keys, name = sides.left, evaluator.event.name
        columns = tuple(column.name for column in evaluator.relation.left.operand.key)
        chosen = share.keys(np.diff(keys.lists.begins), keys.hashes(columns))
        for ones, others in evaluator.pairs(sides, chosen):
            found = evaluator.found(sides, ones, others)
            sampled = refused(evaluator.event, found.error, ROUNDING)
            found = found.where(sampled) if sampled.any() else told(evaluator, sides, ones, others, found)
            for some in _portions(found, keys):
                yield matches_of(evaluator, sides, some, self.program.id_types[name])


def _portions(found: Found, keys: Keys) -> Iterator[Found]:
    """The same answers, some at a time: each names all events of its left key."""
    place = np.cumsum(np.diff(keys.lists.begins)[found.ones]) // IDS_AT_ONCE
    for number in np.unique(place):
        yield found.where(place == number)
