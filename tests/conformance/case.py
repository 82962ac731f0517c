"""A case: a program, its rows, and what the definition says of them; many cases packed into one program.

The streams, tables and events of a case have names that no other case has, so that programs can be put side by side
and run as one: what one case finds has nothing to do with the rows of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.naive_forecasts import Asked, Said
from tests.kit.oracle import ProbableResult, oracle, probable_oracle

import inkling
from inkling.forecasting.models.model import ForecastModel
from inkling.meaning.semantics import Result
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents
from inkling.query import Program

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Expected = Mapping[str, Sequence[Result] | Sequence[ProbableResult]]

LATENESS = 2
LONGEST = 100
TIMESTAMP = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class Forecasts:
    """A forecast, and by key and time what it says by the definition, beside the ids that it may name."""

    asked: Asked
    said: Mapping[tuple[object, int], tuple[frozenset[object], Said]]


@dataclass(frozen=True)
class Case:
    """A program and the rows of its streams.

    Rows come in pieces that have nothing to do with each other, such as keys of a program in which keys never meet: the
    definition goes through the worlds of each piece alone. Times are integers, of microseconds if `clock` says so.
    """

    name: str
    family: str
    text: str
    pieces: tuple[Rows, ...]
    tables: Rows
    others: Rows = field(default_factory=dict)  # rows of runners only: those that are no events, or are taken back
    clock: Clock = Clock.TICKS
    models: Mapping[str, ForecastModel] = field(default_factory=dict)
    forecasts: Mapping[str, Forecasts] = field(default_factory=dict)  # by event

    @cached_property
    def program(self) -> Program:
        return inkling.parse(self.text)

    @property
    def rows(self) -> Rows:
        """All pieces together."""
        names = [stream.schema.name for stream in self.program.plan.streams]
        every = (*self.pieces, self.others)
        return {name: [row for piece in every for row in piece.get(name, ())] for name in names}

    @property
    def is_certain(self) -> bool:
        return all(stream.schema.uncertainty is None for stream in self.program.plan.streams)

    @cached_property
    def expected(self) -> dict[str, list[Any]]:
        """By event, the results by the definition: certain `Result` or `ProbableResult`; none of forecasts."""
        plan = self.program.plan
        found: dict[str, list[Any]] = {event.name: [] for event in plan.shown}
        define = oracle if self.is_certain else probable_oracle
        for piece in self.pieces:
            complete = {stream.schema.name: piece.get(stream.schema.name, []) for stream in plan.streams}
            for name, results in define(plan, complete, self.tables, self.clock).items():
                if name in found:
                    found[name] += results
        return found

    def given(self) -> dict[str, pa.Table]:
        """The rows as runners get them."""
        return self._in_time(arrow_streams(self.program.plan, self.rows))

    def given_tables(self) -> dict[str, pa.Table | ForecastModel]:
        return arrow_tables(self.program.plan, self.tables) | self.models

    def __str__(self) -> str:
        rows = (f"{name}: {row}" for name, some in self.rows.items() for row in some)
        return "\n".join([f"{self.name} ({self.family})", self.text, *rows])

    def _in_time(self, given: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        if self.clock is Clock.TICKS:
            return dict(given)
        found = {}
        for stream in self.program.plan.streams:
            table = given[stream.schema.name]
            times = {column.name for column in stream.schema.columns if column.type is Type.TIME}
            for place, name in enumerate(table.column_names):
                if name in times:
                    table = table.set_column(place, name, table[name].cast(TIMESTAMP))
            found[stream.schema.name] = table
        return found


def named_apart(case: Case) -> Case:
    """The case with names of its own: its name follows the names of streams, tables, rules and events."""
    plan = inkling.parse(case.text).plan
    streams = [stream.schema.name for stream in plan.streams]
    tables = [*(table.name for table in plan.tables), *(rule.schema.name for rule in plan.rules)]
    retracted = [event.retracted_as for event in plan.events if event.retracted_as]
    every = sorted({*streams, *tables, *(event.name for event in plan.events), *retracted}, key=len, reverse=True)
    names = {name: f"{name}_{case.name}" for name in every}
    pattern = re.compile(rf"'[^']*'|(?<![\w.])({'|'.join(map(re.escape, every))})(?!\w)")
    program = re.sub(r"--[^\n]*", "", case.text)
    text = pattern.sub(lambda found: names[found[1]] if found[1] else found[0], program)

    def renamed(rows: Rows) -> Rows:
        return {names[name]: some for name, some in rows.items() if name in names}

    pieces = tuple(map(renamed, case.pieces))
    return replace(
        case,
        text=text,
        pieces=pieces,
        tables=renamed(case.tables),
        others=renamed(case.others),
        models={names[name]: model for name, model in case.models.items()},
        forecasts={names[name]: said for name, said in case.forecasts.items()},
    )


def with_ids(case: Case) -> Case:
    """The same over streams that all have ids: rows without are numbered as they come, which is not the same twice."""
    plan = inkling.parse(case.text).plan
    nameless = {stream.schema.name for stream in plan.streams if stream.schema.id is None}

    def declared(found: re.Match[str]) -> str:
        return f"STREAM {found[1]}(rid STRING, {found[2]}) ID rid" if found[1] in nameless else found[0]

    def named(place: int, piece: Rows) -> Rows:
        return {
            name: [{"rid": f"{place}-{number}", **row} for number, row in enumerate(rows)] if name in nameless else rows
            for name, rows in piece.items()
        }

    text = re.sub(r"STREAM (\w+)\(([^;)]*)\)", declared, case.text)
    return replace(case, text=text, pieces=tuple(named(place, piece) for place, piece in enumerate(case.pieces)))


def with_lateness(case: Case) -> Case:
    """The same, whose rows may come late, but for streams that say how late themselves or count their rows.

    The first row of a key with BOUNDS may show events that were lost long ago, so such a stream waits longer than it
    lasts.
    """
    plan = case.program.plan
    counting = {
        stream.schema.name for stream in plan.streams if stream.schema.id is None and not stream.schema.uncertainty
    }
    bounded = {one.schema.name for one in plan.streams if _has_bounds(one.schema.uncertainty)}
    unit = "TICKS" if case.clock is Clock.TICKS else "SECONDS"

    def late(found: re.Match[str]) -> str:
        if found[2] in counting or "LATENESS" in found[1]:
            return found[0]
        return f"{found[1]} LATENESS {LONGEST if found[2] in bounded else LATENESS} {unit};"

    return replace(case, text=re.sub(r"(STREAM (\w+)[^;]*);", late, case.text))


def _has_bounds(uncertainty: object) -> bool:
    return isinstance(uncertainty, LostEvents) and uncertainty.bounds is not None


def packed(name: str, cases: Iterable[Case]) -> Case:
    """Cases of one clock as one; what the definition says of it is what it says of each."""
    every = list(cases)
    (clock,) = {case.clock for case in every}
    rows = {name: some for case in every for name, some in case.rows.items()}
    tables = {name: some for case in every for name, some in case.tables.items()}
    models = {name: model for case in every for name, model in case.models.items()}
    text = "\n".join(case.text for case in every)
    together = Case(name, "packed", text, (rows,), tables, clock=clock, models=models)
    together.__dict__["expected"] = {event: found for case in every for event, found in case.expected.items()}
    return together
