"""Sets of facts as Arrow tables: joins, distinct rows, and what is new."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.logical import expr as e
from inkling.logical.knowledge import RuleAtom
from inkling.logical.vectorized import ARROW_TYPES

MAX_FACTS = 50_000_000
"""Facts that one step of a rule may derive, or that a rule may have, before the run is given up."""

HOLDS = "@holds"
"""Column of a rule without arguments, because a table without columns has no rows."""

_ZERO = pa.scalar(0.0)
_UNIT = "@unit"


def distinct(rows: pa.Table) -> pa.Table:
    """Every row once; two nulls are one value here."""
    return rows.group_by(rows.column_names, use_threads=False).aggregate([])


def new_rows(found: pa.Table, known: pa.Table) -> pa.Table:
    """The distinct rows that are not known."""
    found = distinct(found)
    if not len(known) or not len(found):
        return found
    names = found.column_names
    if any(found[name].null_count or known[name].null_count for name in names):
        both = pa.concat_tables([_flagged(found, 1), _flagged(known, 0)])
        least = both.group_by(names, use_threads=False).aggregate([("@new", "min")])
        return least.filter(pc.equal(least["@new_min"], 1)).select(names)
    return found.join(known, names, join_type="left anti", use_threads=False)


def _flagged(rows: pa.Table, flag: int) -> pa.Table:
    return rows.append_column("@new", pa.array(np.full(len(rows), flag, np.int8)))


def scanned(atom: RuleAtom, facts: pa.Table) -> pa.Table:
    """The facts that agree with the constants of an atom, as columns of its variables."""
    chosen: dict[str, pa.ChunkedArray] = {}
    keep: pa.ChunkedArray | None = None
    for place, arg in enumerate(atom.args):
        if arg is None:
            continue
        column = plain(facts.column(place), ARROW_TYPES[arg.type])
        if isinstance(arg, e.Literal):
            test = pc.equal(*_alike(column, pa.scalar(arg.value, ARROW_TYPES[arg.type])))
        elif arg.column in chosen:
            test = pc.equal(chosen[arg.column], column)
        else:
            chosen[arg.column] = column
            continue
        keep = test if keep is None else pc.and_kleene(keep, test)
    if not chosen:
        n_left = len(facts) if keep is None else len(facts.filter(keep))
        return pa.table({_UNIT: np.zeros(min(n_left, 1), np.int8)})
    rows = pa.table(chosen)
    rows = rows if keep is None else rows.filter(keep)
    return rows if len(chosen) == len(atom.args) else distinct(rows)


def plain(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column as another type, with one zero where it holds doubles."""
    if pa.types.is_integer(kind) and pa.types.is_floating(column.type):
        kind = pa.float64()  # a constant 2 agrees with 2.0, and with nothing near it
    column = column if column.type == kind else column.cast(kind)
    return pc.add(column, _ZERO) if pa.types.is_floating(kind) else column


def _alike(column: pa.ChunkedArray, value: pa.Scalar) -> tuple[pa.ChunkedArray, pa.Scalar]:
    if pa.types.is_floating(column.type) and pa.types.is_integer(value.type):
        return column, pa.scalar(float(value.as_py()))
    return column, value


def joined(left: pa.Table, right: pa.Table, rule: str) -> pa.Table:
    """All pairs of rows that agree in the columns both have; null agrees with nothing."""
    shared = [name for name in left.column_names if name in right.column_names and name != _UNIT]
    if shared:
        refuse_too_many(_n_pairs(left, right, shared[0]) if len(shared) == 1 else 0, rule)
        return left.join(right, shared, join_type="inner", use_threads=False)
    refuse_too_many(len(left) * len(right), rule)
    first = left.take(pa.array(np.repeat(np.arange(len(left)), len(right))))
    second = right.take(pa.array(np.tile(np.arange(len(right)), len(left))))
    for name in second.column_names:
        if name != _UNIT:
            first = first.append_column(name, second[name])
    return first


def _n_pairs(left: pa.Table, right: pa.Table, name: str) -> int:
    """How many pairs agree in one column."""
    if len(left) * len(right) <= MAX_FACTS:
        return 0
    counts = [table.group_by([name], use_threads=False).aggregate([([], "count_all")]) for table in (left, right)]
    both = (
        counts[0]
        .rename_columns([name, "one"])
        .join(counts[1].rename_columns([name, "other"]), [name], join_type="inner")
    )
    pairs = pc.sum(pc.multiply(pc.cast(both["one"], pa.float64()), pc.cast(both["other"], pa.float64()))).as_py()
    return int(pairs or 0)


def refuse_too_many(n_facts: int, rule: str) -> None:
    if n_facts > MAX_FACTS:
        raise InputError.of(
            "INK0348",
            f"rule `{rule}` derives more than {MAX_FACTS:,} facts",
            notes=("its facts are derived before the run, and these would not fit",),
            helps=("give its atoms more variables in common, or narrow them with a condition",),
        )
