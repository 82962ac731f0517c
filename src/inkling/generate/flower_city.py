"""The city of the flower shops: its regions, stores and drivers, and how each driver works."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pyarrow as pa

from inkling.generate.randomness import BlockRandom

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
        """How probably the next delivery is late."""
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
                {
                    "driver": [driver.name for driver in self.drivers],
                    "rank": [driver.rank for driver in self.drivers],
                }
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
