"""Behavior of vehicles: their positions, speeds and fuel levels.

Scripts are either everyday behavior or episodes that the patterns detect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..generators.chain import Script, SymbolChain
from ..generators.places import offset_position
from ..generators.randomness import BlockRandom, Floats
from ..generators.readings import latest_of

Engine = Literal["off", "parked", "idle", "moving"]
ENGINES: tuple[Engine, ...] = ("off", "parked", "idle", "moving")

FULL_TANK = 0.95
DRAINED_TANK = 0.1


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of one report of a vehicle."""

    engine: Engine
    speed_kmh: tuple[float, float] = (0.0, 0.0)  # lowest and highest
    carried_m: float = 0.0  # moves this far although it shows no speed
    reach: float = 1.0  # place between the yard (0) and the vehicle's loop around it (1)
    satellites: tuple[int, int] = (5, 13)
    ice: bool = False
    near_gas: bool = False
    gauge: float | None = None  # the fuel gauge jumps to this
    alarm: str = ""
    arrives_at_yard: bool = False
    ends: str = ""  # the event of the example program that is recognized at this reading


OFF = Reading("off")
PARKED = Reading("parked")
IDLE = Reading("idle")
CRUISE = Reading("moving", (20.0, 90.0))
CRAWL = Reading("moving", (5.0, 15.0))
FAST = Reading("moving", (70.0, 95.0))
STUCK_SPEED = Reading("moving", carried_m=500.0)
TOWED = Reading("parked", carried_m=400.0)

YARD_STEPS = 8
SETTLED = 31
"""Reports after which an engine has been off for more than half an hour; while off, reports do not jitter."""


def _off(*, after_route: bool) -> tuple[Reading, ...]:
    settled = replace(OFF, ends="route") if after_route else OFF
    return (OFF,) * SETTLED + (settled,) + (OFF,) * 8


def _radial(*, inward: bool) -> tuple[Reading, ...]:
    reaches = [step / YARD_STEPS for step in range(1, YARD_STEPS)]
    drive = Reading("moving", (30.0, 60.0))
    return tuple(replace(drive, reach=reach) for reach in (reversed(reaches) if inward else reaches))


def _swing(*readings: Reading, ends: str) -> tuple[Reading, ...]:
    *earlier, last = readings
    return (*earlier, replace(last, ends=ends))


def _run(reading: Reading, length: int, needed: int, ends: str, alarm: str = "") -> tuple[Reading, ...]:
    """Equal readings in a row; each one from the `needed`-th on completes a match."""
    hit = replace(reading, ends=ends)
    first_hit = replace(hit, alarm=alarm)
    return (reading,) * (needed - 1) + (first_hit,) + (hit,) * (length - needed)


def _accelerating(slowest: float) -> Reading:
    return Reading("moving", (slowest, slowest + 5.0), satellites=(0, 0))


_DARK = tuple(_accelerating(speed) for speed in (20.0, 35.0, 50.0, 65.0))
_BAD_SIGNAL = (
    _accelerating(8.0),  # slower than any cruising, so the run of accelerations starts after it
    *_DARK[:2],
    *(replace(reading, ends="moving_with_bad_signal") for reading in _DARK[2:]),
)
_TUNNEL = tuple(_accelerating(speed) for speed in (60.0, 45.0, 30.0))
_PUMP = (
    Reading("moving", (15.0, 30.0), near_gas=True),
    Reading("idle", near_gas=True),
    Reading("idle", near_gas=True, gauge=FULL_TANK),
)
_SIPHONING = (
    PARKED,
    replace(PARKED, gauge=DRAINED_TANK),
    *(CRUISE,) * 4,
    *_PUMP,
    *(CRUISE,) * 6,
    *(PARKED,) * 2,
    replace(PARKED, gauge=DRAINED_TANK, alarm="fuel"),
)

AFTER_IDLE = {"drive": 0.7, "parked": 0.24, "idle_parked_swing": 0.03, "warning": 0.03}
AFTER_PARKED = {"drive": 0.6, "idle": 0.26, "off": 0.08, "parked_moving_swing": 0.03, "theft": 0.02, "siphoning": 0.01}
AFTER_DRIVE = {
    "idle": 0.36,
    "parked": 0.3,
    "off": 0.04,
    "pump": 0.05,
    "passing_gas": 0.03,
    "to_yard": 0.08,
    "speed_swing": 0.02,
    "stuck_speed": 0.02,
    "bad_signal": 0.02,
    "tunnel": 0.02,
    "ice_fast": 0.03,
    "ice_slow": 0.03,
}

_IN_YARD = (replace(PARKED, reach=0.0, arrives_at_yard=True), *(replace(PARKED, reach=0.0),) * 5)

# Nothing in everyday driving may look like an episode: stays last two reports or more, a moving vehicle has
# speed, and episodes that keep the engine moving only follow `drive`, whose trip is never a route.
SCRIPTS = (
    Script("off", _off(after_route=False), {"resting": 1.0}),
    Script("off_after_route", _off(after_route=True), {"resting": 1.0}),
    Script("resting", (OFF,), {"route": 0.6, "idle": 0.4}, linger=0.98),
    Script("route", (CRUISE,) * 6, {"off_after_route": 0.5, "idle": 0.3, "parked": 0.2}, linger=0.93),
    Script("drive", (CRUISE,) * 3, AFTER_DRIVE, linger=0.85),
    Script("idle", (IDLE,) * 2, AFTER_IDLE, linger=0.6),
    Script("parked", (PARKED,) * 2, AFTER_PARKED, linger=0.85),
    Script("warning", (replace(IDLE, alarm="engine"),), {"drive": 1.0}),
    Script("pump", _PUMP, {"drive": 1.0}),
    Script("passing_gas", (Reading("moving", (20.0, 40.0), near_gas=True),) * 2, {"drive": 1.0}),
    Script("to_yard", _radial(inward=True), {"in_yard": 1.0}),
    Script("in_yard", _IN_YARD, {"from_yard": 1.0}, linger=0.9),
    Script("from_yard", _radial(inward=False), {"drive": 1.0}),
    Script("parked_moving_swing", _swing(CRAWL, PARKED, CRAWL, ends="parked_moving_swing"), {"drive": 1.0}),
    Script("idle_parked_swing", _swing(PARKED, IDLE, PARKED, ends="idle_parked_swing"), {"parked": 1.0}),
    Script("speed_swing", _swing(FAST, STUCK_SPEED, FAST, STUCK_SPEED, ends="speed_swing"), {"drive": 1.0}),
    Script("stuck_speed", _run(STUCK_SPEED, 4, 3, "moving_with_zero_speed", alarm="sensor"), {"drive": 1.0}),
    Script("bad_signal", _BAD_SIGNAL, {"drive": 1.0}),
    Script("tunnel", _TUNNEL, {"drive": 1.0}),
    Script("theft", _run(TOWED, 5, 3, "possible_theft", alarm="tow"), {"parked": 1.0}),
    Script("ice_fast", _run(replace(FAST, ice=True), 3, 2, "dangerous_driving"), {"drive": 1.0}),
    Script("ice_slow", (Reading("moving", (20.0, 40.0), ice=True),) * 4, {"drive": 1.0}),
    Script("siphoning", _SIPHONING, {"parked": 1.0}),
)

EPISODES = {
    "route": "off_after_route",
    "parked_moving_swing": "parked_moving_swing",
    "idle_parked_swing": "idle_parked_swing",
    "speed_swing": "speed_swing",
    "moving_with_zero_speed": "stuck_speed",
    "moving_with_bad_signal": "bad_signal",
    "possible_theft": "theft",
    "dangerous_driving": "ice_fast",
    "fuel_vanished": "siphoning",
}
"""The script that causes each event of the example program."""

ALARMS = ("", "tow", "sensor", "engine", "fuel")
"""By code; zero means no alarm."""


def fleet_chain() -> SymbolChain[Reading]:
    return SymbolChain(SCRIPTS, start={"off": 0.4, "idle": 0.1, "parked": 0.2, "drive": 0.3})


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

    def __init__(
        self, chain: SymbolChain[Reading], radius_m: Floats, lat: Floats, lon: Floats, random: BlockRandom
    ) -> None:
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
