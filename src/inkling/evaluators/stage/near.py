"""Facts by place: a grid over the globe in which each fact lies in every cell that rows near it can be in.

A cell tells which facts may be near; whether they are is left to the condition itself, so the grid only has to be
generous. Rows beyond the poles, where distances follow no geometry, have a cell of their own with all facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MARGIN = 1e-6
"""Degrees, some decimeters: more than rounding can move a position."""
BEYOND, NOWHERE = -1, -2
"""Cells of rows beyond the poles, and of rows without a position."""
MOST_COLUMNS = 32
"""Of cells to either side of a fact; around the poles they are many, or wide."""
LEAST_STEP = 1e-5
FARTHEST_LON = 720.0


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of equal size in degrees, numbered row by row from the south pole and the prime meridian."""

    lat_step: float
    lon_step: float

    @property
    def n_columns(self) -> int:
        return int(np.ceil(360.0 / self.lon_step)) + 1

    def cells_of(self, lat: Floats, lon: Floats) -> Ints:
        """The cell of each position."""
        with np.errstate(invalid="ignore"):
            row, column = np.floor((lat + 90.0) / self.lat_step), np.floor(np.mod(lon, 360.0) / self.lon_step)
            regular = (np.abs(lat) <= 90.0) & (np.abs(lon) <= FARTHEST_LON)
        some = np.isfinite(lat) & np.isfinite(lon)
        cell = np.where(regular, np.nan_to_num(row * self.n_columns + column), np.where(some, BEYOND, NOWHERE))
        return cell.astype(np.int64)


@dataclass(frozen=True)
class Placed:
    """Places of facts in a grid: fact `fact[i]` lies in cell `cell[i]`."""

    grid: Grid
    cell: Ints
    fact: Ints

    @cached_property
    def _by_cell(self) -> tuple[Ints, Ints, Ints]:
        order = np.argsort(self.cell, kind="stable")
        cells, first = np.unique(self.cell[order], return_index=True)
        return cells, np.append(first, len(order)), self.fact[order]

    def pairs(self, lat: Floats, lon: Floats) -> tuple[Ints, Ints]:
        """Rows and facts that may be near each other, rows in order."""
        cells, first, facts = self._by_cell
        wanted = self.grid.cells_of(lat, lon)
        place = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        rows = np.flatnonzero(cells[place] == wanted) if len(cells) else np.empty(0, np.int64)
        begin, end = first[place[rows]], first[place[rows] + 1]
        count = end - begin
        left = np.repeat(rows, count)
        right = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
        return left, facts[right]


def placed(lat: Floats, lon: Floats, degrees: float) -> Placed | None:
    """Facts at some positions in the cells from which they may be `degrees` away; None where a grid does not help."""
    return _placed(lat.tobytes(), lon.tobytes(), degrees)


@lru_cache(maxsize=16)
def _placed(lats: bytes, lons: bytes, degrees: float) -> Placed | None:
    lat, lon = np.frombuffer(lats), np.frombuffer(lons)
    known = np.isfinite(lat) & np.isfinite(lon)
    beyond = (np.abs(lat[known]) > 90.0) | (np.abs(lon[known]) > FARTHEST_LON)
    if not np.isfinite(degrees) or degrees >= 45.0 or beyond.any():
        return None
    high = degrees + MARGIN
    wide = _half_widths(lat, high)
    usual, most = (float(np.median(wide[known])), float(wide[known].max())) if known.any() else (high, high)
    grid = Grid(max(2.0 * high, LEAST_STEP), min(360.0, max(2.0 * usual, most / MOST_COLUMNS, LEAST_STEP)))
    cells, facts = [], []
    for fact in np.flatnonzero(known).tolist():
        south, north = max(lat[fact] - high + 90.0, 0.0), lat[fact] + high + 90.0
        rows = np.arange(_down(south / grid.lat_step), _down(north / grid.lat_step) + 1)
        columns = _columns(grid, float(lon[fact]), float(wide[fact]))
        some = (rows[:, None] * grid.n_columns + columns[None, :]).ravel()
        cells.append(np.append(some, BEYOND))
        facts.append(np.full(len(some) + 1, fact))
    none = np.empty(0, np.int64)
    return Placed(grid, np.concatenate([none, *cells]), np.concatenate([none, *facts]))


def _half_widths(lat: Floats, degrees: float) -> Floats:
    """How many degrees of longitude a cap reaches to either side of its middle; all of them if it holds a pole."""
    with np.errstate(invalid="ignore", divide="ignore"):
        width = np.degrees(np.arcsin(np.sin(np.radians(degrees)) / np.cos(np.radians(lat))))
    return np.where((np.abs(lat) + degrees < 90.0) & np.isfinite(width), width + MARGIN, 180.0)


def _columns(grid: Grid, lon: float, wide: float) -> Ints:
    """The columns of cells from `wide` degrees west of a longitude to as far east of it."""
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
    """Numbers as an array; what is missing is no number."""
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
