"""Roads on which traffic is slow: three uncertain reports of each incident, in the terms of `roads.ttl`.

There is one incident in four hours, so that no report belongs to two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Numbering, prefixed
from ..generators.randomness import BlockRandom, drawn_below
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us

DEFAULT_START = datetime(2026, 1, 5, tzinfo=UTC)
SLOT_MINUTES = 240
HOUR_MINUTES = 60
N_REPORTS = 3
BLOCK_INCIDENTS = 4_096
OBSERVATIONS = 8
COUNTED = (0, 1, 2, 3, 4)  # causes by the ontology, with a speed; 5 and 6 are no causes, 7 has no speed
TERM = "http://traffic.example.org/"

STREAMS = {
    "triple": pa.schema(
        [
            ("id", pa.int64()),
            ("s", pa.string()),
            ("p", pa.string()),
            ("o", pa.string()),
            ("t", TIMESTAMP),
            ("prob", pa.float64()),
        ]
    )
}


class TrafficRdf:
    """Incidents one after the other; the second and the third report may come more than an hour late."""

    main: str = "triple"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or 20
        self._start = start_us(start, DEFAULT_START)
        self._out = Numbering(STREAMS)
        self._found = 0

    def tables(self) -> dict[str, pa.Table]:
        return {}

    def truth(self) -> Truth:
        found = {"slow": self._found}
        return Truth("traffic_rdf", self.seed, self.keys, dict(self._out.rows), found, found)

    def blocks(self) -> Iterator[Streams]:
        block = 0
        while self._out.rows["triple"] < self.events:
            block += 1
            yield self._block(block)

    def _block(self, block: int) -> Streams:
        random = BlockRandom(self.seed, "traffic_rdf", block)
        road = drawn_below(self.keys, random.unit((BLOCK_INCIDENTS,)))
        observation = drawn_below(OBSERVATIONS, random.unit((BLOCK_INCIDENTS,)))
        # the second report comes 5 to 44 minutes after the first one, the third 20 to 89 minutes later
        second = 5 + drawn_below(40, random.unit((BLOCK_INCIDENTS,)))
        third = second + 20 + drawn_below(70, random.unit((BLOCK_INCIDENTS,)))
        minutes = np.stack([np.zeros_like(second), second, third], axis=1)
        prob = 0.5 + 0.05 * drawn_below(11, random.unit(minutes.shape))

        left = min(minutes.size, self.events - self._out.rows["triple"])
        is_kept = np.arange(minutes.size).reshape(minutes.shape) < left
        is_counted = np.isin(observation, COUNTED)
        for first in range(N_REPORTS):
            for later in range(first + 1, N_REPORTS):
                is_soon = minutes[:, later] - minutes[:, first] < HOUR_MINUTES
                self._found += int(np.count_nonzero(is_soon & is_counted & is_kept[:, later]))

        slot = np.arange(BLOCK_INCIDENTS) + (block - 1) * BLOCK_INCIDENTS
        t = self._start + (slot[:, None] * SLOT_MINUTES + minutes) * MINUTE_US
        columns = {
            "s": _iris("A", np.repeat(road, N_REPORTS)[:left]),
            "p": pa.array([f"<{TERM}slowTrafficDue>"] * left),
            "o": _iris("observation", np.repeat(observation, N_REPORTS)[:left]),
            "t": t.ravel()[:left],
            "prob": np.round(prob.ravel()[:left], 2),
        }
        return {"triple": self._out.batch("triple", columns)}


def _iris(name: str, numbers: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise(f"<{TERM}", prefixed(name, numbers.astype(np.int64)), ">", "")
