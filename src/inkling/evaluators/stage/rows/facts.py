"""Rows joined with background tables: one row per event and matching fact.

Facts near a position are found with a grid over the globe: each fact is in all cells from which it may be near. A cell
lists candidates; the condition itself decides, so cells may list too many facts but never too few. Rows beyond the
poles have a cell of their own with all facts.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage.rows.conditions import Row
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import TableAtom
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.logical.vectorized.columns import alike
from inkling.model.batch import Floats, Ints
from inkling.model.runs import ranges
from inkling.physical.conditions import Near
from inkling.physical.naming import fact_name

MARGIN = 1e-6
"""In degrees, about a decimeter: more than the rounding error of a position."""
BEYOND, NOWHERE = -1, -2
"""The cells of rows beyond the poles, and of rows without a position."""
MOST_COLUMNS = 32
"""The limit on columns of cells to either side of a fact; near the poles, cells get wider instead."""
LEAST_STEP = 1e-5
FARTHEST_LON = 720.0


@dataclass(frozen=True, slots=True)
class GeoGrid:
    """Cells of equal size in degrees, numbered row by row from the south pole and the prime meridian."""

    lat_step: float
    lon_step: float

    @property
    def n_columns(self) -> int:
        return int(np.ceil(360.0 / self.lon_step)) + 1

    def cells_of(self, lat: Floats, lon: Floats) -> Ints:
        with np.errstate(invalid="ignore"):
            row, column = np.floor((lat + 90.0) / self.lat_step), np.floor(np.mod(lon, 360.0) / self.lon_step)
            regular = (np.abs(lat) <= 90.0) & (np.abs(lon) <= FARTHEST_LON)
        some = np.isfinite(lat) & np.isfinite(lon)
        cell = np.where(regular, np.nan_to_num(row * self.n_columns + column), np.where(some, BEYOND, NOWHERE))
        return cell.astype(np.int64)


@dataclass(frozen=True)
class GridCells:
    """Facts in a grid: fact `fact[i]` is in cell `cell[i]`."""

    grid: GeoGrid
    cell: Ints
    fact: Ints

    @cached_property
    def _by_cell(self) -> tuple[Ints, Ints, Ints]:
        order = np.argsort(self.cell, kind="stable")
        cells, first = np.unique(self.cell[order], return_index=True)
        return cells, np.append(first, len(order)), self.fact[order]

    def pairs(self, lat: Floats, lon: Floats) -> tuple[Ints, Ints]:
        """Pairs (row, fact) that may be near each other, sorted by row."""
        cells, first, facts = self._by_cell
        wanted = self.grid.cells_of(lat, lon)
        place = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        rows = np.flatnonzero(cells[place] == wanted) if len(cells) else np.empty(0, np.int64)
        begin, end = first[place[rows]], first[place[rows] + 1]
        return np.repeat(rows, end - begin), facts[ranges(begin, end - begin)]


def grid_cells(lat: Floats, lon: Floats, degrees: float) -> GridCells | None:
    """Facts in all cells from which they may be within `degrees`; None if a grid does not help."""
    return _grid_cells(lat.tobytes(), lon.tobytes(), degrees)


@lru_cache(maxsize=16)
def _grid_cells(lats: bytes, lons: bytes, degrees: float) -> GridCells | None:
    lat, lon = np.frombuffer(lats), np.frombuffer(lons)
    known = np.isfinite(lat) & np.isfinite(lon)
    beyond = (np.abs(lat[known]) > 90.0) | (np.abs(lon[known]) > FARTHEST_LON)
    if not np.isfinite(degrees) or degrees >= 45.0 or beyond.any():
        return None
    high = degrees + MARGIN
    wide = _half_widths(lat, high)
    usual, most = (float(np.median(wide[known])), float(wide[known].max())) if known.any() else (high, high)
    grid = GeoGrid(max(2.0 * high, LEAST_STEP), min(360.0, max(2.0 * usual, most / MOST_COLUMNS, LEAST_STEP)))
    cells, facts = [], []
    for fact in np.flatnonzero(known).tolist():
        south, north = max(lat[fact] - high + 90.0, 0.0), lat[fact] + high + 90.0
        rows = np.arange(_down(south / grid.lat_step), _down(north / grid.lat_step) + 1)
        columns = _columns(grid, float(lon[fact]), float(wide[fact]))
        some = (rows[:, None] * grid.n_columns + columns[None, :]).ravel()
        cells.append(np.append(some, BEYOND))
        facts.append(np.full(len(some) + 1, fact))
    none = np.empty(0, np.int64)
    return GridCells(grid, np.concatenate([none, *cells]), np.concatenate([none, *facts]))


def _half_widths(lat: Floats, degrees: float) -> Floats:
    """Degrees of longitude from the center of a spherical cap to its border; 180 if it contains a pole."""
    with np.errstate(invalid="ignore", divide="ignore"):
        width = np.degrees(np.arcsin(np.sin(np.radians(degrees)) / np.cos(np.radians(lat))))
    return np.where((np.abs(lat) + degrees < 90.0) & np.isfinite(width), width + MARGIN, 180.0)


def _columns(grid: GeoGrid, lon: float, wide: float) -> Ints:
    """The columns of cells within `wide` degrees of a longitude."""
    last = _down(360.0 / grid.lon_step)
    if wide >= 180.0:
        return np.arange(last + 1)
    west, east = lon % 360.0 - wide, lon % 360.0 + wide
    parts = [(max(west, 0.0), min(east, 360.0))]
    if west < 0.0:
        parts.append((west + 360.0, 360.0))
    if east > 360.0:
        parts.append((0.0, east - 360.0))
    steps = [np.arange(_down(begin / grid.lon_step), _down(end / grid.lon_step) + 1) for begin, end in parts]
    return np.unique(np.concatenate(steps))


def _down(value: float) -> int:
    return int(np.floor(value))


def numbers_of(column: pa.Array | pa.ChunkedArray) -> Floats:
    """Numbers as an array; null is NaN."""
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


class FactJoin:
    """The facts of one table atom, prepared once, joined with any number of batches."""

    def __init__(self, atom: TableAtom, table: pa.Table, near: Near | None) -> None:
        self._atom = atom
        self._names = [fact_name(atom.number, column.name, column.type) for column in atom.columns]
        self._facts = _distinct_facts(atom, table)
        self._near = near if near is not None and near.atom == atom.number else None
        self._places = None if self._near is None else facts_in_grid(self._near, atom, self._facts)

    def joined(self, rows: pa.Table, context: ExpressionContext) -> pa.Table:
        """One row per row and matching fact, with the columns of the fact under physical names."""
        resolve = Row(rows)
        wanted = [
            (name, evaluate(arg, resolve, len(rows), context))
            for name, arg in zip(self._names, self._atom.args, strict=True)
            if not (arg is None or isinstance(arg, e.Literal))
        ]
        if not wanted and self._places is not None and self._near is not None:
            position = [evaluate(one, resolve, len(rows), context) for one in (self._near.lat, self._near.lon)]
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
    """A grid, and one row per fact and cell."""

    grid: GeoGrid
    rows: pa.Table


def cells_of_facts(near: Near, atom: TableAtom, table: pa.Table) -> CellsOfFacts | None:
    """The facts with physical names and the column `CELL`; None if a grid does not help."""
    facts = _distinct_facts(atom, table)
    places = facts_in_grid(near, atom, facts)
    if places is None:
        return None
    rows = facts.take(pa.array(places.fact)).append_column(CELL, pa.array(places.cell))
    return CellsOfFacts(places.grid, rows)


def _distinct_facts(atom: TableAtom, table: pa.Table) -> pa.Table:
    """The facts with the constants of an atom, each once, with physical names."""
    names = [fact_name(atom.number, column.name, column.type) for column in atom.columns]
    columns = [table[column.name].cast(ARROW_TYPES[column.type]) for column in atom.columns]
    facts = pa.table(columns, names=names)
    for name, arg in zip(names, atom.args, strict=True):
        if isinstance(arg, e.Literal):
            known, constant = alike(facts[name].combine_chunks(), pa.array([arg.value], ARROW_TYPES[arg.type]))
            facts = facts.filter(pc.equal(known, constant[0]))
    return facts.group_by(names).aggregate([]).combine_chunks()


def facts_in_grid(near: Near, atom: TableAtom, facts: pa.Table) -> GridCells | None:
    """Facts with physical names in a grid; None if it does not help."""
    kinds = {column.name: column.type for column in atom.columns}
    lat, lon = (numbers_of(facts[fact_name(atom.number, one, kinds[one])]) for one in (near.fact_lat, near.fact_lon))
    return grid_cells(lat, lon, near.degrees)


def _pairs(wanted: list[tuple[str, pa.Array]], facts: pa.Table, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (row, fact) with equal values; null equals nothing."""
    pairs = [alike(facts[name].combine_chunks(), values) for name, values in wanted]
    left = pa.table({"row": np.arange(n_rows)} | {f"k{i}": values for i, (_, values) in enumerate(pairs)})
    right = pa.table({"fact": np.arange(len(facts))} | {f"k{i}": values for i, (values, _) in enumerate(pairs)})
    if not wanted:
        return (np.repeat(np.arange(n_rows), len(facts)), np.tile(np.arange(len(facts)), n_rows))
    keys = [f"k{i}" for i in range(len(wanted))]
    for key in keys:
        left, right = left.filter(pc.is_valid(left[key])), right.filter(pc.is_valid(right[key]))
    joined = left.join(right, keys, join_type="inner").sort_by([("row", "ascending"), ("fact", "ascending")])
    return joined["row"].to_numpy(), joined["fact"].to_numpy()
