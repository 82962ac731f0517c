"""Hashes of partition keys, the same in every batch, state and process: whose a row or result is.

Buckets of rows, and states that are split, go by these hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import row_hashes
from inkling.evaluators.stage.rows import format as r
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints, MatchBatch
from inkling.physical.plan import Stage

Owners = NDArray[np.uint64]


def owners_of(rows: pa.Table, n_key_columns: int) -> Owners:
    """A hash of the key of each stage row; without a key all rows share one."""
    return row_hashes((rows[r.key_name(place)] for place in range(n_key_columns)), len(rows))


def owners_in(name: str, rows: pa.Table, stage: Stage) -> Owners:
    """The same for stage rows (`rows.STAGE_ROWS`), or for rows of a stream as they will be stage rows."""
    return owners_of(keys_of(name, rows, stage), len(stage.key_types))


def keys_of(name: str, rows: pa.Table, stage: Stage) -> pa.Table:
    """The key columns that rows of a stream will have as stage rows; stage rows have them."""
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
    """Whether a stage's keys can be kept apart; columns that look back along another key need all rows together."""
    if not stage.key_types:
        return False
    for given in stage.inputs:
        stream = program.stream(given.source)
        if stream is not None and stream.derived and given.key != stream.schema.key:
            return False
    return True


def owners_by(rows: pa.Table, key: Sequence[str]) -> Owners:
    """A hash of the key of each row of a stream, the same that `owners_of` gives for its stage rows."""
    return row_hashes((rows[name] for name in key), len(rows))


def with_owners(matches: MatchBatch, rows: pa.Table, codes: Ints, n_key_columns: int) -> MatchBatch:
    """Results that know their owners, given stage rows of their keys and the codes of those."""
    if not n_key_columns or not len(matches):
        return replace(matches, owner=np.zeros(len(matches), np.uint64))
    any_row = np.empty(int(codes.max()) + 1, np.int64)
    any_row[codes] = np.arange(len(codes))
    keys = rows.select([r.key_name(place) for place in range(n_key_columns)])
    if len(matches) < len(rows):
        return replace(matches, owner=owners_of(keys.take(pa.array(any_row[matches.key])), n_key_columns))
    return replace(matches, owner=owners_of(keys, n_key_columns)[any_row[matches.key]])


def is_among(values: Owners, owners: Owners) -> NDArray[np.bool_]:
    """Which hashes are among some owners, sorted."""
    if not len(owners):
        return np.zeros(len(values), bool)
    if len(owners) == 1:
        return np.asarray(values == owners[0])
    places = np.minimum(np.searchsorted(owners, values), len(owners) - 1)
    return np.asarray(owners[places] == values)


def buckets_of(rows: pa.Table, key: Sequence[str], n_buckets: int) -> NDArray[np.int64]:
    """The bucket of each row by the columns of its key; without a key all rows share one."""
    if not key or n_buckets == 1:
        return np.zeros(len(rows), np.int64)
    return (row_hashes((rows[name] for name in key), len(rows)) % np.uint64(n_buckets)).astype(np.int64)
