"""Roads through a town with a speed reading every five minutes, free or jammed.

Roads have free traffic, jams, and episodes that only look like jams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import Numbering, prefixed
from ..generators.players import Players
from ..generators.randomness import Floats
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us

RECTANGLES = {"harbor": (4042, 4045, 7358, 7361), "market": (4045, 4048, 7361, 7363)}
TRIANGLE = "hill"
AREAS = {
    name: f"POLYGON(({left} {low}, {right} {low}, {right} {high}, {left} {high}, {left} {low}))"
    for name, (left, right, low, high) in RECTANGLES.items()
} | {TRIANGLE: "POLYGON((4048 7363, 4051 7363, 4051 7365, 4048 7363))"}
FLOWS = (("harbor", "market"), ("market", "hill"))

HARBOR, MARKET, HILL, BORDER, OUTSIDE = range(5)
_INNER = np.array([(0.1, 0.05), (0.5, 0.2), (0.9, 0.8), (0.7, 0.6)])  # below the diagonal, as the triangle is
SPOTS: Floats = np.array(
    [
        *(
            [(left + a * (right - left), low + b * (high - low)) for a, b in _INNER]
            for left, right, low, high in (*RECTANGLES.values(), (4048, 4051, 7363, 7365))
        ),
        [(4042, 7360), (4045, 7361), (4046, 7363), (4051, 7364)],
        [(4040, 7360), (4043, 7363), (4049, 7364.5), (4052, 7364)],
    ],
    np.float64,
)
"""Places of sensors: by area, then by position; those on borders belong to no area."""


@dataclass(frozen=True, slots=True)
class Passing:
    """One reading of a road."""

    pace: tuple[float, float] = (1.2, 2.0)  # lowest and highest, as a share of what counts as slow
    place: int = OUTSIDE
    broken: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


def _slow(place: int, **ends: int) -> Passing:
    return Passing((0.2, 0.9), place, ends={"located": 1, "slow": 1, **ends})


def _free(place: int) -> Passing:
    return Passing(place=place, ends={"located": 1})


def _jam(place: int) -> tuple[Passing, ...]:
    """Every slow reading makes a bottleneck with each one before it; the last of them dissolves."""
    return (
        _slow(place),
        _slow(place, bottleneck=1, dissolved=1),
        _slow(place, bottleneck=2),
        _slow(place, bottleneck=3),
    )


OPEN_ROAD = Passing()
OUT_OF_ORDER = Passing(place=HARBOR, broken=True)
HALF_AN_HOUR = 6  # readings

_SEEMS_SLOW = replace(_slow(BORDER), ends={})
_AGAIN = _slow(HILL, bottleneck=1, dissolved=1)

# Free readings around an episode keep its slow ones more than half an hour from those of the next.
SCRIPTS = (
    Script(
        "free",
        (*(_free(HARBOR), _free(MARKET), _free(HILL), OPEN_ROAD) * 2,),
        {
            "free": 0.3,
            "jam_harbor": 0.1,
            "jam_market": 0.1,
            "jam_hill": 0.1,
            "on_border": 0.1,
            "once": 0.1,
            "half_an_hour": 0.1,
            "too_late": 0.1,
            "growing": 0.1,
            "broken": 0.1,
        },
        linger=0.5,
    ),
    Script("jam_harbor", _jam(HARBOR), {"free": 1.0}),
    Script("jam_market", _jam(MARKET), {"free": 1.0}),
    Script("jam_hill", _jam(HILL), {"free": 1.0}),
    Script("on_border", (_SEEMS_SLOW,) * 3, {"free": 1.0}),
    Script("once", (_slow(MARKET),), {"free": 1.0}),
    Script("half_an_hour", (_slow(HILL), *(OPEN_ROAD,) * (HALF_AN_HOUR - 1), _AGAIN), {"free": 1.0}),
    Script("too_late", (_slow(HILL), *(OPEN_ROAD,) * HALF_AN_HOUR, _slow(HILL)), {"free": 1.0}),
    Script("growing", (_slow(HILL), _slow(MARKET, growing=1), _slow(HARBOR, growing=2)), {"free": 1.0}),
    Script("broken", (OUT_OF_ORDER,) * 2, {"free": 1.0}),
)

EPISODES = {"bottleneck": "jam_harbor", "growing": "growing"}
"""The script that causes each event of the example program."""


def traffic_chain() -> SymbolChain[Passing]:
    return SymbolChain(SCRIPTS, start={"free": 1.0})


SLOW_KMH = (60.0, 48.0, 80.0)
"""Below this a road is slow; roads take them in turn."""

MPH_PER_KMH = 1.0 / 1.609344
BROKEN_MPH = -1.0
LANES = 3
SUBSCRIBERS = {"police": 1, "buses": 2, "radio": 5}
"""Subscribers of every road, of every second road, of every fifth road."""

STREAMS = {
    "Reading": pa.schema(
        [
            ("id", pa.int64()),
            ("road", pa.string()),
            ("t", TIMESTAMP),
            ("lane", pa.int32()),
            ("mph", pa.float64()),
            ("x", pa.float64()),
            ("y", pa.float64()),
        ]
    )
}


class Traffic:
    """Roads that pass through areas of a town; `traffic_chain` defines their jams."""

    main: str = "Reading"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.seed = seed
        self.keys = keys or max(4, min(500, events // 500))
        self._chain = traffic_chain()
        self._players = Players(
            "traffic",
            self._chain,
            events=events,
            keys=self.keys,
            seed=seed,
            start=start_us(start, datetime(2024, 3, 4)),
            period=5 * MINUTE_US,
        )
        self._out = Numbering(STREAMS)
        roads = np.arange(self.keys)
        self._names = prefixed("rd", roads + 1)
        self._slow_kmh = np.array(SLOW_KMH)[roads % len(SLOW_KMH)]

    def tables(self) -> dict[str, pa.Table]:
        heard = [(name, road) for name, step in SUBSCRIBERS.items() for road in range(0, self.keys, step)]
        roads = self._names.to_pylist()
        return {
            "limits": pa.table({"road": self._names, "slow": self._slow_kmh}),
            "areas": pa.table({"area": list(AREAS), "shape": list(AREAS.values())}),
            "flows": pa.table({"area": [area for area, _ in FLOWS], "next": [later for _, later in FLOWS]}),
            "subscribers": pa.table({"name": [name for name, _ in heard], "road": [roads[road] for _, road in heard]}),
        }

    def truth(self) -> Truth:
        visits = self._players.visits
        is_broken = self._chain.column(lambda step: step.broken, np.bool_)
        is_slow = self._chain.column(lambda step: "slow" in step.ends, np.bool_)
        n_heard = sum((np.arange(self.keys) % step == 0).astype(np.int64) for step in SUBSCRIBERS.values())
        n_working = int(visits[~is_broken].sum())
        matches = self._players.ended() | {
            "speed": n_working,
            "hourly": n_working,
            "notice": int((visits[is_slow] * n_heard).sum()),
        }
        episodes = self._players.completed(EPISODES)
        return Truth("traffic", self.seed, self.keys, dict(self._out.rows), episodes, matches)

    def blocks(self) -> Iterator[Streams]:
        pace = self._chain.column(lambda step: step.pace, np.float64)
        is_broken = self._chain.column(lambda step: step.broken, np.bool_)
        place = self._chain.column(lambda step: step.place, np.int64)
        for played in self._players.play():
            low, high = pace[played.state].T
            kmh = self._slow_kmh[played.key] * (low + (high - low) * played.unit(self.keys))
            spot = (played.unit(self.keys) * SPOTS.shape[1]).astype(np.int64)
            x, y = SPOTS[place[played.state], spot].T
            columns = {
                "road": self._names.take(pa.array(played.key)),
                "t": played.t,
                "lane": 1 + (played.unit(self.keys) * LANES).astype(np.int64),
                "mph": np.where(is_broken[played.state], BROKEN_MPH, kmh * MPH_PER_KMH),
                "x": x,
                "y": y,
            }
            yield {"Reading": self._out.batch("Reading", columns)}
