"""An operand of a relation: the keys of a stream with their points, and how far each key is known at which time.

A key is complete when no event of it can follow: its role says "end", its count is reached, its bound or timeout has
passed. Until then it is known up to its last closed segment, because an open segment may never be closed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.analysis.relation import RelationOperand
from inkling.evaluators.gaps.rows import NumberedRows
from inkling.evaluators.gaps.sequence_log import SequenceLog
from inkling.evaluators.hashes import key_hashes, labels_of
from inkling.evaluators.relation.intensity import CumulativeIntensity
from inkling.evaluators.relation.points import (
    KeyPoints,
    PointLists,
    RowConditions,
    points_of_numbers,
    points_of_segments,
)
from inkling.evaluators.segments.operands import opened_and_closed, turns_of_roles
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.io.normalize import END, ID, START
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import FOREVER, Floats, Ints, Mask
from inkling.model.hashes import Hashes, row_hashes
from inkling.model.keys import codes_of
from inkling.model.runs import changes
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, TimeUnit
from inkling.model.uncertainty import LostEvents, Rate

SECOND = 1_000_000
"""Units of a clock of timestamps; columns of rates count arrivals per second."""


def rate_of_keys(rows: pa.Table, key: Ints, n_keys: int, uncertainty: LostEvents, unit: TimeUnit) -> Floats:
    """The rate of each key, in arrivals per unit of the clock; 0 where there is none."""
    if isinstance(uncertainty.rate, Rate):
        return np.full(n_keys, uncertainty.rate.count / unit(uncertainty.rate.per))
    if uncertainty.rate is None:
        return np.zeros(n_keys)
    highest = np.zeros(n_keys)
    given = pc.fill_null(rows[uncertainty.rate].cast(pa.float64()), 0.0).to_numpy()
    np.maximum.at(highest, key[key >= 0], given[key >= 0])
    return highest / (SECOND if unit.clock is Clock.TIMESTAMP else 1)


def open_ends(found: NumberedRows, key: Ints, n_keys: int) -> tuple[Mask, Mask]:
    """Which keys have a gap without a lower border, and which have one without an upper border."""
    of_gap = key[found.gaps[:-1]]
    heads, tails = np.zeros(n_keys, bool), np.zeros(n_keys, bool)
    heads[of_gap[found.low <= -FOREVER]] = True
    tails[of_gap[found.high >= FOREVER]] = True
    return heads, tails


NOT_YET = FOREVER


def places_of(keys: Hashes, wanted: Hashes) -> Ints:
    """The places of hashes in `keys`; -1 for those that are not there."""
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted)
    there = np.append(keys[order], np.uint64(0))[place] == wanted
    there &= place < len(keys)
    return np.where(there, np.append(order, -1)[place], -1)


def known_times(rows: pa.Table, key: Ints, n_keys: int, uncertainty: LostEvents) -> tuple[Ints, Ints, Ints]:
    """Times of all rows, marks included, by key and time; up to when segments are known with each; offsets of keys.

    From the opening of a segment on, segments are unknown until a row with a larger number shows that it was closed.
    """
    mine = np.flatnonzero(key >= 0)
    time, number = rows[START].to_numpy()[mine], rows[uncertainty.number].to_numpy()[mine].astype(np.int64)
    order = np.lexsort((number, time, key[mine]))
    time, number, key = time[order], number[order], key[mine][order]
    place = np.arange(len(order))
    anew = changes(key) | changes(number)
    before = np.maximum.accumulate(np.where(anew, place, 0)) - 1 if len(order) else place
    offsets = np.searchsorted(key, np.arange(n_keys + 1))
    is_first = before < offsets[key] if len(order) else anew
    closed = np.where(number % 2 == 0, time, np.where(is_first, -FOREVER, np.append(time, 0)[before]))
    return time, closed, offsets


def completed_at(rows: pa.Table, key: Ints, n_keys: int, uncertainty: LostEvents, unit: TimeUnit) -> Ints:
    """When each key is complete; NOT_YET where nothing shows it."""
    complete = np.full(n_keys + 1, NOT_YET)  # the last place is for rows without a key
    time = rows[START].to_numpy()
    if uncertainty.role is not None:
        ends = pc.fill_null(pc.equal(pc.utf8_lower(rows[uncertainty.role]), "end"), False)
        _at_least(complete, key, time, np.asarray(ends.to_numpy(zero_copy_only=False), bool))
    if uncertainty.count is not None:
        count = pc.fill_null(rows[uncertainty.count], FOREVER).to_numpy()
        _at_least(complete, key, time, rows[uncertainty.number].to_numpy() >= count)
        if uncertainty.bounds is not None:
            until = pc.fill_null(rows[uncertainty.bounds[1]], FOREVER).cast(pa.int64()).to_numpy()
            _at_least(complete, key, until, count < FOREVER)
    if uncertainty.timeout is not None:
        last = np.full(n_keys + 1, -FOREVER)
        np.maximum.at(last, key, time)
        silent = np.where(last > -FOREVER, last + unit(uncertainty.timeout), NOT_YET)
        complete = np.minimum(complete, silent)
    return complete[:n_keys]


def _at_least(complete: Ints, key: Ints, time: Ints, known: np.ndarray) -> None:
    np.minimum.at(complete, key[known], time[known])


@dataclass(frozen=True, slots=True)
class OperandKeys:
    lists: PointLists  # as if no event followed
    unfinished: PointLists  # as if further events followed
    values: Mapping[str, pa.Array]  # columns of KEY, of each key
    start: Ints  # the earliest start of a segment of each key, or of an event where it has no segment
    end: Ints
    known: Ints  # times of the rows of key k, ascending: known[offsets[k]:offsets[k + 1]]
    offsets: Ints
    closed: Ints  # for each of these times, up to when all segments are known then
    unanswerable: Mask  # whether a key lost events after its last row, and nothing limits their time
    complete: Ints  # when each key is complete; NOT_YET where nothing shows it
    kind: str  # LOSING or RECORDED
    is_whole: bool  # whether each row is a whole segment
    row: Ints  # of each point
    ids: pa.Array  # of rows

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def hashes(self, columns: tuple[str, ...]) -> Hashes:
        """A hash of some columns per key."""
        return row_hashes((self.values[name] for name in columns), len(self))


LOSING, RECORDED = "losing", "recorded"
"""Keys of a stream with lost events are known up to their last row, those of other streams at the end only."""


@dataclass(frozen=True, slots=True)
class RelationContext:
    """What reading rows needs: the context of expressions, tables, and the time unit."""

    expressions: ExpressionContext
    tables: Mapping[str, pa.Table]
    unit: TimeUnit


def keys_of(
    operand: RelationOperand,
    schema: StreamSchema,
    rows: pa.Table,
    same: str | None,
    context: RelationContext,
    axis: CumulativeIntensity | None,
) -> OperandKeys:
    """The keys of an operand, from checked rows of its stream; `same` is the column of ON SAME."""
    losing = isinstance(schema.uncertainty, LostEvents)
    keys = (_lossy if losing else _certain)(operand, schema, rows, same, context)
    if axis is None:
        return keys
    return replace(keys, lists=_along(keys.lists, axis), unfinished=_along(keys.unfinished, axis))


def _along(lists: PointLists, axis: CumulativeIntensity) -> PointLists:
    return lists._replace(along=np.where(lists.lost, 0.0, axis(lists.time)))


def _lossy(
    operand: RelationOperand, schema: StreamSchema, rows: pa.Table, same: str | None, context: RelationContext
) -> OperandKeys:
    uncertainty = schema.uncertainty
    assert isinstance(uncertainty, LostEvents)
    found = NumberedRows.of(schema, rows, tables=context.tables).with_empty_keys()
    every = found.rows
    number, time = every[uncertainty.number].to_numpy().astype(np.int64), every[START].to_numpy()
    conditions = _conditions(operand, every, same, context.expressions)
    names = np.zeros(conditions.n_keys, np.uint64)
    names[conditions.key] = key_hashes(schema, every)
    key = places_of(names, key_hashes(schema, rows))  # of all rows, marks included
    rate = rate_of_keys(rows, key, conditions.n_keys, uncertainty, context.unit)
    heads, tails = open_ends(found, conditions.key, conditions.n_keys)
    rates = np.where(heads, rate, 0.0), np.where(tails, rate, 0.0)
    points = points_of_numbers(found, number, time, conditions, uncertainty.shape, *rates)
    unfinished = points_of_numbers(found, number, time, conditions, uncertainty.shape, *rates, np.flatnonzero(~tails))
    low, high = time.copy(), time.copy()
    n_lost = np.diff(found.gaps)
    low[found.n_recorded :], high[found.n_recorded :] = np.repeat(found.low, n_lost), np.repeat(found.high, n_lost)
    start, end = _hulls(conditions, points, low, high)
    log = SequenceLog.of(schema, rows)
    unanswerable = np.zeros(conditions.n_keys, bool)
    without_limit = key[log.order[log.last[log.is_without_limit]]]
    unanswerable[without_limit[without_limit >= 0]] = True
    known, closed, offsets = known_times(rows, key, conditions.n_keys, uncertainty)
    complete = completed_at(rows, key, conditions.n_keys, uncertainty, context.unit)
    return OperandKeys(
        points.lists,
        unfinished.lists,
        _values(operand, every, conditions),
        start,
        end,
        known,
        offsets,
        closed,
        unanswerable,
        complete,
        LOSING,
        False,
        points.row,
        every[ID].combine_chunks(),
    )


def _certain(
    operand: RelationOperand, schema: StreamSchema, rows: pa.Table, same: str | None, context: RelationContext
) -> OperandKeys:
    conditions = _conditions(operand, rows, same, context.expressions)
    pairing = operand.declared.pairing
    start, end = rows[START].to_numpy(), rows[END].to_numpy()
    if pairing is None:
        opening = closing = np.flatnonzero(conditions.chosen)
    else:
        turns = None if pairing.role is None else turns_of_roles(rows[pairing.role.name].combine_chunks())
        opening, closing = opened_and_closed(conditions.key, start, None, turns)
        chosen = conditions.chosen[opening]
        opening, closing = opening[chosen], closing[chosen]
    points = points_of_segments(opening, closing, start[opening], end[closing], conditions)
    first, last = _hulls(conditions, points, start, end)
    order = np.lexsort((end, conditions.key))
    offsets = np.searchsorted(conditions.key[order], np.arange(conditions.n_keys + 1))
    return OperandKeys(
        points.lists,
        points.lists,
        _values(operand, rows, conditions),
        first,
        last,
        end[order],
        offsets,
        np.full(len(order), -FOREVER),
        np.zeros(conditions.n_keys, bool),
        np.full(conditions.n_keys, NOT_YET),
        RECORDED,
        pairing is None,
        points.row,
        rows[ID].combine_chunks(),
    )


def _conditions(
    operand: RelationOperand, rows: pa.Table, same: str | None, expressions: ExpressionContext
) -> RowConditions:
    n = len(rows)
    key, n_keys = codes_of((rows[column.name] for column in operand.declared.key), n)

    def resolve(expr: e.Expr) -> pa.Array:
        if isinstance(expr, e.IdOf):
            return rows[ID].combine_chunks()
        assert isinstance(expr, e.ColumnOf)
        return rows[expr.column].combine_chunks()

    chosen, closes = np.ones(n, bool), np.ones(n, bool)
    for condition in (*operand.declared.leaf.conditions, *operand.opens):
        chosen &= truth_of(condition, resolve, n, expressions)
    for condition in operand.closes:
        closes &= truth_of(condition, resolve, n, expressions)
    label = np.full(n, -1) if same is None else labels_of(rows[same].combine_chunks())
    return RowConditions(key, n_keys, chosen, closes, label)


def _values(operand: RelationOperand, rows: pa.Table, conditions: RowConditions) -> dict[str, pa.Array]:
    first = np.full(conditions.n_keys, len(rows))
    np.minimum.at(first, conditions.key, np.arange(len(rows)))
    return {column.name: rows[column.name].combine_chunks().take(pa.array(first)) for column in operand.declared.key}


def _hulls(conditions: RowConditions, points: KeyPoints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The earliest start and the latest end of the segments of each key, or of its events where it has no segment."""
    some, key = _extremes(conditions, np.arange(len(low)), low, high), conditions.key
    used = points.row[points.lists.turn != 0]
    of_segments = _extremes(conditions, used, low, high)
    has = np.bincount(key[used], minlength=conditions.n_keys) > 0
    return np.where(has, of_segments[0], some[0]), np.where(has, of_segments[1], some[1])


def _extremes(conditions: RowConditions, rows: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    first, last = np.full(conditions.n_keys, FOREVER), np.full(conditions.n_keys, -FOREVER)
    np.minimum.at(first, conditions.key[rows], low[rows])
    np.maximum.at(last, conditions.key[rows], high[rows])
    return first, last
