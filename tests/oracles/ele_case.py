"""A worked example as a rule file: rules, events in the notation of the thesis, and the events they derive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from inkling.language.ele import ETALIS
from inkling.language.syntax import Program as Syntax
from inkling.language.syntax import StreamDecl, TimeBetween, TimePoint, TimeSpan
from inkling.query import Program, parse

Derived = list[tuple[object, ...]]

_EVENT = re.compile(r"(\w+)(?:\(([^)]*)\))?(?:@(-?\d+)|\[(-?\d+),(-?\d+)\])")
_HIDDEN = {"event", "detected_at", "probability", "method", "error", "op", "lineage"}


@dataclass(frozen=True, slots=True)
class RuleCase:
    """Rules, events such as `a(1)@3 b[1,5]`, and every derived event as its arguments, start and end."""

    id: str
    rules: str
    events: str
    expected: Mapping[str, Sequence[tuple[object, ...]]]

    @property
    def program(self) -> Program:
        return parse(self.rules, name=f"{self.id}.ele")

    def wanted(self) -> dict[str, Derived]:
        return {name: in_order(rows) for name, rows in self.expected.items()}

    def inputs(self) -> dict[str, list[dict[str, object]]]:
        """Rows of every stream of the rules."""
        return rows_of(ETALIS.parse(self.rules, self.id), self.events)

    def found(self, runs: Iterable[Mapping[str, pa.Table]]) -> dict[str, Derived]:
        """Everything that was found, in one run or bit by bit."""
        return found_in(runs, self.expected)


def rows_of(program: Syntax, events: str) -> dict[str, list[dict[str, object]]]:
    """Rows of every stream of a program, from `a(1)@3 b(x,2)[1,5]`."""
    streams = {stream.name.text: stream for stream in program.statements if isinstance(stream, StreamDecl)}
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in streams}
    for name, args, at, start, end in _EVENT.findall(events):
        rows[name].append(_row(streams[name], args, int(at or start), int(at or end)))
    return rows


def found_in(
    runs: Iterable[Mapping[str, pa.Table]], names: Iterable[str], columns: Sequence[str] = ()
) -> dict[str, Derived]:
    """The results of some events, in one run or in several: values of the head, start and end, or of these columns."""
    rows = [(name, row) for tables in runs for name in names for row in tables[name].to_pylist()]
    return {
        name: in_order(
            tuple(plain(row[column]) for column in columns or [column for column in row if column not in _HIDDEN])
            for event, row in rows
            if event == name
        )
        for name in names
    }


def time_columns(stream: StreamDecl) -> tuple[str, str]:
    """The columns in which an event starts and ends."""
    match stream.time:
        case TimePoint(column=column):
            return column.text, column.text
        case TimeSpan(start=first, end=last) | TimeBetween(lo=first, hi=last):
            return first.text, last.text
        case _:
            raise AssertionError(stream)


def in_order(derived: Iterable[tuple[object, ...]]) -> Derived:
    return sorted(derived, key=repr)


def plain(value: object) -> object:
    """Whole numbers without their point, so that integers and doubles compare."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _row(stream: StreamDecl, args: str, start: int, end: int) -> dict[str, object]:
    first, last = time_columns(stream)
    assert first != last or start == end
    times: dict[str, object] = {first: start, last: end}
    values = [value.strip() for value in args.split(",")] if args else []
    columns = [column for column in stream.columns if column.name.text not in times]
    pairs = zip(columns, values, strict=True)
    typed = {column.name.text: value if column.type.text == "STRING" else float(value) for column, value in pairs}
    return {**typed, **times}
