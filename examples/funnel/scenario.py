"""A shop on the web: pages seen, carts filled and payments made, each stamped by the clock of the device it came from.

Every visit is an independent episode: a page is seen, in most cases something is put into the cart, and often paid.
Clocks of phones and tablets are off by up to a minute and more, those of servers by a second. So the
recorded order is not always the true one, and a recorded time to the payment may exceed a limit that the true one
meets. Time is counted in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute

from inkling.scenarios.scenario import Streams, Truth

from ..generators.imprecise import View, in_view, streams_in, true_ticks
from ..generators.numbering import Numbering, prefixed
from ..generators.randomness import BlockRandom, Booleans, Floats, Integers
from ..generators.readings import Block, blocks_from, steps_per_block

DEVICES = ("server", "laptop", "phone", "tablet")
SERVER = 0
SKEW = np.array([1, 15, 45, 90])
"""By device: seconds by which its clock may be wrong."""
CLIENT_SHARES = np.array([0.0, 0.4, 0.75, 1.0])  # cumulated: laptops, phones, tablets

CART, SAME_DEVICE, PAY, PAID_ON_SERVER = 0.75, 0.6, 0.7, 0.6
LIMIT_SECONDS = 300
SLOT_SECONDS = 3_600  # visits of one visitor are so far apart that no pattern reaches from one to the next
BLOCK_VISITS = 1 << 14

_ROW = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "visitor", "visit", "device")),
        *((name, pa.int64()) for name in ("t", "skew")),
    ]
)
STREAMS = {"View": _ROW, "Cart": _ROW, "Pay": _ROW}


@dataclass(frozen=True, slots=True)
class Step:
    """Records of one step of the funnel; an entry per visit."""

    exists: Booleans
    device: Integers
    second: Integers
    happened: Integers

    @property
    def skew(self) -> Integers:
        skew: Integers = SKEW[self.device]
        return skew


class Funnel:
    """Visitors with one visit per hour; `events` counts the pages seen."""

    main: str = "View"

    def __init__(
        self, *, events: int, keys: int | None, seed: int, start: datetime | int | None, view: View = "recorded"
    ) -> None:
        if isinstance(start, datetime):
            raise ValueError(f"the shop counts seconds, expected an integer start, found {start=}")
        self.events = events
        self.seed = seed
        self.keys = keys or max(20, min(10_000, events // 10))
        self.view = view
        self.streams: Mapping[str, pa.Schema] = streams_in(view, STREAMS)
        self._start = start
        self._out = Numbering(STREAMS)
        self._visitors = prefixed("v", np.arange(self.keys), width=4)
        self._ordered = 0

    def tables(self) -> dict[str, pa.Table]:
        return {}

    def variants(self) -> dict[str, Funnel]:
        """The same visits with true times, and with recorded times as if all clocks were right."""
        views: tuple[View, View] = ("true", "naive")
        return {
            view: Funnel(events=self.events, keys=self.keys, seed=self.seed, start=self._start, view=view)
            for view in views
        }

    def truth(self) -> Truth:
        return Truth("funnel", self.seed, self.keys, dict(self._out.rows), {"ordered": self._ordered})

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "funnel", steps_per_block(self.keys, BLOCK_VISITS)):
            yield self._block(block)
            if self._out.rows["View"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        number = block.first_step * self.keys + np.arange(block.n_steps * self.keys)
        begin = (self._start or 0) + SLOT_SECONDS * (number // self.keys) + 900
        steps = _drawn(begin, block.random)
        came = np.argsort(steps["View"].second, kind="stable")[: self.events - self._out.rows["View"]]
        kept = np.zeros(number.size, np.bool_)
        kept[came] = True
        self._ordered += int(np.count_nonzero(_is_ordered(steps) & kept))
        return {name: self._rows(name, step, number, kept) for name, step in steps.items()}

    def _rows(self, stream: str, step: Step, number: Integers, kept: Booleans) -> pa.RecordBatch:
        order = np.argsort(step.second, kind="stable")
        order = order[(step.exists & kept)[order]]
        second, skew = step.second[order], step.skew[order]
        visitor = self._visitors.take(pa.array(number[order] % self.keys))
        nth = prefixed("", number[order] // self.keys, width=4)
        columns = {
            "visitor": visitor,
            "visit": pa.compute.binary_join_element_wise(visitor, nth, "-"),
            "device": pa.array(DEVICES).take(pa.array(step.device[order])),
            "t": second,
            "skew": skew,
        }
        return in_view(self._out.batch(stream, columns), self.view, step.happened[order])


def _drawn(begin: Integers, random: BlockRandom) -> dict[str, Step]:
    """One page seen per visit, and the steps that follow."""
    shape = begin.shape
    everywhere = np.ones(shape, np.bool_)
    seen_on = _client(random.unit(shape))
    filled_on = np.where(random.unit(shape) < SAME_DEVICE, seen_on, _client(random.unit(shape)))
    paid_on = np.where(random.unit(shape) < PAID_ON_SERVER, SERVER, _client(random.unit(shape)))
    fills = everywhere & (random.unit(shape) < CART)
    pays = fills & (random.unit(shape) < PAY)
    seen = begin + (random.unit(shape) * 900).astype(np.int64)
    filled = _later(seen, 10, 130, SKEW[seen_on] + SKEW[filled_on], random)
    paid = _later(filled, 20, 200, SKEW[filled_on] + SKEW[paid_on], random)
    recorded = {"View": (everywhere, seen_on, seen), "Cart": (fills, filled_on, filled), "Pay": (pays, paid_on, paid)}
    return {
        name: Step(exists, device, second, true_ticks(second - SKEW[device], second + SKEW[device], random))
        for name, (exists, device, second) in recorded.items()
    }


def _client(unit: Floats) -> Integers:
    device: Integers = np.searchsorted(CLIENT_SHARES, unit, side="right")
    return device


def _later(before: Integers, least: int, most: int, skew: Integers, random: BlockRandom) -> Integers:
    """A time after another one, as recorded by a wrong clock."""
    pause = least + (most - least) * random.unit(before.shape)
    return before + np.rint(pause + 0.6 * skew * random.signed(before.shape)).astype(np.int64)


def _is_ordered(steps: Mapping[str, Step]) -> Booleans:
    """Visits that went through the funnel in order and in time."""
    seen, filled, paid = (steps[name].happened for name in ("View", "Cart", "Pay"))
    ordered: Booleans = steps["Pay"].exists & (seen < filled) & (filled < paid) & (paid - seen <= LIMIT_SECONDS)
    return ordered
