"""An operand of a relation: the keys of a stream with their points, what is known of each key, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.relation import RelationOperand
from inkling.evaluators.gaps.rows import NumberedRows
from inkling.evaluators.gaps.sequence_log import Mask, SequenceLog
from inkling.evaluators.hashes import Hashes, key_hashes, labels_of, row_hashes
from inkling.evaluators.relation.axis import CumulativeIntensity, open_ends, rate_of_keys
from inkling.evaluators.relation.ends import NOT_YET, completed_at, known_times, places_of
from inkling.evaluators.relation.lists import PointLists
from inkling.evaluators.relation.points import KeyPoints, RowConditions, points_of_numbers, points_of_segments
from inkling.evaluators.segments.operands import opened_and_closed, turns_of_roles
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.io.normalize import END, ID, START
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import FOREVER, Ints
from inkling.model.keys import codes_of
from inkling.model.schema import StreamSchema
from inkling.model.time import TimeUnit
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class OperandKeys:
    """All keys of one operand."""

    lists: PointLists
    unfinished: PointLists  # the same, with more to follow
    values: Mapping[str, pa.Array]  # columns of KEY, of each key
    start: Ints  # where the first segment of each key may start, or its first event
    end: Ints
    known: Ints  # sorted times of rows of each key, which show how far it is known: known[offsets[k]:offsets[k + 1]]
    offsets: Ints
    closed: Ints  # with each of these times, up to when all is known of which segments there are
    unanswerable: Mask  # whether something was lost of a key after its last row, nobody knows up to when
    complete: Ints  # when it is known that nothing more of a key follows; NOT_YET where nothing says so
    kind: str  # LOSING or RECORDED
    is_whole: bool  # whether one row opens and closes a segment
    row: Ints  # of each point
    ids: pa.Array  # of rows

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def hashes(self, columns: tuple[str, ...]) -> Hashes:
        """One per key, of some columns."""
        return row_hashes((self.values[name] for name in columns), len(self))


LOSING, RECORDED = "losing", "recorded"
"""Of a stream with lost events a key is known up to its last row; of any other stream, at the end."""


@dataclass(frozen=True, slots=True)
class RelationContext:
    """What rows have to be read with."""

    expressions: ExpressionContext
    tables: Mapping[str, pa.Table]
    unit: TimeUnit


def keys_of(
    side: RelationOperand,
    schema: StreamSchema,
    rows: pa.Table,
    same: str | None,
    context: RelationContext,
    axis: CumulativeIntensity | None,
) -> OperandKeys:
    """The keys in checked rows of a stream."""
    losing = isinstance(schema.uncertainty, LostEvents)
    keys = (_lossy if losing else _certain)(side, schema, rows, same, context)
    if axis is None:
        return keys
    return replace(keys, lists=_along(keys.lists, axis), unfinished=_along(keys.unfinished, axis))


def _along(lists: PointLists, axis: CumulativeIntensity) -> PointLists:
    return lists._replace(along=np.where(lists.lost, 0.0, axis(lists.time)))


def _lossy(
    side: RelationOperand, schema: StreamSchema, rows: pa.Table, same: str | None, context: RelationContext
) -> OperandKeys:
    uncertainty = schema.uncertainty
    assert isinstance(uncertainty, LostEvents)
    found = NumberedRows.of(schema, rows, tables=context.tables).with_empty_keys()
    every = found.rows
    number, time = every[uncertainty.number].to_numpy().astype(np.int64), every[START].to_numpy()
    asides = _asides(side, every, same, context.expressions)
    names = np.zeros(asides.n_keys, np.uint64)
    names[asides.key] = key_hashes(schema, every)
    key = places_of(names, key_hashes(schema, rows))  # of all rows, marks among them
    rate = rate_of_keys(rows, key, asides.n_keys, uncertainty, context.unit)
    heads, tails = open_ends(found, asides.key, asides.n_keys)
    rates = np.where(heads, rate, 0.0), np.where(tails, rate, 0.0)
    points = points_of_numbers(found, number, time, asides, uncertainty.shape, *rates)
    unfinished = points_of_numbers(found, number, time, asides, uncertainty.shape, *rates, np.flatnonzero(~tails))
    low, high = time.copy(), time.copy()
    n_lost = np.diff(found.gaps)
    low[found.n_recorded :], high[found.n_recorded :] = np.repeat(found.low, n_lost), np.repeat(found.high, n_lost)
    start, end = _hulls(asides, points, low, high)
    log = SequenceLog.of(schema, rows)
    unanswerable = np.zeros(asides.n_keys, bool)
    without_limit = key[log.order[log.last[log.is_without_limit]]]
    unanswerable[without_limit[without_limit >= 0]] = True
    known, closed, offsets = known_times(rows, key, asides.n_keys, uncertainty)
    complete = completed_at(rows, key, asides.n_keys, uncertainty, context.unit)
    return OperandKeys(
        points.lists,
        unfinished.lists,
        _values(side, every, asides),
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
    side: RelationOperand, schema: StreamSchema, rows: pa.Table, same: str | None, context: RelationContext
) -> OperandKeys:
    asides = _asides(side, rows, same, context.expressions)
    pairing = side.operand.pairing
    start, end = rows[START].to_numpy(), rows[END].to_numpy()
    if pairing is None:
        opening = closing = np.flatnonzero(asides.chosen)
    else:
        turns = None if pairing.role is None else turns_of_roles(rows[pairing.role.name].combine_chunks())
        opening, closing = opened_and_closed(asides.key, start, None, turns)
        chosen = asides.chosen[opening]
        opening, closing = opening[chosen], closing[chosen]
    points = points_of_segments(opening, closing, start[opening], end[closing], asides)
    first, last = _hulls(asides, points, start, end)
    order = np.lexsort((end, asides.key))
    offsets = np.searchsorted(asides.key[order], np.arange(asides.n_keys + 1))
    return OperandKeys(
        points.lists,
        points.lists,
        _values(side, rows, asides),
        first,
        last,
        end[order],
        offsets,
        np.full(len(order), -FOREVER),
        np.zeros(asides.n_keys, bool),
        np.full(asides.n_keys, NOT_YET),
        RECORDED,
        pairing is None,
        points.row,
        rows[ID].combine_chunks(),
    )


def _asides(side: RelationOperand, rows: pa.Table, same: str | None, expressions: ExpressionContext) -> RowConditions:
    operand, n = side.operand, len(rows)
    key, n_keys = codes_of((rows[column.name] for column in operand.key), n)

    def resolve(expr: e.Expr) -> pa.Array:
        if isinstance(expr, e.IdOf):
            return rows[ID].combine_chunks()
        assert isinstance(expr, e.ColumnOf)
        return rows[expr.column].combine_chunks()

    chosen, closes = np.ones(n, bool), np.ones(n, bool)
    for condition in (*operand.leaf.conditions, *side.opens):
        chosen &= truth_of(condition, resolve, n, expressions)
    for condition in side.closes:
        closes &= truth_of(condition, resolve, n, expressions)
    label = np.full(n, -1) if same is None else labels_of(rows[same].combine_chunks())
    return RowConditions(key, n_keys, chosen, closes, label)


def _values(side: RelationOperand, rows: pa.Table, asides: RowConditions) -> dict[str, pa.Array]:
    first = np.full(asides.n_keys, len(rows))
    np.minimum.at(first, asides.key, np.arange(len(rows)))
    return {column.name: rows[column.name].combine_chunks().take(pa.array(first)) for column in side.operand.key}


def _hulls(asides: RowConditions, points: KeyPoints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """From the first to the last moment at which a key may have a segment, or an event where it has none."""
    some, key = _extremes(asides, np.arange(len(low)), low, high), asides.key
    used = points.row[points.lists.turn != 0]
    of_segments = _extremes(asides, used, low, high)
    has = np.bincount(key[used], minlength=asides.n_keys) > 0
    return np.where(has, of_segments[0], some[0]), np.where(has, of_segments[1], some[1])


def _extremes(asides: RowConditions, rows: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    first, last = np.full(asides.n_keys, FOREVER), np.full(asides.n_keys, -FOREVER)
    np.minimum.at(first, asides.key[rows], low[rows])
    np.maximum.at(last, asides.key[rows], high[rows])
    return first, last
