"""The protocol of a machine that can be replayed: it steps over rows, and its state can be copied, split and merged.

Emitted estimates stay as they are where new ones differ by rounding only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes, combined
from inkling.evaluators.open_matches import OpenMatch
from inkling.model.schema import StreamSchema
from inkling.runtime.revision.contents import content_hashes


@dataclass(frozen=True, slots=True)
class Rounding:
    """Columns with numbers that differ a little when rows are ingested in other steps."""

    columns: tuple[str, ...] = ()
    tolerance: float = 0.0

    def as_emitted(self, old: pa.Table, new: pa.Table, others: list[str]) -> pa.Table:
        """New rows, with the numbers of old ones that are the same in `others` and as good as the same in these."""
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
    """Codes that distinguish rows that are alike, in the order of what is estimated."""
    order = np.lexsort((estimates, codes))
    begins = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1]))
    lengths = np.diff(np.append(begins, len(order)))
    place = np.empty(len(order), np.uint64)
    place[order] = np.arange(len(order)) - np.repeat(begins, lengths)
    return combined(codes, place)


Rows = Mapping[str, pa.Table]
"""Rows by the name under which a machine ingests them, or results by event."""

Times = NDArray[np.int64]
Owners = NDArray[np.uint64]
"""Hashes of partition keys: nothing that happens to one key changes what is found for another."""

OWNER = "@owner"

LATE = "@late"
"""Rows that arrive too late with losses before them; kept like results, since a replay finds others."""

STEP_TIME = "@step_time"
"""The time up to which the machine has ingested rows when it ingests a row or emits a result."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class StepResults:
    """The results of a step by event, each with its owner, and its rejects."""

    results: Rows
    rejects: pa.Table


class ReplayMachine(Protocol[S]):
    """Steps over rows whose time has come. What all steps find together does not depend on how rows are cut into them.

    `advance` may use up the state it is given; `copied` makes one that it does not touch.
    """

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        """Streams of which rows may be found late, under the name `LATE`."""
        ...

    @property
    def rounding(self) -> Rounding:
        """Numbers in results that come out a little differently if rows are cut otherwise."""
        ...

    @property
    def is_read_by_others(self) -> bool:
        """Whether other operators may read its results."""
        ...

    def start(self) -> S: ...

    def advance(self, state: S, rows: Rows, until: int) -> tuple[S, StepResults]:
        """Ingest all rows whose time is after that of the last step and not after `until`."""
        ...

    def times(self, name: str, rows: pa.Table) -> Times:
        """The time at which each row is ingested."""
        ...

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """Hashes of what makes a row that row, and whether a withdrawal means all rows with that identity or one."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether keys can be kept apart."""
        ...

    def owners(self, name: str, rows: pa.Table) -> Owners: ...

    def copied(self, state: S) -> S: ...

    def split(self, state: S, owners: Owners) -> tuple[S, S]:
        """The state of the keys with these hashes, and the state of all other keys."""
        ...

    def merge(self, left: S, right: S) -> S:
        """One state of two that hold different keys and have come to the same moment."""
        ...

    def watermark(self, state: S) -> int: ...

    def n_kept(self, state: S) -> int:
        """The approximate number of rows, open matches and numbers in a state."""
        ...

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        """Results of an event in the public columns."""
        ...

    def open_matches(self, state: S, waiting: Rows, latest: Mapping[str, int], event: str) -> list[OpenMatch]:
        """What has begun and may still be completed, also with rows that wait for their time."""
        ...

    def to_bytes(self, state: S) -> bytes: ...

    def from_bytes(self, data: bytes) -> S: ...
