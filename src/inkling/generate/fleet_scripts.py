"""What vehicles do: the everyday scripts of a fleet, and the episodes its patterns look for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from inkling.generate.chain import Chain, Script

Engine = Literal["off", "parked", "idle", "moving"]
ENGINES: tuple[Engine, ...] = ("off", "parked", "idle", "moving")

FULL_TANK = 0.95
DRAINED_TANK = 0.1


@dataclass(frozen=True, slots=True)
class Reading:
    """What one report of a vehicle says."""

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
AFTER_PARKED = {
    "drive": 0.6,
    "idle": 0.26,
    "off": 0.08,
    "parked_moving_swing": 0.03,
    "theft": 0.02,
    "siphoning": 0.01,
}
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
"""Event of the example program to the script that is played to cause it."""

ALARMS = ("", "tow", "sensor", "engine", "fuel")
"""By code; zero means no alarm."""


def fleet_chain() -> Chain[Reading]:
    return Chain(SCRIPTS, start={"off": 0.4, "idle": 0.1, "parked": 0.2, "drive": 0.3})
