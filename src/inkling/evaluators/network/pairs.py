"""Pairs of values that a table holds, in the form in which kernels look them up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.logical import expr as e
from inkling.logical.evaluate import Row
from inkling.logical.vectorized import ARROW_TYPES
from inkling.logical.vectorized.facts import alike
from inkling.model.facts import Facts
from inkling.model.types import Type
from inkling.physical.across import compared_args


@dataclass(frozen=True, slots=True)
class PairForm:
    """The distinct values of both columns in order, and the pairs as numbers of these, sorted."""

    values: tuple[pa.Array, pa.Array]
    firsts: NDArray[np.float64]
    seconds: NDArray[np.float64]


def pair_form(test: e.InTable, facts: Sequence[Row], kinds: tuple[Type, Type]) -> PairForm:
    """The pairs for which a look-up by two events holds; made once per table."""
    facts = facts if isinstance(facts, Facts) else Facts(pa.Table.from_pylist([dict(row) for row in facts]))
    fixed = tuple((place, arg) for place, arg in enumerate(test.args) if isinstance(arg, e.Literal))
    key = (tuple(place for place, _ in compared_args(test)), fixed, kinds)
    found = facts.forms.get(key)
    if not isinstance(found, PairForm):
        found = facts.forms[key] = _made(facts.columns, key[0], fixed, kinds)
    return found


def _made(
    columns: pa.Table, places: tuple[int, ...], fixed: tuple[tuple[int, e.Literal], ...], kinds: tuple[Type, Type]
) -> PairForm:
    if not columns.num_columns:  # rows of no table say nothing about its columns
        return PairForm((pa.array([], pa.string()), pa.array([], pa.string())), np.empty(0), np.empty(0))
    for place, literal in fixed:
        if not len(columns):
            break
        have, want = alike(columns.column(place).combine_chunks(), pa.array([literal.value]))
        columns = columns.filter(pc.equal(have, want[0]))
    pairs = [_as(kind, columns.column(place).combine_chunks()) for place, kind in zip(places, kinds, strict=True)]
    rows = pa.table(pairs, ["first", "second"]).drop_null()
    values = tuple(_sorted(rows[name].unique()) for name in ("first", "second"))
    firsts, seconds = (
        pc.index_in(rows[name], value_set=known).to_numpy().astype(np.float64)
        for name, known in zip(("first", "second"), values, strict=True)
    )
    order = np.lexsort((seconds, firsts))
    return PairForm((values[0], values[1]), firsts[order], seconds[order])


def _as(kind: Type, column: pa.Array) -> pa.Array:
    """Facts as the column that is compared with them holds its values; numbers that it cannot hold are left out."""
    if kind is Type.STRING or pa.types.is_null(column.type):
        return column.cast(pa.string())
    if kind is Type.DOUBLE:
        return pc.add(column.cast(pa.float64()), pa.scalar(0.0))
    if pa.types.is_floating(column.type):
        whole = pc.equal(column, pc.trunc(column))
        column = pc.if_else(whole, column, pa.scalar(None, column.type))
    return column.cast(ARROW_TYPES[kind]).cast(pa.int64())


def _sorted(values: pa.Array) -> pa.Array:
    return values.take(pc.array_sort_indices(values))
