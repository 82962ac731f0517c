"""The whole table of intervals of a plan, of which evaluators keep only what they need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from inkling.analysis.query.plans import SafePlan
from inkling.analysis.query.query import Query
from inkling.evaluators.query.probable_events import ProbableEvents
from inkling.evaluators.query.safe.plan import COMPILED, operator_of
from inkling.evaluators.query.safe.scope import SafeBlock, scopes_of
from inkling.model.batch import Ints


def interval_table(
    query: Query, plan: SafePlan, events: ProbableEvents, words: Ints, kernels: SimpleNamespace = COMPILED
) -> dict[tuple[int, int], Any]:
    """How probable it is that a query without free variables is satisfied between two times, by these times."""
    block = SafeBlock.of(query, events, words, kernels)
    scopes = scopes_of(block, ())
    if not scopes:
        return {}
    (scope,) = scopes.values()
    run = operator_of(query, plan, frozenset(), within=True).run(scope, None)
    steps, times = np.arange(len(scope.times)), scope.times
    found = run.table(0, len(steps), steps[:0], steps, times)
    return {(int(times[i]), int(times[j])): found[j, i] for i in steps for j in steps if i <= j}
