"""Alarms that vehicles raise, and the visits to a garage that follow most of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from inkling.generate.randomness import BlockRandom

SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US
ALARM_LAG_US = 20 * SECOND_US
QUIET_US = 72 * HOUR_US  # longer than any wait for a garage, so cases of one vehicle never mix


@dataclass(frozen=True, slots=True, order=True)
class Alarm:
    time_us: int
    vehicle: int
    kind: int


@dataclass(frozen=True, slots=True, order=True)
class Visit:
    time_us: int
    vehicle: int
    garage: int


@dataclass(slots=True)
class Workshop:
    """Opens a case per alarm, unless the vehicle has an open one, and plans what becomes of it."""

    home_garage: npt.NDArray[np.int64]  # per vehicle: the first garage of its depot
    garages_per_depot: int
    n_garages: int
    neglected: int = 0
    away_from_home: int = 0
    _quiet_until_us: dict[int, int] = field(default_factory=dict)
    _planned: list[Visit] = field(default_factory=list)

    def report(self, candidates: Iterable[Alarm], random: BlockRandom) -> list[Alarm]:
        """The alarms that are raised; candidates come in the order of time."""
        raised = []
        for candidate in candidates:
            alarm = Alarm(candidate.time_us + ALARM_LAG_US, candidate.vehicle, candidate.kind)
            if alarm.time_us < self._quiet_until_us.get(alarm.vehicle, alarm.time_us):
                continue
            self._quiet_until_us[alarm.vehicle] = alarm.time_us + QUIET_US
            raised.append(alarm)
            self._plan_visit(alarm, *random.unit((3,)))
        return raised

    def visits_before(self, time_us: int) -> list[Visit]:
        """Visits planned before a time, each handed out once."""
        due = []
        while self._planned and self._planned[0].time_us < time_us:
            due.append(heappop(self._planned))
        return due

    def _plan_visit(self, alarm: Alarm, fate: float, delay: float, choice: float) -> None:
        in_time, ever = fate < 0.7, fate < 0.85
        self.neglected += not in_time
        if not ever:
            return
        wait_us = round((2.0 + 44.0 * delay if in_time else 49.0 + 20.0 * delay) * HOUR_US)
        wait_us -= wait_us % SECOND_US
        home = int(self.home_garage[alarm.vehicle])
        if choice < 0.85:
            garage = home + int(choice / 0.85 * self.garages_per_depot)
        else:
            garage = int((choice - 0.85) / 0.15 * self.n_garages)
        self.away_from_home += not home <= garage < home + self.garages_per_depot
        heappush(self._planned, Visit(alarm.time_us + wait_us, alarm.vehicle, garage))
