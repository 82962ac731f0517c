"""Where vehicles are, how fast they go and what is in their tanks, given what they are doing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.generate.arrays import Floats
from inkling.generate.chain import Chain
from inkling.generate.fleet_scripts import Reading
from inkling.generate.places import offset_position
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import latest_of

METERS_PER_KMH_MINUTE = 1000.0 / 60.0
BURN_PER_METER = 2.5e-6
BURN_PER_IDLE_MINUTE = 3e-4
RESERVE = 0.05  # where the needle comes to rest when nobody refuels in time
GPS_ERROR_M = 4.0

States = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Motion:
    """Columns of a block: one row per minute, one column per vehicle."""

    speed: Floats
    fuel: Floats
    satellites: npt.NDArray[np.int32]
    lat: Floats
    lon: Floats


class Vehicles:
    """Each vehicle drives its own loop around a depot and remembers its place on it and its fuel."""

    def __init__(self, chain: Chain[Reading], radius_m: Floats, lat: Floats, lon: Floats, random: BlockRandom) -> None:
        self._radius_m, self._lat, self._lon = radius_m, lat, lon
        self._angle = random.unit(radius_m.shape) * 2.0 * np.pi
        self._fuel = 0.3 + 0.6 * random.unit(radius_m.shape)
        self._slowest = chain.column(lambda step: step.speed_kmh[0], np.float64)
        self._faster = chain.column(lambda step: step.speed_kmh[1] - step.speed_kmh[0], np.float64)
        self._fewest = chain.column(lambda step: step.satellites[0], np.float64)
        self._more = chain.column(lambda step: step.satellites[1] - step.satellites[0], np.float64)
        self._carried_m = chain.column(lambda step: step.carried_m, np.float64)
        self._reach = chain.column(lambda step: step.reach, np.float64)
        self._is_idle = chain.column(lambda step: step.engine == "idle", np.float64)
        self._gauge = chain.column(lambda step: np.nan if step.gauge is None else step.gauge, np.float64)

    def move(self, states: States, random: BlockRandom) -> Motion:
        shape = states.shape
        speed = np.round(self._slowest[states] + self._faster[states] * random.unit(shape), 1)
        satellites = self._fewest[states] + self._more[states] * random.unit(shape)
        driven_m = speed * METERS_PER_KMH_MINUTE
        lat, lon = self._positions(states, driven_m, random)
        fuel = self._burn(states, driven_m)
        return Motion(speed, fuel, satellites.astype(np.int32), lat, lon)

    def _positions(self, states: States, driven_m: Floats, random: BlockRandom) -> tuple[Floats, Floats]:
        reach = self._reach[states]
        along_m = np.where(reach == 1.0, driven_m, 0.0) + self._carried_m[states]
        angle = self._angle + np.cumsum(along_m / self._radius_m, axis=0)
        self._angle = angle[-1] % (2.0 * np.pi)
        distance_m = reach * self._radius_m
        east_m = distance_m * np.cos(angle) + GPS_ERROR_M * random.signed(states.shape)
        north_m = distance_m * np.sin(angle) + GPS_ERROR_M * random.signed(states.shape)
        return offset_position(self._lat, self._lon, east_m, north_m)

    def _burn(self, states: States, driven_m: Floats) -> Floats:
        burnt = np.cumsum(driven_m * BURN_PER_METER + self._is_idle[states] * BURN_PER_IDLE_MINUTE, axis=0)
        gauge = self._gauge[states]
        # a tank holds what the gauge last jumped to, less what was burnt since
        filled = latest_of(gauge + burnt, ~np.isnan(gauge), self._fuel)
        fuel: Floats = np.maximum(filled - burnt, RESERVE)
        self._fuel = fuel[-1]
        return np.round(fuel, 3)
