"""The protocol of machines that can be replayed: steps over rows, by evaluators whose states can be split and merged.

`Rounding` keeps emitted estimates unchanged if a replay computes them with a rounding difference only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.open_matches import OpenMatch
from inkling.model.hashes import Hashes, combined
from inkling.model.runs import changes, places_in_runs
from inkling.model.schema import StreamSchema
from inkling.runtime.buffered import Buffered, BufferedState
from inkling.runtime.revision.contents import content_hashes


@dataclass(frozen=True, slots=True)
class Rounding:
    """Columns with estimates, and the tolerance below which two estimates are the same."""

    columns: tuple[str, ...] = ()
    tolerance: float = 0.0

    def as_emitted(self, old: pa.Table, new: pa.Table, others: list[str]) -> pa.Table:
        """New rows with the estimates of old rows that agree in all other columns and differ within the tolerance."""
        estimates = [name for name in self.columns if name in new.column_names]
        if not estimates or not len(old) or not len(new):
            return new
        rest = [name for name in others if name not in estimates]
        mine, theirs = (_counted(content_hashes(rows, rest), rows[estimates[0]].to_numpy()) for rows in (new, old))
        order = np.argsort(theirs)
        place = order[np.minimum(np.searchsorted(theirs[order], mine), len(order) - 1)]
        alike = theirs[place] == mine
        estimated = {name: (new[name].to_numpy(), old[name].to_numpy()[place]) for name in estimates}
        for now, before in estimated.values():
            alike &= np.isclose(now, before, rtol=0, atol=self.tolerance, equal_nan=True)
        for name, (now, before) in estimated.items():
            where = new.column_names.index(name)
            new = new.set_column(where, new.schema.field(name), pa.array(np.where(alike, before, now)))
        return new


EXACT = Rounding()


def _counted(codes: Hashes, estimates: NDArray[np.float64]) -> Hashes:
    """Codes that also distinguish rows with equal codes, by the order of their estimates."""
    order = np.lexsort((estimates, codes))
    place = np.empty(len(order), np.uint64)
    place[order] = places_in_runs(changes(codes[order]))
    return combined(codes, place)


Rows = Mapping[str, pa.Table]
"""Rows by the name under which a machine ingests them, or results by event."""

Times = NDArray[np.int64]
Owners = NDArray[np.uint64]
"""Hashes of partition keys; results of different keys are independent."""

OWNER = "@owner"
"""Column with the hash of the partition key of a row or result."""

LATE = "@late"
"""Under this name, rows that are too late because lost events before them are decided; kept like results."""

STEP_TIME = "@step_time"
"""Column with the watermark of the step that ingested a row or emitted a result."""


@dataclass(frozen=True, slots=True)
class StepResults:
    """The results of a step by event, each with its owner, and its rejects."""

    results: Rows
    rejects: pa.Table


class ReplayMachine(Protocol):
    """Steps over complete rows; the results of all steps do not depend on how rows are cut into steps.

    `advance` may change its state in place; a state copied by `live` is not changed by steps of the original.
    """

    @property
    def live(self) -> Buffered:
        """The evaluators, which also split, merge, copy and write the states."""
        ...

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        """Streams whose rows may be reported under the name `LATE`."""
        ...

    @property
    def rounding(self) -> Rounding:
        """The columns of results that depend, by rounding, on how rows are cut into steps."""
        ...

    @property
    def is_read_by_others(self) -> bool:
        """Whether other operators may read its results."""
        ...

    def start(self) -> BufferedState: ...

    def advance(self, state: BufferedState, rows: Rows, until: int) -> tuple[BufferedState, StepResults]:
        """Ingests rows after the time of the last step and not after `until`."""
        ...

    def times(self, name: str, rows: pa.Table) -> Times:
        """The time at which each row is ingested."""
        ...

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """The identity of each row as a hash, and whether a withdrawal removes all rows of that identity or one."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether states can be split by key."""
        ...

    def owners(self, name: str, rows: pa.Table) -> Owners: ...

    def watermark(self, state: BufferedState) -> int: ...

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        """Results of an event in the public columns."""
        ...

    def open_matches(
        self, state: BufferedState, waiting: Rows, latest: Mapping[str, int], event: str
    ) -> list[OpenMatch]:
        """The open matches of an event, given also the buffered rows."""
        ...
