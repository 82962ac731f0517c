"""The distance between a position and a way on the globe is that of the nearest of many points on the way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from inkling.logical.functions import EARTH_RADIUS_M, haversine_m, passing_distance
from inkling.logical.vectorized.functions import call

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEGREE_M = EARTH_RADIUS_M * math.pi / 180


def point_after(lat: float, lon: float, heading: float, meters: float) -> tuple[float, float]:
    """The destination on a great circle."""
    phi, bearing, angle = math.radians(lat), math.radians(heading), meters / EARTH_RADIUS_M
    there = math.asin(math.sin(phi) * math.cos(angle) + math.cos(phi) * math.sin(angle) * math.cos(bearing))
    east = math.sin(bearing) * math.sin(angle) * math.cos(phi)
    turn = math.atan2(east, math.cos(angle) - math.sin(phi) * math.sin(there))
    return math.degrees(there), lon + math.degrees(turn)


@pytest.mark.parametrize(
    ("lat2", "lon2", "heading", "degrees"),
    [
        (1.0, 5.0, 90, 1.0),  # beside the way
        (0.0, 12.0, 90, 2.0),  # behind its end
        (0.0, -3.0, 90, 3.0),  # before its start
        (0.0, 5.0, 90, 0.0),
        (-2.0, 0.0, 180, 0.0),
        (0.0, 179.0, 270, 171.0),  # from 10 degrees west, across the antimeridian
    ],
)
def test_by_hand_on_the_equator(lat2: float, lon2: float, heading: float, degrees: float) -> None:
    found = passing_distance(0.0, 0.0, heading, 10 * DEGREE_M, lat2, lon2)
    assert found == pytest.approx(degrees * DEGREE_M, abs=1e-3)


def random_cases(seed: int, n: int) -> list[tuple[float, ...]]:
    random = np.random.default_rng(seed)
    lows, highs = (-80, -180, -360, -1e5, -80, -180), (80, 180, 720, 1.5e7, 80, 180)
    rows = random.uniform(lows, highs, (n, 6))
    near = random.random(n) < 0.5
    rows[near, 4:] = rows[near, :2] + random.uniform(-0.3, 0.3, (int(near.sum()), 2))
    rows[near, 3] = random.uniform(0, 50_000, int(near.sum()))
    return [tuple(row) for row in rows.tolist()]


def test_the_nearest_of_many_points() -> None:
    for case in random_cases(1, 200):
        lat, lon, heading, length, *there = case
        steps = np.linspace(0, max(0.0, length), 2001).tolist()
        nearest = min(haversine_m(*point_after(lat, lon, heading, step), *there) for step in steps)
        found = passing_distance(*case)
        assert nearest - max(0.0, length) / 2000 - 1e-3 <= found <= nearest + 1e-3


def test_columns_eq_values() -> None:
    cases = random_cases(2, 500)
    columns = [pa.array(column) for column in zip(*cases, strict=True)]
    found = call("passing_distance", columns).to_pylist()
    assert found == pytest.approx([passing_distance(*case) for case in cases], rel=1e-9, abs=1e-3)


def test_on_spark(spark: SparkSession) -> None:
    from inkling.spark.functions import COLUMN_FORMS

    cases = random_cases(3, 50)
    frame = spark.createDataFrame(cases, "a double, b double, c double, d double, e double, f double")
    found = frame.select(COLUMN_FORMS["passing_distance"](*(frame[name] for name in frame.columns))).collect()
    assert [row[0] for row in found] == pytest.approx([passing_distance(*case) for case in cases], rel=1e-9, abs=1e-3)
