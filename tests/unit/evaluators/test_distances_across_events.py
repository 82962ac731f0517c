"""Distances between two events of a match: on the earth, and on a sphere of any radius."""

from __future__ import annotations

import pytest

import inkling

PROGRAM = """
STREAM S(id STRING, lat DOUBLE, lon DOUBLE, t BIGINT) ID id TIME t;
EVENT near AS PATTERN SEQ(S a, S b) WHERE great_circle(a.lat, a.lon, b.lat, b.lon, 6378.137) < 92.2;
EVENT nearer AS PATTERN SEQ(S a, S b) WHERE great_circle(a.lat, a.lon, b.lat, b.lon, 6378.137) < 92.1;
EVENT meters AS PATTERN SEQ(S a, S b) WHERE haversine(a.lat, a.lon, b.lat, b.lon) < 92200;
"""
PLACES = [("k", 37.61896, -122.37489, 1), ("w", 36.935, -121.789, 2), ("f", 0.0, 0.0, 3)]


def test_two_places_are_92_143_km_apart() -> None:
    """The distance of the two places, with this radius, is known to three decimals."""
    rows = {"S": [{"id": name, "lat": lat, "lon": lon, "t": time} for name, lat, lon, time in PLACES]}
    found = inkling.parse(PROGRAM).run_local(rows).tables
    assert found["near"]["lineage"].to_pylist() == [["k", "w"]]
    assert found["nearer"]["lineage"].to_pylist() == []
    assert found["meters"]["lineage"].to_pylist() == [["k", "w"]]


@pytest.mark.parametrize(
    ("lat", "lon", "meters"), [(1.0, 2.0, 111_195), (0.0, 10.0, 111_949), (0.0, -1.0, 111_195), (-1.0, 0.5, 111_195)]
)
def test_ways_along_the_equator(lat: float, lon: float, meters: int) -> None:
    """A degree is 111.195 km, beside the way and behind its start; it ends after 1000 km, 111.949 before degree 10."""
    distance = "passing_distance(a.lat, a.lon, 90, 1000000, b.lat, b.lon)"
    text = f"EVENT e AS PATTERN SEQ(S a, S b[{distance} > {meters - 1} AND {distance} < {meters + 1}]);"
    text = text.replace("b.lat", "lat").replace("b.lon", "lon")
    rows = {"S": [{"id": "a", "lat": 0.0, "lon": 0.0, "t": 1}, {"id": "b", "lat": lat, "lon": lon, "t": 2}]}
    assert inkling.parse(PROGRAM + text).run_local(rows).tables["e"].num_rows == 1
