"""What happens at a place: calm weather, gusts, fires with and without wind, and help that comes or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from inkling.generate.chain import Chain, Script

PARENTS = {
    "diablo": "foehn",
    "sundowner": "foehn",
    "foehn": "wind",
    "gale": "wind",
    "drizzle": "rain",
    "wind": "weather",
    "rain": "weather",
    "fog": "weather",
}
"""Kind of weather to the kind above it."""

KINDS = tuple(kind for kind in PARENTS if kind not in ("wind", "rain"))


@dataclass(frozen=True, slots=True)
class Weather:
    """One observation of a place, and what happens there at the same moment."""

    kind: str = "fog"
    speed: tuple[float, float] = (10.0, 10.9)  # lowest and highest; never a tenth apart
    fire: bool = False
    arrival: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


def _fire(kind: str, **ends: int) -> Weather:
    """A fire counts as unattended until somebody comes in time."""
    return Weather(kind, fire=True, ends={"unattended": 1, **ends})


def _help(kind: str, **ends: int) -> Weather:
    return Weather(kind, arrival=True, ends={"attended": 1, **ends})


def _wind(kind: str, **ends: int) -> Weather:
    return Weather(kind, ends=ends)


FOG, DRIZZLE = Weather(), Weather("drizzle")
# Each is faster than both observations of the hour before; only the second can rise from one after the fire.
_GUSTS = (
    Weather(speed=(20.0, 20.5), ends={"rising_wind": 2}),
    Weather(speed=(40.0, 41.0), ends={"rising_wind": 2}),
)
_GUSTS_ON_FIRE = (_GUSTS[0], replace(_GUSTS[1], ends={"rising_wind": 2, "fire_alarm": 1}))

_FANNED = (
    _fire("drizzle"),
    _wind("sundowner", fanned_fire=1, out_of_hand=1),
    _help("diablo", fanned_fire=1, unattended=-1, out_of_hand=-1),
    _wind("gale", fanned_fire=1),
)
# The wind comes three hours before the fire, and help two hours after it: that counts, and that is late.
_NEGLECTED = (_wind("diablo"), *(FOG,) * 5, _fire("fog", fanned_fire=1, out_of_hand=1), *(FOG,) * 3, _help("fog"))
_TOO_EARLY = (_wind("gale"), *(DRIZZLE,) * 6, _fire("fog"), _help("fog", unattended=-1))
_AT_ONCE = (_fire("gale", fanned_fire=1, out_of_hand=1), _help("fog", unattended=-1, out_of_hand=-1))
_BLAZE = (_fire("drizzle"), *_GUSTS_ON_FIRE, *(FOG,) * 3)

# Calm weather lasts seven hours or more, so that no episode reaches into another.
SCRIPTS = (
    Script(
        "calm",
        (FOG, DRIZZLE) * 7,
        {
            "calm": 0.2,
            "windy": 0.1,
            "gusts": 0.15,
            "fanned": 0.15,
            "neglected": 0.1,
            "too_early": 0.1,
            "at_once": 0.1,
            "blaze": 0.1,
        },
        linger=0.7,
    ),
    Script("windy", (_wind("gale"), _wind("diablo"), _wind("sundowner")), {"calm": 1.0}),
    Script("gusts", _GUSTS, {"calm": 1.0}),
    Script("fanned", _FANNED, {"calm": 1.0}),
    Script("neglected", _NEGLECTED, {"calm": 1.0}),
    Script("too_early", _TOO_EARLY, {"calm": 1.0}),
    Script("at_once", _AT_ONCE, {"calm": 1.0}),
    Script("blaze", _BLAZE, {"calm": 1.0}),
)

EPISODES = {
    "fanned_fire": "fanned",
    "rising_wind": "gusts",
    "fire_alarm": "blaze",
    "unattended": "neglected",
    "attended": "at_once",
}
"""Event of the example program to a script that is played to cause it."""


def alarm_chain() -> Chain[Weather]:
    return Chain(SCRIPTS, start={"calm": 1.0})
