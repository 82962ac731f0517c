"""Fast flower delivery: stores, drivers who bid for requests, and the course of requests.

The expected results are counted day by day from the rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Column, Numbering
from ..generators.randomness import BlockRandom
from ..generators.readings import TIMESTAMP, start_us
from .day import BIDDING_US, BLOCK_SIZE, DAY_US, MINUTE_US, City, Day, DaysOfWork, Fixes, Row, region_of

CHOOSING_US = MINUTE_US
BEST_BIDS = 5
TOO_MANY_FAULTS = 5
FULL_SHIFT = 5


@dataclass(slots=True)
class _Book:
    """The state of one driver."""

    rank: int
    n: int = 0
    faults: int = 0
    last: int = 0
    shift_before: int | None = None
    worked_this_week: bool = False
    did_full_shift: bool = False
    was_idle: bool = False
    fell_off: bool = False


class FlowerTruth:
    """Receives whole days; the last one may be incomplete."""

    def __init__(self, city: City) -> None:
        self._city = city
        self._rank = {driver.name: driver.rank for driver in city.drivers}
        self._stores = {store.name: store for store in city.stores}
        self._books = {driver.name: _Book(driver.rank) for driver in city.drivers}
        self._n_weeks = 0
        self.found: Counter[str] = Counter()

    def see(self, day: Day) -> None:
        if "Week" in day.rows:
            self._week_over()
        self.found["record"] += len(day.rows.get("Joined", ()))
        steps = [(t, str(row["driver"]), 1, 0) for t, row in day.rows.get("Delivery", ())]
        steps += [(t, str(row["driver"]), 0, 1) for t, row in day.rows.get("Complaint", ())]
        steps += [(t, driver, 0, 1) for t, driver in self._errands(day)]
        for _, driver, delivered, faulty in sorted(steps):
            self._step(self._books[driver], delivered, faulty)
        self._shifts(day)

    def _errands(self, day: Day) -> list[tuple[int, str]]:
        """The delivery alerts, with the driver in charge."""
        located = _Located(day)
        self.found["located"] += located.n_fixes
        about: dict[str, dict[object, list[Row]]] = defaultdict(lambda: defaultdict(list))
        for stream, rows in day.rows.items():
            for t, row in sorted(rows, key=lambda row: row[0]):
                about[stream][row.get("request")].append((t, row))
        alerts = []
        for t, row in day.rows.get("Request", ()):
            alerts += self._errand(t, row, {stream: about[stream][row["request"]] for stream in about}, located)
        return alerts

    def _errand(
        self, t: int, row: dict[str, object], about: dict[str, list[Row]], located: _Located
    ) -> list[tuple[int, str]]:
        store = self._stores[str(row["store"])]
        self.found["enriched"] += 1
        self.found["bids_closed"] += 1
        self.found["multiplied"] += len(self._city.drivers)
        near = located.near(t, region_of(float(str(row["lat"])), float(str(row["lon"]))))
        self.found["bid_request"] += sum(
            n for number, n in near.items() if self._city.drivers[number].rank >= store.min_rank
        )
        bids = about.get("Bid", [])
        self.found["ranked_bid"] += len(bids)
        self.found["no_bid_alert"] += not bids
        good = [(at, str(bid["driver"])) for at, bid in bids if self._rank[str(bid["driver"])] >= store.min_rank]
        charges: list[tuple[int, str]] = []
        if store.is_automatic:
            charges += [(t + BIDDING_US, driver) for _, driver in good[:1]]
            self.found["automatic"] += len(charges)
        elif good:
            best = {driver for _, driver in sorted(good, key=lambda bid: (-self._rank[bid[1]], bid[0]))[:BEST_BIDS]}
            self.found["offer"] += len(best)
            self.found["offered"] += 1
            closed = t + BIDDING_US
            choices = about.get("StoreChoice", [])
            self.found["no_choice_alert"] += not any(closed < at < closed + CHOOSING_US for at, _ in choices)
            charges += [(at, str(choice["driver"])) for at, choice in choices if choice["driver"] in best]
        charges += [(at, str(hand["driver"])) for at, hand in about.get("ByHand", [])]
        self.found["assigned"] += len(charges)
        alerts = []
        for since, driver in charges:
            alerts += self._in_charge(since, driver, driver, store.is_automatic, about)
        return alerts

    def _in_charge(
        self, since: int, driver: str, bidder: str, is_automatic: bool, about: dict[str, list[Row]]
    ) -> list[tuple[int, str]]:
        self.found["in_charge"] += 1
        given = [
            (at, str(row["taker"])) for at, row in about.get("Handover", []) if at > since and row["giver"] == driver
        ]
        picked_up = [at for at, row in about.get("PickUp", []) if row["driver"] == driver]
        delivered = [at for at, row in about.get("Delivery", []) if row["driver"] == driver]
        nobody = [at for at, _ in about.get("NobodyHome", [])]
        for due, row in about.get("PickUpDue", []):
            if row["driver"] == bidder and not _any_between(since, due, picked_up, [at for at, _ in given]):
                self.found["pick_up_alert"] += 1
        alerts = []
        for due, _ in about.get("DeliveryDue", []):
            if not _any_between(since, due, delivered, nobody, [at for at, _ in given]):
                self.found["delivery_alert"] += 1
                alerts.append((due, driver))
        for at, taker in given:
            if is_automatic and self._rank[driver] <= self._rank[taker]:
                alerts += self._in_charge(at, taker, bidder, is_automatic, about)
        return alerts

    def _step(self, book: _Book, delivered: int, faulty: int) -> None:
        self.found["step"] += 1
        self.found["record"] += 1
        if book.n == BLOCK_SIZE:
            book.last = 1 if book.faults == 0 else -1 if book.faults >= TOO_MANY_FAULTS else 0
            book.rank += book.last
            book.n = book.faults = 0
        book.n += delivered
        book.faults += faulty
        if book.n == BLOCK_SIZE:
            self.found["ranking_increase"] += book.faults == 0
            self.found["improvement_note"] += book.faults == 0 and book.last == -1
            self.found["ranking_decrease"] += book.faults >= TOO_MANY_FAULTS

    def _shifts(self, day: Day) -> None:
        delivered = Counter(str(row["driver"]) for _, row in day.rows.get("Delivery", ()))
        for _, row in day.rows.get("ShiftEnd", ()):
            driver = str(row["driver"])
            book, n = self._books[driver], delivered[driver]
            self.found["shift"] += 1
            book.did_full_shift |= n >= FULL_SHIFT
            book.was_idle |= n == 0
            if book.shift_before is not None and n < book.shift_before:
                self.found["falling_off"] += 1
                book.fell_off |= book.worked_this_week
            book.shift_before = n
            book.worked_this_week = True

    def _week_over(self) -> None:
        self._n_weeks += 1
        for book in self._books.values():
            self.found["weekly"] += 1
            if self._n_weeks > 1:
                self.found["week"] += 1
                self.found["weak_driver"] += not book.did_full_shift
                self.found["idle_driver"] += book.was_idle
                self.found["improving_driver"] += not book.fell_off
            book.did_full_shift = book.was_idle = book.fell_off = book.worked_this_week = False


class _Located:
    """Positions inside a region, to be looked up by time."""

    def __init__(self, day: Day) -> None:
        fixes = zip(day.fixes.driver.tolist(), day.fixes.lat.tolist(), day.fixes.lon.tolist(), strict=True)
        self._driver_and_region = [(driver, region_of(lat, lon)) for driver, lat, lon in fixes]
        self._times: list[int] = day.fixes.t.tolist()
        self.n_fixes = sum(region is not None for _, region in self._driver_and_region)

    def near(self, t: int, region: str | None) -> Counter[int]:
        """How often each driver was in a region within two minutes of a time."""
        low, high = bisect_left(self._times, t - BIDDING_US), bisect_right(self._times, t + BIDDING_US)
        return Counter(driver for driver, where in self._driver_and_region[low:high] if where == region)


def _any_between(since: int, until: int, *times: list[int]) -> bool:
    return any(since < at < until for some in times for at in some)


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
    """A city and its days, which `flower_day` generates."""

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
    """The day up to the last position that fits."""
    if len(day.fixes.t) < n_fixes:
        return day
    end = int(day.fixes.t[n_fixes - 1])
    fixes = day.fixes
    kept = Fixes(fixes.driver[:n_fixes], fixes.lat[:n_fixes], fixes.lon[:n_fixes], fixes.t[:n_fixes])
    rows = {stream: [row for row in rows if row[0] <= end] for stream, rows in day.rows.items()}
    return Day(kept, rows)
