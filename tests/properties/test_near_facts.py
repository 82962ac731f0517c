"""Facts near a row are found through a grid; what is found is what comparing every row with every fact finds."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.oracle import bound, oracle

from inkling import parse
from inkling.evaluators.stage.rows.facts import grid_cells
from inkling.logical.functions import haversine_m

PROGRAM = """
STREAM Ship(id BIGINT, ship STRING, t BIGINT, lat DOUBLE, lon DOUBLE) ID id KEY ship TIME t ORDER BY id;
TABLE ports(port STRING, lat DOUBLE, lon DOUBLE, kind STRING) FROM 'ports.csv';
EVENT approaching(ship, port) AS
  PATTERN SEQ STRICT(
    Ship a[ports(port, y, x, _) AND haversine(lat, lon, y, x) >= {middle} AND haversine(lat, lon, y, x) < {far}],
    Ship b[haversine(lat, lon, y, x) >= {near} AND haversine(lat, lon, y, x) < {middle}]+,
    Ship c[haversine(y, x, lat, lon) < {near}])
  PARTITION BY ship
  PER END;
EVENT at(s.id AS id, port) AS PATTERN Ship s WHERE ports(port, y, x, 'sea') AND {near} >= haversine(y, x, s.lat, s.lon);
EVENT on_moon(s.id AS id, port) AS
  PATTERN Ship s WHERE ports(port, y, x, _) AND great_circle(s.lat, s.lon, y, x, 1737.4) <= 1.5;
"""
CENTERS = [(0.0, 0.0), (48.3, -4.5), (89.98, 10.0), (-89.99, -120.0), (12.0, 179.99), (12.0, -179.99), (5.0, 360.01)]


def positions(chance: random.Random, n: int, spread: float) -> list[tuple[float, float]]:
    found = []
    for _ in range(n):
        lat, lon = chance.choice(CENTERS)
        north, east = chance.uniform(-spread, spread), chance.uniform(-spread, spread)
        wide = 3.0 if abs(lat) < 80 else 200.0
        found.append((max(-90.0, min(90.0, lat + north)), lon + east * wide))
    return found


def distances(lats: np.ndarray, lons: np.ndarray, ports: list[tuple[float, float]]) -> np.ndarray:
    return np.array(
        [[haversine_m(lat, lon, *port) for port in ports] for lat, lon in zip(lats, lons, strict=True)]
    ).reshape(len(lats), len(ports))


@pytest.mark.parametrize("seed", range(30))
def test_nothing_near_is_missed(seed: int) -> None:
    """Around poles and the date line too, and for a limit that some distance meets exactly."""
    chance = random.Random(seed)
    ports = positions(chance, 15, 0.2)
    rows = [*positions(chance, 120, 0.3), *ports[:3], (90.0, 0.0), (-90.0, 77.0)]
    lats, lons = np.array(rows).T
    away = distances(lats, lons, ports)
    limit = float(chance.choice(sorted(away.ravel())[:200]))
    port_lat, port_lon = np.array(ports).T
    found = grid_cells(port_lat, port_lon, float(np.degrees(limit / 6_371_000.0)))
    assert found is not None
    pairs = set(zip(*(column.tolist() for column in found.pairs(lats, lons)), strict=True))
    near = {(int(row), int(port)) for row, port in np.argwhere(away <= limit)}
    assert near <= pairs
    assert len(pairs) < 0.75 * away.size


def test_rows_without_a_place_have_no_neighbors() -> None:
    found = grid_cells(np.array([1.0, np.nan]), np.array([1.0, 2.0]), 0.1)
    assert found is not None
    rows, facts = found.pairs(np.array([np.nan, 1.0, 95.0, 1.0]), np.array([1.0, np.inf, 1.0, 1.0]))
    assert (rows.tolist(), facts.tolist()) == ([2, 3], [0, 0])  # beyond a pole everything is left to the condition


def test_where_a_grid_does_not_help() -> None:
    assert grid_cells(np.array([1.0]), np.array([1.0]), 60.0) is None
    assert grid_cells(np.array([91.0]), np.array([1.0]), 0.1) is None


def cases(seed: int) -> tuple[str, dict[str, list[dict[str, object]]], list[dict[str, object]]]:
    """A voyage past ports, with limits that some of its distances meet exactly."""
    chance = random.Random(seed)
    ports = positions(chance, 6, 0.03)
    rows: list[dict[str, object]] = []
    for leg in range(20):
        (lat, lon), ship = chance.choice(ports), chance.choice("AB")
        for away in (0.08, 0.05, 0.01):
            north = lat + away * chance.uniform(0.8, 1.2)
            row: dict[str, object] = {"id": len(rows), "ship": ship, "t": len(rows)}
            rows.append({**row, "lat": min(90.0, north), "lon": lon + chance.uniform(0.0, 0.01)})
        if leg % 7 == 3:
            rows[-1]["lat"] = chance.choice((None, 90.5))
    lats, lons = (np.array([row[name] or 0.0 for row in rows], float) for name in ("lat", "lon"))
    seen = distances(lats, lons, ports).ravel()
    near, middle, far = (float(seen[np.abs(seen - wanted).argmin()]) for wanted in (2_500.0, 7_000.0, 11_000.0))
    text = PROGRAM.format(near=repr(near), middle=repr(middle), far=repr(far))
    facts: list[dict[str, object]] = [
        {"port": f"P{place}", "lat": lat, "lon": lon, "kind": chance.choice(("sea", "river"))}
        for place, (lat, lon) in enumerate(ports)
    ]
    facts.append({"port": "nowhere", "lat": None, "lon": 1.0, "kind": "sea"})
    return text, {"Ship": rows}, facts


@pytest.mark.parametrize("seed", range(12))
def test_look_ups_eq_definition(seed: int) -> None:
    text, rows, facts = cases(seed)
    wanted = oracle(bound(text), rows, {"ports": facts})
    table = pa.Table.from_pylist(facts)
    found = parse(text).run_local(rows, {"ports": table}).tables
    for name, results in wanted.items():
        told = found[name].to_pylist()
        values = [(*list(row.values())[1:3], row["end"]) for row in told]
        assert sorted(values) == sorted((*one.values, one.end) for one in results), name


def test_the_plan_says_so() -> None:
    text, _, _ = cases(0)
    lines = parse(text).explain("physical").splitlines()
    assert len([line for line in lines if "JoinNear[" in line]) == 3
