"""Which of the rows that are held are meant by rows that are withdrawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.owners import is_among
from inkling.live.revision.machine import OWNER, Machine


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
    if len(single):
        candidates = np.flatnonzero(np.isin(codes, single))
        group = np.searchsorted(single, codes[candidates])
        order = np.argsort(group, kind="stable")
        ordered = group[order]
        firsts = np.searchsorted(ordered, ordered)
        gone[candidates[order[np.arange(len(order)) - firsts < counts[ordered]]]] = True
    return gone
