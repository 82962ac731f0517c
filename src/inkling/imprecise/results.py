"""Matches of chains in the public columns: those that are probable enough, or the most probable ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from inkling.evaluators.imprecise.evaluator import ProbableMatches
from inkling.logical.plan import EventPlan
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.results import ROUNDING, estimated_table, most_probable, reaches, result_schema

EXACT = "exact"


def results_of(event: EventPlan, found: Iterable[ProbableMatches], id_type: Type, clock: Clock) -> pa.Table:
    """Results of one event."""
    tables = [_table(event, some, clock) for some in found]
    if not tables:
        return result_schema(event, id_type, clock).empty_table()
    every = pa.concat_tables(tables)
    return every if event.top is None else most_probable(every, event.top)


def _table(event: EventPlan, some: ProbableMatches, clock: Clock) -> pa.Table:
    kept = np.flatnonzero(reaches(some.chance, event.confidence, ROUNDING))
    matches = some.matches if len(kept) == len(some.chance) else some.matches.take(kept)
    n = len(kept)
    return estimated_table(event, matches, clock, some.chance[kept], EXACT, np.zeros(n))
