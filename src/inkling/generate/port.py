"""Vessels off their home ports that report their position once a minute, as over AIS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from operator import attrgetter

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Marks
from inkling.generate.numbering import Column, Numbering, prefixed
from inkling.generate.places import grid_of_places, haversine_m
from inkling.generate.port_motion import Course, Vessels
from inkling.generate.port_scripts import EPISODES, TYPE_CYCLE, VESSEL_TYPES, port_chain
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import (
    TIMESTAMP,
    Block,
    MinuteClock,
    arrival_order,
    blocks_from,
    previous_of,
    start_us,
    steps_per_block,
)
from inkling.generate.scenario import Streams, Truth
from inkling.generate.surroundings import areas_around

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
    """Vessels circling their ports; `port_scripts` says what they do and which episodes are among it."""

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

    def surroundings(self) -> dict[str, pa.Table]:
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

    def _is_in_harbor(self, course: Course) -> Marks:
        """Whether the reported position is within 5 km, on the globe where the flat ground leaves doubt."""
        away_m = course.from_port_m.copy()
        unsure = np.nonzero(np.abs(away_m - HARBOR_M) < FLATNESS_ERROR_M)
        port = self._home[unsure[1]]
        away_m[unsure] = haversine_m(course.lat[unsure], course.lon[unsure], self._port_lat[port], self._port_lon[port])
        return away_m < HARBOR_M
