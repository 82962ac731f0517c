"""Rows joined with background tables: one row per event and agreeing fact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage.near import Grid, Placed, numbers_of, placed
from inkling.evaluators.stage.row import Row
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import TableAtom
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.logical.vectorized.facts import alike
from inkling.physical.naming import fact_name
from inkling.physical.near import Near


class Facts:
    """The facts that an atom looks up; prepared once, joined with any number of batches."""

    def __init__(self, atom: TableAtom, table: pa.Table, near: Near | None) -> None:
        self._atom = atom
        self._names = [fact_name(atom.number, column.name, column.type) for column in atom.columns]
        self._facts = _distinct_facts(atom, table)
        self._near = near if near is not None and near.atom == atom.number else None
        self._places = None if self._near is None else placed_facts(self._near, atom, self._facts)

    def joined(self, rows: pa.Table, around: Surroundings) -> pa.Table:
        """Each row once per fact that agrees with it; the columns of facts get physical names."""
        resolve = Row(rows)
        wanted = [
            (name, evaluate(arg, resolve, len(rows), around))
            for name, arg in zip(self._names, self._atom.args, strict=True)
            if arg is not None
        ]
        if not wanted and self._places is not None and self._near is not None:
            position = [evaluate(one, resolve, len(rows), around) for one in (self._near.lat, self._near.lon)]
            left, right = self._places.pairs(*map(numbers_of, position))
        else:
            left, right = _pairs(wanted, self._facts, len(rows))
        joined = rows.take(pa.array(left))
        for name in self._names:
            joined = joined.append_column(name, self._facts[name].take(pa.array(right)))
        return joined


CELL = "@cell"


@dataclass(frozen=True, slots=True)
class CellsOfFacts:
    """Facts once per cell of a grid in which rows near them can be."""

    grid: Grid
    rows: pa.Table


def cells_of_facts(near: Near, atom: TableAtom, table: pa.Table) -> CellsOfFacts | None:
    """The facts with physical names and the column `CELL`, or None where a grid does not help."""
    facts = _distinct_facts(atom, table)
    places = placed_facts(near, atom, facts)
    if places is None:
        return None
    rows = facts.take(pa.array(places.fact)).append_column(CELL, pa.array(places.cell))
    return CellsOfFacts(places.grid, rows)


def _distinct_facts(atom: TableAtom, table: pa.Table) -> pa.Table:
    names = [fact_name(atom.number, column.name, column.type) for column in atom.columns]
    columns = [table[column.name].cast(ARROW_TYPES[column.type]) for column in atom.columns]
    return pa.table(columns, names=names).group_by(names).aggregate([]).combine_chunks()


def placed_facts(near: Near, atom: TableAtom, facts: pa.Table) -> Placed | None:
    """Facts with physical names in a grid of places, where that helps to find those near a row."""
    kinds = {column.name: column.type for column in atom.columns}
    lat, lon = (numbers_of(facts[fact_name(atom.number, one, kinds[one])]) for one in (near.fact_lat, near.fact_lon))
    return placed(lat, lon, near.degrees)


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
