"""A corridor with a room behind every cell: movements of people, and readings of their tags.

`movement`, `readers` and `prior` are the tables of `inkling.infer.Model`; `walk` draws movements and readings with
exactly these probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import prefixed
from ..generators.randomness import BlockRandom, Floats

N_CELLS = 10
HALL = tuple(f"H{cell}" for cell in range(1, N_CELLS + 1))
ROOMS = tuple(f"R{cell}" for cell in range(1, N_CELLS + 1))
LOCATIONS = HALL + ROOMS
COFFEE_ROOM = "R5"
OFFICES = tuple(room for room in ROOMS if room != COFFEE_ROOM)

STAY_IN_ROOM = 0.92
STAY_IN_HALL = 0.2
ENTER_ROOM = 0.2
WALK_ON = 0.3
ANTENNA_CELLS = (0, 3, 5, 8)
READ_HERE, READ_NEXT_DOOR, READ_ELSEWHERE = 0.65, 0.15, 0.005


def motion() -> Floats:
    """Probability of the next location (column) given the present one (row)."""
    chances = np.zeros((2 * N_CELLS, 2 * N_CELLS))
    for cell in range(N_CELLS):
        room = N_CELLS + cell
        chances[cell, [cell, room]] = STAY_IN_HALL, ENTER_ROOM
        for neighbor in (cell - 1, cell + 1):
            if 0 <= neighbor < N_CELLS:
                chances[cell, neighbor] = WALK_ON
        chances[room, [room, cell]] = STAY_IN_ROOM, 1.0 - STAY_IN_ROOM
    normalized: Floats = chances / chances.sum(axis=1, keepdims=True)
    return normalized


def read_chance() -> Floats:
    """Probability that an antenna (row) reads a tag at a location (column)."""
    chance = np.full((len(ANTENNA_CELLS), 2 * N_CELLS), READ_ELSEWHERE)
    for antenna, cell in enumerate(ANTENNA_CELLS):
        chance[antenna, max(0, cell - 1) : min(N_CELLS, cell + 2)] = READ_NEXT_DOOR
        chance[antenna, cell] = READ_HERE
    return chance


class Walkers:
    """People who start in their offices and wander."""

    def __init__(self, office: npt.NDArray[np.intp]) -> None:
        chances = motion()
        self._chain = SymbolChain(
            [
                Script(here, (here,), _leaving(chances[at], at), linger=float(chances[at, at]))
                for at, here in enumerate(LOCATIONS)
            ],
            start={LOCATIONS[0]: 1.0},
        )
        self._at = office.astype(np.uint16)

    def walk(self, random: BlockRandom, n_steps: int) -> npt.NDArray[np.intp]:
        """Locations, one row per second and one column per person."""
        path = self._chain.walk(self._at, random.bits((n_steps, self._at.size)))
        self._at = path[-1]
        return path.astype(np.intp)


def _leaving(chances: Floats, at: int) -> dict[str, float]:
    return {LOCATIONS[to]: float(chance) for to, chance in enumerate(chances) if chance > 0.0 and to != at}


class Antennas:
    """Draws which antennas read which tag."""

    def __init__(self) -> None:
        self._read_chance = read_chance()

    def read(self, path: npt.NDArray[np.intp], random: BlockRandom) -> npt.NDArray[np.bool_]:
        """Whether each antenna (last axis) reads each person at each second (first axis)."""
        return np.stack([random.unit(path.shape) < chance[path] for chance in self._read_chance], axis=-1)


PEOPLE = 60
SECONDS = 900
READERS = tuple(f"A{cell + 1}" for cell in ANTENNA_CELLS)


def movement() -> pa.Table:
    """`previous`, `state`, `p`: the probability of each location one second later."""
    chances = motion()
    source, target = np.nonzero(chances)
    names = np.array(LOCATIONS)
    return pa.table({"previous": names[source], "state": names[target], "p": chances[source, target]})


def readers() -> pa.Table:
    """`reader`, `state`, `p`: the probability that an antenna reads a tag at a location within a second."""
    chances = read_chance()
    antenna, place = np.indices(chances.shape).reshape(2, -1)
    return pa.table({"reader": np.array(READERS)[antenna], "state": np.array(LOCATIONS)[place], "p": chances.ravel()})


def prior() -> pa.Table:
    """`state`, `p`: people begin anywhere."""
    return pa.table({"state": LOCATIONS, "p": np.full(len(LOCATIONS), 1 / len(LOCATIONS))})


@dataclass(frozen=True, slots=True)
class Corridor:
    """People on the corridor for some seconds, from second 1 on."""

    people: pa.Array
    path: npt.NDArray[np.intp]  # [second, person]: the place in LOCATIONS
    readings: pa.Table  # person, t, reader

    def truth(self) -> pa.Table:
        """`person`, `t`, `place`: where everybody was at each second."""
        second, person = np.indices(self.path.shape).reshape(2, -1)
        return pa.table(
            {
                "person": self.people.take(pa.array(person)),
                "t": second + 1,
                "place": np.array(LOCATIONS)[self.path.ravel()],
            }
        )

    def entries(self, room: str = COFFEE_ROOM) -> pa.Table:
        """`person`, `t`: when somebody came into a room from the hallway."""
        place = LOCATIONS.index(room)
        second, person = np.nonzero((self.path[1:] == place) & (self.path[:-1] != place))
        return pa.table({"person": self.people.take(pa.array(person)), "t": second + 2})


def walk(*, people: int = PEOPLE, seconds: int = SECONDS, seed: int = 7) -> Corridor:
    """People who move and are read according to the tables.

    Every person has a row without a reader in the first and the last second, so that all people cover the same time.

    >>> walk(people=2, seconds=30, seed=1).path.shape
    (30, 2)
    """
    if people < 1 or seconds < 1:
        raise ValueError(f"expected at least one person and one second, found {people=}, {seconds=}")
    random = np.random.default_rng(seed)
    reached = np.cumsum(motion(), axis=1)
    path = np.empty((seconds, people), np.intp)
    path[0] = random.integers(0, len(LOCATIONS), people)
    for step in range(1, seconds):
        draws = random.random(people)[:, None]
        path[step] = np.minimum((reached[path[step - 1]] <= draws).sum(axis=1), len(LOCATIONS) - 1)
    is_read = random.random((*path.shape, len(READERS))) < np.moveaxis(read_chance()[:, path], 0, -1)
    second, person, antenna = np.nonzero(is_read)
    names = prefixed("person", np.arange(people), width=3)
    everybody = np.tile(np.arange(people), 2)
    readings = pa.table(
        {
            "person": names.take(pa.array(np.concatenate([everybody, person]))),
            "t": np.concatenate([np.repeat([1, seconds], people), second + 1]),
            "reader": pa.concat_arrays(
                [pa.nulls(2 * people, pa.string()), pa.array(READERS, pa.string()).take(pa.array(antenna))]
            ),
        }
    )
    return Corridor(names, path, readings.sort_by([("t", "ascending"), ("person", "ascending")]))
