"""Which of the rows that are held are meant by rows that are withdrawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.owners import is_among
from inkling.runtime.revision.contents import content_hashes
from inkling.runtime.revision.held import own_columns
from inkling.runtime.revision.machine import OWNER, Machine, Owners


def marked_rows(machine: Machine[Any], name: str, held: pa.Table, withdrawn: pa.Table) -> NDArray[np.bool_]:
    """Held rows with the identity of a withdrawn one: all of them, or as many as are withdrawn."""
    gone = np.zeros(len(held), bool)
    if OWNER in held.column_names:  # rows of the same keys are soon found
        near = is_among(held[OWNER].to_numpy(), np.unique(machine.owners(name, withdrawn)))
        gone[near] = _marked(machine, name, rows_where(held, near), withdrawn)
        return gone
    return _marked(machine, name, held, withdrawn)


def _marked(machine: Machine[Any], name: str, held: pa.Table, withdrawn: pa.Table) -> NDArray[np.bool_]:
    codes, _ = machine.identities(name, held)
    wanted, all_meant = machine.identities(name, withdrawn)
    gone = np.isin(codes, wanted[all_meant])
    single, counts = np.unique(wanted[~all_meant], return_counts=True)
    near = np.flatnonzero(np.isin(codes, single))
    if len(near):
        # an event that was joined with facts has a row for each: of rows that say the same, one is of each event
        said = content_hashes(rows_where(held, np.isin(codes, single)), own_columns(held))
        order = np.lexsort((said, codes[near]))
        begins = np.flatnonzero(_is_new(codes[near][order]) | _is_new(said[order]))
        lengths = np.diff(np.append(begins, len(order)))
        place = np.arange(len(order)) - np.repeat(begins, lengths)
        gone[near[order[place < counts[np.searchsorted(single, codes[near][order])]]]] = True
    return gone


def _is_new(values: Owners) -> NDArray[np.bool_]:
    """Whether each value differs from that before it."""
    return np.append(True, values[1:] != values[:-1])
