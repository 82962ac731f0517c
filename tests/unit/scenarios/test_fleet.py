"""The truth of a fleet is what an independent search of its rows finds.

Each reading becomes a letter, a pattern becomes a regular expression over letters, and every place where the
expression begins to match is one place where a match ends, because these patterns have one end per beginning.
"""

import re
from collections import deque
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inkling.scenarios import Truth, scenario

pytestmark = pytest.mark.slow

SIZES = [(150_000, 30, 1), (30_011, 7, 2), (9_999, 3, 3)]
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)
EARTH_RADIUS_M = 6_371_000.0


@dataclass(frozen=True)
class Data:
    vehicle: pd.DataFrame
    alarm: pd.DataFrame
    service: pd.DataFrame
    depot_of: dict[str, str]
    depot_of_garage: dict[str, str]
    truth: Truth


@cache
def data(size: tuple[int, int, int]) -> Data:
    events, keys, seed = size
    source = scenario("fleet", events=events, keys=keys, seed=seed)
    blocks = list(source.blocks())
    vehicle, alarm, service = (
        pa.Table.from_batches([block[stream] for block in blocks]).to_pandas()
        for stream in ("Vehicle", "Alarm", "Service")
    )
    tables = source.tables()
    depot_of, depot_of_garage = (
        dict(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))
        for table in (tables["depots"], tables["garages"])
    )
    return Data(with_derived_columns(vehicle), alarm, service, depot_of, depot_of_garage, source.truth())


def haversine_m(lat1: pd.Series, lon1: pd.Series, lat2: pd.Series, lon2: pd.Series) -> pd.Series:
    phi1, phi2, lam1, lam2 = (np.radians(degrees) for degrees in (lat1, lat2, lon1, lon2))
    chord = np.sin((phi2 - phi1) / 2) ** 2 + np.cos(phi1) * np.cos(phi2) * np.sin((lam2 - lam1) / 2) ** 2
    return 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(chord))


def with_derived_columns(vehicle: pd.DataFrame) -> pd.DataFrame:
    rows = vehicle.sort_values(["vehicle", "id"], ignore_index=True)
    before = rows.groupby("vehicle").shift(1)
    changed = rows["engine"] != before["engine"]
    since = rows["t"].where(changed).groupby(rows["vehicle"]).ffill()
    return rows.assign(
        distance=haversine_m(before["lat"], before["lon"], rows["lat"], rows["lon"]),
        speedup=rows["speed"] - before["speed"],
        off_for=rows["t"] - since,
        engine_before=before["engine"],
        fuel_before=before["fuel"],
    )


def route_letters(rows: pd.DataFrame) -> pd.Series:
    long_off = (rows["engine"] == "off") & (rows["off_for"] > pd.Timedelta(minutes=30))
    return rows["engine"].str[0].where(~long_off, "O")


def speed_letters(rows: pd.DataFrame) -> pd.Series:
    letters = np.select([rows["speed"] > 50, rows["speed"] == 0], ["H", "Z"], "x")
    return pd.Series(letters, rows.index)


def marks(condition: pd.Series) -> pd.Series:
    return condition.map({True: "1", False: "0"})


PATTERNS = {
    "route": (route_letters, "Om+o*O"),
    "parked_moving_swing": (lambda rows: rows["engine"].str[0], "pmpm"),
    "idle_parked_swing": (lambda rows: rows["engine"].str[0], "ipip"),
    "speed_swing": (speed_letters, "HZHZ"),
    "moving_with_zero_speed": (
        lambda rows: marks((rows["engine"] == "moving") & (rows["speed"] == 0) & (rows["distance"] > 30)),
        "111",
    ),
    "moving_with_bad_signal": (
        lambda rows: marks((rows["speedup"] > 0) & (rows["satellites"] == 0) & (rows["distance"] > 30)),
        "111",
    ),
    "possible_theft": (
        lambda rows: marks((rows["engine"] == "parked") & (rows["speed"] == 0) & (rows["distance"] > 30)),
        "111",
    ),
    "dangerous_driving": (lambda rows: marks(rows["ice"] & (rows["speed"] > 60)), "11"),
    "refuel_opportunity": (lambda rows: marks(rows["near_gas"] & (rows["fuel"] < 0.5)), "11"),
}


def ids_of_ends(event: str, rows: pd.DataFrame) -> np.ndarray:
    """The readings at which the event is recognized."""
    letters, pattern = PATTERNS[event]
    ends = []
    for _, life in rows.assign(letter=letters(rows)).groupby("vehicle"):
        ids = life["id"].to_numpy()
        ends += [ids[one.end(1) - 1] for one in re.finditer(f"(?=({pattern}))", "".join(life["letter"]))]
    return np.array(ends)


@EVERY_SIZE
@pytest.mark.parametrize("event", PATTERNS)
def test_matches_are_those_of_the_definition(event: str, size: tuple[int, int, int]) -> None:
    assert len(ids_of_ends(event, data(size).vehicle)) == data(size).truth.matches[event]


def test_matches_are_counted_at_the_very_reading() -> None:
    """Data that ends early holds exactly the matches that have ended by then."""
    events, keys, seed = 30_000, 30, 5
    rows = data((events, keys, seed)).vehicle
    ends = {event: ids_of_ends(event, rows) for event in PATTERNS}
    for cut in range(617, events, 617):
        source = scenario("fleet", events=cut, keys=keys, seed=seed)
        deque(source.blocks(), maxlen=0)
        matches = source.truth().matches
        assert {event: int((ids < cut).sum()) for event, ids in ends.items()} == {
            event: matches[event] for event in PATTERNS
        }


@pytest.mark.parametrize("event", PATTERNS)
def test_matches_are_rare_but_there(event: str) -> None:
    truth = data(SIZES[0]).truth
    per_thousand = 1000 * truth.matches[event] / truth.rows["Vehicle"]
    assert 0.2 < per_thousand < 10


@pytest.mark.parametrize("event", ["route", "possible_theft", "speed_swing", "fuel_vanished"])
def test_every_episode_yields_a_match(event: str) -> None:
    truth = data(SIZES[0]).truth
    assert 0 < truth.episodes[event] <= truth.matches.get(event, truth.episodes[event])


@EVERY_SIZE
def test_refuels_are_jumps_of_the_gauge(size: tuple[int, int, int]) -> None:
    rows = data(size).vehicle
    assert (rows["fuel"] > rows["fuel_before"] + 0.3).sum() == data(size).truth.matches["refuel"]


@EVERY_SIZE
def test_fuel_vanishes_in_every_siphoning(size: tuple[int, int, int]) -> None:
    found = 0
    for _, rows in data(size).vehicle.groupby("vehicle"):
        lows = rows["t"][rows["fuel"] < 0.2].to_numpy()
        for refuel in rows["t"][rows["fuel"] > rows["fuel_before"] + 0.3].to_numpy():
            later = lows[lows > refuel]
            found += bool(later.size and later[0] - refuel <= np.timedelta64(2, "h"))
    assert found >= data(size).truth.episodes["fuel_vanished"]


@EVERY_SIZE
def test_neglected_alarms_have_no_service_for_two_days(size: tuple[int, int, int]) -> None:
    pairs = data(size).alarm.merge(data(size).service, on="vehicle", suffixes=("", "_service"))
    wait = pairs["t_service"] - pairs["t"]
    served = pairs["id"][(wait > pd.Timedelta(0)) & (wait < pd.Timedelta(days=2))].unique()
    assert len(data(size).alarm) - len(served) == data(size).truth.matches["neglected_alarm"]


def test_some_alarms_are_neglected_and_some_served() -> None:
    truth = data(SIZES[0]).truth
    assert 0 < truth.matches["neglected_alarm"] < truth.rows["Alarm"]


@EVERY_SIZE
def test_services_away_from_home(size: tuple[int, int, int]) -> None:
    service = data(size).service
    home = service["vehicle"].map(data(size).depot_of)
    place = service["garage"].map(data(size).depot_of_garage)
    assert (home != place).sum() == data(size).truth.matches["service_away_from_home"]


@pytest.mark.parametrize("size", [(60_000, 45, 4), *SIZES])
def test_meetings_are_stops_of_one_depot_at_one_place(size: tuple[int, int, int]) -> None:
    rows = data(size).vehicle
    stops = rows[(rows["engine"] == "parked") & (rows["engine_before"] == "moving")].sort_values("id")
    stops = stops.assign(depot=stops["vehicle"].map(data(size).depot_of))
    found = 0
    for _, at in stops.groupby("depot"):
        for ahead in range(1, len(at)):
            first, later = at.iloc[:-ahead].reset_index(), at.iloc[ahead:].reset_index()
            wait = later["t"] - first["t"]
            if wait.min() > pd.Timedelta(minutes=10):
                break
            in_time = (wait > pd.Timedelta(0)) & (wait <= pd.Timedelta(minutes=10))
            apart = haversine_m(first["lat"], first["lon"], later["lat"], later["lon"])
            found += int((in_time & (apart < 50) & (later["vehicle"] != first["vehicle"])).sum())
    assert found == data(size).truth.matches["yard_meeting"]


def test_readings_come_once_a_minute_and_interleaved() -> None:
    rows = data(SIZES[0]).vehicle
    gaps = rows.groupby("vehicle")["t"].diff().dropna().dt.total_seconds()
    assert gaps.between(50, 70).all()
    arrivals = rows.sort_values("id")["vehicle"].to_numpy()
    assert (arrivals[1:] != arrivals[:-1]).mean() > 0.9


def test_readings_are_plausible() -> None:
    rows = data(SIZES[0]).vehicle
    assert rows["fuel"].between(0, 1).all()
    assert rows["speed"].between(0, 130).all()
    assert (rows["distance"].dropna() < 3_000).all()
    assert (rows["speed"][rows["engine"] != "moving"] == 0).all()
    shares = rows["engine"].value_counts(normalize=True)
    assert shares.min() > 0.05
    assert set(shares.index) == {"off", "parked", "idle", "moving"}
