"""Places that are observed every half hour: many kinds of weather, fires, and fire brigades.

`alarm_chain` defines what happens at a place: calm weather, gusts, fires with and without wind, and brigades that
arrive or not.
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
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us

PARENTS = {
    "diablo": "foehn",
    "sundowner": "foehn",
    "foehn": "wind",
    "gale": "wind",
    "drizzle": "rain",
    "wind": "weather",
    "rain": "weather",
    "fog": "weather",
}
"""Kind of weather to the kind above it."""

KINDS = tuple(kind for kind in PARENTS if kind not in ("wind", "rain"))


@dataclass(frozen=True, slots=True)
class Weather:
    """One observation of a place, and the events there at the same moment."""

    kind: str = "fog"
    speed: tuple[float, float] = (10.0, 10.9)  # lowest and highest; never a tenth apart
    fire: bool = False
    arrival: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


def _fire(kind: str, **ends: int) -> Weather:
    """A fire counts as unattended until a brigade arrives in time."""
    return Weather(kind, fire=True, ends={"unattended": 1, **ends})


def _help(kind: str, **ends: int) -> Weather:
    return Weather(kind, arrival=True, ends={"attended": 1, **ends})


def _wind(kind: str, **ends: int) -> Weather:
    return Weather(kind, ends=ends)


FOG, DRIZZLE = Weather(), Weather("drizzle")
# Each is faster than both observations of the hour before; only the second can rise from one after the fire.
_GUSTS = (Weather(speed=(20.0, 20.5), ends={"rising_wind": 2}), Weather(speed=(40.0, 41.0), ends={"rising_wind": 2}))
_GUSTS_ON_FIRE = (_GUSTS[0], replace(_GUSTS[1], ends={"rising_wind": 2, "fire_alarm": 1}))

_FANNED = (
    _fire("drizzle"),
    _wind("sundowner", fanned_fire=1, out_of_hand=1),
    _help("diablo", fanned_fire=1, unattended=-1, out_of_hand=-1),
    _wind("gale", fanned_fire=1),
)
# The wind comes three hours before the fire, and help two hours after it: that counts, and that is late.
_NEGLECTED = (_wind("diablo"), *(FOG,) * 5, _fire("fog", fanned_fire=1, out_of_hand=1), *(FOG,) * 3, _help("fog"))
_TOO_EARLY = (_wind("gale"), *(DRIZZLE,) * 6, _fire("fog"), _help("fog", unattended=-1))
_AT_ONCE = (_fire("gale", fanned_fire=1, out_of_hand=1), _help("fog", unattended=-1, out_of_hand=-1))
_BLAZE = (_fire("drizzle"), *_GUSTS_ON_FIRE, *(FOG,) * 3)

# Calm weather lasts seven hours or more, so that no episode reaches into another.
SCRIPTS = (
    Script(
        "calm",
        (FOG, DRIZZLE) * 7,
        {
            "calm": 0.2,
            "windy": 0.1,
            "gusts": 0.15,
            "fanned": 0.15,
            "neglected": 0.1,
            "too_early": 0.1,
            "at_once": 0.1,
            "blaze": 0.1,
        },
        linger=0.7,
    ),
    Script("windy", (_wind("gale"), _wind("diablo"), _wind("sundowner")), {"calm": 1.0}),
    Script("gusts", _GUSTS, {"calm": 1.0}),
    Script("fanned", _FANNED, {"calm": 1.0}),
    Script("neglected", _NEGLECTED, {"calm": 1.0}),
    Script("too_early", _TOO_EARLY, {"calm": 1.0}),
    Script("at_once", _AT_ONCE, {"calm": 1.0}),
    Script("blaze", _BLAZE, {"calm": 1.0}),
)

EPISODES = {
    "fanned_fire": "fanned",
    "rising_wind": "gusts",
    "fire_alarm": "blaze",
    "unattended": "neglected",
    "attended": "at_once",
}
"""The script that causes each event of the example program."""


def alarm_chain() -> SymbolChain[Weather]:
    return SymbolChain(SCRIPTS, start={"calm": 1.0})


BRIGADES = 7

STREAMS = {
    "Observation": pa.schema(
        [("id", pa.int64()), ("place", pa.string()), ("t", TIMESTAMP), ("kind", pa.string()), ("speed", pa.float64())]
    ),
    "Fire": pa.schema([("id", pa.string()), ("place", pa.string()), ("t", TIMESTAMP)]),
    "Arrival": pa.schema([("id", pa.string()), ("place", pa.string()), ("t", TIMESTAMP), ("brigade", pa.string())]),
}


class Alarms:
    """Places with a weather station each, which follow `alarm_chain`."""

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
                    "Arrival", {"place": place.take(pa.array(arrivals)), "t": played.t[arrivals], "brigade": brigade}
                ),
            }
