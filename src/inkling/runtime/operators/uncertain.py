"""The operator of events over uncertain streams without revision: one state per cohort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators import state as codec
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.format import concatenated
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.rewrites.in_worlds import uncertain_part
from inkling.model.schema import StreamSchema
from inkling.model.time import TimeUnit
from inkling.model.watermarks import Watermarks, newest_of
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.buffered import BufferedState
from inkling.runtime.operators.protocol import Emitted, by_name
from inkling.runtime.registry import Maker
from inkling.runtime.routing import UNCERTAIN, RoutedRows
from inkling.runtime.uncertain import Cohort, UncertainProgram, watermarks_of

States = tuple[BufferedState, ...]
"""One state per cohort."""


class UncertainOperator:
    """The cohorts of a program. The oldest cohort that reads a stream reports its late and rejected rows."""

    def __init__(
        self,
        plan: PhysicalPlan,
        cohorts: Sequence[Cohort],
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        unit: TimeUnit,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
    ) -> None:
        self.part = uncertain_part(plan.program)
        self.key = common_key(self.part).conclusion  # divides rows and states
        self.streams: dict[str, StreamSchema] = {}
        self._numbers, self.live = [one.number for one in cohorts], []
        for one in cohorts:
            live = UncertainProgram(plan, tables, context, unit, sampling, makers, one, frozenset(self.streams))
            self.live.append(live)
            self.streams |= live.streams
        self._scale = max(one.scale for one in self.live)

    @property
    def address(self) -> int:
        return UNCERTAIN

    def watermarks(self, rows: Mapping[str, pa.Table]) -> Watermarks:
        """The watermarks of rows: the latest time per stream, and the names of the roles of numbered events."""
        return watermarks_of(self.streams, rows, self._scale)

    def start(self) -> States:
        return tuple(one.start() for one in self.live)

    def step(self, state: States, parts: Sequence[RoutedRows], watermarks: Watermarks) -> tuple[States, Emitted]:
        rows, withdrawn = by_name(parts)
        assert not withdrawn, "only programs with revision have withdrawals"
        stepped = [one.advance(held, rows, watermarks) for one, held in zip(self.live, state, strict=True)]
        emitted = [one for _, one in stepped]
        return tuple(held for held, _ in stepped), Emitted(
            concatenated([one.late for one in emitted]),
            concatenated([one.rejects for one in emitted]),
            tables={name: table for one in emitted for name, table in one.tables.items()},
        )

    def watermark(self, state: States) -> int:
        return min(one.watermark(held) for one, held in zip(self.live, state, strict=True))

    def newest(self, state: States) -> Mapping[str, int]:
        return newest_of(one.clocks.latest for one in state)

    def n_kept(self, state: States) -> int:
        return sum(one.n_kept(held) for one, held in zip(self.live, state, strict=True))

    def reconfigured(self, state: States) -> States:
        return tuple(one.reconfigured(held) for one, held in zip(self.live, state, strict=True))

    def migrated(self, state: States, before: UncertainOperator) -> States:
        """New cohorts begin at the watermark of the replaced program."""
        old = dict(zip(before._numbers, zip(before.live, state, strict=True), strict=True))
        clocks = state[0].clocks  # the clocks of all cohorts are equal
        return tuple(
            live.migrated(*old[number]) if number in old else live.beginning(clocks)
            for number, live in zip(self._numbers, self.live, strict=True)
        )

    def open_matches(self, state: States, event: str) -> list[OpenMatch]:
        pairs = zip(self.live, state, strict=True)
        return next(one.open_matches(held, event) for one, held in pairs if event in one.events)

    def to_bytes(self, state: States) -> bytes:
        cohorts = zip(self._numbers, self.live, state, strict=True)
        return codec.to_bytes({str(number): live.to_bytes(held) for number, live, held in cohorts})

    def from_bytes(self, data: bytes) -> States:
        parts = codec.from_bytes(data, dict[str, bytes])
        cohorts = zip(self._numbers, self.live, strict=True)
        return tuple(live.from_bytes(parts[str(number)]) for number, live in cohorts)
