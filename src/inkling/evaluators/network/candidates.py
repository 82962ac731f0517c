"""Indexes of candidates: rows of a leaf by key, values of equality conditions, and start."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.network.partials import MatchContexts, RegisterLayout, kept_of
from inkling.evaluators.network.store import END, START, Store, column_of
from inkling.kernels.columns.canonical import canonical_order
from inkling.logical import expr as e
from inkling.model.batch import Ints
from inkling.model.types import Type
from inkling.physical.plan import LeafTest


@dataclass(frozen=True, slots=True)
class Index:
    """Rows sorted by (group, start, place); group g has the positions offsets[g]:offsets[g + 1]."""

    rows: Ints
    offsets: Ints
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints


@dataclass(frozen=True, slots=True)
class Equality:
    """A condition `candidate.column = register.other` between columns of comparable exact types."""

    column: str
    register: int
    other: str


def index_rows(store: Store, rows: Ints, group: Ints, n_groups: int) -> Index:
    """The index of rows, given in the order of the batch with the group of each."""
    batch = store.batch
    if len(rows) == len(batch):
        start, place, end, end_place = batch.start, batch.start_place, batch.end, batch.end_place
    else:
        start, place = batch.start[rows], batch.start_place[rows]
        end = start if batch.end is batch.start else batch.end[rows]
        end_place = place if batch.end_place is batch.start_place else batch.end_place[rows]
    if _is_sorted(group, start, place):
        return Index(rows, np.searchsorted(group, np.arange(n_groups + 1)), start, place, end, end_place)
    order, _ = canonical_order(group, n_groups, start, place, start, place)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(group, minlength=n_groups))])
    return Index(rows[order], offsets, start[order], place[order], end[order], end_place[order])


def _is_sorted(group: Ints, start: Ints, place: Ints) -> bool:
    if len(group) < 2:
        return True
    same = group[:-1] == group[1:]
    rising = (start[:-1] < start[1:]) | ((start[:-1] == start[1:]) & (place[:-1] <= place[1:]))
    return bool(np.all((group[:-1] < group[1:]) | (same & rising)))


def split_equalities(
    leaf: LeafTest, layout: RegisterLayout, types: dict[str, Type]
) -> tuple[tuple[Equality, ...], tuple[e.Expr, ...]]:
    """Conditions that an index can answer, and the rest."""
    equalities, rest = [], []
    for condition in leaf.across:
        found = _equality(condition, leaf.slot, layout, types)
        if found is None:
            rest.append(condition)
        else:
            equalities.append(found)
    return tuple(equalities), tuple(rest)


def _equality(condition: e.Expr, slot: int, layout: RegisterLayout, types: dict[str, Type]) -> Equality | None:
    if not isinstance(condition, e.Compare) or condition.operator != "=":
        return None
    for own, other in ((condition.left, condition.right), (condition.right, condition.left)):
        column, reference = _plain(own), _plain(other)
        if column is None or reference is None or column[0] != slot or reference[0] == slot:
            continue
        if layout.is_span(reference[0]) or not _comparable(types[column[1]], types[reference[1]]):
            continue
        return Equality(column[1], layout.register(reference[0], kept_of(other)), reference[1])
    return None


def _plain(expr: e.Expr) -> tuple[int, str] | None:
    match expr:
        case e.ColumnOf(slot=slot, column=column):
            return slot, column
        case e.TimeOf(edge=edge, slot=slot):
            return slot, START if edge is e.Edge.START else END
        case e.IdOf(slot=slot):
            return slot, column_of(expr)
        case _:
            return None


def _comparable(left: Type, right: Type) -> bool:
    whole = (Type.INTEGER, Type.TIME, Type.DURATION)
    return left is right or (left in whole and right in whole)


def group_by_equality(
    store: Store, rows: Ints, contexts: MatchContexts, equalities: tuple[Equality, ...]
) -> tuple[Index, Ints]:
    """Index of the candidates by key and equal values, and the group of each context (-1: none can match)."""
    batch = store.batch
    row_code, context_code = batch.key[rows], contexts.key
    row_fine = np.ones(len(rows), bool)
    context_fine = np.ones(len(contexts), bool)
    for equality in equalities:
        values, valid = store.exact[equality.column]
        others, other_valid = store.exact[equality.other]
        bound = contexts.registers[:, equality.register]
        context_fine &= (bound >= 0) & other_valid[bound]
        row_fine &= valid[rows]
        row_code, context_code = _combined(row_code, context_code, values[rows], others[bound])
    rows, row_code = rows[row_fine], row_code[row_fine]
    row_code, context_code, n_groups = _dense(row_code, context_code)
    return index_rows(store, rows, row_code, n_groups), np.where(context_fine, context_code, -1)


def _combined(row_code: Ints, context_code: Ints, values: Ints, others: Ints) -> tuple[Ints, Ints]:
    row_code, context_code, _ = _dense(row_code, context_code)
    values, others, n_values = _dense(values, others)
    return row_code * (n_values + 1) + values, np.where(
        (context_code < 0) | (others < 0), -1, context_code * (n_values + 1) + others
    )


def _dense(rows: Ints, contexts: Ints) -> tuple[Ints, Ints, int]:
    """Codes 0 … n-1 for the values of `rows`; a context value that no row has becomes -1."""
    if len(rows):
        least, most = rows.min(), rows.max()
        if int(most) - int(least) < FEW_HOLES * len(rows):
            return _numbered_from(least, most, rows, contexts)
    encoded = pc.dictionary_encode(pa.array(rows))
    found = pc.fill_null(pc.index_in(pa.array(contexts), value_set=encoded.dictionary), -1)
    codes = np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    return codes, np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64), len(encoded.dictionary)


FEW_HOLES = 4
"""Values whose range is at most so many times their number are codes after subtracting the least."""


def _numbered_from(least: np.int64, most: np.int64, rows: Ints, contexts: Ints) -> tuple[Ints, Ints, int]:
    codes, span = rows - least, int(most) - int(least) + 1
    taken = np.zeros(span, bool)
    taken[codes] = True
    inside = (contexts >= least) & (contexts <= most)
    found = np.where(inside, contexts - least, 0)
    return codes, np.where(inside & taken[found], found, -1), span
