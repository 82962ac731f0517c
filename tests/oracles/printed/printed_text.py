"""A program or query as it is printed in a paper, with a small input and its answer, worked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from tests.oracles.ele_case import Derived, found_in, in_order, rows_of

from inkling.query import Program, parse

Rows = Mapping[str, Sequence[Mapping[str, object]]]


@dataclass(frozen=True, slots=True)
class PrintedText:
    """A text of a paper. Without `found` it is rejected, with the message in `refusals/PAPER/ID.txt`."""

    id: str  # unique within its paper
    place: str  # section and number of the text
    text: str  # in plain characters, subscripts as digits
    ending: str  # of the notation: `.ele`, `.sre`, `.ink` …
    setting: str = ""  # what the paper says in prose: types of streams, length of a tick
    events: str = ""  # `a(1)@3 b(x,2)[1,5]`: values of the declared columns, and times
    rows: Rows = field(default_factory=dict)  # of streams, in place of `events`
    tables: Rows = field(default_factory=dict)
    found: Mapping[str, Sequence[tuple[object, ...]]] | None = None  # values of the head, start, end
    columns: tuple[str, ...] = ()  # of the results, in place of those in `found`
    by_definition: bool = True  # compared with the definition on certain streams too
    misprint: str = ""  # what is printed, and why the text here differs

    @property
    def program(self) -> Program:
        return parse(f"{self.setting}\n{self.text}", name=f"{self.id}{self.ending}")

    def wanted(self) -> dict[str, Derived]:
        assert self.found is not None
        return {name: in_order(rows) for name, rows in self.found.items()}

    def inputs(self, program: Program) -> dict[str, list[dict[str, object]]]:
        """Rows of every stream of the program."""
        if self.rows:
            return {name: [dict(row) for row in rows] for name, rows in self.rows.items()}
        return rows_of(program.syntax, self.events)

    def results(self, runs: Sequence[Mapping[str, pa.Table]]) -> dict[str, Derived]:
        """What was found, in one run or in several."""
        assert self.found is not None
        return found_in(runs, self.found, self.columns)
