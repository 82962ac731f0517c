"""The two keys of a relation between segments, as lines of a plot: recorded and lost ends of segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from inkling.analysis.relation import RelationOperand, SegmentRelation, relation_of
from inkling.evaluators.hashes import labels_of
from inkling.evaluators.relation.intensity import CumulativeIntensity
from inkling.evaluators.relation.operands import OperandKeys, RelationContext, keys_of
from inkling.local import IngestedInputs, ingest
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan
from inkling.model.uncertainty import LostEvents
from inkling.query import Program
from inkling.report.data import SegmentsRow
from inkling.report.examined import MOST_ROWS, is_at_hand
from inkling.report.lost_ends import ends_of

if TYPE_CHECKING:
    from inkling.io import Data

MOST_SEGMENTS = 500
"""The most segments of a key in a plot; more cannot be distinguished."""

Related: TypeAlias = Mapping[tuple[str, int], tuple[SegmentsRow, SegmentsRow]]
"""By the name of the event and the row in its table."""


def related_keys(
    program: Program,
    chosen: Mapping[str, pa.Table],
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None,
    n_rows: int,
) -> Related:
    """The keys of the chosen results, unless this process cannot read the inputs or the head does not show the keys."""
    relations = {event.name: _relation(event, program.plan) for event in program.plan.shown}
    asked = {name: one for name, one in relations.items() if one is not None and chosen[name].num_rows}
    if not asked or n_rows > MOST_ROWS or not all(is_at_hand(data) for data in inputs.values()):
        return {}
    ingested = ingest(program, inputs, tables)
    return {
        (name, place): lines
        for name, relation in asked.items()
        for place, lines in _lines(relation, program.plan, ingested, chosen[name])
    }


def _relation(event: EventPlan, program: ProgramPlan) -> SegmentRelation | None:
    """The relation of an event, if its operands are segments with sequence numbers or certain segments, else None."""
    found = relation_of(event, program).conclusion
    pattern = event.pattern
    if found is not None or not isinstance(pattern, p.Quantified):
        return found
    same = None if pattern.same is None else pattern.same.name
    for operand in (pattern.left, pattern.right):
        stream = program.stream(operand.leaf.sources[0])
        if stream is None or stream.schema.uncertainty is not None or operand.leaf.conditions or operand.leaf.atoms:
            return None
        if same in {column.name for column in stream.derived}:
            return None
    left, right = (RelationOperand(operand, operand.leaf.sources[0]) for operand in (pattern.left, pattern.right))
    return SegmentRelation(event, left, right, pattern.relations, same)


def _lines(
    relation: SegmentRelation, program: ProgramPlan, ingested: IngestedInputs, table: pa.Table
) -> Iterator[tuple[int, tuple[SegmentsRow, SegmentsRow]]]:
    left, right = (_Keys.of(side, relation, program, ingested) for side in relation.operands)
    if left is None or right is None:
        return
    for place, row in enumerate(table.to_pylist()):
        one, other = left.line(row), right.line(row)
        if one is not None and other is not None:
            yield place, (one, other)


@dataclass(frozen=True)
class _Keys:
    """The keys of one operand, and the columns of results that distinguish them."""

    keys: OperandKeys
    shown_as: tuple[str, ...]
    labels: Mapping[int, str]
    axis: CumulativeIntensity | None
    _drawn: dict[int, SegmentsRow | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, side: RelationOperand, relation: SegmentRelation, program: ProgramPlan, ingested: IngestedInputs
    ) -> _Keys | None:
        """The keys, or None if the head does not show all columns of the KEY."""
        stream = program.stream(side.stream)
        assert stream is not None
        shown = [_output_of(relation.event, side.slot, column.name) for column in side.declared.key]
        shown_columns = tuple(name for name in shown if name is not None)
        if len(shown_columns) < len(shown):
            return None
        context = RelationContext(ingested.context, ingested.facts, ingested.unit)
        keys = keys_of(side, stream.schema, ingested.sources[side.stream], relation.same, context, None)
        return cls(keys, shown_columns, _labels(stream, relation.same, ingested), _axis(stream, ingested))

    def line(self, row: Mapping[str, object]) -> SegmentsRow | None:
        key = self._places.get(tuple(row[name] for name in self.shown_as))
        if key is None:
            return None
        if key not in self._drawn:
            self._drawn[key] = self._line(key, " ".join(str(row[name]) for name in self._distinguishing))
        return self._drawn[key]

    @cached_property
    def _places(self) -> dict[tuple[object, ...], int]:
        columns = [column.to_pylist() for column in self.keys.values.values()]
        return {key: place for place, key in enumerate(zip(*columns, strict=True))}

    @cached_property
    def _distinguishing(self) -> list[str]:
        """The shown columns in which keys differ."""
        differ = [len(column.unique()) > 1 for column in self.keys.values.values()]
        return [name for name, differs in zip(self.shown_as, differ, strict=True) if differs] or list(self.shown_as)

    def _line(self, key: int, name: str) -> SegmentsRow | None:
        lists = self.keys.lists
        mine = slice(lists.segments[key], lists.segments[key + 1])
        if mine.stop - mine.start > MOST_SEGMENTS:
            return None
        ends = ends_of(lists, key, self.axis)
        places = zip(lists.opening[mine].tolist(), lists.closing[mine].tolist(), strict=True)
        labels = tuple(self.labels.get(label, "") for label in lists.label[mine].tolist()) if self.labels else ()
        return SegmentsRow(name, tuple((ends[opening], ends[closing]) for opening, closing in places), labels)


def _output_of(event: EventPlan, slot: int, column: str) -> str | None:
    """The column of results with a key column of one operand."""
    for output in event.head:
        match output.expr:
            case e.ColumnOf(slot=shown, column=name) if (shown, name) == (slot, column):
                return output.name
            case e.KeyColumn(column=name) if name == column:
                return output.name
            case _:
                pass
    return None


def _axis(stream: StreamPlan, ingested: IngestedInputs) -> CumulativeIntensity | None:
    """The intensity of a stream that declares one."""
    uncertainty = stream.schema.uncertainty
    if not isinstance(uncertainty, LostEvents) or uncertainty.intensity is None:
        return None
    return CumulativeIntensity.of(uncertainty.intensity, ingested.facts[uncertainty.intensity])


def _labels(stream: StreamPlan, same: str | None, ingested: IngestedInputs) -> dict[int, str]:
    """The texts of the labels that `ON SAME` compares, by number."""
    if same is None:
        return {}
    rows, uncertainty = ingested.sources[stream.schema.name], stream.schema.uncertainty
    columns = [rows[same].combine_chunks()]
    if (
        isinstance(uncertainty, LostEvents)
        and uncertainty.known is not None
        and same in ingested.facts[uncertainty.known].column_names
    ):
        columns.append(ingested.facts[uncertainty.known][same].combine_chunks().cast(columns[0].type))
    values = pc.drop_null(pc.unique(pa.concat_arrays(columns)))
    return dict(zip(labels_of(values).tolist(), (str(value) for value in values.to_pylist()), strict=True))
