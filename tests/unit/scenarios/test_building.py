"""People walk through doors that exist, and what is inferred from readings can be taken at its word."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inkling.infer import Model, filtered
from inkling.scenarios import Truth, scenario

pytestmark = pytest.mark.slow

SIZES = [(12_000, 60, 1), (3_011, 9, 2)]
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)


@cache
def data(size: tuple[int, int, int]) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame], Truth]:
    events, keys, seed = size
    source = scenario("building", events=events, keys=keys, seed=seed)
    blocks = list(source.blocks())
    streams = {stream: pa.Table.from_batches([block[stream] for block in blocks]).to_pandas() for stream in blocks[0]}
    tables = {**source.tables(), **source.extra_tables()}
    return streams, {name: table.to_pandas() for name, table in tables.items()}, source.truth()


def cell(room: pd.Series) -> pd.Series:
    return room.str[1:].astype(int)


@EVERY_SIZE
def test_doors_lead_from_each_place_to_its_neighbors(size: tuple[int, int, int]) -> None:
    door = data(size)[0]["Door"].sort_values(["person", "t"])
    before = door.groupby("person")["room"].shift(1)
    moves = door.assign(before=before).dropna()
    hallway = moves["room"].str.startswith("H") & moves["before"].str.startswith("H")
    through_a_door = moves["room"].str[0] != moves["before"].str[0]
    assert (hallway | through_a_door).all()
    assert ((cell(moves["room"]) - cell(moves["before"])).abs() == hallway.astype(int)).all()


@EVERY_SIZE
def test_coffee_breaks_are_those_of_the_definition(size: tuple[int, int, int]) -> None:
    streams, tables, truth = data(size)
    kind = dict(zip(tables["rooms"]["room"], tables["rooms"]["kind"], strict=True))
    office = dict(zip(tables["offices"]["person"], tables["offices"]["room"], strict=True))
    door = streams["Door"]
    letters = door["room"].map(kind).str[0]
    letters = letters.where(door["room"] != door["person"].map(office), "O")
    told = letters.groupby(door["person"]).agg("".join)
    assert sum(len(re.findall("(?=Oh+c)", life)) for life in told) == truth.matches["coffee_break"]
    assert (letters == "c").sum() == truth.matches["coffee_visit"]
    assert truth.matches["coffee_break"] > 0


@EVERY_SIZE
def test_antennas_read_what_is_near(size: tuple[int, int, int]) -> None:
    streams, _, _ = data(size)
    read = streams["Reading"].merge(places(streams), on=["t", "person"])
    assert len(read) == len(streams["Reading"])
    antenna = read["reader"].str[1:].astype(int)
    is_near = read["really"].str.startswith("H") & ((cell(read["really"]) - antenna).abs() <= 1)
    assert is_near.mean() > 0.8


def places(streams: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Where everybody really is at each second."""
    doors = streams["Door"].pivot(index="t", columns="person", values="room")
    seconds = np.arange(1, streams["Reading"]["t"].max() + 1)
    return doors.reindex(seconds).ffill().stack().rename("really").reset_index()


def test_probabilities_are_honest() -> None:
    """Of all places given a probability around p, a share of about p is right."""
    streams, tables, _ = data(SIZES[0])
    model = Model.of(*(tables[name] for name in ("movement", "readers", "prior")))
    stop = int(streams["Reading"]["t"].max())
    at = filtered(streams["Reading"], model, key="person", state="room", start=1, stop=stop).to_pandas()
    at = at.merge(places(streams), on=["t", "person"])
    at = at.assign(tenth=at["p"].mul(10).astype(int), right=at["room"] == at["really"])
    tenths = at.groupby("tenth").agg(said=("p", "mean"), right=("right", "mean"), n=("p", "size"))
    assert len(tenths) >= 8
    common = tenths[tenths["n"] > 1_000]
    assert len(common) >= 6
    assert (common["right"] - common["said"]).abs().max() < 0.05
