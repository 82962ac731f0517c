"""What changes in a step: results that hold by now, and results that were told and do not hold any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.owners import is_among
from inkling.io.rejects import NO_REJECTS
from inkling.runtime.revision.contents import differences
from inkling.runtime.revision.held import append, given, said_columns
from inkling.runtime.revision.machine import GIVEN, OWNER, Owners, Rows
from inkling.runtime.revision.rounding import Rounding

REJECTS = "@rejects"
"""Rejects are remembered like results, so that going back does not tell them again."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What changed: results that hold by now, and results that were told and do not hold any more."""

    added: Rows
    withdrawn: Rows
    rejects: pa.Table


class News:
    """What changes in a step."""

    def __init__(self, rounding: Rounding) -> None:
        self._rounding = rounding
        self._added: dict[str, list[pa.Table]] = {}
        self._withdrawn: dict[str, list[pa.Table]] = {}

    def added(self, told: Rows, said: Rows, until: int) -> Rows:
        """What was told, and what is told beside it."""
        after = dict(told)
        for name, table in said.items():
            if len(table):
                self._added.setdefault(name, []).append(table)
                append(after, name, given(table, until))
        return after

    def corrected(self, told: Rows, found: Mapping[str, list[pa.Table]], owners: Owners | None, after: int) -> Rows:
        """What was told of some keys after a time gives way to what is found now."""
        corrected = dict(told)
        for name in {*told, *found}:
            before = told.get(name)
            new = pa.concat_tables(found[name]) if name in found else None
            if name == REJECTS:
                corrected[name] = self._rejected(before, new)
                continue
            if before is None:
                assert new is not None
                self._tell(name, new.slice(0, 0), new)
                corrected[name] = new
                continue
            concerned = before[GIVEN].to_numpy() > after
            if owners is not None:
                concerned &= is_among(before[OWNER].to_numpy(), owners)
            old = rows_where(before, concerned)
            new = old.slice(0, 0) if new is None else self._rounding.as_told(old, new, said_columns(new))
            self._tell(name, old, new)
            corrected[name] = pa.concat_tables([rows_where(before, ~concerned), new])
        return corrected

    def _rejected(self, before: pa.Table | None, new: pa.Table | None) -> pa.Table:
        """Rejects that were told stay told."""
        if before is None or new is None:
            if new is not None:
                self._tell(REJECTS, new.slice(0, 0), new)
            return new if before is None else before
        _, fresh = differences(before, new, said_columns(new))
        self._tell(REJECTS, new.slice(0, 0), rows_where(new, fresh))
        return pa.concat_tables([before, rows_where(new, fresh)])

    def _tell(self, name: str, old: pa.Table, new: pa.Table) -> None:
        names = said_columns(new)
        gone, fresh = differences(old, new, names)
        for where, rows, chosen in ((self._withdrawn, old, gone), (self._added, new, fresh)):
            if chosen.any():
                where.setdefault(name, []).append(rows_where(rows, chosen).select(names))

    def revision(self) -> Revision:
        rejects = [table.drop_columns([OWNER]) for table in self._added.pop(REJECTS, [])]
        self._withdrawn.pop(REJECTS, None)
        return Revision(
            {name: pa.concat_tables(some) for name, some in self._added.items()},
            {name: pa.concat_tables(some) for name, some in self._withdrawn.items()},
            pa.concat_tables(rejects) if rejects else NO_REJECTS,
        )


def all_said(results: Rows, rejects: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Results by event, and rejects under a name of their own."""
    yield from results.items()
    if len(rejects):
        yield REJECTS, rejects.append_column(OWNER, pa.array(np.zeros(len(rejects), np.uint64)))
