"""Vessels off their home ports that report their position once a minute, as over AIS.

They sail off a port, call at it, and play the episodes that the maritime patterns detect. Around the ports
there are coasts and areas of the sea.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import Column, Numbering, prefixed
from ..generators.places import grid_of_places, haversine_m, offset_position
from ..generators.randomness import BlockRandom, Booleans, Floats
from ..generators.readings import (
    TIMESTAMP,
    Block,
    MinuteClock,
    arrival_order,
    blocks_from,
    previous_of,
    start_us,
    steps_per_block,
)


def areas_around(lat: Floats, lon: Floats) -> pa.Table:
    """Off each port an anchorage in the east, a fishing area in the north, and a coast in a bend in the west."""
    names, kinds, shapes = [], [], []
    for number, (y, x) in enumerate(zip(lat.tolist(), lon.tolist(), strict=True)):
        for kind, shape in (
            ("anchorage", _box(x + 0.12, y - 0.12, x + 0.30, y + 0.12)),
            ("fishing", _box(x - 0.30, y + 0.10, x + 0.30, y + 0.20)),
            ("coast", f"LINESTRING ({_at(x - 0.30, y - 0.12)}, {_at(x - 0.17, y)}, {_at(x - 0.30, y + 0.12)})"),
        ):
            names.append(f"{kind}{number}")
            kinds.append(kind)
            shapes.append(shape)
    return pa.table({"area": names, "kind": kinds, "shape": shapes})


def _box(west: float, south: float, east: float, north: float) -> str:
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return f"POLYGON (({', '.join(_at(x, y) for x, y in corners)}))"


def _at(x: float, y: float) -> str:
    return f"{x:.4f} {y:.4f}"


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
    """The content of one position report of a vessel."""

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
"""The script that causes each event of the example program, for vessels of any type."""


def port_chain() -> SymbolChain[Fix]:
    return SymbolChain(SCRIPTS, start={"sea": 1.0})


METERS_PER_KNOT_MINUTE = 1852.0 / 60.0
GPS_ERROR_M = 5.0
COMPASS_ERROR_DEGREES = 6.0

States = npt.NDArray[np.intp]


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

    def __init__(self, chain: SymbolChain[Fix], lat: Floats, lon: Floats, random: BlockRandom) -> None:
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


VESSELS_PER_PORT = 10
MOST_PORTS = 220
FIRST_MMSI = 200_000_001
HARBOR_M = 5_000.0
FLATNESS_ERROR_M = 60.0  # more than errors of GPS and of the flat ground together
FLAGS = ("near_coast", "near_port", "in_anchorage", "in_fishing_area", "change_in_heading")

STREAMS = {
    "Position": pa.schema(
        [
            ("id", pa.int64()),
            ("mmsi", pa.int64()),
            ("t", TIMESTAMP),
            ("lon", pa.float64()),
            ("lat", pa.float64()),
            ("speed", pa.float64()),
            ("heading", pa.float64()),
            ("cog", pa.float64()),
            *((flag, pa.bool_()) for flag in FLAGS),
        ]
    )
}


class Port:
    """Vessels circling their ports; `port_chain` defines their behavior and episodes."""

    main: str = "Position"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(6, min(5_000, events // 5_000))
        self._out = Numbering(STREAMS)
        vessels = np.arange(self.keys)
        self._mmsi = FIRST_MMSI + 7 * vessels
        self._type = np.array([VESSEL_TYPES.index(name) for name in TYPE_CYCLE])[vessels % len(TYPE_CYCLE)]
        n_ports = max(1, min(MOST_PORTS, self.keys // VESSELS_PER_PORT))
        self._port_lat, self._port_lon = grid_of_places(n_ports, spacing=0.75)
        self._home = vessels % n_ports

        setup = BlockRandom(seed, "port", 0)
        self._clock = MinuteClock(self.keys, setup, start_us(start, datetime(2024, 1, 8)))
        self._chain = port_chain()
        self._state = self._chain.beginning(self.keys)
        self._vessels = Vessels(self._chain, self._port_lat[self._home], self._port_lon[self._home], setup)
        self._flags = {flag: self._chain.column(attrgetter(flag), np.bool_) for flag in FLAGS}
        self._visits = np.zeros((len(self._chain.steps), len(VESSEL_TYPES)), np.int64)
        self._was_in_harbor = np.zeros(self.keys, np.bool_)
        self._arrivals = 0

    def tables(self) -> dict[str, pa.Table]:
        types = pa.array(VESSEL_TYPES).take(pa.array(self._type))
        ports = prefixed("P", np.arange(self._port_lat.size), width=3)
        return {
            "vessels": pa.table({"mmsi": self._mmsi, "type": types}),
            "ports": pa.table({"port": ports, "lat": self._port_lat, "lon": self._port_lon}),
        }

    def extra_tables(self) -> dict[str, pa.Table]:
        return {"areas": areas_around(self._port_lat, self._port_lon)}

    def truth(self) -> Truth:
        visits = self._visits.sum(axis=1)
        episodes = {name: int(visits[self._chain.last_step(script)]) for name, script in EPISODES.items()}
        matches = {"approaching_port": self._arrivals}
        for fix, by_type in zip(self._chain.steps, self._visits, strict=True):
            if fix.ends:
                seen = by_type[VESSEL_TYPES.index(fix.only)] if fix.only else by_type.sum()
                matches[fix.ends] = matches.get(fix.ends, 0) + int(seen)
        return Truth("port", self.seed, self.keys, dict(self._out.rows), episodes, matches)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "port", steps_per_block(self.keys)):
            yield self._block(block)
            if self._out.rows["Position"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        shape = (block.n_steps, self.keys)
        path = self._chain.walk(self._state, block.random.bits(shape))
        self._state = path[-1]
        states = path.astype(np.intp)
        offsets_ms = self._clock.offsets_ms(block.random.bits(shape), np.ones(shape, np.bool_))
        course = self._vessels.sail(states, block.random)

        order = arrival_order(offsets_ms)[: self.events - self._out.rows["Position"]]
        state = states.ravel()[order]
        vessel = order % self.keys
        in_harbor = self._is_in_harbor(course)
        entering = in_harbor & ~previous_of(in_harbor, self._was_in_harbor)
        self._arrivals += int(np.count_nonzero(entering.ravel()[order]))
        self._was_in_harbor = in_harbor[-1]
        np.add.at(self._visits, (state, self._type[vessel]), 1)
        columns: dict[str, Column] = {
            "mmsi": self._mmsi[vessel],
            "t": self._clock.times_us(block, offsets_ms).ravel()[order],
            "lon": course.lon.ravel()[order],
            "lat": course.lat.ravel()[order],
            "speed": course.speed.ravel()[order],
            "heading": course.heading.ravel()[order],
            "cog": course.cog.ravel()[order],
        }
        columns |= {flag: of_state[state] for flag, of_state in self._flags.items()}
        return {"Position": self._out.batch("Position", columns)}

    def _is_in_harbor(self, course: Course) -> Booleans:
        """Whether the reported position is within 5 km, on the globe where the flat ground leaves uncertainty."""
        away_m = course.from_port_m.copy()
        unsure = np.nonzero(np.abs(away_m - HARBOR_M) < FLATNESS_ERROR_M)
        port = self._home[unsure[1]]
        away_m[unsure] = haversine_m(course.lat[unsure], course.lon[unsure], self._port_lat[port], self._port_lon[port])
        return away_m < HARBOR_M
