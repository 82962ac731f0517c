"""Matches of chains in the public columns: those that are probable enough, or the most probable ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from inkling.evaluators.chain.event import ProbableMatches
from inkling.logical.plan import EventPlan
from inkling.model.time import Clock
from inkling.results import EXACT, ROUNDING, Matches, most_probable, public_table, reaches, result_schema


def results_of(event: EventPlan, found: Iterable[ProbableMatches], id_type: pa.DataType, clock: Clock) -> pa.Table:
    """Results of one event."""
    schema = result_schema(event, id_type, clock)
    tables = [public_table(event, probable_enough(event, some), clock) for some in found]
    if not tables:
        return schema.empty_table()
    every = pa.concat_tables(tables).cast(schema)
    return every if event.top is None else most_probable(every, event.top)


def probable_enough(event: EventPlan, some: ProbableMatches) -> Matches:
    """The matches that CONFIDENCE leaves."""
    kept = np.flatnonzero(reaches(some.chance, event.confidence, ROUNDING))
    matches = some.matches if len(kept) == len(some.chance) else some.matches.take(kept)
    return Matches.of(matches, some.chance[kept], np.zeros(len(kept)), EXACT)
