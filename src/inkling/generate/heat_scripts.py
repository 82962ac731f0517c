"""What a weather station feels: mild hours, hot afternoons, heat waves, and values on the borders of notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.generate.chain import Chain, Script

NOTES = {
    "Caution": (80.0, 90.0),
    "ExtremeCaution": (90.0, 105.0),
    "Danger": (105.0, 130.0),
    "ExtremeDanger": (130.0, 1000.0),
}
"""Note to the lowest index it is for, and the lowest above it."""


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
"""The readings of the other sensor give an index of 79.6: nothing to say."""

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
"""Event of the example program to a script that is played to cause it."""


def heat_chain() -> Chain[Hour]:
    return Chain(SCRIPTS, start={"mild": 1.0})
