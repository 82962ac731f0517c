"""Rows that the network looks at; in a stage with automata, which read everything, most rows are not for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.policies import looks_at_scope
from inkling.evaluators.stage.leaf_tests import passing
from inkling.physical.plan import EventStep, LeafTest


class NeededRows:
    """Tells which rows can be part of a match of some events, or stand in its way."""

    def __init__(self, steps: Sequence[EventStep]) -> None:
        self._tests = [leaf for step in steps for leaf in step.leaves]
        self._tests += [LeafTest(-1, step.scope, (), ()) for step in steps if looks_at_scope(step.event)]

    def among(self, rows: pa.Table) -> NDArray[np.bool_]:
        return passing(rows, self._tests)
