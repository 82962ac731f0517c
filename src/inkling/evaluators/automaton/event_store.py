"""The events of open runs, by place: ids, times and columns for the results that will name them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage.rows.batches import is_wide
from inkling.model.batch import UNORDERED, EventBatch, Ints, picked, sorted_words, taken

_SPARE_ROWS = 64
_MANY_WORDS = 1 << 16


class Growing:
    """A column that grows at its end in amortized constant time per value."""

    __slots__ = ("_kind", "_n", "_valid", "_values")

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._n = 0
        self._values: np.ndarray = np.empty(_SPARE_ROWS, _DTYPES.get(kind, np.dtype(object)))
        self._valid: np.ndarray | None = None  # None while there are no nulls

    def append(self, array: pa.Array) -> None:
        first, self._n = self._n, self._n + len(array)
        if self._n > len(self._values):
            self._values = _longer(self._values, 2 * self._n)
            if self._valid is not None:
                self._valid = _longer(self._valid, 2 * self._n)
        if not array.null_count and self._valid is None and self._values.dtype != object:
            self._values[first : self._n] = array.to_numpy(zero_copy_only=False)
            return
        if array.null_count and self._values.dtype != object:
            if self._valid is None:
                self._valid = np.ones(len(self._values), bool)
            self._valid[first : self._n] = array.is_valid().to_numpy(zero_copy_only=False)
            array = pc.fill_null(array, pa.scalar(0, pa.int64()).cast(array.type))
        elif self._valid is not None:
            self._valid[first : self._n] = True
        self._values[first : self._n] = array.to_numpy(zero_copy_only=False)

    def extend(self, values: np.ndarray) -> None:
        """Appends values of the type of the column, without nulls."""
        first, self._n = self._n, self._n + len(values)
        if self._n > len(self._values):
            self._values = _longer(self._values, 2 * self._n)
        self._values[first : self._n] = values

    def last(self) -> int:
        return int(self._values[self._n - 1])

    def take(self, places: Ints) -> pa.Array:
        values = self._values[places]
        if self._valid is None:
            return pa.array(values, self._kind)
        return pa.array(values, self._kind, mask=~self._valid[places])

    def numbers(self, places: Ints) -> Ints:
        """Integers without nulls."""
        return np.asarray(self._values[places], dtype=np.int64)

    def keep_only(self, places: Ints) -> None:
        self._values = self._values[places]
        if self._valid is not None:
            self._valid = self._valid[places]
        self._n = len(places)

    def cut(self, n: int) -> None:
        self._n = n


_DTYPES = {pa.int64(): np.dtype(np.int64), pa.float64(): np.dtype(np.float64), pa.bool_(): np.dtype(bool)}


class EventStore:
    """Ids, times and columns of events by place."""

    __slots__ = ("_columns", "_end", "_id_end", "_ids", "_n", "_place", "_start")

    def __init__(self) -> None:
        self._n = 0
        self._start, self._end, self._id_end = Growing(pa.int64()), Growing(pa.int64()), Growing(pa.int64())
        self._place: Growing | None = None
        self._ids: Growing | None = None
        self._columns: dict[str, Growing] = {}

    @classmethod
    def of(cls, batch: EventBatch) -> EventStore:
        kept = cls()
        kept.append(batch, np.arange(len(batch)))
        return kept

    def __len__(self) -> int:
        return self._n

    def append(self, batch: EventBatch, rows: Ints) -> None:
        """Add some events of a batch."""
        if not len(rows):
            return
        places = place_texts(batch, batch.start_place[rows])
        columns = picked(batch.columns, rows)
        if self._place is None or self._ids is None:
            self._place, self._ids = Growing(places.type), Growing(batch.ids.type)
            self._columns = {name: Growing(column.type) for name, column in columns.items()}
        n_ids = self._id_end.last() if self._n else 0
        self._n += len(rows)
        self._start.extend(batch.start[rows])
        self._end.extend(batch.end[rows])
        self._place.append(places)
        if batch.has_single_ids:
            self._id_end.extend(np.arange(n_ids + 1, n_ids + 1 + len(rows)))
            self._ids.append(taken(batch.ids, rows))
        else:
            some = batch.take(rows)
            self._id_end.extend(some.id_offsets[1:] + n_ids)
            self._ids.append(some.ids)
        for name, column in self._columns.items():
            column.append(columns[name])

    def take(self, places: Ints) -> EventBatch:
        """Some of the events as a batch with ids, times and columns; keys and predicate masks are zero."""
        assert self._place is not None
        assert self._ids is not None
        n = len(places)
        end = self._end.numbers(places)
        offsets, id_places = self._id_places(places)
        place, words = _ranked(self._place.take(places))
        return EventBatch(
            np.zeros(n, np.int64),
            np.zeros(n, np.int16),
            self._start.numbers(places),
            place,
            end,
            place,
            end,
            np.arange(n),
            np.broadcast_to(np.uint64(0), (n, _MANY_WORDS)),
            {name: column.take(places) for name, column in self._columns.items()},
            offsets,
            self._ids.take(id_places),
            words,
        )

    def keep_only(self, places: Ints) -> None:
        """Drops all other events; these get places in this order."""
        if not self._n:
            return
        offsets, id_places = self._id_places(places)
        for column in (self._start, self._end, self._place, *self._columns.values()):
            assert column is not None
            column.keep_only(places)
        assert self._ids is not None
        self._ids.keep_only(id_places)
        self._id_end.cut(0)
        self._id_end.extend(offsets[1:])
        self._n = len(places)

    def cut(self, n: int) -> None:
        """Drops all but the first n events."""
        if n == self._n:
            return
        n_ids = int(self._id_end.numbers(np.array([n - 1]))[0]) if n else 0
        for column in (self._start, self._end, self._place, self._id_end, *self._columns.values()):
            assert column is not None
            column.cut(n)
        assert self._ids is not None
        self._ids.cut(n_ids)
        self._n = n

    def batch(self) -> EventBatch | None:
        """All events; None if there are none."""
        return self.take(np.arange(self._n)) if self._n else None

    def _id_places(self, places: Ints) -> tuple[Ints, Ints]:
        ends = self._id_end.numbers(places)
        begins = np.where(places > 0, self._id_end.numbers(np.maximum(places - 1, 0)), 0)
        width = ends - begins
        offsets = np.zeros(len(places) + 1, np.int64)
        np.cumsum(width, out=offsets[1:])
        if (width == 1).all():
            return offsets, begins
        return offsets, np.repeat(begins - offsets[:-1], width) + np.arange(offsets[-1])


def place_texts(batch: EventBatch, places: Ints) -> pa.Array:
    """Values of ORDER BY; null without one."""
    nowhere = np.abs(places) >= UNORDERED
    numbers = pa.array(places, mask=nowhere) if nowhere.any() else pa.array(places)
    return numbers if batch.place_words is None else batch.place_words.take(numbers)


def _ranked(places: pa.Array) -> tuple[Ints, pa.Array | None]:
    """Places as integers in the same order, and the sorted values whose ranks they are, unless they are integers."""
    words = None
    if not pa.types.is_int64(places.type) or is_wide(places):
        words = sorted_words([places])
        places = pc.index_in(places, value_set=words).cast(pa.int64())
    if not places.null_count:
        return np.asarray(places.to_numpy()), words
    return np.asarray(pc.fill_null(places, -int(UNORDERED)).to_numpy(zero_copy_only=False)), words


def _longer(column: np.ndarray, size: int) -> np.ndarray:
    longer = np.zeros(size, column.dtype)
    longer[: len(column)] = column
    return longer
