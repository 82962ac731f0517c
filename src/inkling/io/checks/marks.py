"""Roles of rows in streams with sequence numbers; a mark is a row that reports a count and is no event."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.batch import Mask
from inkling.model.roles import MARK
from inkling.model.uncertainty import LostEvents


def marks_in(rows: pa.Table, uncertainty: LostEvents) -> Mask:
    return has_role(rows, uncertainty, MARK)


def has_role(rows: pa.Table, uncertainty: LostEvents, word: str) -> Mask:
    """A mask of the rows with a role; case is ignored."""
    if uncertainty.role is None:
        return np.zeros(len(rows), bool)
    matches = pc.fill_null(pc.equal(pc.utf8_lower(rows[uncertainty.role].cast(pa.string())), word), False)
    return np.asarray(matches.to_numpy(), bool)
