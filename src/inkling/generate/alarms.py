"""Places that are observed every half hour: weather of many kinds, fires, and brigades that come or do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.generate.alarm_scripts import EPISODES, KINDS, PARENTS, alarm_chain
from inkling.generate.numbering import Numbering, prefixed
from inkling.generate.players import Players
from inkling.generate.readings import MINUTE_US, TIMESTAMP, start_us
from inkling.generate.scenario import Streams, Truth

BRIGADES = 7

STREAMS = {
    "Observation": pa.schema(
        [
            ("id", pa.int64()),
            ("place", pa.string()),
            ("t", TIMESTAMP),
            ("kind", pa.string()),
            ("speed", pa.float64()),
        ]
    ),
    "Fire": pa.schema([("id", pa.string()), ("place", pa.string()), ("t", TIMESTAMP)]),
    "Arrival": pa.schema([("id", pa.string()), ("place", pa.string()), ("t", TIMESTAMP), ("brigade", pa.string())]),
}


class Alarms:
    """Places with a weather station each; `alarm_scripts` says what happens there."""

    main: str = "Observation"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.seed = seed
        self.keys = keys or max(4, min(500, events // 500))
        self._chain = alarm_chain()
        self._players = Players(
            "alarms",
            self._chain,
            events=events,
            keys=self.keys,
            seed=seed,
            start=start_us(start, datetime(2024, 8, 5)),
            period=30 * MINUTE_US,
        )
        self._out = Numbering(STREAMS)
        self._names = prefixed("place", np.arange(self.keys), width=3)

    def tables(self) -> dict[str, pa.Table]:
        return {"kinds": pa.table({"kind": list(PARENTS), "parent": list(PARENTS.values())})}

    def truth(self) -> Truth:
        episodes = self._players.completed(EPISODES)
        return Truth("alarms", self.seed, self.keys, dict(self._out.rows), episodes, self._players.ended())

    def blocks(self) -> Iterator[Streams]:
        speed = self._chain.column(lambda step: step.speed, np.float64)
        kind = self._chain.column(lambda step: KINDS.index(step.kind), np.int64)
        burns = self._chain.column(lambda step: step.fire, np.bool_)
        comes = self._chain.column(lambda step: step.arrival, np.bool_)
        for played in self._players.play():
            low, high = speed[played.state].T
            place = self._names.take(pa.array(played.key))
            observed = {
                "place": place,
                "t": played.t,
                "kind": pa.array(KINDS).take(pa.array(kind[played.state])),
                "speed": low + (high - low) * played.unit(self.keys),
            }
            fires = np.flatnonzero(burns[played.state])
            arrivals = np.flatnonzero(comes[played.state])
            brigade = prefixed("brigade", (played.unit(self.keys)[arrivals] * BRIGADES).astype(np.int64))
            yield {
                "Observation": self._out.batch("Observation", observed),
                "Fire": self._out.batch("Fire", {"place": place.take(pa.array(fires)), "t": played.t[fires]}),
                "Arrival": self._out.batch(
                    "Arrival",
                    {"place": place.take(pa.array(arrivals)), "t": played.t[arrivals], "brigade": brigade},
                ),
            }
