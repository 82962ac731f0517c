"""Events that open matches hold, with what results will say of them; found by their place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.batch import UNORDERED, EventBatch, Ints

START, END, PLACE, IDS = "@start", "@end", "@place", "@ids"
MANY_PIECES = 24


class KeptEvents:
    """A table in pieces, one for each step that added events; pieces are put together when they become many."""

    __slots__ = ("_n", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[pa.Table] = []
        self._n = 0

    @classmethod
    def of(cls, batch: EventBatch) -> KeptEvents:
        kept = cls()
        kept.append(kept_table(batch, np.arange(len(batch))))
        return kept

    def __len__(self) -> int:
        return self._n

    def append(self, events: pa.Table) -> None:
        if not len(events):
            return
        if self._pieces and self._pieces[-1].schema != events.schema:
            *self._pieces, events = _alike([*self._pieces, events])
        self._pieces.append(events)
        self._n += len(events)
        if len(self._pieces) > MANY_PIECES:
            self._put_together()

    def _put_together(self) -> None:
        """The last pieces become one, as long as it is not small beside the piece before it."""
        first, size = len(self._pieces) - 1, len(self._pieces[-1])
        while first and (len(self._pieces[first - 1]) <= 2 * size or first >= MANY_PIECES // 2):
            first -= 1
            size += len(self._pieces[first])
        self._pieces[first:] = [pa.concat_tables(self._pieces[first:]).combine_chunks()]

    def take(self, places: Ints, also: pa.Table | None = None) -> pa.Table:
        """Some of the events, in this order; `also` follows the others without being kept yet."""
        pieces = self._pieces if also is None or not len(also) else _alike([*self._pieces, also])
        together = pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)
        return together.take(pa.array(places)).combine_chunks()

    def keep_only(self, places: Ints) -> None:
        """Forget the other events; these get their places in this order."""
        if not self._pieces:
            return
        self._pieces = [self.take(places)]
        self._n = len(places)

    def batch(self) -> EventBatch | None:
        """All of them."""
        if not self._pieces:
            return None
        return batch_of(pa.concat_tables(self._pieces).combine_chunks())


def kept_table(batch: EventBatch, rows: Ints) -> pa.Table:
    """Some events of a batch as they are kept; a point's start is its end."""
    names, columns = [END], [pa.array(batch.end[rows])]
    if batch.start is not batch.end:
        names.append(START)
        columns.append(pa.array(batch.start[rows]))
    places = batch.start_place[rows]
    names.append(PLACE)
    columns.append(spelled_places(batch, places))
    take = pa.array(rows)
    names.append(IDS)
    columns.append(_ids(batch, rows, take))
    for name, column in batch.columns.items():
        names.append(name)
        columns.append(column.take(take))
    return pa.Table.from_arrays(columns, names)


def batch_of(events: pa.Table) -> EventBatch:
    """Kept events as a batch for those who read ids, times and columns; the rest is blank."""
    n = len(events)
    end = events[END].to_numpy()
    start = events[START].to_numpy() if START in events.column_names else end
    place, words = _ranked(events[PLACE].combine_chunks())
    ids = events[IDS].combine_chunks()
    if pa.types.is_large_list(ids.type):
        offsets = ids.offsets.to_numpy()
        offsets, ids = offsets - offsets[0], ids.flatten()
    else:
        offsets = np.arange(n + 1)
    blank = np.zeros(n, np.int64)
    return EventBatch(
        blank,
        np.zeros(n, np.int16),
        start,
        place,
        end,
        place,
        end,
        np.arange(n),
        np.broadcast_to(np.uint64(0), (n, MANY_WORDS)),
        {name: events[name].combine_chunks() for name in events.column_names if not name.startswith("@")},
        offsets,
        ids,
        words,
    )


MANY_WORDS = 1 << 16


def spelled_places(batch: EventBatch, places: Ints) -> pa.Array:
    """Places as `ORDER BY` has them, null without one."""
    nowhere = np.abs(places) >= UNORDERED
    if not nowhere.any():
        numbers = pa.array(places)
    else:
        numbers = pa.array(places, mask=nowhere)
    return numbers if batch.place_words is None else batch.place_words.take(numbers)


def _ranked(places: pa.Array) -> tuple[Ints, pa.Array | None]:
    """Places as numbers that compare like them, and the words whose ranks they are, unless they are plain."""
    words = None
    if not pa.types.is_int64(places.type) or _is_wide(places):
        unique = pc.drop_null(pc.unique(places))
        words = unique.take(pc.array_sort_indices(unique))
        places = pc.index_in(places, value_set=words).cast(pa.int64())
    if not places.null_count:
        return np.asarray(places.to_numpy()), words
    return np.asarray(pc.fill_null(places, -int(UNORDERED)).to_numpy(zero_copy_only=False)), words


def _is_wide(places: pa.Array) -> bool:
    border = int(UNORDERED) - 1
    least = pc.min_max(places).as_py()
    return least["min"] is not None and (least["min"] < -border or least["max"] > border)


def _alike(pieces: list[pa.Table]) -> list[pa.Table]:
    """The same pieces with the same columns: what only some need to say is said by all."""
    first = pieces[0].schema
    if all(piece.schema == first for piece in pieces):
        return pieces
    lasting = any(START in piece.column_names for piece in pieces)
    listed = any(pa.types.is_large_list(piece.schema.field(IDS).type) for piece in pieces)
    alike = []
    for piece in pieces:
        if lasting and START not in piece.column_names:
            piece = piece.add_column(1, START, piece[END])
        if listed and not pa.types.is_large_list(piece.schema.field(IDS).type):
            single = piece[IDS].combine_chunks()
            lists = pa.LargeListArray.from_arrays(pa.array(np.arange(len(single) + 1)), single)
            piece = piece.set_column(piece.column_names.index(IDS), IDS, lists)
        alike.append(piece)
    return alike


def _ids(batch: EventBatch, rows: Ints, take: pa.Array) -> pa.Array:
    if len(batch.ids) == len(batch):
        return batch.ids.take(take)
    offsets = pa.array(batch.id_offsets, pa.int64())
    return pa.LargeListArray.from_arrays(offsets, batch.ids).take(take)
