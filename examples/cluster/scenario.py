"""A cluster that runs tasks: a log of tasks and of data pulled from other nodes, and samples of the load of nodes.

Time is counted in ticks of a tenth of a second. The log is exact to half a second. The load comes from a monitor with
its own clock and rhythm: a sample may have been taken at any time in the 15 seconds around it. So every row also states
between which ticks (`lo`, `hi`) it may have happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.imprecise import View, in_view, streams_in, true_ticks
from ..generators.numbering import Column, Numbering, prefixed
from ..generators.randomness import BlockRandom, Booleans, Floats, Integers
from ..generators.readings import Block, arrival_order, blocks_from, previous_of, steps_per_block


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks side by side: when they finish, their number and their node."""

    finish: Integers
    number: Integers
    node: Integers

    def __getitem__(self, rows: Booleans | Integers) -> Tasks:
        return Tasks(self.finish[rows], self.number[rows], self.node[rows])


class RunningTasks:
    """Numbers tasks as they start, and returns each of them once, in the order of finishing."""

    def __init__(self) -> None:
        nothing = np.empty(0, np.int64)
        self._running = Tasks(nothing, nothing, nothing)
        self._n_started = 0

    def start(self, finish: Integers, node: Integers) -> Tasks:
        """The new tasks, numbered in the given order."""
        new = Tasks(finish, np.arange(self._n_started, self._n_started + finish.size), node)
        self._n_started += finish.size
        old = self._running
        self._running = Tasks(
            np.concatenate([old.finish, new.finish]),
            np.concatenate([old.number, new.number]),
            np.concatenate([old.node, new.node]),
        )
        return new

    def finish_before(self, tick: int) -> Tasks:
        is_due = self._running.finish < tick
        due = self._running[is_due]
        self._running = self._running[~is_due]
        return due[np.lexsort((due.number, due.finish))]


SLOT_TICKS = 75
"""Tasks start before tick 10 of a slot; every node is sampled between tick 10 and 30 of it."""
METRICS = ("highest", "mean")
"""Kinds of samples, slot by slot in turn, so that each kind occurs every 15 seconds."""
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
    follows_burst: Booleans


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

    def _pull(self, pulls: Booleans, slot_tick: Integers, random: BlockRandom) -> tuple[Integers, Tasks, Tasks]:
        slot, node = np.nonzero(pulls)
        start = slot_tick[slot] + random.bits(slot.shape) % 10
        order = np.argsort(start, kind="stable")
        start = start[order]
        end = start + 20 + random.bits(slot.shape) % PULL_TICKS
        return start, self._pulls.start(end, node[order]), self._pulls.finish_before(int(slot_tick[-1]) + SLOT_TICKS)

    def _bursts(self, draws: Floats) -> Booleans:
        drawn = draws < BURST_CHANCE
        burst = drawn & ~previous_of(drawn, self._drew_burst)
        self._drew_burst = drawn[-1]
        return burst

    def _load(self, starts: Booleans, ended: Integers, noise: Floats) -> Floats:
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


FIRST_TICK = 1_000
LOG_ERROR_TICKS = 5
SAMPLE_ERROR_TICKS = 75
NODES_PER_RACK = 10

_TIMES = [("t", pa.int64()), ("lo", pa.int64()), ("hi", pa.int64())]
_TASK = pa.schema([("id", pa.string()), ("task", pa.string()), ("node", pa.string()), *_TIMES])
_PULL = pa.schema([("id", pa.string()), ("pull", pa.string()), ("node", pa.string()), *_TIMES])
_SAMPLE = pa.schema(
    [("id", pa.int64()), ("node", pa.string()), ("metric", pa.string()), *_TIMES, ("value", pa.float64())]
)
STREAMS = {"TaskStart": _TASK, "TaskFinish": _TASK, "PullStart": _PULL, "PullEnd": _PULL, "Cpu": _SAMPLE}
ERROR_TICKS = dict.fromkeys(STREAMS, LOG_ERROR_TICKS) | {"Cpu": SAMPLE_ERROR_TICKS}


class Cluster:
    """Nodes whose highest and mean load are sampled every 15 seconds; `Nodes` generates their tasks."""

    main: str = "Cpu"

    def __init__(
        self, *, events: int, keys: int | None, seed: int, start: datetime | int | None, view: View = "recorded"
    ) -> None:
        if isinstance(start, datetime):
            raise ValueError(f"the cluster counts ticks, expected an integer start, found {start=}")
        self.events = events
        self.seed = seed
        self.keys = keys or max(4, min(1_000, events // 10_000))
        self.view = view
        self.streams: Mapping[str, pa.Schema] = streams_in(view, STREAMS)
        self._start = start
        self._first_tick = FIRST_TICK if start is None else start
        self._out = Numbering(STREAMS)
        self._names = prefixed("node", np.arange(self.keys), width=3)
        self._sampled_at = 10 + (BlockRandom(seed, "cluster", 0).bits((self.keys,)) % 15)
        self._nodes = Nodes(self.keys)
        self._bursts = 0

    def tables(self) -> dict[str, pa.Table]:
        rack_of = np.arange(self.keys) // NODES_PER_RACK
        return {"nodes": pa.table({"node": self._names, "rack": prefixed("rack", rack_of, width=2)})}

    def variants(self) -> dict[str, Cluster]:
        """The same rows with true times, and with recorded times as if they were true."""
        views: tuple[View, View] = ("true", "naive")
        return {
            view: Cluster(events=self.events, keys=self.keys, seed=self.seed, start=self._start, view=view)
            for view in views
        }

    def truth(self) -> Truth:
        return Truth("cluster", self.seed, self.keys, dict(self._out.rows), {"maxed_out": self._bursts})

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "cluster", steps_per_block(self.keys)):
            yield self._block(block)
            if self._out.rows["Cpu"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        slots = np.arange(block.first_step, block.first_step + block.n_steps)
        slot_tick = self._first_tick + SLOT_TICKS * slots
        work = self._nodes.work(slots, slot_tick, block.random)
        offset = self._sampled_at + (block.random.bits(work.load.shape) >> 14)

        order = arrival_order(offset)[: self.events - self._out.rows["Cpu"]]
        tick = (slot_tick[:, None] + offset).ravel()[order]
        self._bursts += int(np.count_nonzero(work.follows_burst.ravel()[order]))
        is_cut = order.size < offset.size
        end = int(tick[-1]) if is_cut else int(slot_tick[-1]) + SLOT_TICKS
        done, pulled = work.finished[work.finished.finish <= end], work.pulled[work.pulled.finish <= end]
        begun, pulling = work.start <= end, work.pull_start <= end
        sampled: dict[str, Column] = {
            "node": self._names.take(pa.array(order % self.keys)),
            "metric": pa.array(METRICS).take(pa.array((block.first_step + order // self.keys) % len(METRICS))),
            "value": work.load.ravel()[order],
        }
        return {
            "TaskStart": self._rows("TaskStart", work.start[begun], self._tasks(work.started[begun]), block.random),
            "TaskFinish": self._rows("TaskFinish", done.finish, self._tasks(done), block.random),
            "PullStart": self._rows(
                "PullStart", work.pull_start[pulling], self._pulls(work.pulling[pulling]), block.random
            ),
            "PullEnd": self._rows("PullEnd", pulled.finish, self._pulls(pulled), block.random),
            "Cpu": self._rows("Cpu", tick, sampled, block.random),
        }

    def _tasks(self, tasks: Tasks) -> dict[str, Column]:
        return {"task": prefixed("task", tasks.number, width=6), "node": self._names.take(pa.array(tasks.node))}

    def _pulls(self, pulls: Tasks) -> dict[str, Column]:
        return {"pull": prefixed("pull", pulls.number, width=6), "node": self._names.take(pa.array(pulls.node))}

    def _rows(self, stream: str, tick: Integers, columns: dict[str, Column], random: BlockRandom) -> pa.RecordBatch:
        lo, hi = tick - ERROR_TICKS[stream], tick + ERROR_TICKS[stream]
        rows = self._out.batch(stream, {**columns, "t": tick, "lo": lo, "hi": hi})
        return in_view(rows, self.view, true_ticks(lo, hi, random))
