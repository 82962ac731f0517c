"""What happens on a road: free traffic, jams, and what only looks like one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from inkling.generate.arrays import Floats
from inkling.generate.chain import Chain, Script

RECTANGLES = {"harbor": (4042, 4045, 7358, 7361), "market": (4045, 4048, 7361, 7363)}
TRIANGLE = "hill"
AREAS = {
    name: f"POLYGON(({left} {low}, {right} {low}, {right} {high}, {left} {high}, {left} {low}))"
    for name, (left, right, low, high) in RECTANGLES.items()
} | {TRIANGLE: "POLYGON((4048 7363, 4051 7363, 4051 7365, 4048 7363))"}
FLOWS = (("harbor", "market"), ("market", "hill"))

HARBOR, MARKET, HILL, BORDER, OUTSIDE = range(5)
_INNER = np.array([(0.1, 0.05), (0.5, 0.2), (0.9, 0.8), (0.7, 0.6)])  # below the diagonal, as the triangle is
SPOTS: Floats = np.array(
    [
        *(
            [(left + a * (right - left), low + b * (high - low)) for a, b in _INNER]
            for left, right, low, high in (*RECTANGLES.values(), (4048, 4051, 7363, 7365))
        ),
        [(4042, 7360), (4045, 7361), (4046, 7363), (4051, 7364)],
        [(4040, 7360), (4043, 7363), (4049, 7364.5), (4052, 7364)],
    ],
    np.float64,
)
"""Places where something is read: by where that is, then by position; those on borders are in no area."""


@dataclass(frozen=True, slots=True)
class Passing:
    """One reading of a road."""

    pace: tuple[float, float] = (1.2, 2.0)  # lowest and highest, as a share of what counts as slow
    place: int = OUTSIDE
    broken: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


def _slow(place: int, **ends: int) -> Passing:
    return Passing((0.2, 0.9), place, ends={"located": 1, "slow": 1, **ends})


def _free(place: int) -> Passing:
    return Passing(place=place, ends={"located": 1})


def _jam(place: int) -> tuple[Passing, ...]:
    """Every slow reading makes a bottleneck with each one before it; the last of them dissolves."""
    return (
        _slow(place),
        _slow(place, bottleneck=1, dissolved=1),
        _slow(place, bottleneck=2),
        _slow(place, bottleneck=3),
    )


OPEN_ROAD = Passing()
OUT_OF_ORDER = Passing(place=HARBOR, broken=True)
HALF_AN_HOUR = 6  # readings

_SEEMS_SLOW = replace(_slow(BORDER), ends={})
_AGAIN = _slow(HILL, bottleneck=1, dissolved=1)

# Free readings around an episode keep its slow ones more than half an hour from those of the next.
SCRIPTS = (
    Script(
        "free",
        (*(_free(HARBOR), _free(MARKET), _free(HILL), OPEN_ROAD) * 2,),
        {
            "free": 0.3,
            "jam_harbor": 0.1,
            "jam_market": 0.1,
            "jam_hill": 0.1,
            "on_border": 0.1,
            "once": 0.1,
            "half_an_hour": 0.1,
            "too_late": 0.1,
            "growing": 0.1,
            "broken": 0.1,
        },
        linger=0.5,
    ),
    Script("jam_harbor", _jam(HARBOR), {"free": 1.0}),
    Script("jam_market", _jam(MARKET), {"free": 1.0}),
    Script("jam_hill", _jam(HILL), {"free": 1.0}),
    Script("on_border", (_SEEMS_SLOW,) * 3, {"free": 1.0}),
    Script("once", (_slow(MARKET),), {"free": 1.0}),
    Script("half_an_hour", (_slow(HILL), *(OPEN_ROAD,) * (HALF_AN_HOUR - 1), _AGAIN), {"free": 1.0}),
    Script("too_late", (_slow(HILL), *(OPEN_ROAD,) * HALF_AN_HOUR, _slow(HILL)), {"free": 1.0}),
    Script("growing", (_slow(HILL), _slow(MARKET, growing=1), _slow(HARBOR, growing=2)), {"free": 1.0}),
    Script("broken", (OUT_OF_ORDER,) * 2, {"free": 1.0}),
)

EPISODES = {"bottleneck": "jam_harbor", "growing": "growing"}
"""Event of the example program to a script that is played to cause it."""


def traffic_chain() -> Chain[Passing]:
    return Chain(SCRIPTS, start={"free": 1.0})
