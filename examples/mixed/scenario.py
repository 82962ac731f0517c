"""A warehouse with incomplete data: uncertain zones of pallets, imprecise clocks of forklifts, doors that lose events.

Every shift of a dock is an episode, independent of all others. The scenario contains the recorded data; its variants
contain the true events, and a naive version with the most likely zones, the middle of every interval and the recorded
door events. Recorded times count seconds. The variants count
milliseconds, because a lost door event can have happened between two seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute

from inkling.scenarios.scenario import Streams, Truth

from ..generators.numbering import Column, prefixed
from ..generators.randomness import Integers
from ..generators.readings import Block, blocks_from, steps_per_block
from .shifts import (
    MILLISECONDS,
    N_STEPS,
    ROLES,
    SHIFT_SECONDS,
    ZONES,
    Doors,
    Pickups,
    Readings,
    Tracks,
    draw_shifts,
    draw_tracks,
)

View: TypeAlias = Literal["recorded", "true", "naive"]

BLOCK_SHIFTS = 1 << 12
SLOT_SECONDS = 4 * SHIFT_SECONDS  # shifts of one dock are so far apart that no pattern reaches from one to the next

_TEXT, _WHOLE = pa.string(), pa.int64()
_SHIFT = [("id", _TEXT), ("shift", _TEXT)]
RECORDED = {
    "Seen": pa.schema([*_SHIFT, ("pallet", _TEXT), ("zone", _TEXT), ("t", _WHOLE), ("p", pa.float64())]),
    "Pickup": pa.schema([*_SHIFT, ("t", _WHOLE), ("lo", _WHOLE), ("hi", _WHOLE)]),
    "Forklift": pa.schema([*_SHIFT, ("zone", _TEXT), ("previous_zone", _TEXT), ("t", _WHOLE), ("p", pa.float64())]),
    "Door": pa.schema(
        [*_SHIFT, ("role", _TEXT), ("t", _WHOLE), ("seq", _WHOLE), ("n", _WHOLE), ("opens", _WHOLE), ("closes", _WHOLE)]
    ),
}
CERTAIN = {
    "Seen": pa.schema([*_SHIFT, ("pallet", _TEXT), ("zone", _TEXT), ("t", _WHOLE)]),
    "Pickup": pa.schema([*_SHIFT, ("t", _WHOLE)]),
    "Forklift": pa.schema([*_SHIFT, ("zone", _TEXT), ("t", _WHOLE)]),
    "Door": pa.schema([*_SHIFT, ("role", _TEXT), ("t", _WHOLE)]),
}


class Mixed:
    """Docks with one shift per slot of time; a pallet is seen three times, a row for every zone it may be in.

    Cutting the rows of `Seen` anywhere leaves the stated uncertainty right: a zone whose row is cut off becomes "not
    seen", in the record and in what happened alike.
    """

    main: str = "Seen"

    def __init__(
        self, *, events: int, keys: int | None, seed: int, start: datetime | int | None, view: View = "recorded"
    ) -> None:
        if isinstance(start, datetime):
            raise ValueError(f"the warehouse counts seconds, expected an integer start, found {start=}")
        self.events = events
        self.seed = seed
        self.keys = keys or max(4, min(100, events // 2_000))
        self.view = view
        self.streams: Mapping[str, pa.Schema] = RECORDED if view == "recorded" else CERTAIN
        self._start = start
        self._first_second = 0 if start is None else start
        self._n_recorded = dict.fromkeys(RECORDED, 0)  # numbers rows alike in every view
        self._n_lost = 0
        self._n_shifts = 0
        self._rows = dict.fromkeys(self.streams, 0)

    def tables(self) -> dict[str, pa.Table]:
        return {}

    def variants(self) -> dict[str, Mixed]:
        """The same shifts with true events, and with uncertainty ignored."""
        views: tuple[View, View] = ("true", "naive")
        return {
            view: Mixed(events=self.events, keys=self.keys, seed=self.seed, start=self._start, view=view)
            for view in views
        }

    def truth(self) -> Truth:
        episodes = {"shifts": self._n_shifts, "lost_door_events": self._n_lost}
        return Truth("mixed", self.seed, self.keys, dict(self._rows), episodes)

    def blocks(self) -> Iterator[Streams]:
        for block in blocks_from(self.seed, "mixed", steps_per_block(self.keys, BLOCK_SHIFTS)):
            yield self._block(block)
            if self._n_recorded["Seen"] >= self.events:
                return

    def _block(self, block: Block) -> Streams:
        n_shifts = block.n_steps * self.keys
        drawn = draw_shifts(n_shifts, block.random)
        tracks = draw_tracks(n_shifts, block.random)
        first = block.first_step * self.keys
        begin = self._first_second + SLOT_SECONDS * ((first + np.arange(n_shifts)) // self.keys)
        names = _shift_names(first + np.arange(n_shifts), self.keys)
        seen, n_kept = self._seen(drawn.readings, begin, names)
        self._n_shifts += n_kept
        told = {
            "Seen": seen,
            "Pickup": self._pickup(drawn.pickups, begin, names, n_kept),
            "Forklift": self._forklift(tracks, begin, names, n_kept),
            "Door": self._door(drawn.doors, begin, names, n_kept),
        }
        for stream, rows in told.items():
            self._rows[stream] += rows.num_rows
        return told

    def _seen(self, readings: Readings, begin: Integers, names: pa.Array) -> tuple[pa.RecordBatch, int]:
        """The rows of `Seen`, and how many shifts they reach into."""
        shift, pallet, reading, zone = np.nonzero(readings.percent)
        second = begin[shift] + readings.second[shift, pallet, reading]
        order = np.lexsort((zone, pallet, shift, second))[: self.events - self._n_recorded["Seen"]]
        shift, pallet, reading, zone = shift[order], pallet[order], reading[order], zone[order]
        second = second[order]
        number = self._numbers("Seen", order.size)
        n_kept = int(shift.max()) + 1
        if self.view != "recorded":
            told_zone = readings.zone if self.view == "true" else readings.likeliest
            told = np.nonzero(zone == told_zone[shift, pallet, reading])[0]
            shift, pallet, reading, zone = shift[told], pallet[told], reading[told], zone[told]
            second, number = second[told] * MILLISECONDS, number[told]
        columns: dict[str, Column] = {
            "id": prefixed("S", number),
            "shift": names.take(pa.array(shift)),
            "pallet": pa.array(["pallet1", "pallet2"]).take(pa.array(pallet)),
            "zone": pa.array(ZONES).take(pa.array(zone)),
            "t": second,
            "p": readings.percent[shift, pallet, reading, zone] / 100,
        }
        return self._batch("Seen", columns), n_kept

    def _pickup(self, pickups: Pickups, begin: Integers, names: pa.Array, n_kept: int) -> pa.RecordBatch:
        shift, place = np.nonzero(pickups.exists[:n_kept])
        lo, hi = (begin[shift] + border[shift, place] for border in (pickups.lo, pickups.hi))
        times = {
            "recorded": hi,  # the record cannot be written earlier
            "true": (begin[shift] + pickups.second[shift, place]) * MILLISECONDS,
            "naive": (lo + hi) * MILLISECONDS // 2,
        }
        number = self._numbers("Pickup", shift.size)
        columns: dict[str, Column] = {
            "id": prefixed("P", number),
            "shift": names.take(pa.array(shift)),
            "t": times[self.view],
            "lo": lo,
            "hi": hi,
        }
        return self._batch("Pickup", columns)

    def _forklift(self, tracks: Tracks, begin: Integers, names: pa.Array, n_kept: int) -> pa.RecordBatch:
        if self.view != "recorded":
            told_zone = tracks.zone if self.view == "true" else tracks.likeliest
            shift, step = np.nonzero(np.ones((n_kept, N_STEPS), dtype=np.bool_))
            columns: dict[str, Column] = {
                "id": prefixed("F", self._numbers("Forklift", shift.size)),
                "shift": names.take(pa.array(shift)),
                "zone": pa.array(ZONES).take(pa.array(told_zone[shift, step])),
                "t": (begin[shift] + tracks.second[shift, step]) * MILLISECONDS,
            }
            return self._batch("Forklift", columns)
        first, zone = np.nonzero(tracks.initial[:n_kept])
        follows = tracks.follows[:n_kept] * tracks.possible[:n_kept, :-1, :, None]
        later, step, previous, next_zone = np.nonzero(follows)
        shift = np.concatenate([first, later])
        second = tracks.second[shift, np.concatenate([np.zeros_like(first), step + 1])]
        percent = np.concatenate([tracks.initial[first, zone], follows[later, step, previous, next_zone]])
        columns = {
            "id": prefixed("F", self._numbers("Forklift", shift.size)),
            "shift": names.take(pa.array(shift)),
            "zone": pa.array(ZONES).take(pa.array(np.concatenate([zone, next_zone]))),
            "previous_zone": pa.concat_arrays([pa.nulls(first.size, _TEXT), pa.array(ZONES).take(pa.array(previous))]),
            "t": begin[shift] + second,
            "p": percent / 100,
        }
        return self._batch("Forklift", columns)

    def _door(self, doors: Doors, begin: Integers, names: pa.Array, n_kept: int) -> pa.RecordBatch:
        told = doors.exists if self.view == "true" else doors.recorded
        shift, place = np.nonzero(told[:n_kept])
        is_recorded = doors.recorded[:n_kept]
        n_recorded, n_lost = int(is_recorded.sum()), int((doors.exists[:n_kept] & ~is_recorded).sum())
        number = np.zeros(is_recorded.shape, dtype=np.int64)
        number[is_recorded] = self._numbers("Door", n_recorded)
        number[~is_recorded & doors.exists[:n_kept]] = self._n_lost + np.arange(n_lost)
        self._n_lost += n_lost
        own = number[shift, place]
        ids = pa.compute.if_else(pa.array(is_recorded[shift, place]), prefixed("D", own), prefixed("lost", own))
        ms = begin[shift] * MILLISECONDS + doors.ms[shift, place]
        columns: dict[str, Column] = {
            "id": ids,
            "shift": names.take(pa.array(shift)),
            "role": pa.array(ROLES).take(pa.array(place % len(ROLES))),
            "t": ms // MILLISECONDS if self.view == "recorded" else ms,
            "seq": place + 1,
            "n": doors.count[shift],
            "opens": begin[shift],
            "closes": begin[shift] + SHIFT_SECONDS,
        }
        return self._batch("Door", columns)

    def _numbers(self, stream: str, n_rows: int) -> Integers:
        first = self._n_recorded[stream]
        self._n_recorded[stream] += n_rows
        return np.arange(first, first + n_rows)

    def _batch(self, stream: str, columns: dict[str, Column]) -> pa.RecordBatch:
        """The columns that the view has, in the order of time."""
        schema = self.streams[stream]
        order = pa.array(np.argsort(np.asarray(columns["t"]), kind="stable"))
        arrays = [pa.array(columns[field.name]).cast(field.type).take(order) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _shift_names(numbers: Integers, n_docks: int) -> pa.Array:
    """`dock03-000017` is the eighteenth shift of dock 3."""
    docks = prefixed("dock", numbers % n_docks, width=2)
    return pa.compute.binary_join_element_wise(docks, prefixed("", numbers // n_docks, width=6), "-")
