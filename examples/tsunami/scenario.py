"""Buoys in the open sea: tides, a little noise, and now and then a wave that no tide explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Numbering, prefixed
from ..generators.randomness import BlockRandom, Booleans, Floats
from ..generators.readings import TIMESTAMP, Block, arrival_order, blocks_from, start_us

DEFAULT_START = datetime(2024, 1, 1, tzinfo=UTC)
STEP_SECONDS = 45
HOUR_STEPS = 3600 // STEP_SECONDS
DAY_STEPS = 24 * HOUR_STEPS
AHEAD_STEPS = 7  # five and a quarter minutes
TIDE_STEPS = 12.4 * HOUR_STEPS
WEIGHTS = (1.16818457031250, -0.28197558593750, 0.14689746093750, -0.03310644531250)  # the latest hour first
MOST_DEVIATION = 30.0
HISTORY = AHEAD_STEPS + 4 * HOUR_STEPS

STREAMS = {"Level": pa.schema([("id", pa.int64()), ("buoy", pa.string()), ("height", pa.float64()), ("t", TIMESTAMP)])}


class Tsunami:
    """Buoys that measure every 45 seconds; about every other day a wave passes each of them."""

    main: str = "Level"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(2, min(20, events // 8_000))
        self._start = start_us(start, DEFAULT_START)
        self._out = Numbering(STREAMS)
        setup = BlockRandom(seed, "tsunami", 0)
        self._tide_phase = setup.unit((self.keys,)) * 2 * np.pi
        self._second = (setup.bits((self.keys,)) % STEP_SECONDS).astype(np.uint16)
        self._names = prefixed("buoy", np.arange(self.keys), width=2)
        self._before = np.empty((0, self.keys))
        self._found = {"recent": 0, "hourly": 0, "alarm": 0}

    def tables(self) -> dict[str, pa.Table]:
        return {}

    def truth(self) -> Truth:
        found = dict(self._found)
        return Truth("tsunami", self.seed, self.keys, dict(self._out.rows), found, found)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "tsunami", DAY_STEPS):
            yield self._block(block)
            if self._out.rows["Level"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        steps = np.arange(block.first_step, block.first_step + block.n_steps)
        tide = 30 * np.sin(2 * np.pi * steps[:, None] / TIDE_STEPS + self._tide_phase)
        noise = 2 * block.random.signed(tide.shape)
        height = np.round(tide + noise + self._waves(block), 2)

        seconds = np.broadcast_to(self._second, height.shape)
        order = arrival_order(seconds)[: self.events - self._out.rows["Level"]]
        kept = np.zeros(height.size, np.bool_)
        kept[order] = True
        self._reckon(height, kept.reshape(height.shape))
        t = self._start + (steps[:, None] * STEP_SECONDS + seconds.astype(np.int64)) * 1_000_000
        columns = {
            "buoy": self._names.take(pa.array(order % self.keys)),
            "height": height.ravel()[order],
            "t": t.ravel()[order],
        }
        return {"Level": self._out.batch("Level", columns)}

    def _waves(self, block: Block) -> Floats:
        waves = np.zeros((block.n_steps, self.keys))
        for buoy, (passes, when, length, size) in enumerate(block.random.unit((self.keys, 4)).tolist()):
            if passes < 0.5:
                first = 5 * HOUR_STEPS + int(when * (DAY_STEPS - 6 * HOUR_STEPS))
                waves[first : first + 4 + int(length * 8), buoy] = 50 + 70 * size
        return waves

    def _reckon(self, height: Floats, kept: Booleans) -> None:
        """Count the expected results of a day, given the previous hours."""
        told = np.concatenate([self._before, height])
        n_before = len(self._before)
        is_new = np.concatenate([np.zeros((n_before, self.keys), np.bool_), kept])
        sums = np.concatenate([np.zeros((1, self.keys)), np.cumsum(told, axis=0)])
        means = (sums[HOUR_STEPS + 1 :] - sums[: -HOUR_STEPS - 1]) / (HOUR_STEPS + 1)  # row i ends at i + HOUR_STEPS
        self._found["recent"] += int(np.count_nonzero(kept))
        self._found["hourly"] += int(np.count_nonzero(is_new[HOUR_STEPS:]))
        if len(told) > HISTORY:
            n = len(told) - HISTORY
            hours = [means[(3 - i) * HOUR_STEPS :][:n] for i in range(4)]
            predicted = sum(weight * hour for weight, hour in zip(WEIGHTS, hours, strict=True))
            alarms = np.abs(told[HISTORY:] - predicted) > MOST_DEVIATION
            self._found["alarm"] += int(np.count_nonzero(alarms & is_new[HISTORY:]))
        self._before = told[-HISTORY:]
