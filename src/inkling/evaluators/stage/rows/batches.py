"""From stage rows to an event batch: key codes, canonical order, event numbers.

The canonical order is (key, end, place of ORDER BY, start, source, id). Rows of one event, for example one per table
fact, have the same event number.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.kernels.columns.canonical import canonical_order, places_by_key, put, put_numbers, rise_in_keys
from inkling.model.batch import UNORDERED, EventBatch, Ints, has_nulls, in_one_array, picked, sorted_words, taken
from inkling.model.keys import codes_of, encoded
from inkling.model.runs import ranges
from inkling.physical.plan import LeafTest, Stage


def key_codes(table: pa.Table, n_key_columns: int) -> tuple[Ints, pa.Table]:
    """The code of the key of each stage row, and the keys by code; equality of keys is that of `model.keys`."""
    n = len(table)
    if n_key_columns == 0:
        return np.zeros(n, np.int64), pa.table({"@": pa.nulls(1)})
    names = [r.key_name(i) for i in range(n_key_columns)]
    if n_key_columns == 1:
        code, keys = encoded(table[names[0]])
        return code, pa.table({names[0]: keys})
    code, n_keys = codes_of((table[name] for name in names), n)
    first = np.full(n_keys, n)
    np.minimum.at(first, code, np.arange(n))
    return code, table.select(names).take(pa.array(first))


def event_batch(stage: Stage, table: pa.Table, key: Ints) -> EventBatch:
    """Stage rows as a batch of events in canonical order."""
    return event_batch_and_order(stage, table, key)[0]


def event_batch_and_order(stage: Stage, table: pa.Table, key: Ints) -> tuple[EventBatch, Ints]:
    """The batch, and the row number of each of its events."""
    table = in_one_piece(table)
    if len(table) and _is_plain(stage):
        plain = _plain_batch(stage, table, key)
        if plain is not None:
            return plain
    source = source_numbers(table)
    end = table[r.END].chunk(0).to_numpy() if len(table) else np.empty(0, np.int64)
    start, known = _filled(table, r.START, end), _filled(table, r.KNOWN, end)
    table, words = _with_ranked_places(stage, table)
    start_place, end_place = _places(stage, table, source)
    start_place_too = None if start_place is end_place else start_place
    order, event = _canonical(stage, table, key, source, start, end, end_place, start_place_too)
    id_offsets, ids = _ids(table, order)
    # reordering is the most expensive part here, because rows of a key lie far apart: no column twice, none unneeded
    source, ends = source[order] if len(stage.inputs) > 1 else np.zeros(len(order), np.int16), end[order]
    places = _ordered_places(stage, source, start_place, end_place, order)
    batch = EventBatch(
        key[order],
        source,
        ends if start is end else start[order],
        places[0],
        ends,
        places[1],
        ends if known is end else known[order],
        event,
        _bits(stage, table, order),
        picked({name: in_one_array(table[name]) for name in r.columns_of(stage)}, order),
        id_offsets,
        ids,
        words,
        _filled(table, r.DEPTH, np.zeros(len(table), np.int64))[order] if r.DEPTH in table.column_names else None,
    )
    return batch, order


def _is_plain(stage: Stage) -> bool:
    """Whether all rows are points of one stream, with at most integer places."""
    if len(stage.inputs) > 1 or stage.text_places:
        return False
    return not stage.inputs[0].interval and not stage.inputs[0].is_derived


def _plain_batch(stage: Stage, table: pa.Table, key: Ints) -> tuple[EventBatch, Ints] | None:
    """The batch of a plain stage; None if places are null or too large."""
    end = table[r.END].chunk(0).to_numpy()
    if stage.inputs[0].ordered:
        column = table[r.PLACE].chunk(0)
        if column.null_count or is_wide(column):
            return None
        place = column.to_numpy()
    else:
        place = np.zeros(len(end), np.int64)
    is_ordered = stage.inputs[0].ordered
    ids, columns = table[r.ID].chunk(0), {name: table[name].chunk(0) for name in r.columns_of(stage)}
    places = places_by_key(key, int(key.max()) + 1)
    keys, ends, at = put(key, places), put(end, places), put(place, places) if is_ordered else place
    if rise_in_keys(keys, ends, at):
        n, order = len(end), put_numbers(places)
        event = np.arange(n)
        words = [put(word, places) for word in _words(stage, table)]
    else:
        order, event = _canonical(stage, table, key, np.zeros(len(end), np.int16), end, end, place)
        n, keys, ends, at = len(order), key[order], end[order], place[order]
        words = [word[order] for word in _words(stage, table)]
    starts_at, ends_at = (at, at) if is_ordered else (np.full(n, -UNORDERED), np.full(n, UNORDERED))
    of_places = is_ordered and _is_same(ids, table[r.PLACE].chunk(0))
    batch = EventBatch(
        keys,
        np.zeros(n, np.int16),
        ends,
        starts_at,
        ends,
        ends_at,
        ends,
        event,
        _side_by_side(words),
        picked(columns, order),
        np.arange(n + 1),
        pa.array(at) if of_places else taken(ids, order),
    )
    return batch, order


def _is_same(one: pa.Array, other: pa.Array) -> bool:
    """Whether two columns without nulls lie at the same place in memory."""
    places = [(each.type, each.offset, each.buffers()[-1].address) for each in (one, other)]
    return places[0] == places[1] and not one.null_count


def _places(stage: Stage, table: pa.Table, source: NDArray[np.int16]) -> tuple[Ints, Ints]:
    """Places of start and end; 0 for rows of inputs without ORDER BY."""
    nowhere = np.zeros(len(table), np.int64)
    ordered = np.array([one.ordered for one in stage.inputs], bool)
    if not ordered.any():
        return nowhere, nowhere
    start_place = _filled(table, r.PLACE, nowhere)
    end_place = _filled(table, r.END_PLACE, start_place)
    if ordered.all():
        return start_place, end_place
    both = start_place is end_place
    start_place = np.where(ordered[source], start_place, 0)
    return start_place, start_place if both else np.where(ordered[source], end_place, 0)


def _ordered_places(
    stage: Stage, source: NDArray[np.int16], start_place: Ints, end_place: Ints, order: Ints
) -> tuple[Ints, Ints]:
    """Places in canonical order. A row without a place starts before, and ends after, all simultaneous rows."""
    ordered = np.array([one.ordered for one in stage.inputs], bool)
    if not ordered.any():
        return np.full(len(order), -UNORDERED), np.full(len(order), UNORDERED)
    starts = start_place[order]
    ends = starts if end_place is start_place else end_place[order]
    if ordered.all():
        return starts, ends
    return np.where(ordered[source], starts, -UNORDERED), np.where(ordered[source], ends, UNORDERED)


def _with_ranked_places(stage: Stage, table: pa.Table) -> tuple[pa.Table, pa.Array | None]:
    """Places that are texts or very large as ranks, and the sorted places whose ranks they are."""
    names = [name for name in (r.PLACE, r.END_PLACE) if table.schema.get_field_index(name) >= 0]
    columns = [in_one_array(table[name]) for name in names]
    if not stage.text_places and not any(is_wide(column) for column in columns):
        return table, None
    words = sorted_words(columns, r.place_type(stage))
    for name, column in zip(names, columns, strict=True):
        ranks = pc.index_in(column, value_set=words).cast(pa.int64())
        table = table.set_column(table.column_names.index(name), name, ranks)
    return table, words


def is_wide(places: pa.Array) -> bool:
    """Whether places are as large as the markers of missing places."""
    border = int(UNORDERED) - 1
    if places.null_count == len(places):
        return False
    if places.null_count:
        places = places.drop_null()
    numbers = places.to_numpy()
    return bool(len(numbers) and (numbers.min() < -border or numbers.max() > border))


def source_numbers(table: pa.Table) -> NDArray[np.int16]:
    """The input of each row; rows of a stage with one input have no such column."""
    if r.SOURCE not in table.column_names:
        return np.zeros(len(table), np.int16)
    return np.asarray(table[r.SOURCE].to_numpy(), dtype=np.int16)


def _filled(table: pa.Table, name: str, otherwise: Ints) -> Ints:
    """A column of integers, with nulls, or the whole column if it is missing, replaced."""
    if name not in table.column_names:
        return otherwise
    column = in_one_array(table[name])
    if not column.null_count:
        return np.asarray(column.to_numpy(), dtype=np.int64)
    present = column.is_valid().to_numpy(zero_copy_only=False)
    return np.where(present, pc.fill_null(column, 0).to_numpy(zero_copy_only=False), otherwise)


def _canonical(
    stage: Stage,
    table: pa.Table,
    key: Ints,
    source: np.ndarray,
    start: Ints,
    end: Ints,
    place: Ints,
    start_place: Ints | None = None,
) -> tuple[Ints, Ints]:
    """Sort order by (key, end, place, start, its place, source, id) and the number of the event each row stands for.

    Rows of a stream and of its joins with tables share event numbers. Of several rows of one stream with the same id,
    key and time, one is kept; of results of one event, also with the same values.
    """
    if len(stage.inputs) == 1:
        rank = np.zeros(len(key), np.int64)
    else:
        names = sorted({one.source for one in stage.inputs})
        rank = np.array([names.index(one.source) for one in stage.inputs], np.int64)[source]
    if len(key) == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    if start_place is not None:
        rank = np.unique(start_place, return_inverse=True)[1] * len(stage.inputs) + rank
    n_keys = int(key.max()) + 1 if len(key) else 0
    order, tied = canonical_order(key, n_keys, end, place, start, rank)
    if not tied.any():
        return order, np.arange(len(order))
    same = np.zeros(len(order), bool)
    chosen = np.flatnonzero(tied | np.append(tied[1:], False))
    rows = order[chosen]
    run = np.cumsum(~tied[chosen]) - 1
    ids, keys = _id_rank(stage, table, rows), _key_rank(stage, table, rows)
    values = _value_rank(stage, table, rows, source[rows])
    n_runs = int(run[-1]) + 1
    inner, alike = canonical_order(run, n_runs, ids, values, keys, source[rows].astype(np.int64))
    _by_content(stage, table, rows, inner, alike)
    order[chosen] = rows[inner]
    again, other_key = np.zeros(len(chosen), bool), np.zeros(len(chosen), bool)
    again[1:] = (np.diff(run) == 0) & (np.diff(ids[inner]) == 0) & (np.diff(values[inner]) == 0)
    other_key[1:] = np.diff(keys[inner]) != 0
    same[chosen], repeated = _distinguished(stage, source[rows[inner]], again, other_key)
    if repeated.any():
        order, same = np.delete(order, chosen[repeated]), np.delete(same, chosen[repeated])
    return order, np.cumsum(~same) - 1


def _distinguished(
    stage: Stage, source: np.ndarray, again: np.ndarray, other_key: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of rows with the id of the row before: which have the same event number, and which are repeats."""
    joined = np.array([bool(one.atoms) for one in stage.inputs])[source]
    other = (source != np.roll(source, 1)) | other_key
    return again & (joined | other), again & ~joined & ~other


def _id_rank(stage: Stage, table: pa.Table, rows: Ints) -> Ints:
    """Rank of the id of each row; derived events compare by their lists of ids."""
    take = pa.array(rows)
    rank = _dense_rank(table[r.ID].combine_chunks().take(take))
    for name in sorted({one.called for one in stage.inputs if one.called is not None}, reverse=True):
        column = table[name].combine_chunks().take(take)
        called = np.where(column.is_valid().to_numpy(zero_copy_only=False), _dense_rank(column), 0)
        rank = np.unique(called * (len(rows) + 1) + rank, return_inverse=True)[1]
    if r.IDS not in table.column_names:
        return rank
    lists = table[r.IDS].combine_chunks().take(take).to_pylist()
    distinct = {value: place for place, value in enumerate(sorted({tuple(x) for x in lists if x is not None}))}
    derived = np.array([-1 if value is None else distinct[tuple(value)] for value in lists], dtype=np.int64)
    return np.where(derived >= 0, derived, rank)


def _key_rank(stage: Stage, table: pa.Table, rows: Ints) -> Ints:
    """Rank of the KEY columns that are not part of the stage key."""
    names = sorted({name for one in stage.inputs for name in one.identity})
    rank = np.zeros(len(rows), np.int64)
    for name in names:
        values = _dense_rank(table[name].combine_chunks().take(pa.array(rows)))
        rank = np.unique(rank * (len(rows) + 1) + values, return_inverse=True)[1]
    return rank


def _value_rank(stage: Stage, table: pa.Table, rows: Ints, source: np.ndarray) -> Ints:
    """Rank of the values of derived events, which distinguish derived events with the same lineage."""
    rank = np.zeros(len(rows), np.int64)
    for event, names in {one.source: one.values for one in stage.inputs if one.values}.items():
        numbers = [number for number, one in enumerate(stage.inputs) if one.source == event]
        mine = np.flatnonzero(np.isin(source, numbers))
        if len(mine) < 2:
            continue
        own = np.zeros(len(mine), np.int64)
        for name in names:
            column = table[name].combine_chunks().take(pa.array(rows[mine]))
            ranks = np.where(column.is_valid().to_numpy(zero_copy_only=False), _dense_rank(column), 0)
            own = np.unique(own * (len(mine) + 1) + ranks, return_inverse=True)[1]
        rank[mine] = own
    return rank


def _by_content(stage: Stage, table: pa.Table, rows: Ints, inner: Ints, alike: NDArray[np.bool_]) -> None:
    """Orders rows that are alike in all else by their contents, so that the kept one does not depend on arrival.

    `alike` marks the places in `inner` whose row is like the one before.
    """
    places = np.flatnonzero(alike | np.append(alike[1:], False))
    if not len(places):
        return
    some = inner[places]
    take = pa.array(rows[some])
    names = [*(r.mask_name(word) for word in range(r.n_masks(stage))), *r.columns_of(stage)]
    ranks = [_dense_rank(in_one_array(table[name]).take(take)) for name in names]
    inner[places] = some[np.lexsort([*ranks[::-1], np.cumsum(~alike[places])])]


def _dense_rank(column: pa.Array) -> Ints:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(zero_copy_only=False), dtype=np.int64)


def in_one_piece(table: pa.Table) -> pa.Table:
    """The table with each column in one chunk."""
    return table if all(column.num_chunks == 1 for column in table.itercolumns()) else table.combine_chunks()


def _ids(table: pa.Table, order: Ints) -> tuple[Ints, pa.Array]:
    single = in_one_array(table[r.ID])
    if r.IDS not in table.column_names:
        return np.arange(len(order) + 1), taken(single, order)
    lists = in_one_array(table[r.IDS])
    is_derived = lists.is_valid().to_numpy(zero_copy_only=False)
    offsets = lists.offsets.to_numpy().astype(np.int64)
    first = np.where(is_derived, offsets[:-1], len(lists.values) + np.arange(len(single)))[order]
    n_ids = np.where(is_derived, np.diff(offsets), 1)[order]
    ids = taken(pa.concat_arrays([lists.values, single]), ranges(first, n_ids))
    return np.concatenate([[0], np.cumsum(n_ids)]), ids


def _bits(stage: Stage, table: pa.Table, order: Ints) -> np.ndarray:
    return _side_by_side([word[order] for word in _words(stage, table)])


def _words(stage: Stage, table: pa.Table) -> list[NDArray[np.uint64]]:
    return [table[r.mask_name(word)].to_numpy().view(np.uint64) for word in range(r.n_masks(stage))]


def _side_by_side(words: list[NDArray[np.uint64]]) -> np.ndarray:
    return words[0].reshape(-1, 1) if len(words) == 1 else np.stack(words, axis=1)


def comes_from(batch: EventBatch, inputs: Iterable[int]) -> NDArray[np.bool_]:
    """Whether each row belongs to one of these inputs."""
    wanted = np.zeros(int(batch.source.max(initial=0)) + 1, bool)
    for number in inputs:
        if number < len(wanted):
            wanted[number] = True
    return np.ones(len(batch), bool) if wanted.all() else wanted[batch.source]


def rows_passing(leaf: LeafTest, batch: EventBatch) -> Ints:
    """Rows of the inputs of a leaf that pass its conditions on single events, and have values to compare by key."""
    passing = comes_from(batch, leaf.inputs) & has_bits(leaf.bits, batch.bits)
    for name in leaf.present:
        if has_nulls(batch.columns, name):
            passing &= batch.columns[name].is_valid().to_numpy(zero_copy_only=False)
    return np.flatnonzero(passing)


def has_bits(bits: Iterable[int], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each predicate mask, a row of 64-bit words, has all these bits."""
    held = np.ones(len(words), bool)
    for bit in bits:
        held &= (words[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) == 1
    return held


def picked_bits(bits: Iterable[int], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """These bits of each predicate mask, a row of 64-bit words, side by side in one word."""
    packed = np.zeros(len(words), np.uint64)
    for place, bit in enumerate(bits):
        packed |= ((words[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)) << np.uint64(place)
    return packed
