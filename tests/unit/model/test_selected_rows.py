"""Selected rows of columns: a few of them are read without the rest."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from inkling.model.batch import column_at, has_nulls, picked

COLUMNS = {"word": pa.array(["a", "b", None, "d", "e"]), "number": pa.array([1, 2, 3, 4, 5])}


@pytest.mark.parametrize("rows", [[1], [0, 0, 2, 3]])
def test_rows_of_selected_rows(rows: list[int]) -> None:
    order = np.array([4, 2, 0, 1])
    chosen = np.array(rows)
    for name, column in COLUMNS.items():
        expected = [column[int(order[row])].as_py() for row in rows]
        assert column_at(picked(COLUMNS, order), name, chosen).to_pylist() == expected
        assert column_at(picked(COLUMNS, order).between(1, 4), name, chosen[chosen < 3]).to_pylist() == [
            column[int(order[1 + row])].as_py() for row in rows if row < 3
        ]
        assert column_at(COLUMNS, name, chosen).to_pylist() == [column[row].as_py() for row in rows]


def test_nulls_of_selected_rows() -> None:
    assert has_nulls(COLUMNS, "word")
    assert not has_nulls(COLUMNS, "number")
    selected = picked(COLUMNS, np.array([0, 2]))
    assert has_nulls(selected, "word")
    assert not has_nulls(selected, "number")
