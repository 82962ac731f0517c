"""Rows of numbered streams that are no events, and rows with a role."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.model.roles import MARK
from inkling.model.uncertainty import LostEvents

Mask = NDArray[np.bool_]


def marks_in(rows: pa.Table, doubt: LostEvents) -> Mask:
    """Which rows are no events, but say how many there were."""
    return has_role(rows, doubt, MARK)


def has_role(rows: pa.Table, doubt: LostEvents, word: str) -> Mask:
    """Which rows have a role, in any case."""
    if doubt.role is None:
        return np.zeros(len(rows), bool)
    said = pc.fill_null(pc.equal(pc.utf8_lower(rows[doubt.role].cast(pa.string())), word), False)
    return np.asarray(said.to_numpy(), bool)
