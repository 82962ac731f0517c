"""The protocol of operators: a state, and a step that ingests rows and watermarks.

The driver in one process and the stateful operators of a streaming query know this protocol and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.model.batch import MatchBatch
from inkling.model.watermarks import Watermarks
from inkling.runtime.routing import RoutedRows

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Onward:
    """Rows of a stream or of a derived event, for the operators that read it."""

    source: str
    rows: MatchBatch | pa.Table
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Emitted:
    """The output of a step: results, late rows (in time units) and rejects, and rows for other operators."""

    late: pa.Table
    rejects: pa.Table
    matches: Mapping[str, MatchBatch] = field(default_factory=dict)  # results of certain events, as they are found
    tables: Mapping[str, pa.Table] = field(default_factory=dict)  # other results in the public columns
    onward: Sequence[Onward] = ()
    watermarks: Watermarks = field(default_factory=Watermarks)  # in place of those that a guard has received


class StreamOperator(Protocol[State]):
    """Compiled once, used for any number of states; a step may change its state in place."""

    @property
    def address(self) -> int: ...

    def start(self) -> State: ...

    def step(self, state: State, parts: Sequence[RoutedRows], watermarks: Watermarks) -> tuple[State, Emitted]:
        """Ingest added and withdrawn rows, advance the clocks, and emit results."""
        ...

    def watermark(self, state: State) -> int:
        """The time up to which all results were emitted."""
        ...

    def newest(self, state: State) -> Mapping[str, int]:
        """The time of the latest row of each stream that had rows."""
        ...

    def n_kept(self, state: State) -> int:
        """The approximate number of rows, open matches and numbers in a state."""
        ...

    def reconfigured(self, state: State) -> State:
        """The state with the current windows of the program."""
        ...

    def migrated(self, state: State, before: Any) -> State:
        """The migrated state of the operator at the same address in the replaced program."""
        ...

    def open_matches(self, state: State, event: str) -> list[OpenMatch]:
        """The open matches of an event that it answers."""
        ...

    def to_bytes(self, state: State) -> bytes: ...

    def from_bytes(self, data: bytes) -> State: ...


def by_name(
    parts: Sequence[RoutedRows], name_of_stage_rows: str = ""
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """Rows of parts by stream: those that were added, and those that were withdrawn."""
    added: dict[str, list[pa.Table]] = {}
    withdrawn: dict[str, list[pa.Table]] = {}
    for part in parts:
        which = withdrawn if part.withdrawn else added
        which.setdefault(part.stream or name_of_stage_rows, []).append(part.rows)
    one, other = ({name: pa.concat_tables(some) for name, some in which.items()} for which in (added, withdrawn))
    return one, other
