"""What can be revised: something that steps through time over rows, and can go back to where it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.open_matches import OpenMatch
from inkling.model.schema import StreamSchema
from inkling.runtime.revision.rounding import Rounding

Rows = Mapping[str, pa.Table]
"""Rows by the name under which a machine takes them in, or results by event."""

Times = NDArray[np.int64]
Owners = NDArray[np.uint64]
"""Hashes of partition keys: nothing that happens to one key changes what is found for another."""

OWNER = "@owner"

STAGE_ROWS = "@rows"
"""The name of rows that come prepared for a stage; others come under the name of their stream."""

LATE = "@late"
"""Rows that tell too late of events that were lost before them; found like results, since going back finds others."""

GIVEN = "@given"
"""Up to which time the machine went when it took in a row, or told a result."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Found:
    """What a machine found in a step: results by event, each with its owner; rejects."""

    results: Rows
    rejects: pa.Table


class Machine(Protocol[S]):
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

    def advance(self, state: S, rows: Rows, until: int) -> tuple[S, Found]:
        """Take in all rows whose time is after that of the last step and not after `until`."""
        ...

    def times(self, name: str, rows: pa.Table) -> Times:
        """When each row is to be taken in."""
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

    def only(self, state: S, owners: Owners) -> S:
        """What is remembered of these keys, in a state of its own."""
        ...

    def without(self, state: S, owners: Owners) -> S:
        """What is remembered of all other keys, in a state of its own."""
        ...

    def joined(self, one: S, other: S) -> S:
        """Two states of different keys together."""
        ...

    def watermark(self, state: S) -> int: ...

    def n_kept(self, state: S) -> int:
        """About how many rows, open matches and numbers a state holds."""
        ...

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        """Results of an event in the public columns."""
        ...

    def open_matches(self, state: S, waiting: Rows, latest: Mapping[str, int], event: str) -> list[OpenMatch]:
        """What has begun and may still be completed, also with rows that wait for their time."""
        ...

    def to_bytes(self, state: S) -> bytes: ...

    def from_bytes(self, data: bytes) -> S: ...
