"""From the rows of a source to the rows of a stage: table joins, conditions, filters, column names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.facts import with_facts
from inkling.evaluators.stage.row import Row
from inkling.evaluators.truth import truth_of
from inkling.logical.evaluate import Surroundings
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.physical.naming import type_of
from inkling.physical.plan import Bit, Input, Stage


def stage_rows(
    stage: Stage,
    number: int,
    source: pa.Table,
    tables: Mapping[str, pa.Table],
    around: Surroundings,
    *,
    carry: str | None = None,
) -> pa.Table:
    """Rows of one input; the source has its own column names and the `@` columns of `rows`.

    Rows with a null in `PARTITION BY` belong to no partition and are left out. `carry` names a column of the
    source that stays with its rows.
    """
    given = stage.inputs[number]
    for column in given.key if stage.drops_null_keys else ():
        source = source.filter(pc.is_valid(source[column]))
    if given.keep is not None:
        source = source.filter(evaluate(given.keep, Row(source), len(source), around))
    joined = with_facts(source, given.atoms, tables, around)
    words = _packed(given.early + given.late, joined, r.n_words(stage), around)
    schema = r.stage_schema(stage)
    computed = {one.name: evaluate(one.expr, Row(joined), len(joined), around) for one in given.computed}
    columns = [
        computed[field.name].cast(field.type)
        if field.name in computed
        else _column(field, given, number, joined, words)
        for field in schema
    ]
    table = pa.table(columns, schema=schema)
    return table if carry is None else table.append_column(carry, joined[carry])


def _packed(bits: tuple[Bit, ...], rows: pa.Table, n_words: int, around: Surroundings) -> list[np.ndarray]:
    words = [np.zeros(len(rows), np.uint64) for _ in range(n_words)]
    resolve = Row(rows)
    for bit in bits:
        truth = truth_of(bit.expr, resolve, len(rows), around)
        words[bit.number >> 6] |= truth.astype(np.uint64) << np.uint64(bit.number & 63)
    return words


def _column(field: pa.Field, given: Input, number: int, rows: pa.Table, words: list[np.ndarray]) -> pa.Array:
    name = field.name
    n = len(rows)
    if name == r.SOURCE:
        return pa.array(np.full(n, number, np.int16))
    if name.startswith("@key"):
        return rows[given.key[int(name[4:])]].cast(field.type).combine_chunks()
    if name.startswith("@bits"):
        return pa.array(words[int(name[5:])].view(np.int64))
    if name in rows.column_names:
        column = rows[name].combine_chunks()
        return column if column.type == field.type else column.cast(field.type)
    if name == r.START:
        return rows[r.END].combine_chunks()
    if name.startswith("@") or name not in given.columns:
        return pa.nulls(n, field.type)
    return rows[name.rsplit("|", 1)[0]].combine_chunks().cast(ARROW_TYPES[type_of(name)])
