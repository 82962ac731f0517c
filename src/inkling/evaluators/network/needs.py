"""Which columns the conditions across events of a pattern look at."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from inkling.analysis.policies import parts_of
from inkling.evaluators.network.store import END, ID, START
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.batch import EventBatch
from inkling.model.types import Type
from inkling.physical.naming import type_of
from inkling.physical.plan import EventStep


def column_types(step: EventStep, batch: EventBatch) -> dict[str, Type]:
    """The columns that kernels must be able to read by row, with their types."""
    ids = Type.STRING if pa.types.is_string(batch.ids.type) else Type.INTEGER
    own = {START: Type.TIME, END: Type.TIME, ID: ids}
    needed = {column for leaf in step.leaves for condition in leaf.all_across for column in _columns(condition)}
    if step.event.consumption is not None:
        needed |= {END, *(column for condition in _having(step.event) for column in _columns(condition))}
    return {column: own[column] if column in own else type_of(column) for column in sorted(needed)}


def _having(event: p.EventPlan) -> Iterator[e.Expr]:
    """Conditions on whole matches, which a consumption policy has kernels test on every pair."""
    yield from event.having
    yield from (one for part in parts_of(event.pattern) if isinstance(part, p.Narrowed) for one in part.having)


def _columns(condition: e.Expr) -> Iterator[str]:
    for part in e.walk(condition):
        match part:
            case e.ColumnOf(column=column) | e.ListColumn(column=column) | e.KeyColumn(column=column):
                yield column
            case e.TimeOf(edge=edge):
                yield START if edge is e.Edge.START else END
            case e.IdOf():
                yield ID
            case _:
                pass
