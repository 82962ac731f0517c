"""The truth of a port is what an independent search of its rows finds; see `test_fleet` for the method."""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inkling.generate import Truth, scenario

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
    position = position.merge(tables["vessels"].to_pandas(), on="mmsi").sort_values(["mmsi", "id"], ignore_index=True)
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
        lambda rows: (rows["type"] == "fishing") & rows["in_fishing_area"] & rows["speed"].between(1.05, 8.95),
        "111",
    ),
    "search_and_rescue": (
        lambda rows: rows["change_in_heading"] & (rows["type"] == "sar") & (rows["speed"] > 2.7),
        "111",
    ),
    "loitering": (lambda rows: ~rows["near_port"] & ~rows["near_coast"] & (rows["speed"] < 0.5), "111"),
}


def occurrences(letters: pd.Series, of: pd.Series, pattern: str) -> int:
    return sum(len(re.findall(f"(?={pattern})", life)) for life in letters.groupby(of).agg("".join))


@EVERY_SIZE
@pytest.mark.parametrize("event", PATTERNS)
def test_matches_are_those_of_the_definition(event: str, size: tuple[int, int, int]) -> None:
    condition, pattern = PATTERNS[event]
    rows = data(size).position
    assert occurrences(marks(condition(rows)), rows["mmsi"], pattern) == data(size).truth.matches[event]


@EVERY_SIZE
def test_approaches_pass_the_bands_inwards(size: tuple[int, int, int]) -> None:
    rows = data(size).position
    found = 0
    for port in data(size).ports.itertuples():
        away = from_port_m(rows, port.lat, port.lon)
        band = np.select([away < 5_000, away < 7_000, away < 10_000], ["C", "B", "A"], "x")
        found += occurrences(pd.Series(band, rows.index), rows["mmsi"], "AB+C")
    assert found == data(size).truth.matches["approaching_port"]


@pytest.mark.parametrize("event", [*PATTERNS, "approaching_port"])
def test_matches_are_rare_but_there(event: str) -> None:
    truth = data(SIZES[0]).truth
    per_thousand = 1000 * truth.matches[event] / truth.rows["Position"]
    assert 0.2 < per_thousand < 12
    assert truth.episodes[event] > 0


def test_the_register_matters() -> None:
    """Vessels of other types trawl and search as well, so a pattern that forgets the type finds too much."""
    rows = data(SIZES[0]).position
    truth = data(SIZES[0]).truth
    assert occurrences(marks(rows["in_fishing_area"]), rows["mmsi"], "111") > truth.matches["trawling"]
    assert occurrences(marks(rows["change_in_heading"]), rows["mmsi"], "111") > truth.matches["search_and_rescue"]


def test_positions_move_as_fast_as_they_say_at_sea() -> None:
    rows = data(SIZES[0]).position
    before = rows.groupby("mmsi").shift(1)
    moved_m = np.hypot(
        (rows["lat"] - before["lat"]) * 111_195,
        (rows["lon"] - before["lon"]) * 111_195 * np.cos(np.radians(rows["lat"])),
    )
    at_sea = ~rows["near_port"] & ~before["near_port"].fillna(value=True).astype(bool) & before["speed"].notna()
    error_m = (moved_m - rows["speed"] * 1852 / 60)[at_sea]
    assert error_m.abs().quantile(0.99) < 150
    assert error_m.abs().median() < 15


def test_headings_lie_on_the_compass() -> None:
    rows = data(SIZES[0]).position
    for column in ("heading", "cog"):
        assert (rows[column] >= 0).all()
        assert (rows[column] < 360).all()
