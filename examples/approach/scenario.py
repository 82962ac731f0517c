"""Vessels around one port whose distance from it follows a known Markov chain of order 2.

Distances fall into four bands: harbor (below 5 km), inner (5 to 7 km), outer (7 to 10 km) and far. From one report to
the next a vessel stays in its band or moves to a neighboring one. Which of these it does depends on its last two bands,
through the direction of its last move, and on nothing else:

| last move | inward | stay | outward |
|---|---|---|---|
| inward | 10/16 | 4/16 | 2/16 |
| none | 3/16 | 10/16 | 3/16 |
| outward | 2/16 | 4/16 | 10/16 |

A vessel in the harbor cannot move further inward, nor one in the far band outward; it stays. So a model of order 2 is
exact, a model of higher order is not better, and a model of lower order is wrong. Positions within a band, and
bearings, do not influence the future.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Numbering
from ..generators.places import SOUTHWEST, offset_position
from ..generators.randomness import BlockRandom, Booleans, Draws, Integers
from ..generators.readings import TIMESTAMP, Block, MinuteClock, arrival_order, blocks_from, start_us, steps_per_block

BANDS = ("harbor", "inner", "outer", "far")
HARBOR, INNER, OUTER, FAR = range(4)
NEAREST_M = np.array([500.0, 5_200.0, 7_200.0, 10_200.0])
FARTHEST_M = np.array([4_800.0, 6_800.0, 9_800.0, 14_000.0])
"""Distances of vessels in each band, clear of its edges, so that their band is unambiguous."""

MOVES = {-1: (10, 4, 2), 0: (3, 10, 3), 1: (2, 4, 10)}
"""By direction of the last move: how many times in sixteen the next one is inward, none, outward."""
SIXTEENTHS = 12  # bits of a draw that are left out

FIRST_MMSI = 200_000_001
STREAMS = {
    "Position": pa.schema(
        [("id", pa.int64()), ("mmsi", pa.int64()), ("t", TIMESTAMP), ("lon", pa.float64()), ("lat", pa.float64())]
    )
}


def law() -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
    """[band before, band now, next band]: its probability."""
    chances = np.zeros((4, 4, 4))
    for before in range(4):
        for now in range(4):
            for move, sixteenths in zip((-1, 0, 1), MOVES[int(np.sign(now - before))], strict=True):
                chances[before, now, min(max(now + move, HARBOR), FAR)] += sixteenths / 16
    return chances


class Approach:
    """Vessels that report their position once a minute."""

    main: str = "Position"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(5, min(2_000, events // 1_000))
        self._out = Numbering(STREAMS)
        setup = BlockRandom(seed, "approach", 0)
        self._clock = MinuteClock(self.keys, setup, start_us(start, datetime(2024, 1, 8)))
        self._successor = _successors()
        self._pair = np.full(self.keys, 4 * FAR + FAR, np.int64)  # the last two bands
        self._bearing = setup.unit((self.keys,)) * 2 * np.pi
        self._stage = np.zeros(self.keys, np.int64)  # of the approach: none, outer, inner
        self._approaches = 0

    def tables(self) -> dict[str, pa.Table]:
        """The exact transition probabilities of the process."""
        before, now, then = np.nonzero(law() > 0)
        named = {"before": before, "now": now, "next": then}
        columns = {name: pa.array(BANDS).take(pa.array(band)) for name, band in named.items()}
        return {"law": pa.table({**columns, "probability": law()[before, now, then]})}

    def truth(self) -> Truth:
        found = {"approaching_port": self._approaches}
        return Truth("approach", self.seed, self.keys, dict(self._out.rows), found, found)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "approach", steps_per_block(self.keys)):
            yield self._block(block)
            if self._out.rows["Position"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        shape = (block.n_steps, self.keys)
        bands = self._sail(block.random.bits(shape))
        within, turns = block.random.unit(shape), block.random.signed(shape)
        away_m = NEAREST_M[bands] + within * (FARTHEST_M - NEAREST_M)[bands]
        bearing = self._bearing + np.cumsum(turns * 0.2, axis=0)
        self._bearing = bearing[-1]
        port = (np.full(shape, SOUTHWEST[0]), np.full(shape, SOUTHWEST[1]))
        lat, lon = offset_position(*port, away_m * np.sin(bearing), away_m * np.cos(bearing))

        offsets_ms = self._clock.offsets_ms(block.random.bits(shape), np.ones(shape, np.bool_))
        order = arrival_order(offsets_ms)[: self.events - self._out.rows["Position"]]
        kept = np.zeros(lat.size, np.bool_)
        kept[order] = True
        self._approaches += self._arrived(bands, kept.reshape(shape))
        columns = {
            "mmsi": FIRST_MMSI + 7 * (order % self.keys),
            "t": self._clock.times_us(block, offsets_ms).ravel()[order],
            "lon": lon.ravel()[order],
            "lat": lat.ravel()[order],
        }
        return {"Position": self._out.batch("Position", columns)}

    def _sail(self, draws: Draws) -> Integers:
        """The next bands of all vessels, a row per report."""
        bands = np.empty(draws.shape, np.int64)
        choice = (draws >> SIXTEENTHS).astype(np.int64)
        pair = self._pair
        for row, chosen in zip(bands, choice, strict=True):
            np.take(self._successor, pair * 16 + chosen, out=row)
            pair = pair % 4 * 4 + row
        self._pair = pair
        return bands

    def _arrived(self, bands: Integers, kept: Booleans) -> int:
        """Vessels that came into the harbor from the outer band through the inner one, without any other in between."""
        n_arrived = 0
        for band, is_told in zip(bands, kept, strict=True):
            n_arrived += int(np.count_nonzero((self._stage == 2) & (band == HARBOR) & is_told))
            on_the_way = (band == INNER) & (self._stage > 0)
            self._stage = np.where(band == OUTER, 1, np.where(on_the_way, 2, 0))
        return n_arrived


def _successors() -> Integers:
    """[last two bands, draw of sixteen]: the next band, in one row."""
    sixteenths = np.rint(law().reshape(16, 4) * 16).astype(np.int64)
    return np.concatenate([np.repeat(np.arange(4), row) for row in sixteenths])
