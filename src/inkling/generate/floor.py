"""A corridor with a room behind every cell: how people walk in it, and what its antennas make of that."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inkling.generate.arrays import Floats
from inkling.generate.chain import Chain, Script
from inkling.generate.randomness import BlockRandom

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
        self._chain = Chain(
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
    """Which antennas read which tag, by chance."""

    def __init__(self) -> None:
        self._read_chance = read_chance()

    def read(self, path: npt.NDArray[np.intp], random: BlockRandom) -> npt.NDArray[np.bool_]:
        """Whether it is read at each second (first axis), of each person, by each antenna (last axis)."""
        return np.stack([random.unit(path.shape) < chance[path] for chance in self._read_chance], axis=-1)
