"""Where a forklift is, as a chain: each reading states the next zone given the one before, and truth walks along.

As in `dock_shifts`, the record comes first: the path that really happened is drawn from the chain that is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.generate.arrays import Floats, Integers, Marks
from inkling.generate.dock_shifts import LEAST_PERCENT, ZONES, drawn_below, zone_drawn
from inkling.generate.randomness import BlockRandom

N_STEPS = 3
FIRST_STEP, STEP_GAP, STEP_JITTER = 6, 14, 9
INITIAL = np.array([3.0, 2.0, 1.0])
FOLLOWS = np.array([[2.0, 2.0, 2.0], [2.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
"""How much each zone (row) speaks for being in each zone (column) at the next reading."""


@dataclass(frozen=True, slots=True)
class Tracks:
    """Readings of one forklift per shift; axes: shift, step. All chances of a step sum to one."""

    second: Integers
    initial: Integers  # percent; axes: shift, zone
    follows: Integers  # percent; axes: shift, step but the first, previous zone, zone
    zone: Integers  # the true one

    @property
    def possible(self) -> Marks:
        """Which zones can be reached; axes: shift, step, zone."""
        reached: list[Marks] = [self.initial > 0]
        for step in range(N_STEPS - 1):
            ways = (self.follows[:, step] > 0) & reached[-1][:, :, None]
            reached.append(np.logical_or.reduce(ways, axis=1))
        return np.stack(reached, axis=1)

    @property
    def likeliest(self) -> Integers:
        """The zone of the largest probability at each step, all paths taken together."""
        chances = [self.initial / 100]
        for step in range(N_STEPS - 1):
            chances.append(np.einsum("sf,sft->st", chances[-1], self.follows[:, step] / 100))
        likeliest: Integers = np.argmax(np.stack(chances, axis=1), axis=-1)
        return likeliest


def draw_tracks(n_shifts: int, random: BlockRandom) -> Tracks:
    jitter = drawn_below(STEP_JITTER, random.unit((n_shifts, N_STEPS)))
    initial = _complete(INITIAL * random.unit((n_shifts, len(ZONES))))
    follows = _complete(FOLLOWS * random.unit((n_shifts, N_STEPS - 1, len(ZONES), len(ZONES))) ** 2)
    zones = [zone_drawn(initial, random.unit((n_shifts, 1)))]
    for step in range(N_STEPS - 1):
        zones.append(zone_drawn(follows[np.arange(n_shifts), step, zones[-1]], random.unit((n_shifts, 1))))
    return Tracks(FIRST_STEP + STEP_GAP * np.arange(N_STEPS) + jitter, initial, follows, np.stack(zones, axis=1))


def _complete(weight: Floats) -> Integers:
    """Whole percents that sum to 100; what is too unlikely to be told goes to the likeliest zone."""
    percent = np.floor(100 * weight / (weight.sum(axis=-1, keepdims=True) + 1e-9)).astype(np.int64)
    percent[percent < LEAST_PERCENT] = 0
    is_likeliest = np.arange(len(ZONES)) == np.argmax(percent, axis=-1)[..., None]
    completed: Integers = percent + (100 - percent.sum(axis=-1, keepdims=True)) * is_likeliest
    return completed
