"""Rows of numbered streams that are no events, and rows with a role."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.model.roles import MARK
from inkling.model.uncertainty import LostEvents

Mask = NDArray[np.bool_]


def marks_in(rows: pa.Table, uncertainty: LostEvents) -> Mask:
    """Which rows are no events, but say how many there were."""
    return has_role(rows, uncertainty, MARK)


def has_role(rows: pa.Table, uncertainty: LostEvents, word: str) -> Mask:
    """Which rows have a role, in any case."""
    if uncertainty.role is None:
        return np.zeros(len(rows), bool)
    matches = pc.fill_null(pc.equal(pc.utf8_lower(rows[uncertainty.role].cast(pa.string())), word), False)
    return np.asarray(matches.to_numpy(), bool)
