"""Rows joined with background tables: one row per event and agreeing fact."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage.row import Row
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import TableAtom
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.logical.vectorized.facts import alike
from inkling.physical.naming import fact_name


def with_facts(
    rows: pa.Table, atoms: tuple[TableAtom, ...], tables: Mapping[str, pa.Table], around: Surroundings
) -> pa.Table:
    """Each row once per combination of facts that agree with it; the facts' columns get physical names."""
    for atom in atoms:
        rows = _joined(rows, atom, tables[atom.table], around)
    return rows


def _joined(rows: pa.Table, atom: TableAtom, table: pa.Table, around: Surroundings) -> pa.Table:
    names = [fact_name(atom.number, column.name, column.type) for column in atom.columns]
    facts = table.select([column.name for column in atom.columns]).rename_columns(names)
    facts = pa.table(
        [facts[name].cast(ARROW_TYPES[column.type]) for name, column in zip(names, atom.columns, strict=True)],
        names=names,
    )
    facts = facts.group_by(names).aggregate([])
    resolve = Row(rows)
    wanted = [
        (name, evaluate(arg, resolve, len(rows), around))
        for name, arg in zip(names, atom.args, strict=True)
        if arg is not None
    ]
    left, right = _pairs(wanted, facts, len(rows))
    joined = rows.take(pa.array(left))
    for name in names:
        joined = joined.append_column(name, facts[name].take(pa.array(right)))
    return joined


def _pairs(wanted: list[tuple[str, pa.Array]], facts: pa.Table, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of rows and facts that agree; null agrees with nothing."""
    pairs = [alike(facts[name].combine_chunks(), values) for name, values in wanted]
    left = pa.table({"row": np.arange(n_rows)} | {f"k{i}": values for i, (_, values) in enumerate(pairs)})
    right = pa.table({"fact": np.arange(len(facts))} | {f"k{i}": values for i, (values, _) in enumerate(pairs)})
    if not wanted:
        return (
            np.repeat(np.arange(n_rows), len(facts)),
            np.tile(np.arange(len(facts)), n_rows),
        )
    keys = [f"k{i}" for i in range(len(wanted))]
    for key in keys:
        left, right = left.filter(pc.is_valid(left[key])), right.filter(pc.is_valid(right[key]))
    joined = left.join(right, keys, join_type="inner").sort_by([("row", "ascending"), ("fact", "ascending")])
    return joined["row"].to_numpy(), joined["fact"].to_numpy()
