"""The work of a cluster's nodes: when tasks start and finish, what they pull, and how busy each node is meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.generate.arrays import Floats, Integers, Marks
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import previous_of
from inkling.generate.tasks import RunningTasks, Tasks

SLOT_TICKS = 75
"""Tasks start before tick 10 of a slot; every node is sampled between tick 10 and 30 of it."""
METRICS = ("highest", "mean")
"""What samples tell, slot by slot in turn: so each of them comes every 15 seconds."""
START_CHANCE = 0.12
BURST_CHANCE = 0.01
PULL_CHANCE = 0.03
PULL_TICKS = 120
PULL_LOAD = 86.0
MAP_TICKS = 600.0
REDUCE_TICKS = 15_000.0
REDUCE_CHANCE = 0.02
LOAD_PER_TASK = 14.0


@dataclass(frozen=True, slots=True)
class Work:
    """What happens in a block of slots; matrices have one row per slot and one column per node."""

    start: Integers
    started: Tasks  # in the order of `start`
    finished: Tasks  # in the order of finishing
    pull_start: Integers
    pulling: Tasks  # in the order of `pull_start`
    pulled: Tasks  # in the order of their ends
    load: Floats
    follows_burst: Marks


class Nodes:
    """Runs tasks; now and then a burst, a short task under which the highest load is above 95.

    The mean load after a burst is at most 60, and no sample outside a burst is above 94. Where a node begins to pull
    data from others, its highest load in that slot is above 85.
    """

    def __init__(self, n_nodes: int) -> None:
        self._tasks = RunningTasks()
        self._pulls = RunningTasks()
        self._n_running = np.zeros(n_nodes, np.int64)
        self._drew_burst = np.zeros(n_nodes, np.bool_)
        self._had_burst = np.zeros(n_nodes, np.bool_)

    def work(self, slots: Integers, slot_tick: Integers, random: BlockRandom) -> Work:
        shape = (slot_tick.size, self._n_running.size)
        is_highest = slots % len(METRICS) == 0
        burst = self._bursts(random.unit(shape)) & is_highest[:, None]
        follows_burst = previous_of(burst, self._had_burst)
        self._had_burst = burst[-1]
        starts = burst | (random.unit(shape) < START_CHANCE)

        slot, node = np.nonzero(starts)
        start = slot_tick[slot] + random.bits(slot.shape) % 10
        finish = np.where(
            burst[slot, node],
            slot_tick[slot] + 35 + random.bits(slot.shape) % 10,
            start + _durations(random, slot.size),
        )
        in_time = np.argsort(start, kind="stable")
        started = self._tasks.start(finish[in_time], node[in_time])
        finished = self._tasks.finish_before(int(slot_tick[-1]) + SLOT_TICKS)

        ended = np.zeros(shape, np.int64)
        np.add.at(ended, ((finished.finish - slot_tick[0]) // SLOT_TICKS, finished.node), 1)
        load = self._load(starts, ended, random.unit(shape))
        pulls = (random.unit(shape) < PULL_CHANCE) & ~burst & ~follows_burst
        pull_start, pulling, pulled = self._pull(pulls, slot_tick, random)
        strained = pulls & is_highest[:, None]
        load[strained] = PULL_LOAD + load[strained] * 0.08
        load[follows_burst] = 20.0 + load[follows_burst] * 0.4
        load[burst] = 96.0 + load[burst] * 0.04
        load = np.round(load, 1)
        return Work(start[in_time], started, finished, pull_start, pulling, pulled, load, follows_burst)

    def _pull(self, pulls: Marks, slot_tick: Integers, random: BlockRandom) -> tuple[Integers, Tasks, Tasks]:
        slot, node = np.nonzero(pulls)
        start = slot_tick[slot] + random.bits(slot.shape) % 10
        order = np.argsort(start, kind="stable")
        start = start[order]
        end = start + 20 + random.bits(slot.shape) % PULL_TICKS
        return start, self._pulls.start(end, node[order]), self._pulls.finish_before(int(slot_tick[-1]) + SLOT_TICKS)

    def _bursts(self, draws: Floats) -> Marks:
        drawn = draws < BURST_CHANCE
        burst = drawn & ~previous_of(drawn, self._drew_burst)
        self._drew_burst = drawn[-1]
        return burst

    def _load(self, starts: Marks, ended: Integers, noise: Floats) -> Floats:
        ended_before = previous_of(ended, np.zeros_like(ended[0]))
        running = self._n_running + np.cumsum(starts, axis=0) - np.cumsum(ended_before, axis=0)
        self._n_running = running[-1] - ended[-1]
        load: Floats = np.clip(5.0 + LOAD_PER_TASK * running + 20.0 * noise, 1.0, 94.0)
        return load


def _durations(random: BlockRandom, n: int) -> Integers:
    """Roughly log-normal: most tasks are maps, a few are long reduces."""
    bell = 2.0 * (random.unit((3, n)).sum(axis=0) - 1.5)
    median = np.where(random.unit((n,)) < REDUCE_CHANCE, REDUCE_TICKS, MAP_TICKS)
    ticks: Integers = (median * np.exp(0.6 * bell)).astype(np.int64)
    return ticks
