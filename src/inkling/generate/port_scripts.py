"""What vessels do: sailing off a port, calling at it, and the episodes the maritime patterns look for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inkling.generate.chain import Chain, Script

VESSEL_TYPES = ("cargo", "fishing", "sar", "tanker", "passenger")
TYPE_CYCLE = ("fishing", "cargo", "sar", "passenger", "fishing", "tanker")
"""Types in the order in which vessels get them, so that even a small fleet has all of them."""

APPROACH_STEPS = 40
BERTH = 0.05
NEAR_PORT = 0.12
ALONG, INWARD, OUTWARD = 0.0, 270.0, 90.0
"""Course relative to the vessel's angle around the port: along its circle, towards the port, away from it."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What one position report of a vessel says."""

    knots: tuple[float, float]  # slowest and fastest
    reach: float = 1.0  # place between the port (0) and the circle on which the vessel sails (1)
    course: float = ALONG
    turn: float = 0.0  # degrees off the course
    drift: float = 0.0  # degrees between where it points and where it goes
    near_coast: bool = False
    near_port: bool = False
    in_anchorage: bool = False
    in_fishing_area: bool = False
    change_in_heading: bool = False
    ends: str = ""  # the event of the example program that is recognized at this report
    only: str = ""  # ... if the vessel is of this type


SAIL = Fix((8.0, 18.0))
TRAWL = Fix((2.0, 7.0), in_fishing_area=True)
ANCHORED = Fix((0.0, 0.4), near_coast=True, in_anchorage=True)


def _run(fix: Fix, length: int, needed: int, ends: str, only: str = "") -> tuple[Fix, ...]:
    """Equal reports in a row; each one from the `needed`-th on completes a match."""
    hit = replace(fix, ends=ends, only=only)
    return (fix,) * (needed - 1) + (hit,) * (length - needed + 1)


def _between_sea_and_berth(*, inward: bool) -> tuple[Fix, ...]:
    steps = range(1, APPROACH_STEPS)
    reaches = [1.0 - (1.0 - BERTH) * step / APPROACH_STEPS for step in steps]
    under_way = Fix((11.0, 15.0), course=INWARD if inward else OUTWARD)
    fixes = [
        replace(under_way, reach=reach, near_port=True, knots=(3.0, 5.0))
        if reach <= NEAR_PORT
        else replace(under_way, reach=reach)
        for reach in reaches
    ]
    turning = replace(fixes[0], change_in_heading=True)
    return (turning, *fixes[1:]) if inward else tuple(reversed(fixes))


def _zigzag(length: int) -> tuple[Fix, ...]:
    leg = Fix((6.0, 12.0), change_in_heading=True)
    plain = (replace(leg, turn=40.0), replace(leg, turn=-40.0))
    hits = tuple(replace(fix, ends="search_and_rescue", only="sar") for fix in plain)
    return (*plain, *(hits[step % 2] for step in range(length - 2)))


AFTER_SEA = {
    "coast": 0.12,
    "coast_slow": 0.08,
    "anchor": 0.06,
    "drift": 0.12,
    "trawl": 0.14,
    "search": 0.18,
    "loiter": 0.1,
    "approach": 0.1,
}

SCRIPTS = (
    Script("sea", (SAIL,) * 4, AFTER_SEA, linger=0.96),
    Script("coast", _run(Fix((7.0, 12.0), near_coast=True), 2, 1, "high_speed_near_coast"), {"sea": 1.0}),
    Script("coast_slow", (Fix((2.0, 4.5), near_coast=True),) * 4, {"sea": 1.0}),
    Script("anchor", _run(ANCHORED, 4, 3, "anchored"), {"sea": 1.0}),
    Script("drift", _run(Fix((1.0, 3.0), drift=55.0), 4, 3, "drifting"), {"sea": 1.0}),
    Script("trawl", _run(TRAWL, 6, 3, "trawling", only="fishing"), {"sea": 1.0}),
    Script("search", _zigzag(5), {"sea": 1.0}),
    Script("loiter", _run(Fix((0.0, 0.4)), 4, 3, "loitering"), {"sea": 1.0}),
    Script("approach", _between_sea_and_berth(inward=True), {"berth": 1.0}),
    Script("berth", _run(Fix((0.0, 0.3), reach=BERTH, near_port=True), 4, 3, "anchored"), {"leave": 1.0}),
    Script("leave", _between_sea_and_berth(inward=False), {"sea": 1.0}),
)

EPISODES = {
    "high_speed_near_coast": "coast",
    "anchored": "anchor",
    "drifting": "drift",
    "trawling": "trawl",
    "search_and_rescue": "search",
    "loitering": "loiter",
    "approaching_port": "approach",
}
"""Event of the example program to the script that is played to cause it, by vessels of any type."""


def port_chain() -> Chain[Fix]:
    return Chain(SCRIPTS, start={"sea": 1.0})
