"""Derivation trees: a result with the events that it is derived from, down to rows of streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage.engine import source_table
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.derive import with_derived_columns
from inkling.io.spellings import EPOCH
from inkling.knowledge.proofs import Fact, Proofs
from inkling.local import IngestedInputs
from inkling.logical import plan as p
from inkling.logical.patterns.allen import ends_of
from inkling.model.batch import Ints, MatchBatch
from inkling.model.event import Event, Value
from inkling.model.schema import Column
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.why.derivations import Past, facts_of, retraced

Shown = Value | datetime


@dataclass(frozen=True, slots=True)
class Derivation:
    """A node of a derivation tree: a row of a stream, or a result with its parts; times are in the unit of the clock.

    The id of a lost event is None.
    """

    source: str
    values: Mapping[str, Shown]
    start: Shown
    end: Shown
    ids: tuple[Value, ...]
    parts: tuple[tuple[str | None, Derivation], ...] = ()  # each with its event variable
    facts: tuple[Fact, ...] = ()
    is_row: bool = False

    def rows(self) -> Iterator[Derivation]:
        """The leaves: rows of streams, in the order of the lineage."""
        if self.is_row:
            yield self
        for _, part in self.parts:
            yield from part.rows()


@dataclass(frozen=True, slots=True)
class Trees:
    """Derivations of the results of a certain program.

    In a world of an uncertain program, events have internal ids and a sub-tick clock: `named` gives the input id of an
    event, `columns` the columns of an input, and `scale` the number of sub-ticks per tick.
    """

    plan: p.ProgramPlan
    ingested: IngestedInputs
    matches: Mapping[str, MatchBatch]
    columns: Mapping[str, tuple[Column, ...]]
    proofs: Proofs
    named: Callable[[Value], Value] = lambda one: one
    scale: int = 1

    def of(self, event: p.EventPlan, place: int) -> Derivation:
        """The derivation tree of a match, by its number from 0."""
        result = _results(event, self.matches[event.name].take(_row(place)))[0]
        found = self._of_result(event, result, (), self._past(result.ids))
        assert found is not None, "a result has a derivation"
        return found

    def _of_result(self, event: p.EventPlan, result: Event, path: tuple[Event, ...], past: Past) -> Derivation | None:
        """The first derivation of a result that does not contain the result itself (recursion)."""
        for derivation in retraced(event, result, past, self.ingested.context):
            parts = []
            for member in derivation.members:
                part = self._of_member(member.event, (*path, result), past)
                if part is None:
                    break
                parts.append((event.slots[member.slot].name, part))
            else:
                looked_up = facts_of(event, derivation.bindings, self.ingested.context)
                facts = tuple(self.proofs.of(table, row) for table, row in looked_up)
                return self._shown(result, tuple(parts), facts)
        return None

    def _of_member(self, member: Event, path: tuple[Event, ...], past: Past) -> Derivation | None:
        event = self.plan.event(member.source)
        if event is None:
            return self._shown(member, (), (), is_row=True)
        if member in path:
            return None
        return self._of_result(event, member, path, past)

    def _shown(
        self,
        event: Event,
        parts: tuple[tuple[str | None, Derivation], ...],
        facts: tuple[Fact, ...],
        *,
        is_row: bool = False,
    ) -> Derivation:
        scale = 1 if is_row else self.scale  # columns of rows are not scaled to sub-ticks
        values = {
            column.name: self._value(value, column.type, scale)
            for column in self.columns[event.source]
            if (value := event.values.get(column.name)) is not None
        }
        start, end = (self._value(edge.time, Type.TIME, self.scale) for edge in (event.start, event.end))
        ids = tuple(self.named(one) for one in event.ids)
        return Derivation(event.source, values, start, end, ids, parts, facts, is_row)

    def _value(self, value: Value, kind: Type, scale: int) -> Shown:
        if kind not in (Type.TIME, Type.DURATION) or not isinstance(value, int):
            return value
        if kind is Type.TIME and self.ingested.unit.clock is Clock.TIMESTAMP:
            return EPOCH + timedelta(microseconds=value // scale)
        return value // scale if value % scale == 0 else round(value / scale, 2)

    def _past(self, ids: tuple[Value, ...]) -> Past:
        """The rows with one of the ids, and the results that depend on no other ids."""
        by_source: dict[str, dict[Value, list[Event]]] = {}
        wanted = set(ids)
        for stream in self.plan.streams:
            name = stream.schema.name
            rows = with_derived_columns(stream, self.ingested.sources[name], self.ingested.context)
            kind = rows.schema.field(r.ID).type
            some = [one for one in wanted if isinstance(one, str) == bool(pa.types.is_string(kind))]
            chosen = rows.filter(pc.is_in(rows[r.ID], pa.array(some, kind)))
            by_source[name] = _by_first_id(_stream_rows(stream, chosen))
        for event in self.plan.events:
            matches = self.matches[event.name]
            places = [place for place, own in enumerate(matches.lineage.to_pylist()) if wanted.issuperset(own)]
            by_source[event.name] = _by_first_id(_results(event, matches.take(_row(*places))))
        return Past(by_source)


def columns_of(program: p.ProgramPlan) -> dict[str, tuple[Column, ...]]:
    """The columns of every source of a program."""
    streams = {stream.schema.name: tuple(stream.schema.columns) for stream in program.streams}
    return streams | {event.name: tuple(event.schema.columns) for event in program.events}


def _stream_rows(stream: p.StreamPlan, rows: pa.Table) -> list[Event]:
    names = [column.name for column in stream.schema.columns if column.name in rows.column_names]
    return [
        Event(stream.schema.name, (row[r.ID],), *ends_of(row[r.START], row[r.END]), {name: row[name] for name in names})
        for row in rows.to_pylist()
    ]


def _results(event: p.EventPlan, matches: MatchBatch) -> list[Event]:
    names = [column.name for column in event.schema.columns]
    return [
        Event(event.name, tuple(row[r.IDS]), *ends_of(row[r.START], row[r.END]), {name: row[name] for name in names})
        for row in source_table(matches).to_pylist()
    ]


def _by_first_id(happened: Iterable[Event]) -> dict[Value, list[Event]]:
    found: dict[Value, list[Event]] = {}
    for one in happened:
        if one.ids:
            found.setdefault(one.ids[0], []).append(one)
    return found


def _row(*places: int) -> Ints:
    return np.array(places, np.int64)
