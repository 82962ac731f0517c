"""People with tags on a corridor: readings of antennas, and the doors that people really pass.

Ten cells of hallway have a room behind each. Only four cells have an antenna, which misses many tags; `Door`
holds the true movements. The tables `movement`, `readers` and `prior` hold the probabilities of movements and readings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Numbering, prefixed
from ..generators.readings import Block, blocks_from, latest_of, previous_of, steps_per_block
from .corridor import COFFEE_ROOM, HALL, LOCATIONS, OFFICES, READERS, Antennas, Walkers, movement, readers

BLOCK_ROWS = 1 << 14
NOWHERE = -1

STREAMS = {
    "Reading": pa.schema([("id", pa.int64()), ("person", pa.string()), ("t", pa.int64()), ("reader", pa.string())]),
    "Door": pa.schema([("id", pa.string()), ("person", pa.string()), ("room", pa.string()), ("t", pa.int64())]),
}


class Building:
    """People on one floor, who begin in their offices."""

    main: str = "Reading"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        if isinstance(start, datetime):
            raise ValueError(f"the building counts seconds, expected an integer start, found {start=}")
        self.events = events
        self.seed = seed
        self.keys = keys or max(4, min(600, int(0.54 * events**0.5)))  # more people, for longer
        self._first_second = 1 if start is None else start
        self._out = Numbering(STREAMS)
        self._names = prefixed("person", np.arange(self.keys), width=3)
        offices = np.array([LOCATIONS.index(room) for room in OFFICES])
        self._office = offices[np.arange(self.keys) % offices.size]
        self._walkers = Walkers(self._office)
        self._antennas = Antennas()
        self._at = np.full(self.keys, NOWHERE)
        self._came_from = np.full(self.keys, NOWHERE)
        self._counts = {"coffee_visit": 0, "coffee_break": 0}

    def tables(self) -> dict[str, pa.Table]:
        kind = dict.fromkeys(HALL, "hallway") | dict.fromkeys(OFFICES, "office") | {COFFEE_ROOM: "coffee"}
        return {
            "rooms": pa.table({"room": LOCATIONS, "kind": [kind[room] for room in LOCATIONS]}),
            "offices": pa.table({"person": self._names, "room": _room_names(self._office)}),
        }

    def extra_tables(self) -> dict[str, pa.Table]:
        """What inference reads."""
        prior = pa.table({"state": OFFICES, "p": np.full(len(OFFICES), 1 / len(OFFICES))})
        return {"movement": movement(), "readers": readers(), "prior": prior}

    def truth(self) -> Truth:
        counts = dict(self._counts)
        return Truth("building", self.seed, self.keys, dict(self._out.rows), counts, counts)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "building", steps_per_block(self.keys, BLOCK_ROWS)):
            yield self._block(block)
            if self._out.rows["Reading"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        path = self._walkers.walk(block.random, block.n_steps)
        is_read = self._antennas.read(path, block.random)
        step, person, antenna = (axis[: self._remaining()] for axis in np.nonzero(is_read))
        is_cut = self._remaining() <= step.size
        n_steps = int(step[-1]) + 1 if is_cut else block.n_steps
        columns = {
            "person": self._names.take(pa.array(person)),
            "t": self._first_second + block.first_step + step,
            "reader": pa.array(READERS).take(pa.array(antenna)),
        }
        return {"Reading": self._out.batch("Reading", columns), "Door": self._doors(path[:n_steps], block.first_step)}

    def _remaining(self) -> int:
        return self.events - self._out.rows["Reading"]

    def _doors(self, path: npt.NDArray[np.intp], first_step: int) -> pa.RecordBatch:
        enters = path != previous_of(path, self._at)
        in_room = enters & (path >= len(HALL))
        came_from = previous_of(latest_of(path, in_room, self._came_from), self._came_from)
        for_coffee = enters & (path == LOCATIONS.index(COFFEE_ROOM))
        self._counts["coffee_visit"] += int(np.count_nonzero(for_coffee))
        self._counts["coffee_break"] += int(np.count_nonzero(for_coffee & (came_from == self._office)))
        self._at, self._came_from = path[-1], latest_of(path, in_room, self._came_from)[-1]
        step, person = np.nonzero(enters)
        columns = {
            "person": self._names.take(pa.array(person)),
            "room": _room_names(path[step, person]),
            "t": self._first_second + first_step + step,
        }
        return self._out.batch("Door", columns)


def _room_names(places: npt.NDArray[np.intp]) -> pa.Array:
    return pa.array(LOCATIONS).take(pa.array(places))
