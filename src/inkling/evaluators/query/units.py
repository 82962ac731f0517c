"""Which streams belong together: those that agree on some variables of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query, QueryVariable
from inkling.evaluators.hashes import Hashes, combined
from inkling.evaluators.query.probable_events import NULL_KEY, Mask, ProbableEvents, constant_keys, equality_codes

NO_VARIABLES = np.uint64(0)


@dataclass(frozen=True, slots=True)
class Groundings:
    """`unit` names, for each stream, the values that the variables have in it; `reads` says which stages read it."""

    unit: Hashes
    reads: Mask  # [stage, stream]


def units_of(query: Query, variables: Sequence[str], events: ProbableEvents, n_stages: int) -> Groundings:
    """Streams by the values of variables on which the first stages are independent."""
    n = events.n_streams
    reads = np.zeros((n_stages, n), bool)
    codes = [np.zeros(n, np.uint64) for _ in variables]
    for number in range(n_stages):
        source = query.stages[number].source
        reads[number] = events.source == events.sources.index(source)
        for column, constant in constant_keys(query, number):
            reads[number] &= events.keys[source, column] == constant
    for code, name in zip(codes, variables, strict=True):
        variable = query.variable(name)
        for source in events.sources:
            stages = [number for number in range(n_stages) if query.stages[number].source == source]
            if not stages:
                continue
            mine = events.source == events.sources.index(source)
            common = _common_column(query, variable, stages)
            code[mine] = events.keys[source, common][mine]
            for number in stages:
                for column in variable.columns_in(number):
                    if query.source(number).is_key(column):
                        reads[number] &= ~mine | (events.keys[source, column] == code)
        reads &= (code != NULL_KEY) if _drops_null(query, variable) else np.ones(n, bool)
    return Groundings(combined(np.zeros(n, np.uint64), *codes) if codes else np.full(n, NO_VARIABLES), reads)


def unit_of_rows(query: Query, variables: Sequence[str], source: str, rows: pa.Table) -> Hashes:
    """The unit of each row of a stream, where all stages are independent on the variables."""
    columns = [holding_column(query, one, source) for one in variables]
    codes = [equality_codes(rows[column].combine_chunks()) for column in columns]
    return combined(np.zeros(len(rows), np.uint64), *codes) if codes else np.full(len(rows), NO_VARIABLES)


def holding_column(query: Query, variable: str, source: str) -> str:
    """The KEY column in which rows of a stream have the value of a variable on which all stages are independent."""
    stages = [number for number, stage in enumerate(query.stages) if stage.source == source]
    return _common_column(query, query.variable(variable), stages)


def _common_column(query: Query, variable: QueryVariable, stages: Sequence[int]) -> str:
    keys = [{one for one in variable.columns_in(stage) if query.source(stage).is_key(one)} for stage in stages]
    return min(set.intersection(*keys))


def _drops_null(query: Query, variable: QueryVariable) -> bool:
    """A missing value equals nothing, so that stages cannot agree on it."""
    return len(variable.places) > 1
