"""Partition keys of stage rows: hashes that are the same everywhere, and codes that stay the same between steps.

The *owner* of a row, match or state is the hash of its partition key. States are split, and rows are put into buckets,
by owners.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import key_codes
from inkling.kernels.columns.keys import fill_slots, number_keys
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints, MatchBatch
from inkling.model.hashes import row_hashes
from inkling.physical.plan import Stage

Owners = NDArray[np.uint64]


def owners_of(rows: pa.Table, n_key_columns: int) -> Owners:
    """The owner of each stage row; without a key, all rows have the same owner."""
    return row_hashes((rows[r.key_name(place)] for place in range(n_key_columns)), len(rows))


def owners_in(name: str, rows: pa.Table, stage: Stage) -> Owners:
    """The owners of stage rows (`STAGE_ROWS`), or of rows of a stream."""
    return owners_of(keys_of(name, rows, stage), len(stage.key_types))


def keys_of(name: str, rows: pa.Table, stage: Stage) -> pa.Table:
    """Rows of a stream with the key columns of stage rows; stage rows as they are."""
    if name == r.STAGE_ROWS:
        return rows
    given = next(one for one in stage.inputs if one.source == name)
    return pa.table(
        {
            r.key_name(place): rows[column].cast(ARROW_TYPES[kind])
            for place, (column, kind) in enumerate(zip(given.key, stage.key_types, strict=True))
        }
    )


def is_divisible(stage: Stage, program: ProgramPlan) -> bool:
    """Whether a stage can be divided by key: not without a key, or if derived columns look back along another key."""
    if not stage.key_types:
        return False
    for given in stage.inputs:
        stream = program.stream(given.source)
        if stream is not None and stream.derived and given.key != stream.schema.key:
            return False
    return True


def owners_by(rows: pa.Table, key: Sequence[str]) -> Owners:
    """The owner of each row of a stream by the columns of its key; equal to the owner of its stage row."""
    return row_hashes((rows[name] for name in key), len(rows))


def with_owners(matches: MatchBatch, rows: pa.Table, codes: Ints, n_key_columns: int) -> MatchBatch:
    """Matches with their owners, given stage rows of their keys and the key codes of these rows."""
    if not n_key_columns or not len(matches):
        return replace(matches, owner=np.zeros(len(matches), np.uint64))
    any_row = np.empty(int(codes.max()) + 1, np.int64)
    any_row[codes] = np.arange(len(codes))
    keys = rows.select([r.key_name(place) for place in range(n_key_columns)])
    if len(matches) < len(rows):
        return replace(matches, owner=owners_of(keys.take(pa.array(any_row[matches.key])), n_key_columns))
    return replace(matches, owner=owners_of(keys, n_key_columns)[any_row[matches.key]])


def is_among(values: Owners, owners: Owners) -> NDArray[np.bool_]:
    """Which hashes are among sorted owners."""
    if not len(owners):
        return np.zeros(len(values), bool)
    if len(owners) == 1:
        return np.asarray(values == owners[0])
    places = np.minimum(np.searchsorted(owners, values), len(owners) - 1)
    return np.asarray(owners[places] == values)


def buckets_of(rows: pa.Table, key: Sequence[str], n_buckets: int) -> NDArray[np.int64]:
    """The bucket of each row by the columns of its key; without a key, all rows are in bucket 0."""
    if not key or n_buckets == 1:
        return np.zeros(len(rows), np.int64)
    return (row_hashes((rows[name] for name in key), len(rows)) % np.uint64(n_buckets)).astype(np.int64)


Key = tuple[object, ...]

_NAN = float("nan")
"""One NaN object for all NaN keys: a dictionary finds it by identity."""


class KeyIndex:
    """Keys and their codes, in order of first appearance; looking up a new key adds it."""

    __slots__ = ("_numbers", "_owners", "_whole", "schema")

    def __init__(self, schema: pa.Schema, keys: pa.Table | None = None) -> None:
        self.schema = schema
        self._numbers: dict[Key, int] = {}
        self._owners: Owners = np.empty(0, np.uint64)  # of the first codes; computed when needed
        # integer keys without nulls have a faster index
        self._whole = WholeKeys() if schema.types == [pa.int64()] else None
        if keys is not None and len(keys):
            self.local(keys)

    @classmethod
    def of(cls, stage: Stage) -> KeyIndex:
        return cls(pa.schema([r.stage_schema(stage).field(r.key_name(i)) for i in range(len(stage.key_types))]))

    def __len__(self) -> int:
        return len(self._numbers) if self._whole is None else self._whole.n_known

    def local(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """The keys of rows numbered from 0, and the code of each number; new keys are added."""
        if not len(self.schema):
            return np.zeros(len(rows), np.int64), np.zeros(1, np.int64)
        if self._whole is not None:
            column = rows[self.schema.names[0]]
            if not column.null_count:
                return self._whole.local(column.to_numpy())
            self._to_dictionary()
        local, keys = key_codes(rows, len(self.schema))
        numbers = self._numbers
        columns = map(_values, keys.columns)
        codes = [numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)]
        return local, np.array(codes, np.int64)

    def codes(self, rows: pa.Table) -> Ints:
        """The codes of the keys of rows; new keys are added."""
        local, codes = self.local(rows)
        return codes[local]

    def only(self, codes: Ints) -> KeyIndex:
        """An index of the keys with these ascending codes, numbered from 0 in the same order."""
        if self._whole is not None:
            return KeyIndex(self.schema, self.to_table().take(pa.array(codes)))
        keys, index = list(self._numbers), copy(self)
        index._numbers = {keys[code]: place for place, code in enumerate(codes.tolist())}
        index._owners = self._owners[codes[codes < len(self._owners)]]
        return index

    def copy(self) -> KeyIndex:
        """A copy with the same keys and codes."""
        index = copy(self)
        index._numbers = dict(self._numbers)
        index._whole = None if self._whole is None else self._whole.copy()
        return index

    def owners(self) -> Owners:
        if not len(self.schema):
            return np.zeros(1, np.uint64)
        if len(self._owners) < len(self):
            fresh = owners_of(self._table_from(len(self._owners)), len(self.schema))
            self._owners = np.concatenate([self._owners, fresh])
        return self._owners

    def to_table(self) -> pa.Table:
        """One row per key, in the order of the codes."""
        return self._table_from(0)

    def _table_from(self, first: int) -> pa.Table:
        """One row per key, from code `first` on."""
        if self._whole is not None:
            return pa.table([pa.array(self._whole.keys()[first:])], schema=self.schema)
        columns = list(zip(*islice(self._numbers, first, None), strict=True)) or [()] * len(self.schema)
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, self.schema, strict=True)], schema=self.schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> KeyIndex:
        return cls(table.schema, table)

    def _to_dictionary(self) -> None:
        assert self._whole is not None
        self._numbers = {(key,): number for number, key in enumerate(self._whole.keys().tolist())}
        self._whole = None


def _values(column: pa.ChunkedArray) -> list[object]:
    """Values of a key column that compare equal in Python if they are equal as keys."""
    values: list[object] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [_NAN if value != value else value for value in values]
    return values


@dataclass(slots=True)
class WholeKeys:
    """An index of integer keys in a hash table."""

    n_known: int = 0
    _turn: int = 0
    _pool: Ints = field(default_factory=lambda: np.empty(512, np.int64))
    _seen: Ints = field(default_factory=lambda: np.zeros(512, np.int64))
    _slots: Ints = field(default_factory=lambda: np.zeros(1024, np.int64))

    def keys(self) -> Ints:
        return self._pool[: self.n_known].copy()

    def copy(self) -> WholeKeys:
        pools = {name: getattr(self, name).copy() for name in ("_pool", "_seen", "_slots")}
        return replace(self, **pools)

    def local(self, wanted: Ints) -> tuple[Ints, Ints]:
        """See `KeyIndex.local`."""
        wanted = wanted.view()
        wanted.flags.writeable = False  # one array type for compiled code
        self._make_room(self.n_known + len(wanted))
        self._turn += 1
        local, numbers = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.int64)
        self.n_known, n_local = number_keys(
            self._slots, self._pool, self.n_known, wanted, self._seen, self._turn, local, numbers
        )
        return local, numbers[:n_local]

    def _make_room(self, n_keys: int) -> None:
        if n_keys <= len(self._pool):
            return
        size = 1 << (2 * n_keys - 1).bit_length()
        pool, seen = np.empty(size, np.int64), np.zeros(size, np.int64)
        pool[: self.n_known], seen[: self.n_known] = self._pool[: self.n_known], self._seen[: self.n_known]
        self._pool, self._seen, self._slots = pool, seen, np.zeros(2 * size, np.int64)
        fill_slots(self._slots, pool, self.n_known)
