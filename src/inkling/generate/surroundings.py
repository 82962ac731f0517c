"""What lies around depots and ports: stations, weather, coasts and areas of the sea."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Floats
from inkling.generate.numbering import prefixed
from inkling.generate.places import offset_position
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import TIMESTAMP

CELLS_PER_DEGREE = 4
HOUR_US = 3_600_000_000
ICE = 0.15
"""The share of cells and hours with ice on the road."""
STATION_RADII_M = (4_250.0, 4_750.0, 5_250.0, 5_750.0)


def stations_around(lat: Floats, lon: Floats) -> pa.Table:
    """Four filling stations around each depot, each near the loops of other vehicles."""
    angle = np.linspace(0.0, 2.0 * np.pi, len(STATION_RADII_M), endpoint=False)
    east, north = (np.array(STATION_RADII_M) * turn(angle) for turn in (np.cos, np.sin))
    lats, lons = offset_position(np.repeat(lat, len(angle)), np.repeat(lon, len(angle)), *_for_each(east, north, lat))
    return pa.table({"station": prefixed("S", np.arange(lats.size), width=4), "lat": lats, "lon": lons})


def _for_each(east: Floats, north: Floats, places: Floats) -> tuple[Floats, Floats]:
    return np.tile(east, places.size), np.tile(north, places.size)


def weather_over(lat: Floats, lon: Floats, first_us: int, last_us: int, seed: int) -> pa.Table:
    """Where and when there is ice on the road, by cells of a quarter of a degree around each depot and by the hour."""
    cells = {
        (float(np.floor(CELLS_PER_DEGREE * (y + dy))), float(np.floor(CELLS_PER_DEGREE * (x + dx))))
        for y, x in zip(lat.tolist(), lon.tolist(), strict=True)
        for dy in (-0.1, 0.1)
        for dx in (-0.1, 0.1)
    }
    hours = np.arange(first_us // HOUR_US, last_us // HOUR_US + 1)
    where = np.array(sorted(cells))
    is_ice = BlockRandom(seed, "weather", 0).unit((len(where), len(hours))) < ICE
    cell, hour = np.nonzero(is_ice)
    since = hours[hour] * HOUR_US
    return pa.table(
        {
            "cell_lat": where[cell, 0],
            "cell_lon": where[cell, 1],
            "since": pa.array(since).cast(TIMESTAMP),
            "until": pa.array(since + HOUR_US).cast(TIMESTAMP),
            "road": ["ice"] * len(cell),
        }
    )


def areas_around(lat: Floats, lon: Floats) -> pa.Table:
    """Off each port an anchorage in the east, a fishing area in the north, and a coast in a bend in the west."""
    names, kinds, shapes = [], [], []
    for number, (y, x) in enumerate(zip(lat.tolist(), lon.tolist(), strict=True)):
        for kind, shape in (
            ("anchorage", _box(x + 0.12, y - 0.12, x + 0.30, y + 0.12)),
            ("fishing", _box(x - 0.30, y + 0.10, x + 0.30, y + 0.20)),
            ("coast", f"LINESTRING ({_at(x - 0.30, y - 0.12)}, {_at(x - 0.17, y)}, {_at(x - 0.30, y + 0.12)})"),
        ):
            names.append(f"{kind}{number}")
            kinds.append(kind)
            shapes.append(shape)
    return pa.table({"area": names, "kind": kinds, "shape": shapes})


def _box(west: float, south: float, east: float, north: float) -> str:
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return f"POLYGON (({', '.join(_at(x, y) for x, y in corners)}))"


def _at(x: float, y: float) -> str:
    return f"{x:.4f} {y:.4f}"
