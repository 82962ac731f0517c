"""The delta of a step: results that it adds, and emitted results that it withdraws.

Rows and results that are kept carry the watermark of their step (`STEP_TIME`), by which a replay finds what to compare.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import is_among
from inkling.io.rejects import NO_REJECTS
from inkling.runtime.revision.contents import differences
from inkling.runtime.revision.machine import OWNER, STEP_TIME, Owners, Rounding, Rows

MANY_CHUNKS = 64


def own_columns_of(rows: pa.Table) -> list[str]:
    """The columns of results without the time of their step."""
    return [name for name in rows.column_names if name != STEP_TIME]


def own_columns(rows: pa.Table) -> list[str]:
    """The columns that rows had on arrival."""
    return [name for name in rows.column_names if name not in (OWNER, STEP_TIME)]


def with_step_time(rows: pa.Table, until: int) -> pa.Table:
    """Rows with the time of the step that ingests or emits them."""
    return rows.append_column(STEP_TIME, pa.array(np.full(len(rows), until)))


def append(held: dict[str, pa.Table], name: str, rows: pa.Table) -> None:
    """Append rows to those that are kept."""
    both = pa.concat_tables([held[name], rows]) if name in held else rows
    held[name] = both.combine_chunks() if both.column(0).num_chunks > MANY_CHUNKS else both


def stepped_after(held: Rows, after: int) -> Rows:
    """Rows of steps after a time."""
    kept = {name: rows_where(rows, rows[STEP_TIME].to_numpy() > after) for name, rows in held.items()}
    return {name: rows.combine_chunks() for name, rows in kept.items() if len(rows)}


REJECTS = "@rejects"
"""Rejects are kept like results under this name, so that a replay does not emit them again."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The results that a step adds, the emitted results that it withdraws, and its rejects."""

    added: Rows
    withdrawn: Rows
    rejects: pa.Table


class DeltaBuilder:
    """Collects the delta of a step."""

    def __init__(self, rounding: Rounding) -> None:
        self._rounding = rounding
        self._added: dict[str, list[pa.Table]] = {}
        self._withdrawn: dict[str, list[pa.Table]] = {}

    def added(self, emitted: Rows, further: Rows, until: int) -> Rows:
        """The emitted results after those of a step are added."""
        after = dict(emitted)
        for name, table in further.items():
            if len(table):
                self._added.setdefault(name, []).append(table)
                append(after, name, with_step_time(table, until))
        return after

    def corrected(self, emitted: Rows, found: Mapping[str, list[pa.Table]], owners: Owners | None, after: int) -> Rows:
        """The emitted results after those of some keys after a time are replaced by the results of a replay."""
        corrected = dict(emitted)
        for name in {*emitted, *found}:
            before = emitted.get(name)
            new = pa.concat_tables(found[name]) if name in found else None
            if name == REJECTS:
                corrected[name] = self._rejected(before, new)
                continue
            if before is None:
                assert new is not None
                self._compare(name, new.slice(0, 0), new)
                corrected[name] = new
                continue
            concerned = before[STEP_TIME].to_numpy() > after
            if owners is not None:
                concerned &= is_among(before[OWNER].to_numpy(), owners)
            old = rows_where(before, concerned)
            new = old.slice(0, 0) if new is None else self._rounding.as_emitted(old, new, own_columns_of(new))
            self._compare(name, old, new)
            corrected[name] = pa.concat_tables([rows_where(before, ~concerned), new])
        return corrected

    def _rejected(self, before: pa.Table | None, new: pa.Table | None) -> pa.Table:
        """Rejects are never withdrawn."""
        if before is None or new is None:
            if new is not None:
                self._compare(REJECTS, new.slice(0, 0), new)
            return new if before is None else before
        _, fresh = differences(before, new, own_columns_of(new))
        self._compare(REJECTS, new.slice(0, 0), rows_where(new, fresh))
        return pa.concat_tables([before, rows_where(new, fresh)])

    def _compare(self, name: str, old: pa.Table, new: pa.Table) -> None:
        names = own_columns_of(new)
        gone, fresh = differences(old, new, names)
        for where, rows, chosen in ((self._withdrawn, old, gone), (self._added, new, fresh)):
            if chosen.any():
                where.setdefault(name, []).append(rows_where(rows, chosen).select(names))

    def build(self) -> Delta:
        rejects = [table.drop_columns([OWNER]) for table in self._added.pop(REJECTS, [])]
        self._withdrawn.pop(REJECTS, None)
        return Delta(
            {name: pa.concat_tables(some) for name, some in self._added.items()},
            {name: pa.concat_tables(some) for name, some in self._withdrawn.items()},
            pa.concat_tables(rejects) if rejects else NO_REJECTS,
        )


def all_emitted(results: Rows, rejects: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Results by event, and rejects under a name of their own."""
    yield from results.items()
    if len(rejects):
        yield REJECTS, rejects.append_column(OWNER, pa.array(np.zeros(len(rejects), np.uint64)))
