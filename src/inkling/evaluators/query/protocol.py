"""What answers an event over probable streams, whatever it does inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from inkling.analysis.query.strategy import Strategy
from inkling.evaluators.hashes import Hashes
from inkling.logical.plan import EventPlan


class Answering(Protocol):
    """Carries a state from block to block of complete times, each later than all before."""

    @property
    def event(self) -> EventPlan: ...

    @property
    def strategy(self) -> Strategy: ...

    @property
    def engine(self) -> Any: ...

    def units(self, source: str, rows: pa.Table) -> Hashes:
        """The name of the unit to which each row of a stream belongs."""
        ...

    def start(self) -> Any: ...

    def advance(self, state: Any, tables: Mapping[str, pa.Table], *, exact: bool = False) -> tuple[Any, pa.Table]: ...
