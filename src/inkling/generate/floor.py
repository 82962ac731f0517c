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
    """Follow every tag with an exact forward filter, which knows the floor and the office of each person."""

    def __init__(self, office: npt.NDArray[np.intp]) -> None:
        self._belief = np.eye(2 * N_CELLS)[office]
        self._motion = motion()
        self._read_chance = read_chance()
        self._likelihood = np.stack([self._likelihood_of(code) for code in range(1 << len(ANTENNA_CELLS))])

    def _likelihood_of(self, code: int) -> Floats:
        is_read = np.array([code >> antenna & 1 for antenna in range(len(ANTENNA_CELLS))], np.bool_)
        likelihood: Floats = np.where(is_read[:, None], self._read_chance, 1.0 - self._read_chance).prod(axis=0)
        return likelihood

    def believe(self, path: npt.NDArray[np.intp], random: BlockRandom) -> Floats:
        """Probability of each location (last axis) for each second and person, from readings up to then."""
        codes = np.zeros(path.shape, np.intp)
        for antenna, chance in enumerate(self._read_chance):
            codes |= (random.unit(path.shape) < chance[path]).astype(np.intp) << antenna
        beliefs = np.empty((*path.shape, 2 * N_CELLS))
        for step, code in enumerate(codes):
            joint = (self._belief @ self._motion) * self._likelihood[code]
            beliefs[step] = self._belief = joint / joint.sum(axis=1, keepdims=True)
        return beliefs
