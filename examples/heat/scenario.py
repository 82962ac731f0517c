"""Weather stations that report the heat index every hour; some also measure temperature and humidity.

Stations have mild hours, hot afternoons, heat waves, and values on the borders of notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import Numbering, prefixed
from ..generators.players import Players
from ..generators.randomness import Booleans
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us

NOTES = {
    "Caution": (80.0, 90.0),
    "ExtremeCaution": (90.0, 105.0),
    "Danger": (105.0, 130.0),
    "ExtremeDanger": (130.0, 1000.0),
}
"""The range of each note: its lowest index, and the lowest index above it."""


@dataclass(frozen=True, slots=True)
class Hour:
    """The index of one hour, and perhaps the readings of a second sensor."""

    felt: tuple[float, float] = (60.0, 79.9)  # lowest and highest
    air: tuple[float, float] | None = None  # temperature and humidity
    note: str = ""
    ends: Mapping[str, int] = field(default_factory=dict)


def _noted(low: float, high: float | None = None, **ends: int) -> Hour:
    """An hour whose whole range is of one note."""
    (note,) = (note for note, (least, most) in NOTES.items() if least <= low < most)
    assert high is None or NOTES[note][0] <= high < NOTES[note][1]
    return Hour((low, low if high is None else high), note=note, ends={"effect": 1, **ends})


MILD = Hour()
HUMID = Hour(air=(96.0, 65.0), ends={"heat_index": 1, "effect": 1})
"""Mild by one sensor; the readings of the other give an index of 121, which is Danger."""

DRY = Hour(air=(82.0, 5.0), ends={"heat_index": 1})
"""The readings of the other sensor give an index of 79.6, which has no note."""

_WARMING = (
    _noted(82.0, 88.0),
    _noted(92.0, 100.0, worsening=1),
    _noted(107.0, 120.0, worsening=2),
    _noted(131.0, 135.0, worsening=3),
    *(MILD,) * 2,
)
# One after the other: each is worse than those of lesser notes in the three hours before it.
_BORDERS = (
    Hour((79.9, 79.9)),
    _noted(80.0),
    _noted(89.9),
    _noted(90.0, worsening=2),
    _noted(105.0, worsening=3),
    _noted(129.0, worsening=2),
    _noted(130.0, worsening=3),
)
_HOT = _noted(106.0, 108.0)
_WAVE = (*(_HOT,) * 5, *(_noted(106.0, 108.0, heat_wave=1),) * 2)

# Mild hours before and after: more than three, and six of them end every average.
SCRIPTS = (
    Script(
        "mild",
        (MILD,) * 6,
        {"mild": 0.3, "warming": 0.2, "borders": 0.1, "wave": 0.1, "humid": 0.2, "dry": 0.1},
        linger=0.8,
    ),
    Script("warming", _WARMING, {"mild": 1.0}),
    Script("borders", _BORDERS, {"mild": 1.0}),
    Script("wave", _WAVE, {"mild": 1.0}),
    Script("humid", (HUMID,), {"mild": 1.0}),
    Script("dry", (DRY,), {"mild": 1.0}),
)

EPISODES = {"worsening": "warming", "heat_wave": "wave"}
"""The script that causes each event of the example program."""


def heat_chain() -> SymbolChain[Hour]:
    return SymbolChain(SCRIPTS, start={"mild": 1.0})


AREAS = {"north": (4042.0, 4049.0, 7358.0, 7370.0), "south": (4042.0, 4049.0, 7340.0, 7358.0)}
"""West, east, south and north borders; none of them belongs to the area."""

PLACES = ((4045.0, 7360.0), (4048.5, 7341.0), (4043.0, 7365.5), (4045.0, 7358.0), (4042.5, 7357.5))
"""Where stations stand, in turn; the fourth place is on the line between the areas."""

ON_THE_LINE = 3

STREAMS = {
    "Felt": pa.schema([("id", pa.int64()), ("station", pa.string()), ("t", TIMESTAMP), ("fahrenheit", pa.float64())]),
    "Temperature": pa.schema(
        [("id", pa.string()), ("station", pa.string()), ("t", TIMESTAMP), ("fahrenheit", pa.float64())]
    ),
    "Humidity": pa.schema([("id", pa.string()), ("station", pa.string()), ("t", TIMESTAMP), ("percent", pa.float64())]),
}


class Heat:
    """Stations in two areas, which follow `heat_chain`."""

    main: str = "Felt"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.seed = seed
        self.keys = keys or max(5, min(500, events // 500))
        self._chain = heat_chain()
        self._players = Players(
            "heat",
            self._chain,
            events=events,
            keys=self.keys,
            seed=seed,
            start=start_us(start, datetime(2024, 7, 1)),
            period=60 * MINUTE_US,
        )
        self._out = Numbering(STREAMS)
        self._names = prefixed("station", np.arange(self.keys), width=3)

    def tables(self) -> dict[str, pa.Table]:
        x, y = np.array(PLACES)[np.arange(self.keys) % len(PLACES)].T
        west, east, south, north = zip(*AREAS.values(), strict=True)
        low, high = zip(*NOTES.values(), strict=True)
        return {
            "stations": pa.table({"station": self._names, "x": x, "y": y}),
            "areas": pa.table({"area": list(AREAS), "west": west, "east": east, "south": south, "north": north}),
            "notes": pa.table({"note": list(NOTES), "low": low, "high": high}),
        }

    def truth(self) -> Truth:
        """Indexes are counted for all stations, other results only for stations in an area."""
        visits = self._players.visits
        in_area: Booleans = np.arange(self.keys) % len(PLACES) != ON_THE_LINE
        matches = dict.fromkeys(("effect", "worsening", "heat_wave"), 0)
        for step, by_key in zip(self._chain.steps, visits, strict=True):
            for event in matches:
                matches[event] += step.ends.get(event, 0) * int(by_key[in_area].sum())
        n_felt = int(visits.sum())
        matches |= {"heat_index": n_felt + self._players.ended().get("heat_index", 0), "mean_index": n_felt}
        episodes = self._players.completed(EPISODES)
        return Truth("heat", self.seed, self.keys, dict(self._out.rows), episodes, matches)

    def blocks(self) -> Iterator[Streams]:
        felt = self._chain.column(lambda step: step.felt, np.float64)
        air = self._chain.column(lambda step: step.air or (0.0, 0.0), np.float64)
        is_measured = self._chain.column(lambda step: step.air is not None, np.bool_)
        for played in self._players.play():
            low, high = felt[played.state].T
            station = self._names.take(pa.array(played.key))
            index = {"station": station, "t": played.t, "fahrenheit": low + (high - low) * played.unit(self.keys)}
            measured = np.flatnonzero(is_measured[played.state])
            temperature, humidity = air[played.state[measured]].T
            where = {"station": station.take(pa.array(measured)), "t": played.t[measured]}
            yield {
                "Felt": self._out.batch("Felt", index),
                "Temperature": self._out.batch("Temperature", {**where, "fahrenheit": temperature}),
                "Humidity": self._out.batch("Humidity", {**where, "percent": humidity}),
            }
