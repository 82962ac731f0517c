"""The way in: raw rows of one stream are checked, typed and prepared for the stages that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.io import normalize
from inkling.live.clocks import Marks
from inkling.live.parts import Part, parts_for_stages
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


@dataclass(frozen=True, slots=True)
class Feed:
    """Knows one stream and what the stages want of it; keeps nothing."""

    plan: PhysicalPlan
    stream: StreamPlan
    clock: Clock
    tables: Mapping[str, pa.Table]
    around: Surroundings

    def __call__(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Fed:
        """`numbers` are the ids of rows that have none."""
        schema = self.stream.schema
        derived = [column.name for column in self.stream.derived]
        found = normalize(raw, schema, derived, clock=self.clock, numbers=numbers)
        latest = pc.max(found.rows[r.END]).as_py()
        marks = Marks() if latest is None else Marks({schema.name: latest})
        parts = tuple(parts_for_stages(self.plan, schema.name, found.rows, self.tables, self.around))
        return Fed(parts, marks, found.rejects)
