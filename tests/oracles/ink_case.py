"""A worked example as a program: declarations, one event, its rows, and the results that it must have.

Every stream of a case has a column `w`, which the example itself does not use. It lets many cases run as one
program: each event is then partitioned by `w`, so that it sees every case's rows alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.kit.rows import Rows

from inkling import parse
from inkling.model.event import Value
from inkling.results import Results

Found = list[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """One event `x` over some rows; `columns` are those of the result that `expected` lists."""

    id: str
    streams: str
    pattern: str
    rows: Rows
    expected: Sequence[tuple[object, ...]]
    columns: tuple[str, ...] = ("start", "end")
    head: str = ""
    by: str = ""  # PARTITION BY
    tables: Rows = field(default_factory=dict)

    def event(self, name: str, head: Iterable[str], by: Iterable[str]) -> str:
        items = ", ".join(head)
        keys = ", ".join(by)
        return f"EVENT {name}({items}) AS PATTERN {self.pattern} {f'PARTITION BY {keys}' if keys else ''};"

    @property
    def own_head(self) -> list[str]:
        return [self.head] if self.head else []

    @property
    def own_keys(self) -> list[str]:
        return [self.by] if self.by else []

    @property
    def program(self) -> str:
        return f"{self.streams} {self.event('x', self.own_head, self.own_keys)}"

    def inputs(self) -> dict[str, list[dict[str, Value]]]:
        return {
            name: [{**dict.fromkeys(columns), "w": self.id, **row} for row in self.rows.get(name, [])]
            for name, columns in declared(self.streams).items()
        }

    def wanted(self) -> Found:
        return in_order(self.expected)


def declared(streams: str) -> dict[str, list[str]]:
    """The streams that a text declares, with their columns."""
    found = re.findall(r"STREAM (\w+)\((.*?)\)", streams, re.DOTALL)
    return {name: [column.split()[0] for column in columns.split(",")] for name, columns in found}


def in_order(found: Iterable[tuple[object, ...]]) -> Found:
    return sorted(found, key=repr)


def run_alone(case: Case) -> Found:
    """The results of one case in this process."""
    found = parse(case.program).run_local(case.inputs(), case.tables)
    return in_order(tuple(_plain(row[name]) for name in case.columns) for row in found.tables["x"].to_pylist())


@dataclass(frozen=True, slots=True)
class Together:
    """Cases with the same declarations as one program over all of their rows."""

    cases: tuple[Case, ...]

    @property
    def program(self) -> str:
        events = (
            case.event(f"x{number}", ["w", *case.own_head], ["w", *case.own_keys])
            for number, case in enumerate(self.cases)
        )
        return "\n".join([self.cases[0].streams, *events])

    @property
    def tables(self) -> Rows:
        return self.cases[0].tables

    def inputs(self) -> dict[str, list[dict[str, Value]]]:
        rows: dict[str, list[dict[str, Value]]] = {name: [] for name in declared(self.cases[0].streams)}
        for case in self.cases:
            for name, some in case.inputs().items():
                rows[name] += [{**row, "id": f"{case.id}/{row['id']}"} for row in some]
        return rows

    def found(self, results: Results) -> dict[str, Found]:
        """The results of each case among its own rows, by id."""
        return self.found_in({name: table.to_pylist() for name, table in results.tables.items()})

    def found_in(self, rows: Mapping[str, Iterable[Mapping[str, object]]]) -> dict[str, Found]:
        return {
            case.id: in_order(
                tuple(_plain(row[name], f"{case.id}/") for name in case.columns)
                for row in rows[f"x{number}"]
                if row["w"] == case.id
            )
            for number, case in enumerate(self.cases)
        }

    def wanted(self) -> dict[str, Found]:
        return {case.id: case.wanted() for case in self.cases}


def together(cases: Iterable[Case]) -> list[Together]:
    """Cases in groups that can run as one program."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.streams, repr(case.tables)), []).append(case)
    return [Together(tuple(group)) for group in groups.values()]


def _plain(value: object, prefix: str = "") -> object:
    if isinstance(value, list):
        return " ".join(str(one).removeprefix(prefix) for one in value)
    return value
