"""What each row can do for a query: of which stages it is a candidate, and which accept it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.bits import accepted, candidate, of_row
from inkling.analysis.query.query import Query
from inkling.evaluators.query.grounding import Ground
from inkling.evaluators.stage.conditions import RowColumns, prepared
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import Ints


def words_of(query: Query, ground: Ground, tables: Mapping[str, pa.Table], around: Surroundings) -> Ints:
    """Per row, the bits of all stages, decided by conditions on that row alone."""
    by_source = {name: source_words(query, name, tables[name], around) for name in ground.sources}
    words = np.zeros(len(ground.row), np.int64)
    source = ground.source[ground.stream[ground.group]]
    for number, name in enumerate(ground.sources):
        mine = source == number
        words[mine] = by_source[name][ground.row[mine]]
    return words


def source_words(query: Query, source: str, rows: pa.Table, around: Surroundings) -> Ints:
    """The same for the rows of one declared stream."""
    words = np.zeros(len(rows), np.int64)
    columns = RowColumns(rows)
    known: dict[e.Expr, NDArray[np.bool_]] = {}

    def holds(conditions: Iterable[e.Expr]) -> NDArray[np.bool_]:
        truth = np.ones(len(rows), bool)
        for condition in conditions:
            if condition not in known:
                known[condition] = prepared(condition, around)(columns)
            truth &= known[condition]
        return truth

    for number, stage in enumerate(query.stages):
        if stage.source == source:
            taken = holds(of_row(one, stage) for one in stage.filters)
            good = taken & holds(of_row(one, stage) for one in stage.accepts)
            words |= taken * candidate(number) | good * accepted(number)
    return words
