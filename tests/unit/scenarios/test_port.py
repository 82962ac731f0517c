"""The truth of a port is what an independent search of its rows finds; see `test_fleet` for the method."""

import re
from collections import deque
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inkling.scenarios import Truth, scenario

SIZES = [(120_000, 30, 1), (20_011, 7, 2), (9_999, 11, 3)]
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)
EARTH_RADIUS_M = 6_371_000.0


@dataclass(frozen=True)
class Data:
    position: pd.DataFrame
    ports: pd.DataFrame
    truth: Truth


@cache
def data(size: tuple[int, int, int]) -> Data:
    events, keys, seed = size
    source = scenario("port", events=events, keys=keys, seed=seed)
    position = pa.Table.from_batches([block["Position"] for block in source.blocks()]).to_pandas()
    tables = source.tables()
    position = position.merge(tables["vessels"].to_pandas(), on="mmsi")
    position = position.sort_values(["mmsi", "id"], ignore_index=True)
    return Data(position, tables["ports"].to_pandas(), source.truth())


def marks(condition: pd.Series) -> pd.Series:
    return condition.map({True: "1", False: "0"})


def angle(rows: pd.DataFrame) -> pd.Series:
    turned = (rows["heading"] - rows["cog"]).abs()
    return np.minimum(turned, 360 - turned)


def from_port_m(rows: pd.DataFrame, lat: float, lon: float) -> pd.Series:
    phi1, phi2 = np.radians(rows["lat"]), np.radians(lat)
    half_phi, half_lambda = (phi2 - phi1) / 2, np.radians(lon - rows["lon"]) / 2
    chord = np.sin(half_phi) ** 2 + np.cos(phi1) * np.cos(phi2) * np.sin(half_lambda) ** 2
    return 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(chord))


PATTERNS = {
    "high_speed_near_coast": (lambda rows: rows["near_coast"] & (rows["speed"] > 5), "1"),
    "anchored": (lambda rows: (rows["near_port"] | rows["in_anchorage"]) & (rows["speed"] < 0.5), "111"),
    "drifting": (lambda rows: (angle(rows) > 30) & (rows["speed"] > 0.5), "111"),
    "trawling": (
        lambda rows: (rows["type"] == "fishing") & rows["in_fishing_area"] & (rows["speed"] > 1) & (rows["speed"] < 9),
        "111",
    ),
    "search_and_rescue": (
        lambda rows: rows["change_in_heading"] & (rows["type"] == "sar") & (rows["speed"] > 2.7),
        "111",
    ),
    "loitering": (lambda rows: ~rows["near_port"] & ~rows["near_coast"] & (rows["speed"] < 0.5), "111"),
}


def ids_of_ends(rows: pd.DataFrame, letters: pd.Series, pattern: str) -> list[int]:
    """The reports at which a regular expression over letters is recognized."""
    ends: list[int] = []
    for _, life in rows.assign(letter=letters).groupby("mmsi"):
        ids = life["id"].to_numpy()
        ends += [ids[one.end(1) - 1] for one in re.finditer(f"(?=({pattern}))", "".join(life["letter"]))]
    return ends


def ends_of(event: str, rows: pd.DataFrame) -> list[int]:
    condition, pattern = PATTERNS[event]
    return ids_of_ends(rows, marks(condition(rows)), pattern)


def ends_of_approaches(rows: pd.DataFrame, ports: pd.DataFrame) -> list[int]:
    ends = []
    for port in ports.itertuples():
        away = from_port_m(rows, port.lat, port.lon)
        band = np.select([away < 5_000, away < 7_000, away < 10_000], ["C", "B", "A"], "x")
        ends += ids_of_ends(rows, pd.Series(band, rows.index), "AB+C")
    return ends


@EVERY_SIZE
@pytest.mark.parametrize("event", PATTERNS)
def test_matches_are_those_of_the_definition(event: str, size: tuple[int, int, int]) -> None:
    assert len(ends_of(event, data(size).position)) == data(size).truth.matches[event]


@EVERY_SIZE
def test_approaches_pass_the_bands_inwards(size: tuple[int, int, int]) -> None:
    ends = ends_of_approaches(data(size).position, data(size).ports)
    assert len(ends) == data(size).truth.matches["approaching_port"]


def test_matches_are_counted_at_the_very_report() -> None:
    """Data that ends early holds exactly the matches that have ended by then."""
    events, keys, seed = 20_000, 30, 5
    rows = data((events, keys, seed)).position
    ends = {event: np.array(ends_of(event, rows)) for event in PATTERNS}
    ends["approaching_port"] = np.array(ends_of_approaches(rows, data((events, keys, seed)).ports))
    for cut in range(613, events, 613):
        source = scenario("port", events=cut, keys=keys, seed=seed)
        deque(source.blocks(), maxlen=0)
        assert {event: int((ids < cut).sum()) for event, ids in ends.items()} == source.truth().matches


@pytest.mark.parametrize("event", [*PATTERNS, "approaching_port"])
def test_matches_are_rare_but_there(event: str) -> None:
    truth = data(SIZES[0]).truth
    per_thousand = 1000 * truth.matches[event] / truth.rows["Position"]
    assert 0.2 < per_thousand < 12
    assert truth.episodes[event] > 0


def test_the_register_matters() -> None:
    """Vessels of other types trawl and search as well, so a pattern that forgets the type finds too much."""
    rows = data(SIZES[0]).position
    matches = data(SIZES[0]).truth.matches
    assert len(ids_of_ends(rows, marks(rows["in_fishing_area"]), "111")) > matches["trawling"]
    assert len(ids_of_ends(rows, marks(rows["change_in_heading"]), "111")) > matches["search_and_rescue"]


def test_positions_move_as_fast_as_they_say_at_sea() -> None:
    rows = data(SIZES[0]).position
    before = rows.groupby("mmsi").shift(1)
    moved_m = np.hypot(
        (rows["lat"] - before["lat"]) * 111_195,
        (rows["lon"] - before["lon"]) * 111_195 * np.cos(np.radians(rows["lat"])),
    )
    at_sea = ~rows["near_port"] & before["near_port"].eq(other=False) & before["speed"].notna()
    error_m = (moved_m - rows["speed"] * 1852 / 60)[at_sea]
    assert error_m.abs().quantile(0.99) < 150
    assert error_m.abs().median() < 15


def test_headings_lie_on_the_compass() -> None:
    rows = data(SIZES[0]).position
    for column in ("heading", "cog"):
        assert (rows[column] >= 0).all()
        assert (rows[column] < 360).all()
