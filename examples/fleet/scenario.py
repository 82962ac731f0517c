"""A fleet whose vehicles report engine, speed, fuel and position about once a minute.

Around the depots there are filling stations and weather. Vehicles raise alarms, and most alarms are followed by a visit
to a garage. The expected results are counted while the fleet is generated.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import SymbolChain
from ..generators.numbering import Numbering, prefixed
from ..generators.places import grid_of_places, offset_position
from ..generators.randomness import BlockRandom, Floats, Integers
from ..generators.readings import (
    MINUTE_US,
    TIMESTAMP,
    Block,
    MinuteClock,
    arrival_order,
    blocks_from,
    previous_of,
    start_us,
    steps_per_block,
)
from .vehicles import ALARMS, ENGINES, EPISODES, Motion, Reading, States, Vehicles, fleet_chain

CELLS_PER_DEGREE = 4
HOUR_US = 3_600_000_000
ICE = 0.15
"""The share of cells and hours with ice on the road."""
STATION_RADII_M = (4_250.0, 4_750.0, 5_250.0, 5_750.0)


def stations_around(lat: Floats, lon: Floats) -> pa.Table:
    """Four filling stations around each depot, each near the loops of other vehicles."""
    angle = np.linspace(0.0, 2.0 * np.pi, len(STATION_RADII_M), endpoint=False)
    east, north = (np.array(STATION_RADII_M) * turn(angle) for turn in (np.cos, np.sin))
    lats, lons = offset_position(np.repeat(lat, len(angle)), np.repeat(lon, len(angle)), *_for_each(east, north, lat))
    return pa.table({"station": prefixed("S", np.arange(lats.size), width=4), "lat": lats, "lon": lons})


def _for_each(east: Floats, north: Floats, places: Floats) -> tuple[Floats, Floats]:
    return np.tile(east, places.size), np.tile(north, places.size)


def weather_over(lat: Floats, lon: Floats, first_us: int, last_us: int, seed: int) -> pa.Table:
    """Where and when there is ice on the road, by cells of a quarter of a degree around each depot and by the hour."""
    cells = {
        (float(np.floor(CELLS_PER_DEGREE * (y + dy))), float(np.floor(CELLS_PER_DEGREE * (x + dx))))
        for y, x in zip(lat.tolist(), lon.tolist(), strict=True)
        for dy in (-0.1, 0.1)
        for dx in (-0.1, 0.1)
    }
    hours = np.arange(first_us // HOUR_US, last_us // HOUR_US + 1)
    where = np.array(sorted(cells))
    is_ice = BlockRandom(seed, "weather", 0).unit((len(where), len(hours))) < ICE
    cell, hour = np.nonzero(is_ice)
    since = hours[hour] * HOUR_US
    return pa.table(
        {
            "cell_lat": where[cell, 0],
            "cell_lon": where[cell, 1],
            "since": pa.array(since).cast(TIMESTAMP),
            "until": pa.array(since + HOUR_US).cast(TIMESTAMP),
            "road": ["ice"] * len(cell),
        }
    )


SECOND_US = 1_000_000
ALARM_LAG_US = 20 * SECOND_US
QUIET_US = 72 * HOUR_US  # longer than any wait for a garage, so cases of one vehicle never mix


@dataclass(frozen=True, slots=True, order=True)
class Alarm:
    time_us: int
    vehicle: int
    kind: int


@dataclass(frozen=True, slots=True, order=True)
class Visit:
    time_us: int
    vehicle: int
    garage: int


@dataclass(slots=True)
class Workshop:
    """Opens a case per alarm, unless the vehicle has an open one, and plans its course."""

    home_garage: npt.NDArray[np.int64]  # per vehicle: the first garage of its depot
    garages_per_depot: int
    n_garages: int
    neglected: int = 0
    away_from_home: int = 0
    _quiet_until_us: dict[int, int] = field(default_factory=dict)
    _planned: list[Visit] = field(default_factory=list)

    def report(self, candidates: Iterable[Alarm], random: BlockRandom) -> list[Alarm]:
        """The alarms that are raised; candidates come in the order of time."""
        raised = []
        for candidate in candidates:
            alarm = Alarm(candidate.time_us + ALARM_LAG_US, candidate.vehicle, candidate.kind)
            if alarm.time_us < self._quiet_until_us.get(alarm.vehicle, alarm.time_us):
                continue
            self._quiet_until_us[alarm.vehicle] = alarm.time_us + QUIET_US
            raised.append(alarm)
            self._plan_visit(alarm, *random.unit((3,)))
        return raised

    def visits_before(self, time_us: int) -> list[Visit]:
        """Visits planned before a time, each returned once."""
        due = []
        while self._planned and self._planned[0].time_us < time_us:
            due.append(heappop(self._planned))
        return due

    def _plan_visit(self, alarm: Alarm, fate: float, delay: float, choice: float) -> None:
        in_time, ever = fate < 0.7, fate < 0.85
        self.neglected += not in_time
        if not ever:
            return
        wait_us = round((2.0 + 44.0 * delay if in_time else 49.0 + 20.0 * delay) * HOUR_US)
        wait_us -= wait_us % SECOND_US
        home = int(self.home_garage[alarm.vehicle])
        if choice < 0.85:
            garage = home + int(choice / 0.85 * self.garages_per_depot)
        else:
            garage = int((choice - 0.85) / 0.15 * self.n_garages)
        self.away_from_home += not home <= garage < home + self.garages_per_depot
        heappush(self._planned, Visit(alarm.time_us + wait_us, alarm.vehicle, garage))


MEETING_US = 600_000_000


@dataclass(slots=True)
class YardLog:
    """Counts pairs of arrivals at the same depot that are at most ten minutes apart, but not simultaneous."""

    pairs: int = 0
    _recent_us: defaultdict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))

    def arrive(self, arrivals: Iterable[tuple[int, int]]) -> None:
        """Arrivals as (depot, time) in the order of time."""
        for depot, time_us in arrivals:
            recent = self._recent_us[depot]
            while recent and time_us - recent[0] > MEETING_US:
                recent.popleft()
            self.pairs += sum(earlier < time_us for earlier in recent)
            recent.append(time_us)


LOW_FUEL = 0.5
REFUEL_JUMP = 0.3


class FleetTruth:
    """Scripted events are counted by visits to their last reading, fuel events by what the gauge shows."""

    def __init__(self, chain: SymbolChain[Reading], keys: int) -> None:
        self._chain = chain
        self._visits = np.zeros(len(chain.steps), np.int64)
        self._near_gas = chain.column(lambda step: step.near_gas, np.bool_)
        self._was_low_at_gas = np.zeros(keys, np.bool_)
        self._fuel_before = np.full(keys, np.inf)
        self._refuels = 0
        self._opportunities = 0
        self._yard = YardLog()

    def see(self, states: States, motion: Motion, order: Integers) -> None:
        """A block, of which only the rows in `order` are emitted."""
        self._visits += np.bincount(states.ravel()[order], minlength=len(self._visits))
        low_at_gas = self._near_gas[states] & (motion.fuel < LOW_FUEL)
        opportunity = low_at_gas & previous_of(low_at_gas, self._was_low_at_gas)
        refuel = motion.fuel > previous_of(motion.fuel, self._fuel_before) + REFUEL_JUMP
        self._opportunities += int(np.count_nonzero(opportunity.ravel()[order]))
        self._refuels += int(np.count_nonzero(refuel.ravel()[order]))
        self._was_low_at_gas, self._fuel_before = low_at_gas[-1], motion.fuel[-1]

    def arrive(self, arrivals: Iterable[tuple[int, int]]) -> None:
        self._yard.arrive(arrivals)

    def episodes(self) -> dict[str, int]:
        return {name: int(self._visits[self._chain.last_step(script)]) for name, script in EPISODES.items()}

    def matches(self) -> dict[str, int]:
        found = {"refuel_opportunity": self._opportunities, "refuel": self._refuels, "yard_meeting": self._yard.pairs}
        for step, visits in zip(self._chain.steps, self._visits, strict=True):
            if step.ends:
                found[step.ends] = found.get(step.ends, 0) + int(visits)
        return found


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
    """Vehicle, content and time of reports, in the order of arrival."""

    state: Integers
    vehicle: Integers
    time_us: Integers


class Fleet:
    """Vehicles circling their depots; `fleet_chain` defines their behavior and episodes."""

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

    def extra_tables(self) -> dict[str, pa.Table]:
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
