"""Whether a background table has a row that agrees with each row of some columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical.evaluate import Row
from inkling.logical.vectorized.datum import as_double, is_double
from inkling.model.schema import Facts


def in_table(facts: Sequence[Row], wanted: Sequence[pa.Array | None]) -> pa.Array | None:
    """Truth per row, where `wanted[i]` must equal column i of some fact; None when every column is free.

    Facts are numbered column by column: two facts, or a fact and a row, get the same number just when they
    agree so far. Null agrees with nothing.
    """
    fact_numbers: pa.Array | None = None
    row_numbers: pa.Array | None = None
    for position, column in enumerate(wanted):
        if column is None:
            continue
        known, asked = alike(_column(facts, position), column)
        choices = known.drop_null().unique()
        one_fact, one_row = pc.index_in(known, choices), pc.index_in(asked, choices)
        if fact_numbers is None:
            fact_numbers, row_numbers = one_fact, one_row
            continue
        fact_pairs = _paired(fact_numbers, one_fact, len(choices))
        pairs = fact_pairs.drop_null().unique()
        fact_numbers = pc.index_in(fact_pairs, pairs)
        row_numbers = pc.index_in(_paired(row_numbers, one_row, len(choices)), pairs)
    if fact_numbers is None:
        return None
    return pc.is_in(row_numbers, fact_numbers.drop_null())


def agreeing(facts: Sequence[Row], wanted: Sequence[pa.Array | None], n_rows: int) -> tuple[pa.Array, pa.Array]:
    """Every pair of a row and a fact that agree, by their places."""
    keys, known = [], []
    for position, column in enumerate(wanted):
        if column is not None:
            own, asked = alike(_column(facts, position), column)
            keys.append(asked)
            known.append(own)
    if not keys:
        rows = np.repeat(np.arange(n_rows), len(facts))
        return pa.array(rows), pa.array(np.tile(np.arange(len(facts)), n_rows))
    names = [f"k{place}" for place in range(len(keys))]
    left = pa.table([pa.array(np.arange(n_rows)), *keys], ["row", *names]).drop_null()
    right = pa.table([pa.array(np.arange(len(facts))), *known], ["fact", *names]).drop_null()
    pairs = left.join(right, names, join_type="inner", use_threads=False)
    return pairs["row"].combine_chunks(), pairs["fact"].combine_chunks()


def column_of(facts: Sequence[Row], name: str, kind: pa.DataType) -> pa.Array:
    """One column of all facts."""
    if isinstance(facts, Facts):
        return facts.columns[name].combine_chunks().cast(kind)
    return pa.array([fact[name] for fact in facts], kind)


def _column(facts: Sequence[Row], position: int) -> pa.Array:
    if isinstance(facts, Facts):
        return facts.columns.column(position).combine_chunks()
    return pa.array([list(fact.values())[position] for fact in facts])


def _paired(first: pa.Array, second: pa.Array, n_second: int) -> pa.Array:
    return pc.add(pc.multiply(pc.cast(first, pa.int64()), max(n_second, 1)), pc.cast(second, pa.int64()))


def alike(known: pa.Array, asked: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both with one type, and with one zero where they are doubles."""
    if pa.types.is_null(known.type):
        return pa.nulls(len(known), asked.type), asked
    if pa.types.is_null(asked.type):
        return known, pa.nulls(len(asked), known.type)
    if is_double(known) or is_double(asked):
        zero = pa.scalar(0.0)
        return pc.add(as_double(known), zero), pc.add(as_double(asked), zero)
    return known, asked
