"""A cluster that runs tasks: starts and finishes of tasks, and samples of the load of every node.

Time is counted in ticks of a tenth of a second. The samples come from another clock than the log of the
tasks, so every row also says between which ticks (`lo`, `hi`) it may have happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Integers
from inkling.generate.cluster_load import SLOT_TICKS, Nodes
from inkling.generate.numbering import Numbering, prefixed
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import Block, arrival_order, blocks_from, steps_per_block
from inkling.generate.scenario import Streams, Truth
from inkling.generate.tasks import Tasks

FIRST_TICK = 1_000
LOG_ERROR_TICKS = 5
SAMPLE_ERROR_TICKS = 75
NODES_PER_RACK = 10

_TASK = pa.schema(
    [
        ("id", pa.string()),
        ("task", pa.string()),
        ("node", pa.string()),
        ("t", pa.int64()),
        ("lo", pa.int64()),
        ("hi", pa.int64()),
    ]
)
_SAMPLE = pa.schema(
    [
        ("id", pa.int64()),
        ("node", pa.string()),
        ("t", pa.int64()),
        ("lo", pa.int64()),
        ("hi", pa.int64()),
        ("value", pa.float64()),
    ]
)
STREAMS = {"TaskStart": _TASK, "TaskFinish": _TASK, "Cpu": _SAMPLE}


class Cluster:
    """Nodes that are sampled every five seconds; `cluster_load` says what they do."""

    main: str = "Cpu"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        if isinstance(start, datetime):
            raise ValueError(f"the cluster counts ticks, expected an integer start, found {start=}")
        self.events = events
        self.seed = seed
        self.keys = keys or max(4, min(1_000, events // 10_000))
        self._first_tick = FIRST_TICK if start is None else start
        self._out = Numbering(STREAMS)
        self._names = prefixed("node", np.arange(self.keys), width=3)
        self._sampled_at = 10 + (BlockRandom(seed, "cluster", 0).bits((self.keys,)) % 15)
        self._nodes = Nodes(self.keys)
        self._bursts = 0

    def tables(self) -> dict[str, pa.Table]:
        rack_of = np.arange(self.keys) // NODES_PER_RACK
        return {"nodes": pa.table({"node": self._names, "rack": prefixed("rack", rack_of, width=2)})}

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
        work = self._nodes.work(slot_tick, block.random)
        offset = self._sampled_at + (block.random.bits(work.load.shape) >> 14)

        order = arrival_order(offset)[: self.events - self._out.rows["Cpu"]]
        tick = (slot_tick[:, None] + offset).ravel()[order]
        self._bursts += int(np.count_nonzero(work.follows_burst.ravel()[order]))
        is_cut = order.size < offset.size
        end = int(tick[-1]) if is_cut else int(slot_tick[-1]) + SLOT_TICKS
        started, finished = work.start <= end, work.finished.finish <= end
        samples = {
            "node": self._names.take(pa.array(order % self.keys)),
            "t": tick,
            "lo": tick - SAMPLE_ERROR_TICKS,
            "hi": tick + SAMPLE_ERROR_TICKS,
            "value": work.load.ravel()[order],
        }
        done = work.finished[finished]
        return {
            "TaskStart": self._task_rows("TaskStart", work.start[started], work.started[started]),
            "TaskFinish": self._task_rows("TaskFinish", done.finish, done),
            "Cpu": self._out.batch("Cpu", samples),
        }

    def _task_rows(self, stream: str, tick: Integers, tasks: Tasks) -> pa.RecordBatch:
        columns = {
            "task": prefixed("task", tasks.number, width=6),
            "node": self._names.take(pa.array(tasks.node)),
            "t": tick,
            "lo": tick - LOG_ERROR_TICKS,
            "hi": tick + LOG_ERROR_TICKS,
        }
        return self._out.batch(stream, columns)
