"""Conditions that read several events of a chain."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from inkling.evaluators.gather import Gather
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import EventBatch, Ints, Mask, taken


def slots_in(condition: e.Expr) -> frozenset[int]:
    """The slots whose events a condition reads."""
    return frozenset(
        part.slot
        for part in e.walk(condition)
        if isinstance(part, e.ColumnOf | e.ListColumn | e.IdOf | e.Aggregate | e.TimeOf)
    )


def asks_for_previous(condition: e.Expr) -> bool:
    """Whether a condition compares an event of a repetition with the event before."""
    return e.looks_back(condition)


def gathered(batch: EventBatch, rows: Ints, slots: Iterable[int]) -> Gather:
    """Resolves expressions on complete chains; column i of `rows` has the events of slot i in `slots`."""
    n, k = rows.shape
    return Gather(batch, np.arange(n + 1) * k, rows.ravel(), np.tile(np.array([*slots], np.int64), n))


class CandidateColumns:
    """Resolves expressions on a candidate and on the chain that it would join."""

    def __init__(self, batch: EventBatch, rows: Ints, slots: tuple[int, ...], slot: int, candidates: Ints) -> None:
        self._batch, self._slot, self._candidates = batch, slot, candidates
        self._chain = gathered(batch, rows, slots)

    def __call__(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.ColumnOf(slot=slot, column=column) if slot == self._slot:
                return taken(self._batch.columns[column], self._candidates)
            case e.IdOf(slot=slot) if slot == self._slot:
                return self._batch.ids.take(pa.array(self._batch.id_offsets[self._candidates]))
            case e.KeyColumn(column=column):
                return taken(self._batch.columns[column], self._candidates)
            case _:
                return self._chain(expr)


def fits(
    conditions: Iterable[e.Expr],
    batch: EventBatch,
    rows: Ints,
    slots: tuple[int, ...],
    slot: int,
    candidates: Ints,
    context: ExpressionContext,
) -> Mask:
    """Whether candidates for a slot satisfy conditions, each together with the chain in its line of `rows`.

    The first event of a repetition has no previous one to compare with, so conditions that ask for it are dropped.
    """
    kept = np.ones(len(candidates), bool)
    resolve: CandidateColumns | None = None
    for condition in conditions:
        if slot not in slots and asks_for_previous(condition):
            continue
        if resolve is None:
            resolve = CandidateColumns(batch, rows, slots, slot, candidates)
        kept &= truth_of(condition, resolve, len(candidates), context)
    return kept
