"""Roads through a town with a speed reading every five minutes, free or jammed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.generate.numbering import Numbering, prefixed
from inkling.generate.players import Players
from inkling.generate.readings import MINUTE_US, TIMESTAMP, start_us
from inkling.generate.scenario import Streams, Truth
from inkling.generate.traffic_scripts import AREAS, EPISODES, FLOWS, SPOTS, traffic_chain

SLOW_KMH = (60.0, 48.0, 80.0)
"""Below this a road is slow; roads take them in turn."""

MPH_PER_KMH = 1.0 / 1.609344
BROKEN_MPH = -1.0
LANES = 3
SUBSCRIBERS = {"police": 1, "buses": 2, "radio": 5}
"""Who wants to hear of every road, of every second, of every fifth one."""

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
    """Roads that pass through areas of a town; `traffic_scripts` says when they jam."""

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
