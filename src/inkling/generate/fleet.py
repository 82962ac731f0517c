"""A fleet whose vehicles report engine, speed, fuel and position about once a minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Integers
from inkling.generate.fleet_motion import Vehicles
from inkling.generate.fleet_scripts import ALARMS, ENGINES, fleet_chain
from inkling.generate.fleet_truth import FleetTruth
from inkling.generate.numbering import Numbering, prefixed
from inkling.generate.places import grid_of_places
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import (
    MINUTE_US,
    TIMESTAMP,
    Block,
    MinuteClock,
    arrival_order,
    blocks_from,
    start_us,
    steps_per_block,
)
from inkling.generate.scenario import Streams, Truth
from inkling.generate.surroundings import stations_around, weather_over
from inkling.generate.workshop import Alarm, Visit, Workshop

VEHICLES_PER_DEPOT = 10
GARAGES_PER_DEPOT = 2
END_OF_TIME_US = 1 << 62

STREAMS = {
    "Vehicle": pa.schema(
        [
            ("id", pa.int64()),
            ("vehicle", pa.string()),
            ("t", TIMESTAMP),
            ("engine", pa.string()),
            ("speed", pa.float64()),
            ("fuel", pa.float64()),
            ("satellites", pa.int32()),
            ("lat", pa.float64()),
            ("lon", pa.float64()),
            ("ice", pa.bool_()),
            ("near_gas", pa.bool_()),
        ]
    ),
    "Alarm": pa.schema([("id", pa.string()), ("vehicle", pa.string()), ("t", TIMESTAMP), ("kind", pa.string())]),
    "Service": pa.schema([("id", pa.string()), ("vehicle", pa.string()), ("t", TIMESTAMP), ("garage", pa.string())]),
}


@dataclass(frozen=True, slots=True)
class _Rows:
    """Who reported what and when, in the order of arrival."""

    state: Integers
    vehicle: Integers
    time_us: Integers


class Fleet:
    """Vehicles circling their depots; `fleet_scripts` says what they do and which episodes are among it."""

    main: str = "Vehicle"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(4, min(5_000, events // 5_000))
        self._out = Numbering(STREAMS)
        self._name_everything()

        setup = BlockRandom(seed, "fleet", 0)
        first_us = start_us(start, datetime(2024, 1, 8))
        self._span_us = (first_us, first_us + -(-events // self.keys) * MINUTE_US)
        self._clock = MinuteClock(self.keys, setup, first_us)
        self._chain = fleet_chain()
        self._state = self._chain.beginning(self.keys)
        lat, lon = self._depot_lat, self._depot_lon = grid_of_places(len(self._depots), spacing=0.5)
        # no two vehicles of a depot share a loop, so they can only meet in its yard
        radius_m = 4_000.0 + 250.0 * (np.arange(self.keys) // len(self._depots)).astype(np.float64)
        self._vehicles = Vehicles(self._chain, radius_m, lat[self._depot_of], lon[self._depot_of], setup)
        self._workshop = Workshop(self._depot_of * GARAGES_PER_DEPOT, GARAGES_PER_DEPOT, len(self._garages))
        self._truth = FleetTruth(self._chain, self.keys)

        self._engine = self._chain.column(lambda step: ENGINES.index(step.engine), np.int8)
        self._ice = self._chain.column(lambda step: step.ice, np.bool_)
        self._near_gas = self._chain.column(lambda step: step.near_gas, np.bool_)
        self._alarm = self._chain.column(lambda step: ALARMS.index(step.alarm), np.int8)
        self._arrives = self._chain.column(lambda step: step.arrives_at_yard, np.bool_)

    def _name_everything(self) -> None:
        n_depots = max(min(2, self.keys), self.keys // VEHICLES_PER_DEPOT)
        self._depot_of = np.arange(self.keys) % n_depots
        self._names = prefixed("V", np.arange(self.keys), width=5)
        self._depots = prefixed("D", np.arange(n_depots), width=3)
        self._garages = prefixed("G", np.arange(n_depots * GARAGES_PER_DEPOT), width=4)

    def tables(self) -> dict[str, pa.Table]:
        depot_of_garage = np.arange(len(self._garages)) // GARAGES_PER_DEPOT
        return {
            "depots": pa.table({"vehicle": self._names, "depot": self._depot_names(self._depot_of)}),
            "garages": pa.table({"garage": self._garages, "depot": self._depot_names(depot_of_garage)}),
        }

    def surroundings(self) -> dict[str, pa.Table]:
        return {
            "stations": stations_around(self._depot_lat, self._depot_lon),
            "weather": weather_over(self._depot_lat, self._depot_lon, *self._span_us, self.seed),
        }

    def _depot_names(self, depots: Integers) -> pa.Array:
        return self._depots.take(pa.array(depots))

    def truth(self) -> Truth:
        matches = self._truth.matches() | {
            "neglected_alarm": self._workshop.neglected,
            "service_away_from_home": self._workshop.away_from_home,
        }
        return Truth("fleet", self.seed, self.keys, dict(self._out.rows), self._truth.episodes(), matches)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "fleet", steps_per_block(self.keys)):
            yield self._block(block)
            if self._out.rows["Vehicle"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        shape = (block.n_steps, self.keys)
        path = self._chain.walk(self._state, block.random.bits(shape))
        self._state = path[-1]
        states = path.astype(np.intp)
        engine = self._engine[states]
        offsets_ms = self._clock.offsets_ms(block.random.bits(shape), engine != ENGINES.index("off"))
        motion = self._vehicles.move(states, block.random)

        remaining = self.events - self._out.rows["Vehicle"]
        order = arrival_order(offsets_ms)[:remaining]
        self._truth.see(states, motion, order)
        rows = _Rows(states.ravel()[order], order % self.keys, self._clock.times_us(block, offsets_ms).ravel()[order])
        columns = {
            "vehicle": self._names.take(pa.array(rows.vehicle)),
            "t": rows.time_us,
            "engine": pa.array(ENGINES).take(pa.array(engine.ravel()[order])),
            "speed": motion.speed.ravel()[order],
            "fuel": motion.fuel.ravel()[order],
            "satellites": motion.satellites.ravel()[order],
            "lat": motion.lat.ravel()[order],
            "lon": motion.lon.ravel()[order],
            "ice": self._ice[rows.state],
            "near_gas": self._near_gas[rows.state],
        }
        self._log_arrivals(rows)
        alarms = self._raise_alarms(rows, block.random)
        is_last = remaining <= states.size
        visits = self._workshop.visits_before(END_OF_TIME_US if is_last else int(rows.time_us[-1]))
        return {
            "Vehicle": self._out.batch("Vehicle", columns),
            "Alarm": self._alarm_rows(alarms),
            "Service": self._service_rows(visits),
        }

    def _log_arrivals(self, rows: _Rows) -> None:
        at = np.flatnonzero(self._arrives[rows.state])
        depots = self._depot_of[rows.vehicle[at]]
        self._truth.arrive(zip(depots.tolist(), rows.time_us[at].tolist(), strict=True))

    def _raise_alarms(self, rows: _Rows, random: BlockRandom) -> list[Alarm]:
        kind = self._alarm[rows.state]
        at = np.flatnonzero(kind)
        candidates = map(Alarm, rows.time_us[at].tolist(), rows.vehicle[at].tolist(), kind[at].tolist())
        return self._workshop.report(candidates, random)

    def _alarm_rows(self, alarms: list[Alarm]) -> pa.RecordBatch:
        columns = {
            "vehicle": self._names.take(pa.array([alarm.vehicle for alarm in alarms], pa.int64())),
            "t": np.array([alarm.time_us for alarm in alarms], np.int64),
            "kind": pa.array(ALARMS).take(pa.array([alarm.kind for alarm in alarms], pa.int64())),
        }
        return self._out.batch("Alarm", columns)

    def _service_rows(self, visits: list[Visit]) -> pa.RecordBatch:
        columns = {
            "vehicle": self._names.take(pa.array([visit.vehicle for visit in visits], pa.int64())),
            "t": np.array([visit.time_us for visit in visits], np.int64),
            "garage": self._garages.take(pa.array([visit.garage for visit in visits], pa.int64())),
        }
        return self._out.batch("Service", columns)
