"""Rows of streams as they travel to workers: without columns that nobody reads or that repeat others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from inkling.analysis.lost import Relation, Side
from inkling.io.checks.acceptable import acceptable
from inkling.io.normalize import END, ID, PLACE, START
from inkling.logical import expr as e
from inkling.logical.plan import StreamPlan
from inkling.model.uncertainty import Doubt, LostEvents
from inkling.spark.worlds.checks import role_fields
from inkling.spark.worlds.rows import row_schema


@dataclass(frozen=True, slots=True)
class Carried:
    """The columns of a stream that travel to workers, and where these find the others."""

    stream: StreamPlan
    schema: pa.Schema  # of what travels
    copies: Mapping[str, str]  # columns that do not, because others hold the same
    tells_roles: bool  # the roles that lost events have are among them

    @classmethod
    def of(cls, stream: StreamPlan, relations: Sequence[Relation]) -> Carried:
        every, schema = row_schema(stream), stream.schema
        asked = set(_asked(stream, relations))
        read = {START, END, ID, *schema.key, *asked, *_paired(stream, relations), *_of_doubt(schema.doubt)}
        if schema.doubt is None and schema.id is not None:
            read |= set(every.names)  # which of several rows with one id is the event depends on all columns
        copies = _copies(stream, every, read)
        tells_roles = isinstance(schema.doubt, LostEvents) and schema.doubt.role in asked
        kept = [field for field in every if field.name in read and field.name not in {*copies, PLACE}]
        said = role_fields(schema, every) if tells_roles else []
        return cls(stream, pa.schema([*kept, *said]), copies, tells_roles)

    def holder(self, name: str) -> str:
        """The column that travels and holds the values of a column."""
        return self.copies.get(name, name)

    def ready(self, rows: pa.Table) -> pa.Table:
        """Rows that pass all checks, with all columns that somebody reads; what does not pass is told elsewhere."""
        for name, original in self.copies.items():
            rows = rows.append_column(name, rows[original])
        good, _ = acceptable(self.stream.schema, rows)
        return good


def _copies(stream: StreamPlan, every: pa.Schema, read: set[str]) -> dict[str, str]:
    schema = stream.schema
    same = {schema.start: START, schema.end: END} | ({} if schema.id is None else {schema.id: ID})
    same |= {END: START, schema.end: START} if schema.start == schema.end else {}
    kinds = {field.name: field.type for field in every if field.name in read}
    return {name: other for name, other in same.items() if name in kinds and kinds[name] == kinds[other]}


def _sides(stream: StreamPlan, relations: Sequence[Relation]) -> Iterator[tuple[Side, Relation]]:
    for relation in relations:
        yield from ((side, relation) for side in relation.sides if side.stream == stream.schema.name)


def _asked(stream: StreamPlan, relations: Sequence[Relation]) -> Iterator[str]:
    """Columns that tell which segments are compared."""
    for side, relation in _sides(stream, relations):
        yield from [] if relation.same is None else [relation.same]
        for condition in (*side.operand.leaf.conditions, *side.opens, *side.closes):
            yield from (part.column for part in e.walk(condition) if isinstance(part, e.ColumnOf | e.KeyColumn))


def _paired(stream: StreamPlan, relations: Sequence[Relation]) -> Iterator[str]:
    """Columns that tell which events open and close segments."""
    for side, _ in _sides(stream, relations):
        pairing = side.operand.pairing
        if pairing is not None:
            yield from (one.name for one in (pairing.role, pairing.number) if one is not None)


def _of_doubt(doubt: Doubt | None) -> Iterator[str]:
    """Columns that tell what was lost, and when."""
    if isinstance(doubt, LostEvents):
        columns = (doubt.number, doubt.role, doubt.count, *(doubt.bounds or ()), doubt.rate)
        yield from (name for name in columns if isinstance(name, str))
