"""Fast flower delivery: stores, drivers who bid for errands, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from inkling.generate.flower_city import City
from inkling.generate.flower_day import DAY_US, Day, DaysOfWork, Fixes
from inkling.generate.flower_truth import FlowerTruth
from inkling.generate.numbering import Column, Numbering
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import TIMESTAMP, start_us
from inkling.generate.scenario import Streams, Truth

DEFAULT_START = datetime(2024, 4, 1, tzinfo=UTC)  # a Monday

_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()
_ERRAND = {
    "Request": [("store", _TEXT), ("lat", _REAL), ("lon", _REAL)],
    "Bid": [("driver", _TEXT)],
    "StoreChoice": [("driver", _TEXT)],
    "ByHand": [("store", _TEXT), ("driver", _TEXT)],
    "Handover": [("giver", _TEXT), ("taker", _TEXT)],
    "PickUp": [("driver", _TEXT)],
    "Delivery": [("driver", _TEXT)],
    "NobodyHome": [("driver", _TEXT)],
    "Complaint": [("driver", _TEXT)],
    "PickUpDue": [("driver", _TEXT)],
    "DeliveryDue": [],
}
STREAMS: dict[str, pa.Schema] = {
    "Gps": pa.schema([("id", _WHOLE), ("driver", _TEXT), ("lat", _REAL), ("lon", _REAL), ("t", TIMESTAMP)]),
    **{
        stream: pa.schema([("id", _TEXT), ("request", _WHOLE), *columns, ("t", TIMESTAMP)])
        for stream, columns in _ERRAND.items()
    },
    **{
        stream: pa.schema([("id", _TEXT), ("driver", _TEXT), ("t", TIMESTAMP)])
        for stream in ("Joined", "ShiftStart", "ShiftEnd")
    },
    "Week": pa.schema([("id", _TEXT), ("t", TIMESTAMP)]),
}


class Flower:
    """A city and its days; `flower_day` says what happens on one."""

    main: str = "Gps"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(4, min(60, events // 2_000))
        self._start = start_us(start, DEFAULT_START)
        self._city = City.of(self.keys, seed)
        self._truth = FlowerTruth(self._city)
        self._out = Numbering(STREAMS)
        self._names = pa.array([driver.name for driver in self._city.drivers])

    def tables(self) -> dict[str, pa.Table]:
        return self._city.tables()

    def truth(self) -> Truth:
        found = dict(sorted(self._truth.found.items()))
        return Truth("flower", self.seed, self.keys, dict(self._out.rows), found, found)

    def blocks(self) -> Iterator[Streams]:
        work, number = DaysOfWork(self._city), 0
        while self._out.rows["Gps"] < self.events:
            random = BlockRandom(self.seed, "flower", number + 1)
            day = _cut(work.day(number, self._start + number * DAY_US, random), self.events - self._out.rows["Gps"])
            self._truth.see(day)
            yield self._block(day)
            number += 1

    def _block(self, day: Day) -> Streams:
        fixes = {
            "driver": self._names.take(pa.array(day.fixes.driver)),
            "lat": day.fixes.lat,
            "lon": day.fixes.lon,
            "t": day.fixes.t,
        }
        blocks = {"Gps": self._out.batch("Gps", fixes)}
        for stream, schema in STREAMS.items():
            if stream != "Gps":
                rows = sorted(day.rows.get(stream, ()), key=lambda row: row[0])
                columns: dict[str, Column] = {
                    name: [row[name] for _, row in rows] for name in schema.names if name not in ("id", "t")
                }
                columns["t"] = np.array([t for t, _ in rows], np.int64)
                blocks[stream] = self._out.batch(stream, columns)
        return blocks


def _cut(day: Day, n_fixes: int) -> Day:
    """The day until the last position there is room for."""
    if len(day.fixes.t) < n_fixes:
        return day
    end = int(day.fixes.t[n_fixes - 1])
    fixes = day.fixes
    kept = Fixes(fixes.driver[:n_fixes], fixes.lat[:n_fixes], fixes.lon[:n_fixes], fixes.t[:n_fixes])
    rows = {stream: [row for row in rows if row[0] <= end] for stream, rows in day.rows.items()}
    return Day(kept, rows)
