"""The current versions of the rows of a stream, by identity: what a changelog keeps while rows can be withdrawn."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage.rows.keys import WholeKeys
from inkling.io.duplicates import with_distinct_ids, without_duplicates
from inkling.io.normalize import END, ID, START
from inkling.io.rejects import NO_REJECTS
from inkling.model.batch import FOREVER, Ints
from inkling.model.hashes import Hashes, hashes_of, row_hashes
from inkling.model.schema import StreamSchema
from inkling.model.watermarks import NEVER
from inkling.physical.streams import time_of

MANY_CHUNKS = 64
SPARE = 1024
"""Up to so many identities are kept without clearing."""
NOTHING = -1
"""In place of a row number: the identity has no row."""

DUE = "@due"
"""The time at which a withdrawal without an event expires."""


class RowVersions:
    """Rows without ids: nothing is kept, since they cannot be withdrawn."""

    def __init__(self, schema: StreamSchema) -> None:
        self.schema, self._time = schema, time_of(schema)

    def changed(self, rows: pa.Table, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Rows that become current, rows that are no longer current, and rejects for repeats."""
        return rows, rows.slice(0, 0), NO_REJECTS

    def unless_withdrawn(self, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The first withdrawal of each id, and the others."""
        return withdrawals, withdrawals.slice(0, 0)

    def ends_of(self, withdrawals: pa.Table) -> NDArray[np.int64]:
        """The end times of the withdrawn events: from their rows, or from the withdrawals, or `NEVER`."""
        return np.asarray(withdrawals[END].fill_null(NEVER).to_numpy(), np.int64)

    def has_events(self, withdrawals: pa.Table) -> NDArray[np.bool_]:
        """Whether the withdrawn events have arrived."""
        return np.zeros(len(withdrawals), bool)

    def give_up(self, withdrawals: pa.Table) -> None:
        """Drop withdrawals whose events did not arrive."""

    def forget(self, settled: int) -> None:
        """Drop rows that are final."""

    @property
    def n_held(self) -> int:
        """The number of rows and withdrawals that are kept."""
        return 0

    def to_tables(self) -> dict[str, pa.Table]:
        return {}

    def load(self, tables: dict[str, pa.Table]) -> None:
        """Restores the versions from `to_tables`."""


class SharedIdVersions(RowVersions):
    """Rows that may share an id; a withdrawal of the id withdraws all of them."""

    def __init__(self, schema: StreamSchema) -> None:
        super().__init__(schema)
        self._rows: pa.Table | None = None
        self._withdrawn: pa.Table | None = None

    def changed(self, rows: pa.Table, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
        gone = rows.slice(0, 0)
        if len(withdrawals):
            ends = np.maximum(self.ends_of(withdrawals), withdrawals[DUE].to_numpy())
            taken_back = withdrawals.select([ID]).append_column(END, pa.array(ends))
            self._withdrawn = _both(self._withdrawn, taken_back)
            if self._rows is not None:
                meant = _is_in(self._rows[ID], withdrawals[ID])
                gone = self._rows.filter(pa.array(meant))
        added = rows
        if self._withdrawn is not None and len(self._withdrawn):
            added = rows.filter(pa.array(~_is_in(rows[ID], self._withdrawn[ID])))
        if len(rows):
            self._rows = _both(self._rows, rows)
        return added, gone, NO_REJECTS

    def unless_withdrawn(self, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table]:
        again = ~_firsts(hashes_of(withdrawals[ID].combine_chunks()))
        if self._withdrawn is not None and len(self._withdrawn):
            again |= _is_in(withdrawals[ID], self._withdrawn[ID])
        return withdrawals.filter(pa.array(~again)), withdrawals.filter(pa.array(again))

    def ends_of(self, withdrawals: pa.Table) -> NDArray[np.int64]:
        ends = super().ends_of(withdrawals).copy()
        if self._rows is None or not len(self._rows):
            return ends
        held = self._rows.group_by(ID).aggregate([(self._time, "min")])
        place = pc.index_in(withdrawals[ID], value_set=held[ID].combine_chunks())
        known = place.is_valid().to_numpy()
        ends[known] = held[f"{self._time}_min"].to_numpy()[place.drop_null().to_numpy()]
        return ends

    def has_events(self, withdrawals: pa.Table) -> NDArray[np.bool_]:
        if self._rows is None:
            return np.zeros(len(withdrawals), bool)
        return _is_in(withdrawals[ID], self._rows[ID])

    def give_up(self, withdrawals: pa.Table) -> None:
        if self._withdrawn is not None:
            self._withdrawn = self._withdrawn.filter(pa.array(~_is_in(self._withdrawn[ID], withdrawals[ID])))

    def forget(self, settled: int) -> None:
        if self._rows is not None and len(self._rows) > SPARE:
            ends = self._rows.group_by(ID).aggregate([(self._time, "max")])
            alive = ends.filter(pa.array(ends[f"{self._time}_max"].to_numpy() > settled))
            self._rows = self._rows.filter(pa.array(_is_in(self._rows[ID], alive[ID])))
        if self._withdrawn is not None and len(self._withdrawn) > SPARE:
            self._withdrawn = _later(self._withdrawn, settled)

    @property
    def n_held(self) -> int:
        return sum(len(table) for table in (self._rows, self._withdrawn) if table is not None)

    def to_tables(self) -> dict[str, pa.Table]:
        held = {"rows": self._rows, "withdrawn": self._withdrawn}
        return {name: table for name, table in held.items() if table is not None}

    def load(self, tables: dict[str, pa.Table]) -> None:
        self._rows, self._withdrawn = tables.get("rows"), tables.get("withdrawn")


class DistinctIdVersions(RowVersions):
    """Rows with an identity.

    The id, or without OP key, time and id. Of rows with one identity, the least is current.
    """

    def __init__(self, schema: StreamSchema) -> None:
        super().__init__(schema)
        self._names = [ID] if schema.op is not None else list(dict.fromkeys((*schema.key, START, END, ID)))
        self._rows: pa.Table | None = None
        self._identities = WholeKeys()
        # by number of an identity: its row, whether it was withdrawn, and the time until which it is kept
        self._row, self._withdrawn, self._until = np.full(0, NOTHING), np.zeros(0, bool), np.full(0, NEVER)

    def changed(self, rows: pa.Table, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
        numbers = self._numbers(_identity(rows, self._names))
        fresh = _firsts(numbers) & (self._row[numbers] == NOTHING) & ~self._withdrawn[numbers]
        if fresh.all() and not len(withdrawals):
            self._store(rows, numbers)
            return rows, rows.slice(0, 0), NO_REJECTS
        meant = self._meant(withdrawals)
        concerned = np.isin(numbers, np.concatenate([numbers[~fresh], meant]))
        plain = rows.filter(pa.array(~concerned))
        self._store(plain, numbers[~concerned])
        added, gone, repeated = self._replaced(rows.filter(pa.array(concerned)), numbers[concerned], meant, withdrawals)
        return pa.concat_tables([plain, added]), gone, repeated

    def _replaced(
        self, rows: pa.Table, numbers: Ints, meant: Ints, withdrawals: pa.Table
    ) -> tuple[pa.Table, pa.Table, pa.Table]:
        """`changed` for identities that are known already, occur several times, or are withdrawn."""
        touched = np.unique(np.concatenate([numbers, meant]))
        held = touched[self._row[touched] != NOTHING]
        stood = ~self._withdrawn[held]
        before = rows.slice(0, 0) if self._rows is None else self._rows.take(pa.array(self._row[held]))
        candidates = pa.concat_tables([before, rows])
        named = candidates.append_column(_CANDIDATE, pa.array(np.arange(len(candidates))))
        distinct = with_distinct_ids if self.schema.op is not None else without_duplicates
        least, repeated = distinct(self.schema, named)
        chosen = least[_CANDIDATE].to_numpy()
        fresh = np.sort(chosen[chosen >= len(before)])
        winners, of_whom = candidates.take(pa.array(fresh)), np.concatenate([held, numbers])[fresh]
        self._store(winners, of_whom)
        self._withdrawn[meant] = True
        self._until[meant[self._row[meant] == NOTHING]] = FOREVER  # until its event arrives, or `give_up`
        gone = stood & (self._withdrawn[held] | np.isin(held, of_whom))
        added = winners.filter(pa.array(~self._withdrawn[of_whom]))
        return added, before.filter(pa.array(gone)), repeated

    def unless_withdrawn(self, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table]:
        numbers = self._meant(withdrawals)
        again = ~_firsts(numbers) | self._withdrawn[numbers]
        return withdrawals.filter(pa.array(~again)), withdrawals.filter(pa.array(again))

    def ends_of(self, withdrawals: pa.Table) -> Ints:
        numbers = self._meant(withdrawals)
        return np.where(self._row[numbers] != NOTHING, self._until[numbers], super().ends_of(withdrawals))

    def has_events(self, withdrawals: pa.Table) -> NDArray[np.bool_]:
        return np.asarray(self._row[self._meant(withdrawals)] != NOTHING)

    def give_up(self, withdrawals: pa.Table) -> None:
        numbers = self._meant(withdrawals)
        self._withdrawn[numbers], self._until[numbers] = False, NEVER

    def forget(self, settled: int) -> None:
        n = self._identities.n_known
        if n <= SPARE:
            return
        live = np.flatnonzero(self._until[:n] > settled)
        if 2 * len(live) <= n:
            self.load(self._tables_of(live))

    @property
    def n_held(self) -> int:
        return self._identities.n_known

    def to_tables(self) -> dict[str, pa.Table]:
        return self._tables_of(np.arange(self._identities.n_known))

    def load(self, tables: dict[str, pa.Table]) -> None:
        held = tables["identities"]
        self._rows, self._identities = tables.get("rows"), WholeKeys()
        if len(held):
            self._identities.local(held["hash"].to_numpy())
        self._row, self._withdrawn = held["row"].to_numpy().copy(), held["withdrawn"].to_numpy().copy()
        self._until = held["until"].to_numpy().copy()

    def _tables_of(self, numbers: Ints) -> dict[str, pa.Table]:
        has_row = self._row[numbers] != NOTHING
        place = np.where(has_row, np.cumsum(has_row) - 1, NOTHING)
        identities = {
            "hash": self._identities.keys()[numbers],
            "row": place,
            "withdrawn": self._withdrawn[numbers],
            "until": self._until[numbers],
        }
        found = {"identities": pa.table(identities)}
        if self._rows is not None:
            found["rows"] = self._rows.take(pa.array(self._row[numbers][has_row])).combine_chunks()
        return found

    def _meant(self, withdrawals: pa.Table) -> Ints:
        return self._numbers(row_hashes([withdrawals[ID]], len(withdrawals)))

    def _numbers(self, hashes: Hashes) -> Ints:
        """The numbers of identities; new identities get a number."""
        if not len(hashes):
            return np.empty(0, np.int64)
        local, numbers = self._identities.local(hashes.view(np.int64))
        missing = self._identities.n_known - len(self._row)
        if missing > 0:
            room = missing + len(self._row)
            self._row = np.concatenate([self._row, np.full(room, NOTHING)])
            self._withdrawn = np.concatenate([self._withdrawn, np.zeros(room, bool)])
            self._until = np.concatenate([self._until, np.full(room, NEVER)])
        return np.asarray(numbers[local], np.int64)

    def _store(self, rows: pa.Table, numbers: Ints) -> None:
        if not len(rows):
            return
        first = 0 if self._rows is None else len(self._rows)
        self._row[numbers] = first + np.arange(len(rows))
        self._until[numbers] = rows[self._time].to_numpy()
        self._rows = _both(self._rows, rows)


_CANDIDATE = "@candidate"


def _identity(rows: pa.Table, names: list[str]) -> Hashes:
    return row_hashes((rows[name] for name in names), len(rows))


def _firsts(values: NDArray[np.int64] | Hashes) -> NDArray[np.bool_]:
    """Whether each value occurs for the first time."""
    found = np.zeros(len(values), bool)
    found[np.unique(values, return_index=True)[1]] = True
    return found


def _both(held: pa.Table | None, rows: pa.Table) -> pa.Table:
    if held is None:
        return rows
    both = pa.concat_tables([held, rows])
    return both.combine_chunks() if both.column(0).num_chunks > MANY_CHUNKS else both


def _is_in(ids: pa.ChunkedArray, wanted: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.is_in(ids, value_set=wanted.combine_chunks()).to_numpy(), bool)


def _later(rows: pa.Table, settled: int) -> pa.Table:
    return rows.filter(pa.array(rows[END].to_numpy() > settled))
