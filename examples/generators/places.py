"""Places on the globe, and the flat ground around each of them."""

from __future__ import annotations

import numpy as np

from .randomness import Floats

EARTH_RADIUS_M = 6_371_000.0
METERS_PER_DEGREE = EARTH_RADIUS_M * np.pi / 180.0
SOUTHWEST = (42.0, -8.0)
ROWS = 30
COLUMNS = 60


def grid_of_places(n: int, *, spacing: float) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of `n` places `spacing` degrees apart; distinct for the first 1800."""
    place = np.arange(n)
    row, column = place % ROWS, place // ROWS % COLUMNS
    return SOUTHWEST[0] + spacing * row.astype(np.float64), SOUTHWEST[1] + spacing * column.astype(np.float64)


def offset_position(lat: Floats, lon: Floats, east_m: Floats, north_m: Floats) -> tuple[Floats, Floats]:
    """Positions some meters away from places, to a tenth of a meter; good for a few tens of kilometers."""
    east_degrees = METERS_PER_DEGREE * np.cos(np.radians(lat))
    return np.round(lat + north_m / METERS_PER_DEGREE, 6), np.round(lon + east_m / east_degrees, 6)


def haversine_m(lat1: Floats, lon1: Floats, lat2: Floats, lon2: Floats) -> Floats:
    """Great-circle distance between positions in degrees."""
    phi1, phi2 = np.radians(lat1), np.radians(lat2)
    half_phi, half_lambda = (phi2 - phi1) / 2.0, np.radians(lon2 - lon1) / 2.0
    chord = np.sin(half_phi) ** 2 + np.cos(phi1) * np.cos(phi2) * np.sin(half_lambda) ** 2
    distance: Floats = 2.0 * EARTH_RADIUS_M * np.arcsin(np.sqrt(chord))
    return distance
