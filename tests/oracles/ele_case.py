"""A worked example as a rule file: rules, events in the notation of the thesis, and the events they derive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from inkling.language.ele import ETALIS
from inkling.language.syntax import StreamDecl, TimePoint, TimeSpan
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
        streams = {s.name.text: s for s in ETALIS.parse(self.rules, self.id).statements if isinstance(s, StreamDecl)}
        rows: dict[str, list[dict[str, object]]] = {name: [] for name in streams}
        for name, args, at, start, end in _EVENT.findall(self.events):
            rows[name].append(_row(streams[name], args, int(at or start), int(at or end)))
        return rows

    def found(self, runs: Iterable[Mapping[str, pa.Table]]) -> dict[str, Derived]:
        """Everything that was found, in one run or bit by bit."""
        rows = [(name, row) for tables in runs for name in self.expected for row in tables[name].to_pylist()]
        return {
            name: in_order(
                tuple(plain(value) for column, value in row.items() if column not in _HIDDEN)
                for event, row in rows
                if event == name
            )
            for name in self.expected
        }


def in_order(derived: Iterable[tuple[object, ...]]) -> Derived:
    return sorted(derived, key=repr)


def plain(value: object) -> object:
    """Whole numbers without their point, so that integers and doubles compare."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _row(stream: StreamDecl, args: str, start: int, end: int) -> dict[str, object]:
    match stream.time:
        case TimePoint(column=column):
            assert start == end
            times: dict[str, object] = {column.text: start}
        case TimeSpan(start=first, end=last):
            times = {first.text: start, last.text: end}
        case _:
            raise AssertionError(stream)
    values = [value.strip() for value in args.split(",")] if args else []
    columns = [column for column in stream.columns if column.name.text not in times]
    pairs = zip(columns, values, strict=True)
    typed = {column.name.text: value if column.type.text == "STRING" else float(value) for column, value in pairs}
    return {**typed, **times}
