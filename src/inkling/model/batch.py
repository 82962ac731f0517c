"""Columnar batches: `EventBatch`, the input of an evaluator with events of many keys, and `MatchBatch`, its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.model.time import FOREVER as FOREVER

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
UNORDERED = np.int64(2**62)
"""Place of an event without `ORDER BY`: it starts before and ends after all simultaneous events."""


class PickedColumns(Mapping[str, pa.Array]):
    """Selected rows of columns; a column is materialized when it is read."""

    __slots__ = ("_columns", "_found", "_rows")

    def __init__(self, columns: Mapping[str, pa.Array], rows: Ints) -> None:
        self._columns, self._rows = columns, rows
        self._found: dict[str, pa.Array] = {}

    def __getitem__(self, name: str) -> pa.Array:
        if name not in self._found:
            self._found[name] = taken(self._columns[name], self._rows)
        return self._found[name]

    def at(self, name: str, rows: Ints) -> pa.Array:
        """Some of the selected rows of one column; few of them do not materialize all."""
        if name in self._found or 2 * len(rows) > len(self._rows):
            return taken(self[name], rows)
        return self.picked(rows)[name]

    def may_have_nulls(self, name: str) -> bool:
        """Whether a column may have nulls in the selected rows; nothing is materialized."""
        whole = self._found[name] if name in self._found else self._columns.get(name)
        return whole is None or bool(whole.null_count)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def picked(self, rows: Ints) -> PickedColumns:
        return PickedColumns(self._columns, self._rows[rows])

    def between(self, first: int, last: int) -> PickedColumns:
        """The rows from `first` on, before `last`."""
        part = PickedColumns(self._columns, self._rows[first:last])
        part._found = {name: column.slice(first, last - first) for name, column in self._found.items()}
        return part


def in_one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array; Arrow copies even a single chunk."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def taken(column: pa.Array, rows: Ints) -> pa.Array:
    """Selected rows of a column; numbers without nulls take a faster path through NumPy."""
    if column.type in _NUMBERS and not column.null_count:
        return pa.array(column.to_numpy()[rows])
    return column.take(pa.array(rows))


_NUMBERS = (pa.int64(), pa.float64())


def picked(columns: Mapping[str, pa.Array], rows: Ints) -> Mapping[str, pa.Array]:
    """Selected rows of columns."""
    return columns.picked(rows) if isinstance(columns, PickedColumns) else PickedColumns(columns, rows)


def column_at(columns: Mapping[str, pa.Array], name: str, rows: Ints) -> pa.Array:
    """Selected rows of one of the columns."""
    return columns.at(name, rows) if isinstance(columns, PickedColumns) else taken(columns[name], rows)


def has_nulls(columns: Mapping[str, pa.Array], name: str) -> bool:
    """Whether a column has nulls; of selected rows, whether the rows that they were selected from have any."""
    return columns.may_have_nulls(name) if isinstance(columns, PickedColumns) else bool(columns[name].null_count)


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Rows of one stage, sorted by (key, end, place, start, source, id).

    `key` is the code of the partition; codes are stable from batch to batch. `source` indexes the list of inputs of the
    stage. Rows of the same event (a stream and its joins with tables) share `event`, which ascends in canonical order.
    Bit b of `bits[:, w]` is the truth of local condition 64w + b.
    """

    key: Ints
    source: NDArray[np.int16]
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    known: Ints  # time at which the event is known: its end, or later for derived events
    event: Ints
    bits: NDArray[np.uint64]
    columns: Mapping[str, pa.Array]
    id_offsets: Ints
    ids: pa.Array
    place_words: pa.Array | None = None  # if set, places are ranks among these texts
    depth: Ints | None = None  # depth of recursion: results of the same event between this one and other inputs

    def __len__(self) -> int:
        return len(self.key)

    @property
    def has_single_ids(self) -> bool:
        """Whether every event has one id; a derived event has the ids of all events it depends on."""
        if len(self.ids) != len(self.key):
            return False
        return bool((self.id_offsets[1:] - self.id_offsets[:-1] == 1).all())

    def between(self, first: int, last: int) -> EventBatch:
        """The rows from `first` on, before `last`; nothing is copied."""
        offsets = self.id_offsets[first : last + 1]
        columns = self.columns
        if isinstance(columns, PickedColumns):
            columns = columns.between(first, last)
        else:
            columns = {name: column.slice(first, last - first) for name, column in columns.items()}
        part = slice(first, last)
        starts = self.start[part]
        places = self.start_place[part]
        return EventBatch(
            self.key[part],
            self.source[part],
            starts,
            places,
            starts if self.end is self.start else self.end[part],
            places if self.end_place is self.start_place else self.end_place[part],
            self.known[part],
            self.event[part],
            self.bits[part],
            columns,
            offsets - offsets[0],
            self.ids.slice(int(offsets[0]), int(offsets[-1] - offsets[0])),
            self.place_words,
            None if self.depth is None else self.depth[part],
        )

    def take(self, rows: Ints) -> EventBatch:
        """Selected rows, with unchanged event numbers."""
        if self.has_single_ids:
            ends, position = np.arange(len(rows) + 1), rows
        else:
            width = np.diff(self.id_offsets)[rows]
            ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(width)])
            position = np.repeat(self.id_offsets[rows] - ends[:-1], width) + np.arange(ends[-1])
        return EventBatch(
            self.key[rows],
            self.source[rows],
            self.start[rows],
            self.start_place[rows],
            self.end[rows],
            self.end_place[rows],
            self.known[rows],
            self.event[rows],
            _bits_of(self.bits, rows),
            picked(self.columns, rows),
            ends,
            taken(self.ids, position),
            self.place_words,
            None if self.depth is None else self.depth[rows],
        )


def _bits_of(bits: NDArray[np.uint64], rows: Ints) -> NDArray[np.uint64]:
    """The bits of selected rows; a broadcast row stays broadcast."""
    return np.broadcast_to(bits[:1], (len(rows), bits.shape[1])) if _is_broadcast(bits) else bits[rows]


def _bits_of_both(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    if _is_broadcast(first) and _is_broadcast(second) and np.array_equal(first[:1], second[:1]):
        return np.broadcast_to(first[:1], (len(first) + len(second), first.shape[1]))
    return np.concatenate([first, second])


def _is_broadcast(bits: NDArray[np.uint64]) -> bool:
    """Whether one row in memory represents all rows (stride 0)."""
    return len(bits) > 0 and bits.strides[0] == 0


def one_after_the_other(first: EventBatch, second: EventBatch) -> EventBatch:
    """The rows of the first batch, then those of the second, without sorting."""
    if first.place_words is not None or second.place_words is not None:
        words = sorted_words([_places_of(first), _places_of(second)])
        first, second = _ranked_among(first, words), _ranked_among(second, words)

    def both(name: str) -> np.ndarray:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    def columns(one: pa.Array, other: pa.Array) -> pa.Array:
        return pa.chunked_array([one, other], type=one.type).combine_chunks()

    return EventBatch(
        both("key"),
        both("source"),
        both("start"),
        both("start_place"),
        both("end"),
        both("end_place"),
        both("known"),
        both("event"),
        _bits_of_both(first.bits, second.bits),
        {name: columns(first.columns[name], second.columns[name]) for name in first.columns},
        np.concatenate([first.id_offsets, first.id_offsets[-1] + second.id_offsets[1:]]),
        columns(first.ids, second.ids),
        second.place_words,
    )


def _places_of(batch: EventBatch) -> pa.Array:
    """The texts behind the places of a batch, by rank; integers are their own text."""
    if batch.place_words is not None:
        return batch.place_words
    places = np.concatenate([batch.start_place, batch.end_place])
    return pa.array(np.unique(places[np.abs(places) < UNORDERED]))


def sorted_words(places: Sequence[pa.Array], kind: pa.DataType | None = None) -> pa.Array:
    """The distinct values of some columns in ascending order, without null."""
    if not places:
        return pa.array([], kind)
    unique = pc.drop_null(pc.unique(pa.chunked_array(places, kind)))
    return unique.take(pc.array_sort_indices(unique))


def _ranked_among(batch: EventBatch, words: pa.Array) -> EventBatch:
    """The same rows with places as ranks among a larger set of texts."""

    def ranked(places: Ints) -> Ints:
        somewhere = np.abs(places) < UNORDERED
        if not somewhere.any():
            return places
        plain = pa.array(places[somewhere])
        standing = plain if batch.place_words is None else batch.place_words.take(plain)
        out = places.copy()
        out[somewhere] = pc.index_in(standing, value_set=words).to_numpy(zero_copy_only=False)
        return out

    return replace(batch, start_place=ranked(batch.start_place), end_place=ranked(batch.end_place), place_words=words)


@dataclass(frozen=True, slots=True)
class MatchBatch:
    """Results of one event: `values` by output name, `lineage` a list of event ids per result.

    Places are those of the event batch, or ranks among `place_words` if there are any.
    """

    event: str
    key: Ints
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    detected_at: Ints
    values: Mapping[str, pa.Array]
    lineage: pa.ListArray
    place_words: pa.Array | None = None
    depth: Ints | None = None  # depth of recursion, for results that may depend on each other
    owner: NDArray[np.uint64] | None = None  # hashes of the partition keys, if requested

    def places(self, ranks: Ints) -> pa.Array:
        """Places as in rows of a stage: integers, or the texts behind ranks; null without a place."""
        plain = pa.array(ranks, mask=np.abs(ranks) >= UNORDERED)
        return plain if self.place_words is None else self.place_words.take(plain)

    def standing_places(self) -> pa.Array:
        """The texts behind the places of all results."""
        return self.places(np.concatenate([self.start_place, self.end_place]))

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: Ints) -> MatchBatch:
        """Results by row number, in this order."""
        chosen = pa.array(rows)
        return self._chosen(rows, lambda column: column.take(chosen))

    def where(self, mask: NDArray[np.bool_]) -> MatchBatch:
        """Results by mask."""
        chosen = pa.array(mask)
        return self._chosen(mask, lambda column: column.filter(chosen))

    def _chosen(self, rows: Ints | NDArray[np.bool_], of: Callable[[pa.Array], pa.Array]) -> MatchBatch:
        return MatchBatch(
            self.event,
            self.key[rows],
            self.start[rows],
            self.start_place[rows],
            self.end[rows],
            self.end_place[rows],
            self.detected_at[rows],
            {name: of(column) for name, column in self.values.items()},
            of(self.lineage),
            self.place_words,
            None if self.depth is None else self.depth[rows],
            None if self.owner is None else self.owner[rows],
        )


def joined_matches(batches: Sequence[MatchBatch]) -> MatchBatch:
    """Results of one event from several batches, in canonical order of time within each key."""
    if len(batches) == 1:
        return batches[0]
    if any(batch.place_words is not None for batch in batches):
        words = sorted_words([batch.standing_places() for batch in batches])
        batches = [_with_words(batch, words) for batch in batches]

    found = one_after_another(batches)
    return found.take(np.lexsort((found.start_place, found.start, found.end_place, found.end, found.key)))


def one_after_another(batches: Sequence[MatchBatch]) -> MatchBatch:
    """Results of one event from several batches with the same `place_words`, without sorting."""

    def every(name: str) -> np.ndarray:
        return np.concatenate([getattr(batch, name) for batch in batches])

    return MatchBatch(
        batches[0].event,
        every("key"),
        every("start"),
        every("start_place"),
        every("end"),
        every("end_place"),
        every("detected_at"),
        {name: pa.concat_arrays([batch.values[name] for batch in batches]) for name in batches[0].values},
        pa.concat_arrays([batch.lineage for batch in batches]),
        batches[0].place_words,
        owner=None if any(batch.owner is None for batch in batches) else every("owner"),
    )


def _with_words(batch: MatchBatch, words: pa.Array) -> MatchBatch:
    def ranked(places: Ints) -> Ints:
        found = pc.index_in(batch.places(places), value_set=words)
        known = found.is_valid().to_numpy(zero_copy_only=False)
        return np.where(known, pc.fill_null(found, 0).to_numpy(zero_copy_only=False), places)

    return replace(batch, start_place=ranked(batch.start_place), end_place=ranked(batch.end_place), place_words=words)
