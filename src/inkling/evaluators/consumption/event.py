"""One event with CONSUME RECENT or CONSUME CHRONOLOGICAL: a fold over the pairs of its pattern, inside out.

A pattern with a consumption policy is a tree of pairs: SEQ(a, b, c) is the pair (pair (a, b), c). Each pair is one
pass over the arrivals of its two operands in order of their ends: an arrival takes a stored partner, which is used up,
or is stored itself. The policies are those of ETALIS (Anicic 2011, section 7.4); `meaning.consumption` defines them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.consumption.pairs import (
    PairOperands,
    RowLayout,
    StoredOccurrences,
    as_occurrences,
    for_kernels,
    named,
    row_layout,
    stacked,
    united,
)
from inkling.evaluators.gather import Gather
from inkling.evaluators.network import candidates as cand
from inkling.evaluators.network.bytecode import ALWAYS, LOOKING_UP, Code, compile_conditions
from inkling.evaluators.network.event import results_of
from inkling.evaluators.network.lateral import JoinEvaluation
from inkling.evaluators.network.partials import NOWHERE
from inkling.evaluators.network.session import Session, SharingGroup
from inkling.evaluators.network.store import END, START, Store, column_of
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.kernels.columns.canonical import canonical_order
from inkling.kernels.joins import consumption as kernel
from inkling.kernels.joins import vm
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.patterns import binary as b
from inkling.logical.patterns.allen import INVERSES
from inkling.logical.vectorized import evaluate
from inkling.model.batch import FOREVER, EventBatch, Ints, Mask, MatchBatch
from inkling.model.keys import codes_of, encoded
from inkling.model.types import Type
from inkling.physical.plan import EventStep

NO_ABSENCES = kernel.Absences(
    np.empty((0, 1), np.int64),
    *(np.empty(0, np.int64),) * 5,
    ALWAYS.instructions,
    np.zeros(1, np.int64),
    ALWAYS.constants,
)


def absences_of(patterns: tuple[p.Pattern, ...], lateral: JoinEvaluation, layout: RowLayout) -> kernel.Absences:
    """All absences of a pair, their lists one after the other."""
    if not patterns:
        return NO_ABSENCES
    indexes, codes = zip(*(_listed(pattern, lateral, layout) for pattern in patterns), strict=True)
    begins = np.cumsum([0, *(len(index.rows) for index in indexes)])
    constants = np.cumsum([0, *(len(code.constants) for code in codes)])
    written = [shifted(code.instructions, int(first)) for code, first in zip(codes, constants[:-1], strict=True)]
    return kernel.Absences(
        np.stack([index.offsets + first for index, first in zip(indexes, begins[:-1], strict=True)]),
        np.concatenate([index.start for index in indexes]),
        np.concatenate([index.start_place for index in indexes]),
        np.concatenate([index.end for index in indexes]),
        np.concatenate([index.end_place for index in indexes]),
        np.concatenate([index.rows for index in indexes]),
        np.concatenate(written),
        np.cumsum([0, *(len(one) for one in written)]),
        np.concatenate([code.constants for code in codes]),
    )


def _listed(pattern: p.Pattern, lateral: JoinEvaluation, layout: RowLayout) -> tuple[cand.Index, Code]:
    store = lateral.store
    if isinstance(pattern, p.Leaf):
        test = lateral.step.leaf(pattern.slot)
        rows = rows_passing(test, store.batch)
        index = cand.index_rows(store, rows, store.batch.key[rows], store.n_keys)
        return index, compile_conditions(test.across, pattern.slot, store, layout, lateral.unit)
    found = lateral.occurrences(pattern, lateral.roots())
    order = np.lexsort([found.start_place, found.start, found.origin])
    found = found.take(order)
    offsets = np.searchsorted(found.origin, np.arange(store.n_keys + 1))
    nothing = np.full(len(found), -1)
    return cand.Index(nothing, offsets, found.start, found.start_place, found.end, found.end_place), ALWAYS


def shifted(instructions: Ints, first: int) -> Ints:
    """The instructions where their constants come after `first` others."""
    moved = instructions.copy()
    moved[np.isin(moved[:, 0], (vm.CONST, vm.IN, *LOOKING_UP)), 1] += first
    moved[moved[:, 0] == vm.IN, 2] += first
    return moved


Stores = Mapping[int, tuple[StoredOccurrences, StoredOccurrences]]
"""By pair, numbered from the inside out: the stored occurrences of its left and right side."""

NOTHING, NO_ROWS = np.empty(0, np.int64), np.empty((0, 0), np.int64)
"""In place of columns that the kernel does not read."""

NO_CANDIDATE = -3
"""No candidate slot: both sides of a pair are in registers."""

RELATIONS = {
    b.SEQUENCE: kernel.SEQ,
    b.TOGETHER: kernel.AND,
    b.OVERLAPPING: kernel.PAR,
    "PRECEDES": kernel.PRECEDES,
    "MEETS": kernel.MEETS,
    "OVERLAPS": kernel.OVERLAPS,
    "STARTS": kernel.STARTS,
    "DURING": kernel.DURING,
    "FINISHES": kernel.FINISHES,
    "EQUALS": kernel.EQUALS,
    "INTERSECTS": kernel.INTERSECTS,
    "STARTS_BEFORE": kernel.STARTS_BEFORE,
    "ENDS_AFTER": kernel.ENDS_AFTER,
}


@dataclass(slots=True)
class Consuming:
    """The evaluation of one event with a consumption policy over one batch."""

    store: Store
    step: EventStep
    policy: p.Consumption
    layout: RowLayout
    context: ExpressionContext
    lateral: JoinEvaluation
    done: int = -FOREVER  # the watermark of the last step
    waiting: Stores = field(default_factory=dict)  # what was stored then
    still_waiting: list[tuple[StoredOccurrences, StoredOccurrences]] = field(
        default_factory=list
    )  # what is stored in the end

    def matches(self) -> StoredOccurrences:
        """The matches of the event, after WITHIN, HAVING and KEEP FOR."""
        return self._found(b.pairs_of(self.step.event, lambda leaf: self.step.leaf(leaf.slot).across))

    def _found(self, node: b.PairTree) -> StoredOccurrences:
        match node:
            case b.LeafNode():
                return self._single(node)
            case b.OrNode(items=items):
                found = self._found(items[0])
                for item in items[1:]:
                    found = stacked(found, self._found(item))
                return found
            case b.Pair():
                return self._pair(node)

    def _single(self, node: b.LeafNode) -> StoredOccurrences:
        batch, slot = self.store.batch, node.leaf.slot
        rows = rows_passing(self.step.leaf(slot), self.store.batch)
        if self.done > -FOREVER:
            rows = rows[batch.end[rows] > self.done]
        filled = np.full((len(rows), len(self.layout.slots) + 1), -1)
        filled[:, self.layout.slots.index(slot)] = filled[:, -1] = rows
        end = batch.end[rows]
        found = StoredOccurrences(
            batch.key[rows],
            filled,
            np.full((len(rows), len(self.layout.moments)), NOWHERE),
            end if batch.start is batch.end else batch.start[rows],
            batch.start_place[rows],
            end,
            batch.end_place[rows],
            end if batch.known is batch.end else np.maximum(batch.known[rows], end),
        )
        for frame in node.frames:
            found = named(found, self.layout, () if frame.slot is None else (frame.slot,))
            if frame.within is not None:
                found = found.where(found.end - found.start <= self.lateral.leaves.length(frame.within))
            for condition in frame.having:
                found = found.where(truth_of(condition, self.gather(found), len(found), self.context))
        keep = self._keep()
        return found if keep < 0 else found.where(found.known - found.start <= keep)

    def _pair(self, pair: b.Pair) -> StoredOccurrences:
        left, right = self._found(pair.left), self._found(pair.right)
        earlier = self.waiting.get(len(self.still_waiting), ())
        n_earlier = (len(earlier[0]), len(earlier[1])) if earlier else (0, 0)
        if earlier:
            left, right = stacked(earlier[0], left), stacked(earlier[1], right)
        both = PairOperands(left, right)
        group, n_groups, has_key = self._groups(pair, both)
        merit, competes = self._merits(pair, both)
        order, offsets = arrival_order(group, n_groups, has_key, both, self.store.batch.event, self.layout)
        n_stored = np.zeros(n_groups, np.int64)
        if earlier:
            was_stored = np.zeros(len(both), bool)
            was_stored[: n_earlier[0]] = was_stored[len(left) : len(left) + n_earlier[1]] = True
            order = stored_first(order, group, was_stored)
            n_stored = np.bincount(group[was_stored & has_key], minlength=n_groups)
        names = tuple(frame.slot for frame in pair.frames if frame.slot is not None)
        code = compile_conditions(self._tests(pair), NO_CANDIDATE, self.store, self.layout, self.lateral.unit)
        absences = absences_of(pair.absences, self.lateral, self.layout)
        keep = self._keep()
        is_tested = len(code.instructions) > 0 or len(pair.absences) > 0
        start = both.column("start")[order]
        arrivals = kernel.Arrivals(
            offsets,
            n_stored,
            both.side[order],
            start,
            both.column("start_place")[order],
            start if both.are_points else both.column("end")[order],
            both.column("end_place")[order],
            both.column("known")[order] if keep >= 0 else NOTHING,
            both.column("key")[order] if pair.absences else NOTHING,
            both.column("rows")[order] if is_tested else NO_ROWS,
            both.column("moments")[order] if is_tested else NO_ROWS,
            merit[order] if competes.any() else NOTHING,
        )
        policy = kernel.Policy(
            np.array([relation_of(name) for name in pair.relations]),
            competes,
            self.policy.selection is p.Selection.RECENT,
            self.policy.keeping,
            min((self.lateral.leaves.length(window) for window in pair.windows), default=-1),
            keep,
        )
        tests = kernel.Tests(self._moments_of(names), code.instructions, code.constants, self.store.numbers)
        lefts, rights, left_over = kernel.pair_up(arrivals, policy, tests, absences)
        self.store.raise_failures()
        self.still_waiting.append(both.divided(order[left_over]))
        return united(left.take(order[lefts]), right.take(order[rights] - len(left)), self.layout, names)

    def _keep(self) -> int:
        keep = self.step.event.keep
        return -1 if keep is None else self.context.unit(keep)

    def _moments_of(self, names: tuple[int, ...]) -> Ints:
        columns = [[self.layout.moment(slot, edge) for edge in (e.Edge.START, e.Edge.END)] for slot in names]
        return np.array(columns, dtype=np.int64).reshape(-1, 2)

    def _tests(self, pair: b.Pair) -> tuple[e.Expr, ...]:
        """The conditions on both sides of a pair together, besides keys, order and absences."""
        tests = [
            e.AnyOf((e.IsNull(e.TimeOf(e.Edge.END, test.owner)), test.condition)) if test.optional else test.condition
            for test in pair.tests
        ]
        tests += [for_kernels(condition) for frame in pair.frames for condition in frame.having]
        return tuple(tests)

    def _groups(self, pair: b.Pair, both: PairOperands) -> tuple[Ints, int, Mask]:
        """Per arrival, a number for its partition and equality key, and whether the key has no null."""
        left, right = both.left, both.right
        group, n_groups = both.column("key"), self.store.n_keys
        has_key = np.ones(len(both), bool)
        for one, other in pair.keys:
            values, valid = self._values(one, left, other, right)
            has_key &= valid
            codes, n_codes = coded(values)
            if n_groups > 1:
                codes, n_codes = coded(group * n_codes + codes)
            group, n_groups = codes, n_codes
        return group, max(n_groups, 1), has_key

    def _values(
        self, one: e.Expr, left: StoredOccurrences, other: e.Expr, right: StoredOccurrences
    ) -> tuple[Ints, Mask]:
        """Numbers for the values of both sides of an equality, and which of them are not null."""
        direct = [self._exact(one, left), self._exact(other, right)]
        if direct[0] is not None and direct[1] is not None:
            return (np.concatenate([direct[0][0], direct[1][0]]), np.concatenate([direct[0][1], direct[1][1]]))
        arrays = [self._evaluated(one, left), self._evaluated(other, right)]
        if Type.DOUBLE in (one.type, other.type):
            arrays = [array.cast(pa.float64(), safe=False) for array in arrays]
        values = pa.concat_arrays([arrays[0], arrays[1].cast(arrays[0].type)])
        return encoded(values)[0], np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)

    def _exact(self, expr: e.Expr, found: StoredOccurrences) -> tuple[Ints, Mask] | None:
        """Values of a plain column of one event."""
        match expr:
            case e.ColumnOf(slot=slot, column=column):
                pass
            case e.TimeOf(edge=edge, slot=slot) if not self.layout.is_span(slot):
                column = START if edge is e.Edge.START else END
            case e.IdOf(slot=slot):
                column = column_of(expr)
            case _:
                return None
        rows = found.rows[:, self.layout.slots.index(slot)]
        values, valid = self.store.exact[column]
        return values[rows], valid[rows] & (rows >= 0)

    def _merits(self, pair: b.Pair, both: PairOperands) -> tuple[Ints, np.ndarray]:
        """The values that PREFER compares, and for which sides it applies."""
        prefer = self.policy.prefer
        if prefer is None:
            return NOTHING, np.zeros(2, bool)
        length = both.column("end") - both.column("start")
        match prefer:
            case p.Preference.LONGER:
                return length, np.ones(2, bool)
            case p.Preference.SHORTER:
                return -length, np.ones(2, bool)
            case _:
                slots = e.slots_of(prefer)
                competes = np.zeros(2, bool)
                competes[kernel.LEFT], competes[kernel.RIGHT] = slots <= pair.left.bound, slots <= pair.right.bound
                if not competes.any():
                    return length, competes
                return _ranks(self._evaluated(prefer, stacked(both.left, both.right))), competes

    def _evaluated(self, expr: e.Expr, found: StoredOccurrences) -> pa.Array:
        array = evaluate(expr, self.gather(found), len(found), self.context)
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array

    def gather(self, found: StoredOccurrences) -> Gather:
        rows = found.rows[:, :-1]
        filled = rows >= 0
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(filled.sum(axis=1))])
        slots = np.broadcast_to(np.array(self.layout.slots, np.int64), rows.shape)[filled]
        moments = {name: found.moments[:, place] for place, name in enumerate(self.layout.moments)}
        return Gather(self.store.batch, offsets, rows[filled], slots, moments)


def relation_of(name: str) -> int:
    return RELATIONS[INVERSES[name]] + kernel.INVERSE if name in INVERSES else RELATIONS[name]


def _ranks(values: pa.Array) -> Ints:
    """Ranks of values; nulls have rank 0."""
    if pa.types.is_floating(values.type):
        values = pc.add(values, 0.0)  # zero has two signs
    ranks = np.asarray(pc.rank(values, sort_keys="ascending", tiebreaker="dense"), dtype=np.int64)
    return np.where(values.is_null().to_numpy(zero_copy_only=False), 0, ranks)


FEW_HOLES = 4
"""Values whose range is at most so many times their number are codes after subtracting the least."""


def coded(values: Ints) -> tuple[Ints, int]:
    """Codes 0 … n-1 that are equal where values are, and n."""
    if not len(values):
        return values, 1
    least, most = int(values.min()), int(values.max())
    if most - least < FEW_HOLES * len(values):
        return values - least, most - least + 1
    return codes_of([values], len(values))


def arrival_order(
    group: Ints, n_groups: int, has_key: Mask, both: PairOperands, event: Ints, layout: RowLayout
) -> tuple[Ints, Ints]:
    """The arrivals with a key in order of arrival, and the offsets of groups; `event` has the event numbers of rows."""
    group = group if has_key.all() else np.where(has_key, group, n_groups)
    end, end_place, side, start = both.column("end"), both.column("end_place"), both.side, both.column("start")
    order, tied = canonical_order(group, n_groups + 1, end, end_place, side, start)
    n_with_key = int(has_key.sum())
    order, tied = order[:n_with_key], tied[:n_with_key]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(group, minlength=n_groups)[:n_groups])])
    if tied.any():
        chosen = np.flatnonzero(tied | np.append(tied[1:], False))
        run = np.cumsum(~tied)[chosen]
        places = order[chosen]
        members, slots = _lineage(both.column("rows")[places, :-1], event, layout)
        keys = [*slots.T[::-1], *members.T[::-1], both.column("start_place")[places], run]
        order[chosen] = places[np.lexsort(keys)]
    return order, offsets


def stored_first(order: Ints, group: Ints, was_stored: Mask) -> Ints:
    """The order with stored occurrences first in their groups, in the order in which they were stored."""
    stored = np.flatnonzero(was_stored)  # what is stored has a key
    together = np.concatenate([stored, order[~was_stored[order]]])
    return together[np.argsort(group[together], kind="stable")]


def _lineage(rows: Ints, event: Ints, layout: RowLayout) -> tuple[Ints, Ints]:
    """Events and slots of each occurrence, padded with -1."""
    filled = rows >= 0
    members = np.where(filled, event[rows], -1)
    slots = np.where(filled, np.array(layout.slots), -1)
    if filled.all():
        return members, slots
    to_front = np.argsort(~filled, axis=1, kind="stable")
    return np.take_along_axis(members, to_front, axis=1), np.take_along_axis(slots, to_front, axis=1)


@dataclass(frozen=True, slots=True)
class ConsumptionEvent:
    """Evaluates one event with a consumption policy."""

    step: EventStep
    context: ExpressionContext
    _group: list[SharingGroup] = field(default_factory=list, compare=False, repr=False)

    def evaluate(self, batch: EventBatch, n_keys: int, until: int) -> MatchBatch:
        """All results over the batch that are known by `until`."""
        matches = self.after(batch, n_keys, -FOREVER, {})[0]
        return matches.where(matches.detected_at <= until) if until < FOREVER else matches

    def after(self, batch: EventBatch, n_keys: int, done: int, waiting: Stores) -> tuple[MatchBatch, Stores]:
        """The results that end after `done`, given the stored occurrences; and the new stored occurrences."""
        if not self._group:
            self._group.append(SharingGroup((self.step,)))
        session = Session.of(self._group[0], batch, n_keys)
        evaluation = JoinEvaluation.of(session, self.step, self.context)
        policy = self.step.event.consumption
        assert policy is not None
        consuming = Consuming(
            session.store, self.step, policy, row_layout(self.step), self.context, evaluation, done, waiting
        )
        found = as_occurrences(consuming.matches(), consuming.layout, evaluation.arena)
        return results_of(evaluation, found), dict(enumerate(consuming.still_waiting))
