"""Estimates that were told stay as they are where others differ from them by rounding only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes, combined
from inkling.runtime.revision.contents import content_hashes


@dataclass(frozen=True, slots=True)
class Rounding:
    """Columns with numbers that come out a little differently if rows are taken in otherwise."""

    columns: tuple[str, ...] = ()
    tolerance: float = 0.0

    def as_told(self, old: pa.Table, new: pa.Table, others: list[str]) -> pa.Table:
        """New rows, with the numbers of old ones that are the same in `others` and as good as the same in these."""
        estimates = [name for name in self.columns if name in new.column_names]
        if not estimates or not len(old) or not len(new):
            return new
        rest = [name for name in others if name not in estimates]
        mine, theirs = (_counted(content_hashes(rows, rest), rows[estimates[0]].to_numpy()) for rows in (new, old))
        order = np.argsort(theirs)
        place = order[np.minimum(np.searchsorted(theirs[order], mine), len(order) - 1)]
        alike = theirs[place] == mine
        said = {name: (new[name].to_numpy(), old[name].to_numpy()[place]) for name in estimates}
        for now, before in said.values():
            alike &= np.isclose(now, before, rtol=0, atol=self.tolerance, equal_nan=True)
        for name, (now, before) in said.items():
            where = new.column_names.index(name)
            new = new.set_column(where, new.schema.field(name), pa.array(np.where(alike, before, now)))
        return new


EXACT = Rounding()


def _counted(codes: Hashes, estimates: NDArray[np.float64]) -> Hashes:
    """Codes that tell rows apart that are alike, in the order of what is estimated."""
    order = np.lexsort((estimates, codes))
    begins = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1]))
    lengths = np.diff(np.append(begins, len(order)))
    place = np.empty(len(order), np.uint64)
    place[order] = np.arange(len(order)) - np.repeat(begins, lengths)
    return combined(codes, place)
