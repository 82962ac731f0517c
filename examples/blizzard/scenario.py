"""Weather stations that report every half hour, and blizzards that move from station to station.

The expected results are counted week by week from the severe readings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import asin, cos, radians, sin, sqrt

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Numbering, prefixed
from ..generators.randomness import BlockRandom, Booleans, Floats, Integers
from ..generators.readings import TIMESTAMP, Block, arrival_order, blocks_from, start_us

HOUR_US = 3_600_000_000
EARTH_KM = 6378.137
LONGEST_COUNT_US = 12 * HOUR_US
LEAST_COUNT = 4
LEAST_SPAN_US = 3 * HOUR_US
LONGEST_AREA_US = 9 * HOUR_US
NEIGHBORS_KM = 300

Area = tuple[int, int, int, int]  # first station, last station, start, end


class BlizzardTruth:
    """Blizzards of different weeks are independent."""

    def __init__(self, lat: Floats, lon: Floats) -> None:
        places = list(zip(lat.tolist(), lon.tolist(), strict=True))
        self._neighbors = [
            {b for b, there in enumerate(places) if 0 < _km(here, there) < NEIGHBORS_KM} for here in places
        ]
        self.found = Counter({"severe": 0, "settling": 0, "warning": 0, "area": 0, "blizzard_area": 0})

    def see(self, severe: Booleans, t: Integers) -> None:
        """A week: a row per half hour and a column per station."""
        warnings = [
            (end, start, station)
            for station in range(severe.shape[1])
            for start, end in self._warnings(t[severe[:, station], station].tolist())
        ]
        areas: set[Area] = set()
        for end, start, station in sorted(warnings):
            reached = {
                (first, station, min(since, start), end)
                for first, last, since, until in areas
                if until < end and station in self._neighbors[last] and end - min(since, start) <= LONGEST_AREA_US
            }
            areas |= reached | {(station, station, start, end)}
        self.found["warning"] += len(warnings)
        self.found["area"] += len(areas)
        self.found["blizzard_area"] += len({area for area in areas if area[0] != area[1]})

    def _warnings(self, times: list[int]) -> list[tuple[int, int]]:
        """Start and end of the first long count of every blizzard at a station."""
        warned: list[tuple[int, int]] = []
        begin, n = 0, 0
        for time in times:
            self.found["severe"] += 1
            self.found["settling"] += 1
            if n and time - begin <= LONGEST_COUNT_US:
                n += 1
                self.found["settling"] += 1
            else:
                begin, n = time, 1
            is_new = not warned or begin > warned[-1][1]
            if n > LEAST_COUNT and time - begin > LEAST_SPAN_US and is_new:
                warned.append((begin, time))
        return warned


def _km(here: tuple[float, float], there: tuple[float, float]) -> float:
    """The great circle between two positions in degrees."""
    lat_a, lon_a, lat_b, lon_b = map(radians, (*here, *there))
    half = sin((lat_b - lat_a) / 2) ** 2 + cos(lat_a) * cos(lat_b) * sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(half))


DEFAULT_START = datetime(2024, 1, 1, tzinfo=UTC)
HALF_HOUR_US = 30 * 60 * 1_000_000
WEEK_STEPS = 7 * 48
CALM_STEPS = 24  # no blizzard in the first twelve hours of a week, nor in the last day: weeks do not touch
STATIONS_PER_STORM = 4
MOST_MEMBERS = 3
CONDITIONS = ("clear", "rain", "snow")
SNOW = CONDITIONS.index("snow")

STREAMS = {
    "Weather": pa.schema(
        [
            ("id", pa.int64()),
            ("station", pa.string()),
            ("wind", pa.float64()),
            ("condition", pa.string()),
            ("visibility", pa.float64()),
            ("t", TIMESTAMP),
        ]
    )
}


class Blizzard:
    """Stations scattered over some mountains; everyday weather lacks wind, snow or fog, so only storms are severe."""

    main: str = "Weather"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(6, min(200, events // 3_000))
        self._start = start_us(start, DEFAULT_START)
        self._out = Numbering(STREAMS)
        setup = BlockRandom(seed, "blizzard", 0)
        self._lat = np.round(36 + 8 * setup.unit((self.keys,)), 4)
        self._lon = np.round(-124 + 12 * setup.unit((self.keys,)), 4)
        self._phase_us = (setup.unit((self.keys,)) * 1_700).astype(np.int64) * 1_000_000
        self._names = prefixed("K", np.arange(self.keys), width=3)
        self._truth = BlizzardTruth(self._lat, self._lon)

    def tables(self) -> dict[str, pa.Table]:
        return {"stations": pa.table({"station": self._names, "lat": self._lat, "lon": self._lon})}

    def truth(self) -> Truth:
        found = dict(self._truth.found)
        return Truth("blizzard", self.seed, self.keys, dict(self._out.rows), found, found)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "blizzard", WEEK_STEPS):
            yield self._block(block)
            if self._out.rows["Weather"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        shape = (block.n_steps, self.keys)
        severe = self._storms(block)
        condition = np.where(severe, SNOW, block.random.bits(shape) % len(CONDITIONS))
        wind = np.where(severe, 36 + 30 * block.random.unit(shape), 55 * block.random.unit(shape))
        fog = 0.02 + 0.2 * block.random.unit(shape)
        clear = 0.25 + 9 * block.random.unit(shape)
        foggy = severe | ((block.random.bits(shape) % 4 == 0) & ((condition != SNOW) | (wind <= 35)))
        visibility = np.where(foggy, fog, clear)

        steps = np.arange(block.first_step, block.first_step + block.n_steps)
        t = self._start + steps[:, None] * HALF_HOUR_US + self._phase_us
        order = arrival_order(np.broadcast_to((self._phase_us // 1_000_000).astype(np.uint16), shape))
        order = order[: self.events - self._out.rows["Weather"]]
        kept = np.zeros(severe.size, np.bool_)
        kept[order] = True
        self._truth.see(severe & kept.reshape(shape), t)
        columns = {
            "station": self._names.take(pa.array(order % self.keys)),
            "wind": np.round(wind, 2).ravel()[order],
            "condition": pa.array(CONDITIONS).take(pa.array(condition.ravel()[order])),
            "visibility": np.round(visibility, 3).ravel()[order],
            "t": t.ravel()[order],
        }
        return {"Weather": self._out.batch("Weather", columns)}

    def _storms(self, block: Block) -> Booleans:
        """Where the weather is severe: each storm reaches its stations one after the other, some with a lull."""
        severe = np.zeros((block.n_steps, self.keys), np.bool_)
        n_storms = max(1, self.keys // STATIONS_PER_STORM)
        draws: Floats = block.random.unit((n_storms, 3 + 3 * MOST_MEMBERS))
        for draw in draws:
            center, n_members = int(draw[0] * self.keys), 1 + int(draw[1] * MOST_MEMBERS)
            begin = CALM_STEPS + int(draw[2] * (block.n_steps - 4 * CALM_STEPS))
            for place, station in enumerate(self._nearest(center)[:n_members].tolist()):
                lag, length, lull = draw[3 + 3 * place : 6 + 3 * place]
                first = begin + 2 * place + int(lag * 4)
                last = first + 4 + int(length * 9)
                severe[first:last, station] = True
                if lull < 0.5:
                    severe[first + 2, station] = False
        return severe

    def _nearest(self, center: int) -> Integers:
        flat = np.hypot(self._lat - self._lat[center], (self._lon - self._lon[center]) * 0.77)
        nearest: Integers = np.argsort(flat, kind="stable")
        return nearest
