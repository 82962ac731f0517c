"""A cluster that runs tasks: a log of tasks and of what they pull from other nodes, and samples of the nodes' load.

Time is counted in ticks of a tenth of a second. The log is exact to half a second. The load comes from a monitor with
a clock and a rhythm of its own: what it tells of a node may have been so at any time in the 15 seconds around. So
every row also says between which ticks (`lo`, `hi`) it may have happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Integers
from inkling.generate.cluster_load import METRICS, SLOT_TICKS, Nodes
from inkling.generate.imprecise import View, streams_in, told, true_ticks
from inkling.generate.numbering import Column, Numbering, prefixed
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import Block, arrival_order, blocks_from, steps_per_block
from inkling.generate.scenario import Streams, Truth
from inkling.generate.tasks import Tasks

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
    """Nodes whose highest and mean load are told every 15 seconds; `cluster_load` says what they do."""

    main: str = "Cpu"

    def __init__(
        self,
        *,
        events: int,
        keys: int | None,
        seed: int,
        start: datetime | int | None,
        view: View = "recorded",
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

    def retellings(self) -> dict[str, Cluster]:
        """The same rows as they happened, and with the recorded time taken for the true one."""
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
        return told(rows, self.view, true_ticks(lo, hi, random))
