"""People walk through doors that exist, and the antennas' probabilities can be taken at their word."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inkling.generate import Truth, scenario

SIZES = [(400_000, 60, 1), (30_011, 9, 2)]
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)


@cache
def data(size: tuple[int, int, int]) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame], Truth]:
    events, keys, seed = size
    source = scenario("building", events=events, keys=keys, seed=seed)
    blocks = list(source.blocks())
    streams = {stream: pa.Table.from_batches([block[stream] for block in blocks]).to_pandas() for stream in blocks[0]}
    return streams, {name: table.to_pandas() for name, table in source.tables().items()}, source.truth()


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
def test_alternatives_of_an_event_share_its_id_and_a_probability_of_one(size: tuple[int, int, int]) -> None:
    at = data(size)[0]["At"]
    assert at["p"].between(0, 1).all()
    by_id = at.groupby("id").agg(total=("p", "sum"), people=("person", "nunique"), times=("t", "nunique"))
    assert by_id["total"].max() <= 1 + 1e-9
    assert by_id["total"].iloc[:-1].mean() > 0.7
    assert (by_id["people"] == 1).all()
    assert (by_id["times"] == 1).all()
    assert not at.duplicated(["person", "t", "room"]).any()


def test_probabilities_are_honest() -> None:
    """Of all places given a probability around p, a share of about p is right."""
    streams, _, _ = data(SIZES[0])
    truth = streams["Door"].pivot(index="t", columns="person", values="room")
    seconds = np.arange(1, streams["At"]["t"].max() + 1)
    truth = truth.reindex(seconds).ffill().stack().rename("really").reset_index()
    at = streams["At"].merge(truth, on=["t", "person"])
    at = at.assign(tenth=at["p"].mul(10).astype(int), right=at["room"] == at["really"])
    tenths = at.groupby("tenth").agg(said=("p", "mean"), right=("right", "mean"), n=("p", "size"))
    assert len(tenths) >= 8
    common = tenths[tenths["n"] > 1_000]
    assert len(common) >= 6
    assert (common["right"] - common["said"]).abs().max() < 0.05
