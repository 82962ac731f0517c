"""The corridor: tables that are a model, and people who behave as it says."""

import numpy as np
from inkling.examples.building import corridor
from inkling.examples.building.corridor import LOCATIONS, motion, read_chance

from inkling import infer
from inkling.infer.model import Model


def test_the_tables_are_a_model() -> None:
    model = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    assert model.states == LOCATIONS
    assert model.readers == ("A1", "A4", "A6", "A9")
    chances = {row["state"]: row["p"] for row in corridor.movement().to_pylist() if row["previous"] == "H3"}
    assert {state: round(p, 9) for state, p in chances.items()} == {"H2": 0.3, "H3": 0.2, "H4": 0.3, "R3": 0.2}
    read = {row["state"]: row["p"] for row in corridor.readers().to_pylist() if row["reader"] == "A4"}
    assert (read["H4"], read["H3"], read["H5"], read["R4"], read["H6"]) == (0.65, 0.15, 0.15, 0.005, 0.005)


def test_people_move_and_are_read_as_the_tables_say() -> None:
    walked = corridor.walk(people=200, seconds=500, seed=1)
    before, after = walked.path[:-1].ravel(), walked.path[1:].ravel()
    moved = np.zeros((len(LOCATIONS), len(LOCATIONS)))
    np.add.at(moved, (before, after), 1)
    assert np.abs(moved / moved.sum(axis=1, keepdims=True) - motion()).max() < 0.03
    rows = walked.readings.to_pandas().dropna()
    people = {name: number for number, name in enumerate(walked.people.to_pylist())}
    places = walked.path[rows["t"] - 1, rows["person"].map(people)]
    stayed = np.bincount(walked.path.ravel(), minlength=len(LOCATIONS))
    for antenna, name in enumerate(corridor.READERS):
        times = np.bincount(places[rows["reader"] == name], minlength=len(LOCATIONS))
        assert np.abs(times / stayed - read_chance()[antenna]).max() < 0.03


def test_everybody_is_known_from_the_first_second_to_the_last() -> None:
    walked = corridor.walk(people=3, seconds=20, seed=6)
    model = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    assert len(infer.viterbi(walked.readings, model, key="person")) == len(walked.truth()) == 60
    assert corridor.walk(people=3, seconds=20, seed=6).readings.equals(walked.readings)
    entries = walked.entries("R1").to_pylist()
    truth = {(row["person"], row["t"]): row["place"] for row in walked.truth().to_pylist()}
    assert all(truth[row["person"], row["t"]] == "R1" != truth[row["person"], row["t"] - 1] for row in entries)
