"""The way in: raw rows of one stream are checked, typed and prepared for the stages that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.io.normalize import Normalizer
from inkling.live.clocks import Marks
from inkling.live.parts import Part, SourceReader
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class Fed:
    """What became of some raw rows."""

    parts: tuple[Part, ...]
    marks: Marks
    rejects: pa.Table


class Feed:
    """Knows one stream and what the stages want of it; keeps nothing of its rows."""

    def __init__(
        self,
        plan: PhysicalPlan,
        stream: StreamPlan,
        clock: Clock,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
    ) -> None:
        self._name = stream.schema.name
        self._normalizer = Normalizer(stream.schema, [column.name for column in stream.derived], clock)
        self._reader = SourceReader(plan, self._name, tables, around)

    def __call__(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Fed:
        """`numbers` are the ids of rows that have none."""
        found = self._normalizer(raw, numbers)
        marks = Marks({self._name: int(found.rows[r.END].to_numpy().max())}) if len(found.rows) else Marks()
        return Fed(tuple(self._reader(found.rows)), marks, found.rejects)
