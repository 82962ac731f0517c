"""The account of one event over given inputs: how far its pattern got, and what each of its results rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError, NotSupportedYet, nearest
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.derive import with_derived_columns
from inkling.evaluators.stage.engine import source_table
from inkling.io import Data
from inkling.io.spellings import EPOCH
from inkling.local import TakenIn, taken_in
from inkling.logical import plan as p
from inkling.logical.in_worlds import doubtful_events
from inkling.logical.instants import ends_of
from inkling.logical.text import Wording
from inkling.model.batch import Ints, MatchBatch
from inkling.model.event import Event, Value
from inkling.model.schema import Column
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.physical.runnable import Runnable
from inkling.results import result_table
from inkling.why.derivations import Past, retraced
from inkling.why.progress import Progress, progress_of
from inkling.why.questions import answers, needed_part

Shown = Value | datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a table, or a fact of a rule, that a result looked up."""

    table: str
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Derivation:
    """A row of a stream, or a result with what it rests on; times are those of the clock."""

    source: str
    values: Mapping[str, Shown]
    start: Shown
    end: Shown
    ids: tuple[Value, ...]
    parts: tuple[tuple[str | None, Derivation], ...] = ()  # each with the variable that stands for it
    facts: tuple[Fact, ...] = ()
    is_row: bool = False

    def rows(self) -> Iterator[Derivation]:
        """The rows of streams at the bottom, in the order of the lineage."""
        if self.is_row:
            yield self
        for _, part in self.parts:
            yield from part.rows()


class Why:
    """Why an event has the results that it has; made by `Program.why`."""

    def __init__(
        self, program: Runnable, event: str, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None = None
    ) -> None:
        self._event = _asked_for(event, program.plan)
        self._plan = needed_part(program.plan, self._event)
        self._given = taken_in(program, inputs, tables)

    @cached_property
    def progress(self) -> Progress:
        """How far the pattern got, part by part."""
        return progress_of(self._event, self._plan, self._given)

    @cached_property
    def results(self) -> pa.Table:
        """The results, in the public columns."""
        return result_table(self._event, self._matches[self._event.name], self._given.measure.clock)

    def results_with(self, ids: Iterable[Value]) -> list[int]:
        """The places of the results that rest on all these events, counted from 1."""
        wanted = {str(one) for one in ids}
        lineages = self._matches[self._event.name].lineage.to_pylist()
        return [place for place, ids in enumerate(lineages, start=1) if wanted <= set(map(str, ids))]

    def tree(self, number: int = 1) -> Derivation:
        """What a result rests on; results are counted from 1, in the order of `results`."""
        matches = self._matches[self._event.name]
        if not 1 <= number <= len(matches):
            raise IndexError(f"expected a result from 1 to {len(matches)}, found {number}")
        result = _results(self._event, matches.take(_row(number - 1)))[0]
        found = _Trees(self._plan, self._given, self._past(result.ids)).of_result(self._event, result, ())
        assert found is not None, "the events of a result make it"
        return found

    @cached_property
    def _matches(self) -> Mapping[str, MatchBatch]:
        return answers(self._plan, self._given)

    @cached_property
    def _rows(self) -> Mapping[str, pa.Table]:
        return {
            stream.schema.name: with_derived_columns(
                stream, self._given.sources[stream.schema.name], self._given.around
            )
            for stream in self._plan.streams
        }

    def _past(self, ids: tuple[Value, ...]) -> Past:
        """Rows that have one of the ids, and results that rest on nothing else."""
        by_source: dict[str, dict[Value, list[Event]]] = {}
        wanted = set(ids)
        for stream in self._plan.streams:
            rows = self._rows[stream.schema.name]
            kind = rows.schema.field(r.ID).type
            some = [one for one in wanted if _is_of(one, kind)]
            chosen = rows.filter(pc.is_in(rows[r.ID], pa.array(some, kind)))
            by_source[stream.schema.name] = _by_first_id(_stream_rows(stream, chosen))
        for event in self._plan.events:
            matches = self._matches[event.name]
            places = [place for place, own in enumerate(matches.lineage.to_pylist()) if wanted.issuperset(own)]
            by_source[event.name] = _by_first_id(_results(event, matches.take(_row(*places))))
        return Past(by_source)


@dataclass(frozen=True, slots=True)
class _Trees:
    plan: p.ProgramPlan
    given: TakenIn
    past: Past

    def of_result(self, event: p.EventPlan, result: Event, path: tuple[Event, ...]) -> Derivation | None:
        """The first way to come to a result that does not lead back to it."""
        for way in retraced(event, result, self.past, self.given.around):
            parts = []
            for member in way.members:
                part = self._of_member(member.event, (*path, result))
                if part is None:
                    break
                parts.append((event.slots[member.slot].name, part))
            else:
                names = Wording.of(event).lookups
                facts = tuple(Fact(names[number], dict(row)) for number, row in sorted(way.bindings.facts.items()))
                return self._shown(result, event.schema.columns, tuple(parts), facts)
        return None

    def _of_member(self, member: Event, path: tuple[Event, ...]) -> Derivation | None:
        event = self.plan.event(member.source)
        if event is None:
            stream = self.plan.stream(member.source)
            assert stream is not None
            return self._shown(member, stream.schema.columns, (), (), is_row=True)
        if member in path:
            return None
        return self.of_result(event, member, path)

    def _shown(
        self,
        event: Event,
        columns: Iterable[Column],
        parts: tuple[tuple[str | None, Derivation], ...],
        facts: tuple[Fact, ...],
        *,
        is_row: bool = False,
    ) -> Derivation:
        values = {
            column.name: self._time(value) if column.type is Type.TIME else value
            for column in columns
            if (value := event.values.get(column.name)) is not None
        }
        start, end = (self._time(edge.time) for edge in (event.start, event.end))
        return Derivation(event.source, values, start, end, event.ids, parts, facts, is_row)

    def _time(self, time: Shown) -> Shown:
        if self.given.measure.clock is Clock.TIMESTAMP and isinstance(time, int):
            return EPOCH + timedelta(microseconds=time)
        return time


def _asked_for(name: str, plan: p.ProgramPlan) -> p.EventPlan:
    event = plan.event(name)
    if event is None:
        names = [one.name for one in plan.events]
        close = nearest(name, names, n=1)
        raise InputError.of(
            "INK0561",
            f"the program has no event called `{name}`",
            notes=(f"its events are {', '.join(names)}",) if names else (),
            helps=(f"ask for `{close[0]}`",) if close else (),
        )
    if name in doubtful_events(plan):
        raise NotSupportedYet.of(
            "INK0427",
            f"`{name}` rests on an uncertain stream, of which no account is given yet",
            notes=("its matches differ from world to world",),
            helps=("the report of a run shows which events a probability rests on",),
        )
    if event.forecast is not None:
        raise NotSupportedYet.of(
            "INK0453",
            f"`{name}` is a forecast, of which no account is given yet",
            notes=("it says after each event what its model says there",),
            helps=(
                f"`inkling why` tells how far `{event.forecast.of}` got",
                "`inkling model show MODEL --forecast PROGRAM` lists what is said in each state",
            ),
        )
    return event


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


def _by_first_id(happened: list[Event]) -> dict[Value, list[Event]]:
    found: dict[Value, list[Event]] = {}
    for one in happened:
        if one.ids:
            found.setdefault(one.ids[0], []).append(one)
    return found


def _is_of(value: Value, kind: pa.DataType) -> bool:
    return isinstance(value, str) == bool(pa.types.is_string(kind))


def _row(*places: int) -> Ints:
    return np.array(places, np.int64)
