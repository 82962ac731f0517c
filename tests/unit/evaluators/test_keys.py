"""All that groups rows by key means the same by it: codes, key indexes, hashes, owners and buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from tests.kit.hard_keys import HARD_KEYS, Groups

from inkling.evaluators.hashes import labels_of
from inkling.evaluators.query.probable_events import NULL_KEY, equality_codes
from inkling.evaluators.stage.rows.batches import key_codes
from inkling.evaluators.stage.rows.keys import KeyIndex, buckets_of, owners_of
from inkling.model.hashes import row_hashes
from inkling.model.keys import codes_of

Numbers = NDArray[np.int64] | NDArray[np.uint64]


def _in_pieces(rows: pa.Table, n_columns: int) -> Numbers:
    """Codes of a index that meets the rows one after the other, and the last ones after it was stored."""
    index, half = KeyIndex(rows.schema), len(rows) // 2
    found = [index.codes(rows.slice(row, 1)) for row in range(half)]
    index = KeyIndex.from_table(index.to_table())
    return np.concatenate([*found, *(index.codes(rows.slice(row, 1)) for row in range(half, len(rows)))])


def _owners_in_index(rows: pa.Table, n_columns: int) -> Numbers:
    index = KeyIndex(rows.schema)
    codes = index.codes(rows)
    return index.owners()[codes]


NOTIONS: dict[str, Callable[[pa.Table, int], Numbers]] = {
    "codes": lambda rows, n: codes_of(rows.columns, len(rows))[0],
    "codes of stage rows": lambda rows, n: key_codes(rows, n)[0],
    "index": lambda rows, n: KeyIndex(rows.schema).codes(rows),
    "index row by row": _in_pieces,
    "hashes": lambda rows, n: row_hashes(rows.columns, len(rows)),
    "owners": owners_of,
    "owners in a index": _owners_in_index,
    "buckets": lambda rows, n: buckets_of(rows, rows.column_names, 2**62),
}


@pytest.mark.parametrize("kind", HARD_KEYS)
@pytest.mark.parametrize("notion", NOTIONS)
def test_rows_of_one_key_are_told_from_all_others(kind: str, notion: str) -> None:
    keys = HARD_KEYS[kind]
    found = NOTIONS[notion](keys.rows, len(keys.rows.columns))
    assert _groups(found.tolist()) == keys.groups


@pytest.mark.parametrize("kind", HARD_KEYS)
def test_codes_are_dense_and_in_order_of_first_rows(kind: str) -> None:
    keys = HARD_KEYS[kind]
    codes, n_keys = codes_of(keys.rows.columns, len(keys.rows))
    assert list(dict.fromkeys(codes.tolist())) == list(range(n_keys))
    of_rows, by_code = key_codes(keys.rows, len(keys.rows.columns))
    assert of_rows.tolist() == codes.tolist()
    assert codes_of(by_code.columns, n_keys)[0].tolist() == list(range(n_keys))


@pytest.mark.parametrize("kind", HARD_KEYS)
def test_few_buckets_hold_whole_keys(kind: str) -> None:
    keys = HARD_KEYS[kind]
    buckets = buckets_of(keys.rows, keys.rows.column_names, 3)
    assert set(buckets.tolist()) <= {0, 1, 2}
    assert all(len(set(buckets[list(group)].tolist())) == 1 for group in keys.groups)


def test_without_columns_there_is_one_key() -> None:
    rows = pa.table({"other": [1, 2, 3]})
    assert codes_of([], 3)[0].tolist() == [0, 0, 0]
    assert codes_of([], 0)[1] == 0
    for found in (key_codes(rows, 0)[0], owners_of(rows, 0), row_hashes([], 3), buckets_of(rows, [], 7)):
        assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("kind", [kind for kind, keys in HARD_KEYS.items() if len(keys.rows.columns) == 1])
def test_in_conditions_of_equality_null_stands_apart(kind: str) -> None:
    """Every other value equals the same values as in a key."""
    keys = HARD_KEYS[kind]
    column = keys.rows.column(0).combine_chunks()
    is_null = column.is_null().to_pylist()
    for codes, nothing in ((labels_of(column), -1), (equality_codes(column), int(NULL_KEY))):
        assert [code == nothing for code in codes.tolist()] == is_null
        assert _groups(codes.tolist()) == keys.groups


def _groups(numbers: Sequence[int]) -> Groups:
    places: dict[int, list[int]] = {}
    for place, number in enumerate(numbers):
        places.setdefault(number, []).append(place)
    return frozenset(map(tuple, places.values()))
