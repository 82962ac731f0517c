"""Patterns of road vehicles and vessels on small tables whose detections are known."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from inkling.automata.guards import Guard
from inkling.automata.policies import Component, strict
from inkling.automata.regex import Counting, Regex, RegexPattern, RegexRepeat, Symbol
from inkling.automata.run.engine import PatternSet


class Vehicle(NamedTuple):
    engine: str
    speed: float
    distance: float
    accelerating: bool
    satellites: int
    duration: float
    ice: bool
    gas: bool
    fuel: float


T, F = True, False
VEHICLE = [
    Vehicle("off", 0, 0, F, 9, 31, F, F, 0.90),
    Vehicle("moving", 60, 500, T, 9, 1, F, F, 0.90),
    Vehicle("moving", 0, 40, T, 0, 1, F, F, 0.80),
    Vehicle("moving", 55, 40, T, 0, 1, T, F, 0.80),
    Vehicle("moving", 0, 40, T, 0, 1, T, F, 0.70),
    Vehicle("moving", 0, 40, F, 8, 1, F, F, 0.70),
    Vehicle("moving", 0, 45, F, 8, 1, F, T, 0.45),
    Vehicle("off", 0, 0, F, 9, 45, F, T, 0.45),
    Vehicle("parked", 0, 50, F, 9, 2, F, T, 0.40),
    Vehicle("moving", 70, 50, T, 9, 2, T, F, 0.40),
    Vehicle("parked", 0, 50, F, 9, 2, T, F, 0.40),
    Vehicle("moving", 80, 50, T, 9, 2, T, F, 0.40),
    Vehicle("parked", 0, 31, F, 9, 2, F, F, 0.40),
    Vehicle("parked", 0, 31, F, 9, 2, F, F, 0.40),
    Vehicle("parked", 0, 31, F, 9, 2, F, F, 0.40),
    Vehicle("idle", 0, 0, F, 9, 2, F, F, 0.40),
    Vehicle("parked", 0, 0, F, 9, 2, F, F, 0.40),
    Vehicle("idle", 0, 0, F, 9, 2, F, F, 0.40),
    Vehicle("parked", 0, 0, F, 9, 2, F, F, 0.40),
    Vehicle("moving", 61, 900, T, 9, 1, T, F, 0.40),
    Vehicle("moving", 65, 900, T, 9, 1, T, F, 0.40),
    Vehicle("moving", 66, 900, T, 9, 1, T, F, 0.40),
]
PREDICATES: list[Callable[[Vehicle], bool]] = [
    lambda v: v.engine == "off",
    lambda v: v.engine == "parked",
    lambda v: v.engine == "idle",
    lambda v: v.engine == "moving",
    lambda v: v.duration > 30,
    lambda v: v.speed > 50,
    lambda v: v.speed == 0,
    lambda v: v.distance > 30,
    lambda v: v.accelerating,
    lambda v: v.satellites == 0,
    lambda v: v.ice,
    lambda v: v.gas,
    lambda v: v.fuel < 0.5,
]
OFF, PARKED, IDLE, MOVING, LONG, FAST, STOPPED, FAR, ACCELERATING, NO_SIGNAL, ICE, GAS, LOW_FUEL = range(13)
ENGINES = frozenset({OFF, PARKED, IDLE, MOVING})
SPEEDS = frozenset({FAST, STOPPED})


def event(*bits: int) -> Symbol:
    return Symbol(Guard(bits=frozenset(bits)), 0)


def ends(
    regex: Regex, rows: Sequence[Any], predicates: Sequence[Callable[[Any], bool]], *, restart: bool = False
) -> list[int]:
    bits = [sum(1 << bit for bit, holds in enumerate(predicates) if holds(row)) for row in rows]
    counting = Counting.RESTART if restart else Counting.OVERLAP
    patterns = PatternSet.compile([RegexPattern(regex, counting)], 1)
    zeros = np.zeros(len(rows))
    _, found = patterns.step(
        patterns.initial_state(), zeros, zeros, np.array(bits, dtype=np.uint64), np.arange(len(rows))
    )
    return [row + 1 for row in found.row.tolist()]


FLEET = {
    "Route": (strict([event(OFF, LONG), Component(event(MOVING), 1, None), event(OFF, LONG)]), [8], [8]),
    "ParkedMovingSwing": (strict([event(PARKED), event(MOVING)] * 2), [12], [12]),
    "IdleParkedSwing": (strict([event(IDLE), event(PARKED)] * 2), [19], [19]),
    "SpeedSwing": (strict([event(FAST), event(STOPPED)] * 2), [5, 13], [5, 13]),
    "MovingWithZeroSpeed": (RegexRepeat(event(MOVING, STOPPED, FAR), 3), [7], [7]),
    "MovingWithBadSignal": (RegexRepeat(event(ACCELERATING, NO_SIGNAL, FAR), 3), [5], [5]),
    "PossibleTheft": (RegexRepeat(event(PARKED, STOPPED, FAR), 3), [15], [15]),
    "DangerousDriving": (RegexRepeat(event(ICE, FAST), 2), [21, 22], [21]),
    "RefuelOpportunity": (RegexRepeat(event(GAS, LOW_FUEL), 2), [8, 9], [8]),
}


@pytest.mark.parametrize("name", FLEET)
def test_fleet(name: str) -> None:
    regex, overlap, restart = FLEET[name]
    assert ends(regex, VEHICLE, PREDICATES) == overlap
    assert ends(regex, VEHICLE, PREDICATES, restart=True) == restart


def test_fleet_patterns_together() -> None:
    patterns = PatternSet.compile(
        [RegexPattern(regex) for regex, _, _ in FLEET.values()], 1, exclusive=[ENGINES, SPEEDS]
    )
    bits = [sum(1 << bit for bit, holds in enumerate(PREDICATES) if holds(row)) for row in VEHICLE]
    columns = (np.zeros(22), np.zeros(22), np.array(bits, dtype=np.uint64), np.arange(22))
    _, found = patterns.step(patterns.initial_state(), *columns)
    for index, (_, overlap, _) in enumerate(FLEET.values()):
        assert (found.row[found.pattern == index] + 1).tolist() == overlap


def circular(one: float, other: float) -> float:
    return min(abs(one - other), 360 - abs(one - other))


COURSES = [(359, 1, 5), (355, 5, 5), (2, 358, 5), (10, 50, 5), (10, 50, 0.5), (10, 50, 5), (10, 41, 5), (350, 25, 5)]


def test_drifting() -> None:
    drifting = RegexRepeat(event(0), 3)
    plain = [lambda row: abs(row[0] - row[1]) > 30 and row[2] > 0.5]
    assert ends(drifting, COURSES, plain) == [3, 4, 8]
    assert ends(drifting, COURSES, plain, restart=True) == [3, 8]
    assert ends(drifting, COURSES, [lambda row: circular(row[0], row[1]) > 30 and row[2] > 0.5]) == [8]


DISTANCES = [12, 6, 4, 8, 6.5, 5.5, 4.9, 4, 6, 8, 7.5, 4.5, 9, 6, 7, 6.9, 4.99, 9.9, 5.0, 4]


@pytest.mark.parametrize(
    ("far", "near", "expected"),
    [
        (lambda d: 7 < d < 10, lambda d: 5 < d < 7, [7]),
        (lambda d: d > 7, lambda d: 5 < d < 7, [3, 7]),
        (lambda d: 7 <= d < 10, lambda d: 5 <= d < 7, [7, 17, 20]),
    ],
)
def test_approaching_port(far: Callable[[float], bool], near: Callable[[float], bool], expected: list[int]) -> None:
    approaching = strict([event(0), Component(event(1), 1, None), event(2)])
    assert ends(approaching, DISTANCES, [far, near, lambda d: d < 5]) == expected


def test_trawling() -> None:
    rows = [(True, speed) for speed in (1.0, 1.1, 5, 8.9, 9.0, 4)] + [(False, 4)]
    assert ends(RegexRepeat(event(0, 1, 2), 3), rows, [lambda r: r[0], lambda r: r[1] > 1, lambda r: r[1] < 9]) == [4]


def test_search_and_rescue() -> None:
    rows = [(True, 3), (True, 2.7), (True, 2.8), (True, 9), (True, 9), (False, 9)]
    assert ends(RegexRepeat(event(0, 1), 3), rows, [lambda r: r[0], lambda r: r[1] > 2.7]) == [5]


def test_anchored() -> None:
    rows = [(True, False, 0.4), (False, True, 0.3), (True, True, 0.2)]
    anchored = RegexRepeat(event(0, 1), 3)
    assert ends(anchored, rows, [lambda r: r[0] or r[1], lambda r: r[2] < 0.5]) == [3]
