"""Which columns of an input travel to the workers."""

from __future__ import annotations

from inkling.logical import expr as e
from inkling.logical.plan import StreamPlan
from inkling.physical.plan import Input


def derives_in_worker(given: Input, stream: StreamPlan) -> bool:
    """Whether a worker sees all rows of a key of the stream, and so can derive columns itself."""
    return bool(given.key) and given.key == stream.schema.key and not given.atoms


def shuffled_columns(given: Input, stream: StreamPlan | None) -> tuple[str, ...]:
    """The columns that evaluators read or that derived columns and late conditions rest on."""
    wanted = {_logical(column) for column in given.columns} | set(given.key)
    computed = {_logical(one.name) for one in given.computed}
    for late in given.left_to_worker:
        wanted |= {_logical(part.column) for part in e.walk(late) if isinstance(part, e.ColumnOf)}
    wanted -= computed
    if stream is not None and stream.derived and derives_in_worker(given, stream):
        derived = {column.name: column.expr for column in stream.derived}
        for expr in derived.values():
            wanted |= {
                part.column for part in e.walk(expr) if isinstance(part, e.ColumnOf | e.PreviousColumn | e.SinceChange)
            }
        wanted -= set(derived)
    return tuple(sorted(wanted))


def _logical(physical_name: str) -> str:
    return physical_name.rsplit("|", 1)[0]
