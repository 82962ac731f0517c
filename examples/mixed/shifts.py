"""Shifts at loading docks: the record is drawn first, then the true events given the record.

Every uncertain value is drawn from exactly the distribution that the record states: the zone
of a pallet from its alternatives, the second of a pickup uniformly from its interval, a lost door event as an order
statistic of uniform draws between the neighboring recorded events. So the stated uncertainty is the posterior, and
probabilities computed from it must be calibrated.

The zone of a forklift is a Markov chain: each reading states the next zone given the previous one. Again the record is
drawn first, and the true path is drawn from the recorded chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..generators.randomness import BlockRandom, Booleans, Floats, Integers, drawn_below

ZONES = ("dock", "aisle", "truck")
ROLES = ("open", "close")
NOWHERE = -1

N_PALLETS, N_READINGS, N_PICKUPS, N_DOORS = 2, 3, 2, 4
SHIFT_SECONDS = 60
MILLISECONDS = 1_000
LEAST_PERCENT = 10
FIRST_READING, READING_GAP, READING_JITTER = 10, 12, 8
FIRST_PICKUP, PICKUP_GAP, PICKUP_JITTER, WIDEST_INTERVAL = 12, 14, 16, 5
SECOND_PALLET, SECOND_PICKUP, SECOND_OPENING, LOSS = 0.1, 0.3, 0.25, 0.3
UNSEEN = 0.4  # the share of readings of which nobody can be sure that the pallet was there at all
AFFINITY = np.array([[4.0, 2.0, 0.7], [2.0, 3.0, 2.0], [0.7, 2.0, 4.0]])
"""The weight that each reading, from first to last, gives to each zone."""

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Readings:
    """Uncertain zones of pallets; axes: shift, pallet, reading."""

    second: Integers
    percent: Integers  # one more axis: zone
    zone: Integers  # the true one, or `NOWHERE`

    @property
    def likeliest(self) -> Integers:
        likeliest: Integers = np.argmax(self.percent, axis=-1)
        return likeliest


@dataclass(frozen=True, slots=True)
class Pickups:
    """Visits of forklifts whose clocks are not exact; axes: shift, pickup."""

    exists: Booleans
    lo: Integers
    hi: Integers
    second: Integers  # the true one


@dataclass(frozen=True, slots=True)
class Doors:
    """Openings and closings by turns, some of them lost; axes: shift, number."""

    count: Integers  # one per shift
    exists: Booleans
    recorded: Booleans
    ms: Integers  # the true time; that of a recorded event is a whole second


@dataclass(frozen=True, slots=True)
class Shifts:
    """Recorded and true events of some shifts; times count from the start of the shift."""

    readings: Readings
    pickups: Pickups
    doors: Doors


def draw_shifts(n_shifts: int, random: BlockRandom) -> Shifts:
    return Shifts(_readings(n_shifts, random), _pickups(n_shifts, random), _doors(n_shifts, random))


def _readings(n_shifts: int, random: BlockRandom) -> Readings:
    shape = (n_shifts, N_PALLETS, N_READINGS)
    jitter = drawn_below(READING_JITTER, random.unit(shape))
    second = FIRST_READING + READING_GAP * np.arange(N_READINGS) + jitter
    uncertain = random.unit((*shape, 1)) < 0.5
    weight = (AFFINITY * random.unit((*shape, len(ZONES)))) ** np.where(uncertain, 1.0, 3.0)
    may_be_unseen = random.unit((*shape, 1)) < UNSEEN
    unseen = may_be_unseen * 0.5 * random.unit((*shape, 1))
    percent = np.floor(100 * weight / (weight.sum(axis=-1, keepdims=True) + unseen + 1e-9)).astype(np.int64)
    percent[percent < LEAST_PERCENT] = 0
    is_likeliest = np.arange(len(ZONES)) == np.argmax(percent, axis=-1)[..., None]
    percent += (100 - percent.sum(axis=-1, keepdims=True)) * (is_likeliest & ~may_be_unseen)
    percent[random.unit((n_shifts,)) >= SECOND_PALLET, 1] = 0
    return Readings(second, percent, zone_drawn(percent, random.unit((*shape, 1))))


def _pickups(n_shifts: int, random: BlockRandom) -> Pickups:
    shape = (n_shifts, N_PICKUPS)
    exists = np.ones(shape, dtype=np.bool_)
    exists[:, 1] = random.unit((n_shifts,)) < SECOND_PICKUP
    lo = FIRST_PICKUP + PICKUP_GAP * np.arange(N_PICKUPS) + drawn_below(PICKUP_JITTER, random.unit(shape))
    width = 1 + drawn_below(WIDEST_INTERVAL, random.unit(shape))
    return Pickups(exists, lo, lo + width - 1, lo + drawn_below(width, random.unit(shape)))


def _doors(n_shifts: int, random: BlockRandom) -> Doors:
    count = np.where(random.unit((n_shifts,)) < SECOND_OPENING, N_DOORS, 2)
    exists = np.arange(N_DOORS) < count[:, None]
    recorded = exists & (random.unit((n_shifts, N_DOORS)) >= LOSS)
    recorded[~recorded.any(axis=1), 0] = True  # a dock of which nothing is known is no dock
    second = _distinct_seconds(n_shifts, random)
    before = np.maximum.accumulate(np.where(recorded, second, 0), axis=1)
    after = np.minimum.accumulate(np.where(recorded, second, SHIFT_SECONDS)[:, ::-1], axis=1)[:, ::-1]
    between = _between_whole_seconds(before, after, random.unit((n_shifts, N_DOORS)))
    ms = np.where(recorded, second * MILLISECONDS, np.where(exists, between, NEVER))
    return Doors(count, exists, recorded, np.sort(ms, axis=1))


def _distinct_seconds(n_shifts: int, random: BlockRandom) -> Integers:
    """Sorted seconds inside the shift, no two of them equal: sorted draws with repetition, pulled apart."""
    drawn = drawn_below(SHIFT_SECONDS - N_DOORS, random.unit((n_shifts, N_DOORS)))
    seconds: Integers = np.sort(drawn, axis=1) + 1 + np.arange(N_DOORS)
    return seconds


def _between_whole_seconds(lo: Integers, hi: Integers, unit: Floats) -> Integers:
    """Milliseconds between two seconds, never whole seconds, so that no other event is simultaneous."""
    per_second = MILLISECONDS - 1
    place = drawn_below((hi - lo) * per_second, unit)
    return (lo + place // per_second) * MILLISECONDS + 1 + place % per_second


def zone_drawn(percent: Integers, unit: Floats) -> Integers:
    """A zone per list of percentages; `NOWHERE` with the rest to 100."""
    passed = (drawn_below(100, unit) >= np.cumsum(percent, axis=-1)).sum(axis=-1)
    zone: Integers = np.where(passed < len(ZONES), passed, NOWHERE)
    return zone


N_STEPS = 3
FIRST_STEP, STEP_GAP, STEP_JITTER = 6, 14, 9
INITIAL = np.array([3.0, 2.0, 1.0])
FOLLOWS = np.array([[2.0, 2.0, 2.0], [2.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
"""The weight that each zone (row) gives to each zone (column) at the next reading."""


@dataclass(frozen=True, slots=True)
class Tracks:
    """Readings of one forklift per shift; axes: shift, step. All chances of a step sum to one."""

    second: Integers
    initial: Integers  # percent; axes: shift, zone
    follows: Integers  # percent; axes: shift, step but the first, previous zone, zone
    zone: Integers  # the true one

    @property
    def possible(self) -> Booleans:
        """Which zones can be reached; axes: shift, step, zone."""
        reached: list[Booleans] = [self.initial > 0]
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
    """Whole percentages that sum to 100; the remainder goes to the most likely zone."""
    percent = np.floor(100 * weight / (weight.sum(axis=-1, keepdims=True) + 1e-9)).astype(np.int64)
    percent[percent < LEAST_PERCENT] = 0
    is_likeliest = np.arange(len(ZONES)) == np.argmax(percent, axis=-1)[..., None]
    completed: Integers = percent + (100 - percent.sum(axis=-1, keepdims=True)) * is_likeliest
    return completed
