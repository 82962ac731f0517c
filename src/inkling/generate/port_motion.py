"""Where vessels are and where they head, given what they are doing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.generate.arrays import Floats
from inkling.generate.chain import Chain
from inkling.generate.fleet_motion import States
from inkling.generate.places import offset_position
from inkling.generate.port_scripts import Fix
from inkling.generate.randomness import BlockRandom

METERS_PER_KNOT_MINUTE = 1852.0 / 60.0
GPS_ERROR_M = 5.0
COMPASS_ERROR_DEGREES = 6.0


@dataclass(frozen=True, slots=True)
class Course:
    """Columns of a block: one row per minute, one column per vessel."""

    speed: Floats
    lat: Floats
    lon: Floats
    heading: Floats
    cog: Floats
    from_port_m: Floats


class Vessels:
    """Each vessel sails a circle of 14 to 20 km around its port and remembers its place on it."""

    def __init__(self, chain: Chain[Fix], lat: Floats, lon: Floats, random: BlockRandom) -> None:
        self._lat, self._lon = lat, lon
        self._radius_m = 14_000.0 + 6_000.0 * random.unit(lat.shape)
        self._angle = 2.0 * np.pi * random.unit(lat.shape)
        self._slowest = chain.column(lambda fix: fix.knots[0], np.float64)
        self._faster = chain.column(lambda fix: fix.knots[1] - fix.knots[0], np.float64)
        self._reach = chain.column(lambda fix: fix.reach, np.float64)
        self._course = chain.column(lambda fix: fix.course + fix.turn, np.float64)
        self._drift = chain.column(lambda fix: fix.drift, np.float64)

    def sail(self, states: States, random: BlockRandom) -> Course:
        shape = states.shape
        speed = np.round(self._slowest[states] + self._faster[states] * random.unit(shape), 1)
        reach = self._reach[states]
        along_m = np.where(reach == 1.0, speed * METERS_PER_KNOT_MINUTE, 0.0)
        angle = self._angle + np.cumsum(along_m / self._radius_m, axis=0)
        self._angle = angle[-1] % (2.0 * np.pi)
        from_port_m = reach * self._radius_m
        east_m = from_port_m * np.cos(angle) + GPS_ERROR_M * random.signed(shape)
        north_m = from_port_m * np.sin(angle) + GPS_ERROR_M * random.signed(shape)
        lat, lon = offset_position(self._lat, self._lon, east_m, north_m)
        heading = self._course[states] - np.degrees(angle)
        cog = heading + self._drift[states] + COMPASS_ERROR_DEGREES * random.signed(shape)
        return Course(speed, lat, lon, _on_compass(heading), _on_compass(cog), from_port_m)


def _on_compass(degrees: Floats) -> Floats:
    """Degrees in [0, 360), to a tenth."""
    return np.round(degrees, 1) % 360.0
