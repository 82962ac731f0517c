"""One day of flower delivery, from the first shift to the last; days are independent.

The city has regions, stores and drivers; every driver has an individual way of working.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ..generators.randomness import BlockRandom, Floats, Integers

RECTANGLES = (  # region, south, north, west, east
    ("harbor", 0.0, 5.0, 0.0, 5.0),
    ("old town", 3.0, 9.0, 3.0, 9.0),
    ("hills", 0.0, 10.0, 0.0, 10.0),
)
EDGE = 10.2  # a little of the city's surroundings belongs to no region
BLOCK_SIZE = 20  # deliveries between two judgments


class Manner(Enum):
    CAREFUL = "never late"
    REFORMING = "late in every other twenty deliveries, beginning with the first"
    SLOPPY = "late half of the time"
    ORDINARY = "late now and then"

    def lateness(self, n_delivered: int) -> float:
        """The probability that the next delivery is late."""
        match self:
            case Manner.CAREFUL:
                return 0.0
            case Manner.REFORMING:
                return 0.6 if n_delivered // BLOCK_SIZE % 2 == 0 else 0.0
            case Manner.SLOPPY:
                return 0.5
            case Manner.ORDINARY:
                return 0.06


@dataclass(frozen=True, slots=True)
class Store:
    name: str
    min_rank: int
    is_automatic: bool


@dataclass(frozen=True, slots=True)
class Driver:
    name: str
    rank: int
    manner: Manner
    is_part_time: bool


@dataclass(frozen=True, slots=True)
class City:
    drivers: tuple[Driver, ...]
    stores: tuple[Store, ...]

    @classmethod
    def of(cls, n_drivers: int, seed: int) -> City:
        dice = Dice(BlockRandom(seed, "flower", 0))
        manners = list(Manner)
        drivers = tuple(
            Driver(f"driver{n:03}", 4 + dice.below(5), manners[n % len(manners)], n % 5 == 4) for n in range(n_drivers)
        )
        n_stores = max(4, n_drivers // 3)
        stores = tuple(Store(f"store{n:02}", 2 + dice.below(4), n % 2 == 0) for n in range(n_stores))
        return cls(drivers, stores)

    def tables(self) -> dict[str, pa.Table]:
        names = ("region", "south", "north", "west", "east")
        rectangles = {name: [row[place] for row in RECTANGLES] for place, name in enumerate(names)}
        return {
            "stores": pa.table(
                {
                    "store": [store.name for store in self.stores],
                    "min_rank": [store.min_rank for store in self.stores],
                    "choice": ["automatic" if store.is_automatic else "manual" for store in self.stores],
                }
            ),
            "drivers": pa.table(
                {"driver": [driver.name for driver in self.drivers], "rank": [driver.rank for driver in self.drivers]}
            ),
            "rectangles": pa.table({"n": list(range(len(RECTANGLES))), **rectangles}),
        }


def region_of(lat: float, lon: float) -> str | None:
    """The first rectangle that a position lies in."""
    for region, south, north, west, east in RECTANGLES:
        if south <= lat < north and west <= lon < east:
            return region
    return None


class Dice:
    """Random numbers one by one."""

    def __init__(self, random: BlockRandom) -> None:
        self._random = random
        self._drawn: list[float] = []

    def unit(self) -> float:
        """In [0, 1)."""
        if not self._drawn:
            coarse = self._random.unit((1024, 2))
            self._drawn = (coarse[:, 0] + coarse[:, 1] / 65536.0).tolist()
        return self._drawn.pop()

    def below(self, n: int) -> int:
        return int(self.unit() * n)

    def happens(self, probability: float) -> bool:
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        return low + int(self.unit() * (high - low))


SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US

BIDDING_US = 2 * MINUTE_US
FIX_EVERY_US = 5 * MINUTE_US
FIXES_PER_HOUR = HOUR_US // FIX_EVERY_US
HOURS = 12
OPENING_US = 8 * HOUR_US
REQUESTS_PER_DRIVER = 3.5
PICK_UP_ALLOWED_US = 5 * MINUTE_US
DELIVERY_ALLOWED_US = 10 * MINUTE_US

Row: TypeAlias = tuple[int, dict[str, object]]
"""A time and the values of the other columns."""


@dataclass(frozen=True, slots=True)
class Fixes:
    """Positions of drivers, in the order of time."""

    driver: Integers
    lat: Floats
    lon: Floats
    t: Integers


@dataclass(slots=True)
class Day:
    """Rows of the streams other than `Gps`, and the positions."""

    fixes: Fixes
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def say(self, stream: str, t: int, **values: object) -> None:
        self.rows.setdefault(stream, []).append((t, values))


class DaysOfWork:
    """Simulates day after day; the number of deliveries of a driver decides how carefully he works."""

    def __init__(self, city: City) -> None:
        self._city = city
        self._n_delivered: Counter[str] = Counter()
        self._n_requests = 0

    def day(self, number: int, midnight: int, random: BlockRandom) -> Day:
        city, dice = self._city, Dice(random)
        at_work = [n for n, driver in enumerate(city.drivers) if dice.happens(0.3 if driver.is_part_time else 0.9)]
        day = Day(_fixes(at_work, midnight, random))
        if number == 0:
            for driver in city.drivers:
                day.say("Joined", midnight, driver=driver.name)
        if number % 7 == 0:
            day.say("Week", midnight)
        for n in at_work:
            name = city.drivers[n].name
            day.say("ShiftStart", midnight + OPENING_US - dice.between(1, 10 * MINUTE_US), driver=name)
            day.say("ShiftEnd", midnight + OPENING_US + HOURS * HOUR_US + dice.between(1, 10 * MINUTE_US), driver=name)
        willing = [city.drivers[n] for n in at_work if dice.happens(0.93)]
        first, last = midnight + OPENING_US + 15 * MINUTE_US, midnight + 18 * HOUR_US
        for _ in range(int(REQUESTS_PER_DRIVER * len(city.drivers))):
            self._n_requests += 1
            _Errand(day, dice, self._n_requests, dice.between(first, last)).run(city, willing, self._n_delivered)
        return day


def _fixes(at_work: list[int], midnight: int, random: BlockRandom) -> Fixes:
    """A position every five minutes; drivers change their place with the hour."""
    n = len(at_work)
    phase = (random.unit((n,)) * FIX_EVERY_US).astype(np.int64)
    place = random.unit((n, HOURS, 2)) * EDGE
    steps = np.arange(HOURS * FIXES_PER_HOUR)
    t = midnight + OPENING_US + phase[:, None] + steps * FIX_EVERY_US
    order = np.argsort(t, axis=None, kind="stable")
    spots = np.repeat(place, FIXES_PER_HOUR, axis=1).reshape(-1, 2)[order]
    drivers = np.repeat(np.array(at_work, np.int64), len(steps))
    return Fixes(drivers[order], spots[:, 0], spots[:, 1], t.ravel()[order])


@dataclass(slots=True)
class _Errand:
    """The course of one request."""

    day: Day
    dice: Dice
    request: int
    t: int

    def run(self, city: City, willing: list[Driver], n_delivered: Counter[str]) -> None:
        store = city.stores[self.dice.below(len(city.stores))]
        due = self.t + self.dice.between(40 * MINUTE_US, 80 * MINUTE_US)
        lat, lon = self._spot()
        self.day.say("Request", self.t, request=self.request, store=store.name, lat=lat, lon=lon)
        self.day.say("DeliveryDue", due + DELIVERY_ALLOWED_US, request=self.request)
        bids = self._bids(willing)
        taken = self._taken(store, [bid for bid in bids if bid[1].rank >= store.min_rank])
        if taken is None:
            return
        since, driver, promised = taken
        driver = self._handed_over(since, driver, store, willing)
        self._picked_up(driver, promised)
        self._delivered(driver, due, n_delivered)

    def _spot(self) -> tuple[float, float]:
        while True:
            lat, lon = self.dice.unit() * EDGE, self.dice.unit() * EDGE
            if region_of(lat, lon) is not None:
                return lat, lon

    def _bids(self, willing: list[Driver]) -> list[tuple[int, Driver, int]]:
        """Time, driver and promised pick-up, in the order of time."""
        if not willing or self.dice.happens(0.06):
            return []
        n_bids = 1 + self.dice.below(min(8, len(willing)))
        bids = []
        for driver in self._some(willing, n_bids):
            bids.append(
                (
                    self.t + self.dice.between(5 * SECOND_US, 110 * SECOND_US),
                    driver,
                    self.t + self.dice.between(8 * MINUTE_US, 20 * MINUTE_US),
                )
            )
        for t, driver, promised in bids:
            self.day.say("Bid", t, request=self.request, driver=driver.name)
            self.day.say("PickUpDue", promised + PICK_UP_ALLOWED_US, request=self.request, driver=driver.name)
        return sorted(bids, key=lambda bid: bid[0])

    def _some(self, drivers: list[Driver], n: int) -> list[Driver]:
        pool = list(drivers)
        return [pool.pop(self.dice.below(len(pool))) for _ in range(n)]

    def _taken(self, store: Store, bids: list[tuple[int, Driver, int]]) -> tuple[int, Driver, int] | None:
        """When and by whom the request is taken, and the promised pick-up."""
        if not bids:
            return None
        closed = self.t + BIDDING_US
        if store.is_automatic:
            return closed, bids[0][1], bids[0][2]
        best = sorted(bids, key=lambda bid: (-bid[1].rank, bid[0]))[:5]
        _, driver, promised = best[self.dice.below(len(best))]
        if self.dice.happens(0.9):
            chosen = closed + self.dice.between(5 * SECOND_US, 65 * SECOND_US)
            self.day.say("StoreChoice", chosen, request=self.request, driver=driver.name)
            return chosen, driver, promised
        if self.dice.happens(0.5):
            return None
        by_hand = closed + self.dice.between(70 * SECOND_US, 90 * SECOND_US)
        self.day.say("ByHand", by_hand, request=self.request, store=store.name, driver=driver.name)
        return by_hand, driver, promised

    def _handed_over(self, since: int, giver: Driver, store: Store, willing: list[Driver]) -> Driver:
        """The final driver; handing over to a driver of lower rank has no effect."""
        others = [driver for driver in willing if driver.name != giver.name]
        if not others or not self.dice.happens(0.1):
            return giver
        taker = others[self.dice.below(len(others))]
        t = since + self.dice.between(30 * SECOND_US, 90 * SECOND_US)
        self.day.say("Handover", t, request=self.request, giver=giver.name, taker=taker.name)
        return taker if store.is_automatic and taker.rank >= giver.rank else giver

    def _picked_up(self, driver: Driver, promised: int) -> None:
        delay = self.dice.between(6 * MINUTE_US, 12 * MINUTE_US) if self.dice.happens(0.05) else 0
        t = promised + delay + self.dice.between(-2 * MINUTE_US, 4 * MINUTE_US)
        self.day.say("PickUp", t, request=self.request, driver=driver.name)

    def _delivered(self, driver: Driver, due: int, n_delivered: Counter[str]) -> None:
        if self.dice.happens(0.02):
            self.day.say(
                "NobodyHome", due - self.dice.between(1, 5 * MINUTE_US), request=self.request, driver=driver.name
            )
            return
        is_late = self.dice.happens(driver.manner.lateness(n_delivered[driver.name]))
        if is_late and self.dice.happens(0.2):
            return
        low, high = (11, 25) if is_late else (-10, 9)
        t = due + self.dice.between(low * MINUTE_US, high * MINUTE_US)
        self.day.say("Delivery", t, request=self.request, driver=driver.name)
        n_delivered[driver.name] += 1
        if is_late and self.dice.happens(0.1):
            self.day.say("Complaint", t + self.dice.between(1, 5 * MINUTE_US), request=self.request, driver=driver.name)
