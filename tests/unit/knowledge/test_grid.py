"""Sets of rows as sets of numbers, compared with sets of tuples."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from inkling.knowledge.grid import RowGrid
from inkling.knowledge.materialize import distinct, new_rows

Tuples = list[tuple[int | float | None, ...]]


def _tuples(rows: pa.Table) -> Tuples:
    return list(zip(*(column.to_pylist() for column in rows.itercolumns()), strict=True))


def _some(rng: np.random.Generator, n: int, least: int, most: int) -> pa.Table:
    return pa.table({name: rng.integers(least, most, n) for name in ("x", "y", "z")})


@pytest.mark.parametrize(("least", "most"), [(0, 4), (-3, 2), (2**40, 2**40 + 3), (-(2**62), 2**62)])
def test_distinct_and_new_rows_are_those_of_sets(least: int, most: int) -> None:
    rng = np.random.default_rng(5)
    found, known = _some(rng, 60, least, most), _some(rng, 40, least, most)
    found = pa.concat_tables([found, found.slice(3, 9)])
    assert sorted(_tuples(distinct(found))) == sorted(set(_tuples(found)))
    assert sorted(_tuples(new_rows(found, known))) == sorted(set(_tuples(found)) - set(_tuples(known)))
    assert new_rows(found, known).schema == found.schema
    assert not len(new_rows(found.slice(0, 0), known))
    assert sorted(_tuples(new_rows(found, known.slice(0, 0)))) == sorted(set(_tuples(found)))


def test_a_row_and_its_number_stand_for_each_other() -> None:
    rows = _some(np.random.default_rng(7), 50, -9, 9)
    grid = RowGrid.of([rows])
    assert grid is not None
    numbers = grid.numbers(rows)
    assert len(set(numbers.to_pylist())) == len(set(_tuples(rows)))
    assert grid.rows(numbers, rows.schema).equals(rows)


@pytest.mark.parametrize("values", [[1, None], [1.5, 2.5], ["a", "b"], [-(2**63), 2**63 - 1]])
def test_rows_with_other_values_have_no_grid(values: list[object]) -> None:
    assert RowGrid.of([pa.table({"x": values})]) is None
    assert sorted(_tuples(distinct(pa.table({"x": values * 2}))), key=repr) == sorted(
        ((one,) for one in values), key=repr
    )
