"""The pattern libraries of a fleet and of vessels find what was put in, and what arrays say about their surroundings.

Where a pattern is scripted, the generator counts it. Where it depends on weather, stations, coasts or areas, this
works out from the readings and the tables where it must end: with loops over arrays, and none of the language.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import shapely
from inkling.examples.generators.places import haversine_m

from inkling import load
from inkling.results import Results
from inkling.scenarios import scenario
from inkling.scenarios.scenario import HasExtraTables

EXAMPLES = Path(__file__).parents[2] / "examples"
EVENTS, SEED = 40_000, 5


@cache
def told(name: str, keys: int) -> tuple[pa.Table, dict[str, pa.Table], dict[str, int], Results]:
    """Readings by key and time, tables, what the generator counted, and what the library finds."""
    source = scenario(name, events=EVENTS, keys=keys, seed=SEED)
    rows = pa.Table.from_batches([block[source.main] for block in source.blocks()], source.streams[source.main])
    assert isinstance(source, HasExtraTables)
    tables = {**source.tables(), **source.extra_tables()}
    program = load(EXAMPLES / name / "library.ink")
    declared = {table.name for table in program.plan.tables}
    found = program.run_local({source.main: rows}, {table: tables[table] for table in declared})
    key = {"fleet": "vehicle", "port": "mmsi"}[name]
    return rows.sort_by([(key, "ascending"), ("id", "ascending")]), tables, dict(source.truth().matches), found


def ends_of_runs(rows: pa.Table, key: str, holds: np.ndarray, least: int) -> set[int]:
    """Ids of readings that are at least the `least`-th in a row of one key on which something holds."""
    keys, ids, length, ends = rows[key].to_pylist(), rows["id"].to_pylist(), 0, set()
    for place, truth in enumerate(holds.tolist()):
        continues = truth and place and keys[place] == keys[place - 1]
        length = length + 1 if continues else int(truth)
        if truth and length >= least:
            ends.add(ids[place])
    return ends


def ends_found(found: Results, event: str) -> set[int]:
    lineages = found.tables[event]["lineage"].to_pylist()
    ends = {lineage[-1] for lineage in lineages}
    assert len(ends) == len(lineages)
    return ends


@pytest.mark.parametrize(
    "event",
    [
        "route",
        "parked_moving_swing",
        "idle_parked_swing",
        "speed_swing",
        "moving_with_zero_speed",
        "moving_with_bad_signal",
        "possible_theft",
    ],
)
def test_F1_to_F7_are_found_as_often_as_they_were_put_in(event: str) -> None:
    _, _, put_in, found = told("fleet", 12)
    assert len(ends_found(found, event)) == put_in[event]
    assert put_in[event] > 2


def test_F8_ice_by_cell_and_hour() -> None:
    rows, tables, _, found = told("fleet", 12)
    hour = rows["t"].cast(pa.int64()).to_numpy() // 3_600_000_000
    cells = zip(np.floor(4 * rows["lat"].to_numpy()), np.floor(4 * rows["lon"].to_numpy()), hour, strict=True)
    weather = tables["weather"]
    hours = weather["since"].cast(pa.int64()).to_numpy() // 3_600_000_000
    icy = set(zip(weather["cell_lat"].to_numpy(), weather["cell_lon"].to_numpy(), hours, strict=True))
    holds = np.array([cell in icy for cell in cells]) & (rows["speed"].to_numpy() > 60)
    wanted = ends_of_runs(rows, "vehicle", holds, 2)
    assert ends_found(found, "dangerous_driving") == wanted
    assert len(wanted) > 20


def test_F9_circles_around_stations() -> None:
    rows, tables, _, found = told("fleet", 12)
    near = _near(rows, tables["stations"], 300.0)
    wanted = ends_of_runs(rows, "vehicle", near & (rows["fuel"].to_numpy() < 0.5), 2)
    assert ends_found(found, "refuel_opportunity") == wanted
    assert len(wanted) > 20


def _near(rows: pa.Table, places: pa.Table, meters: float) -> np.ndarray:
    lat, lon = rows["lat"].to_numpy(), rows["lon"].to_numpy()
    away = [haversine_m(lat, lon, place["lat"], place["lon"]) for place in places.to_pylist()]
    return np.min(away, axis=0) < meters


def _inside(rows: pa.Table, areas: pa.Table, kind: str) -> np.ndarray:
    shapes = [shapely.from_wkt(area["shape"]) for area in areas.to_pylist() if area["kind"] == kind]
    lon, lat = rows["lon"].to_numpy(), rows["lat"].to_numpy()
    return np.any([shapely.contains_xy(shape, lon, lat) for shape in shapes], axis=0)


def _near_coast(rows: pa.Table, areas: pa.Table) -> np.ndarray:
    shapes = [shapely.from_wkt(area["shape"]) for area in areas.to_pylist() if area["kind"] == "coast"]
    points = shapely.points(rows["lon"].to_numpy(), rows["lat"].to_numpy())
    return np.min([shapely.distance(shape, points) for shape in shapes], axis=0) < 0.0027


def _is(rows: pa.Table, tables: dict[str, pa.Table], kind: str) -> np.ndarray:
    types = dict(zip(*(tables["vessels"][name].to_pylist() for name in ("mmsi", "type")), strict=True))
    return np.array([types[mmsi] == kind for mmsi in rows["mmsi"].to_pylist()])


def test_M3_and_M7_are_found_as_often_as_they_were_put_in() -> None:
    _, _, put_in, found = told("port", 24)
    for event in ("drifting", "approaching_port"):
        assert len(found.tables[event]) == put_in[event]
        assert put_in[event] > 10
    assert len(set(found.tables["approaching_port"]["port"].to_pylist())) == 2


def test_M1_M2_M4_M5_M6_by_coast_areas_and_types() -> None:
    rows, tables, _, found = told("port", 24)
    speed, heading = rows["speed"].to_numpy(), rows["heading"].to_numpy()
    near_coast, near_port = _near_coast(rows, tables["areas"]), _near(rows, tables["ports"], 2_000.0)
    anchorage, fishing = (_inside(rows, tables["areas"], kind) for kind in ("anchorage", "fishing"))
    same = np.append(False, np.diff(rows["mmsi"].to_numpy()) == 0)
    turned = np.abs(heading - np.roll(heading, 1)) % 360.0
    turned = same & (np.minimum(turned, 360.0 - turned) > 30)
    wanted = {
        "high_speed_near_coast": ends_of_runs(rows, "mmsi", near_coast & (speed > 5), 1),
        "anchored": ends_of_runs(rows, "mmsi", (near_port | anchorage) & (speed < 0.5), 3),
        "trawling": ends_of_runs(rows, "mmsi", _is(rows, tables, "fishing") & fishing & (speed > 1) & (speed < 9), 3),
        "search_and_rescue": ends_of_runs(rows, "mmsi", _is(rows, tables, "sar") & turned & (speed > 2.7), 3),
        "loitering": ends_of_runs(rows, "mmsi", ~near_port & ~near_coast & (speed < 0.5), 3),
    }
    assert {event: ends_found(found, event) for event in wanted} == wanted
    assert min(map(len, wanted.values())) > 5, {event: len(ends) for event, ends in wanted.items()}
