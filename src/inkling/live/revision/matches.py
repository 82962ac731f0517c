"""Results as tables that are kept, compared and sent on; and back, to be shown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.engine import source_table
from inkling.live.revision.machine import OWNER
from inkling.logical.plan import EventPlan
from inkling.model.batch import UNORDERED, MatchBatch
from inkling.model.time import Clock
from inkling.results import result_table

_ABOUT = (r.START, r.END, r.PLACE, r.END_PLACE, r.KNOWN, r.IDS, OWNER)


def found_table(matches: MatchBatch) -> pa.Table:
    """Results in the form in which stages read them, with their owners."""
    assert matches.owner is not None, "results that may change say whose they are"
    return source_table(matches).append_column(OWNER, pa.array(matches.owner))


def shown_table(event: EventPlan, found: pa.Table, clock: Clock, op: str) -> pa.Table:
    """The same results in the public columns."""
    nowhere = np.full(len(found), UNORDERED)
    matches = MatchBatch(
        event.name,
        np.zeros(len(found), np.int64),
        found[r.START].to_numpy(),
        nowhere,
        found[r.END].to_numpy(),
        nowhere,
        found[r.KNOWN].to_numpy(),
        {name: found[name].combine_chunks() for name in found.column_names if name not in _ABOUT},
        found[r.IDS].combine_chunks(),
    )
    return result_table(event, matches, clock, op)
