"""Counts, while a fleet is generated, of what its example program must find."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from inkling.generate.arrays import Integers
from inkling.generate.chain import Chain
from inkling.generate.fleet_motion import Motion, States
from inkling.generate.fleet_scripts import EPISODES, Reading
from inkling.generate.readings import previous_of
from inkling.generate.yard import YardLog

LOW_FUEL = 0.5
REFUEL_JUMP = 0.3


class FleetTruth:
    """Scripted events are counted by visits to their last reading, fuel events by what the gauge shows."""

    def __init__(self, chain: Chain[Reading], keys: int) -> None:
        self._chain = chain
        self._visits = np.zeros(len(chain.steps), np.int64)
        self._near_gas = chain.column(lambda step: step.near_gas, np.bool_)
        self._was_low_at_gas = np.zeros(keys, np.bool_)
        self._fuel_before = np.full(keys, np.inf)
        self._refuels = 0
        self._opportunities = 0
        self._yard = YardLog()

    def see(self, states: States, motion: Motion, order: Integers) -> None:
        """A block, of which only the rows in `order` are handed out."""
        self._visits += np.bincount(states.ravel()[order], minlength=len(self._visits))
        low_at_gas = self._near_gas[states] & (motion.fuel < LOW_FUEL)
        opportunity = low_at_gas & previous_of(low_at_gas, self._was_low_at_gas)
        refuel = motion.fuel > previous_of(motion.fuel, self._fuel_before) + REFUEL_JUMP
        self._opportunities += int(np.count_nonzero(opportunity.ravel()[order]))
        self._refuels += int(np.count_nonzero(refuel.ravel()[order]))
        self._was_low_at_gas, self._fuel_before = low_at_gas[-1], motion.fuel[-1]

    def arrive(self, arrivals: Iterable[tuple[int, int]]) -> None:
        self._yard.arrive(arrivals)

    def episodes(self) -> dict[str, int]:
        return {name: int(self._visits[self._chain.last_step(script)]) for name, script in EPISODES.items()}

    def matches(self) -> dict[str, int]:
        found = {
            "refuel_opportunity": self._opportunities,
            "refuel": self._refuels,
            "yard_meeting": self._yard.pairs,
        }
        for step, visits in zip(self._chain.steps, self._visits, strict=True):
            if step.ends:
                found[step.ends] = found.get(step.ends, 0) + int(visits)
        return found
