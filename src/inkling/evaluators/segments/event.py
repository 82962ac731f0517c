"""Relations between segments of pairs of keys: the pairs for which a quantified Allen relation holds.

Busany et al. (SimpMatch), section 2.2, over complete segments. The relation is known only at the end of the data.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.evaluators.gather import Gather, lineage_ids
from inkling.evaluators.segments.compared import compared_keys
from inkling.evaluators.segments.operands import KeysAndSegments, side_of
from inkling.evaluators.segments.relations import N_CASES, needed_comparisons, truth_table
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.kernels.columns import lists
from inkling.kernels.joins.segments import ALL, NO_LIMIT, Question, qualifying_segments, related_keys
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import evaluate
from inkling.logical.vectorized.columns import Resolve
from inkling.model.batch import FOREVER, UNORDERED, EventBatch, Ints, Mask, MatchBatch
from inkling.model.keys import codes_of
from inkling.model.runs import ranges
from inkling.model.time import Duration
from inkling.physical.plan import EventStep


def reached(counts: Ints, least: int, most: int) -> tuple[Ints, Ints]:
    """Each pair once per number from `least` to `most` that its count reaches, and these numbers."""
    times = np.maximum(np.minimum(counts, most) - least + 1, 0)
    return np.repeat(np.arange(len(counts)), times), ranges(np.full_like(times, least), times)


def chosen_lists(offsets: Ints, items: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Some of the lists, concatenated; list i is `items[offsets[i] : offsets[i + 1]]`."""
    lengths = np.diff(offsets)[chosen]
    return np.append(0, np.cumsum(lengths)), items[ranges(offsets[chosen], lengths)]


@dataclass(frozen=True)
class SegmentsEvent:
    """Evaluates one event whose pattern is a quantified relation."""

    step: EventStep
    context: ExpressionContext
    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    def evaluate(self, batch: EventBatch, n_keys: int, until: int) -> MatchBatch:
        """The matching pairs of keys of all partitions; none before the end of the stream."""
        if until < FOREVER or not len(batch):
            kind = batch.ids.type
            if kind not in self._empty:
                self._empty[kind] = replace(self._results(batch.take(np.empty(0, np.int64)), 0), place_words=None)
            return self._empty[kind]
        return self._results(batch, n_keys)

    @cached_property
    def _pattern(self) -> p.Quantified:
        pattern = self.step.event.pattern
        assert isinstance(pattern, p.Quantified)
        return pattern

    @cached_property
    def _question(self) -> Question:
        pattern = self._pattern
        table = truth_table(pattern.relations)
        left, right = (ALL if one.least is None else one.least for one in (pattern.left, pattern.right))
        one_after_the_other = bool(table[0] or table[N_CASES - 1])
        labeled = pattern.same is not None
        return Question(
            table,
            needed_comparisons(pattern.relations),
            left,
            right,
            labeled,
            pattern.is_within_one_stream,
            not one_after_the_other,
            NO_LIMIT if pattern.within is None else self._length(pattern.within),
        )

    def _length(self, within: Duration | p.Points) -> int:
        return within.count - 1 if isinstance(within, p.Points) else self.context.unit(within)

    def _results(self, batch: EventBatch, n_partitions: int) -> MatchBatch:
        pattern = self._pattern
        left, right = (
            side_of(batch, one, self.step.leaf(one.leaf.slot), pattern.same, n_partitions)
            for one in (pattern.left, pattern.right)
        )
        ones, others, qualifying = self._related(batch, left, right)
        pair, quantity = self._asked_about(len(ones), qualifying)
        kept, head = self._with_heads(batch, left.row[ones[pair]], right.row[others[pair]], quantity)
        related, place = np.unique(pair[kept], return_inverse=True)
        offsets, segments = chosen_lists(*qualifying(related), place)
        ones, others = ones[pair[kept]], others[pair[kept]]
        offsets, rows = _rows(left, offsets, segments, paired=pattern.left.pairing is not None)
        partition = left.partition[ones]
        start, end = np.minimum(left.start[ones], right.start[others]), np.maximum(left.end[ones], right.end[others])
        identity, n_results = codes_of([partition, *head.values()], len(partition))
        witness = np.arange(n_results)
        known = np.maximum(end, np.maximum(left.known[ones], right.known[others]))
        if n_results < len(ones):
            none = np.zeros(len(rows), np.int64)
            places = np.full(len(ones), -UNORDERED)
            witness = lists.choose_witness(identity, start, places, offsets, batch.event[rows], none, n_results)
            end, known = _latest(identity, end, n_results), -_latest(identity, -known, n_results)
        order = np.lexsort((start[witness], end, partition[witness]))
        witness, end, known = witness[order], end[order], known[order]
        lineage = lineage_ids(batch, offsets, rows)
        return MatchBatch(
            self.step.event.name,
            partition[witness],
            start[witness],
            np.full(n_results, -UNORDERED),
            end,
            np.full(n_results, UNORDERED),
            known,
            {name: column.take(pa.array(witness)) for name, column in head.items()},
            lineage.take(pa.array(witness)),
            batch.place_words,
        )

    def _related(
        self, batch: EventBatch, left: KeysAndSegments, right: KeysAndSegments
    ) -> tuple[Ints, Ints, Callable[[Ints], tuple[Ints, Ints]]]:
        """The related pairs of keys, and a function for the left segments that qualify in some of them."""
        one_side, other_side, asked = left.arrays, right.arrays, self._question
        conditions = [condition for leaf in self.step.leaves for condition in leaf.across]
        if not conditions:
            ones, others = related_keys(one_side, other_side, asked)
            return ones, others, lambda some: qualifying_segments(ones[some], others[some], one_side, other_side, asked)

        def passes(segments: Ints, compared: Ints) -> Mask:
            kept = np.arange(len(segments))
            for condition in conditions:
                columns = self._columns(batch, left.opening[segments[kept]], right.opening[compared[kept]])
                kept = kept[truth_of(condition, columns, len(kept), self.context)]
            return np.isin(np.arange(len(segments)), kept, assume_unique=True)

        ones, others, offsets, segments = compared_keys(one_side, other_side, asked, passes)
        return ones, others, lambda some: chosen_lists(offsets, segments, some)

    def _columns(self, batch: EventBatch, ones: Ints, others: Ints) -> Gather:
        """The columns of pairs of rows, one of each side."""
        rows = np.stack([ones, others], axis=1).ravel()
        slots = np.tile([self._pattern.left.leaf.slot, self._pattern.right.leaf.slot], len(ones))
        return Gather(batch, np.arange(0, len(rows) + 1, 2), rows, slots)

    def _asked_about(self, n_pairs: int, qualifying: Callable[[Ints], tuple[Ints, Ints]]) -> tuple[Ints, Ints | None]:
        """The related pairs, once per asked number of segments that they reach, and these numbers."""
        least, most = self._pattern.left.least, self._pattern.left.most
        every = np.arange(n_pairs)
        if least is None or most is None:
            return every, None
        offsets, _ = qualifying(every)
        return reached(np.diff(offsets), least, most)

    def _with_heads(
        self, batch: EventBatch, ones: Ints, others: Ints, quantity: Ints | None
    ) -> tuple[Ints, dict[str, pa.Array]]:
        """The pairs of rows that pass HAVING, and the values of their heads."""
        event = self.step.event
        kept = np.arange(len(ones))

        def gather() -> Resolve:
            columns = self._columns(batch, ones[kept], others[kept])
            if quantity is None:
                return columns
            return lambda reference: (
                pa.array(quantity[kept]) if isinstance(reference, e.Quantity) else columns(reference)
            )

        for condition in event.having:
            kept = kept[truth_of(condition, gather(), len(kept), self.context)]
        resolve = gather()
        return kept, {one.name: evaluate(one.expr, resolve, len(kept), self.context) for one in event.head}


def _rows(left: KeysAndSegments, offsets: Ints, segments: Ints, *, paired: bool) -> tuple[Ints, Ints]:
    """The rows of lists of segments."""
    if not paired:
        return offsets, left.opening[segments]
    return 2 * offsets, np.stack([left.opening[segments], left.closing[segments]], axis=1).ravel()


def _latest(identity: Ints, times: Ints, n_results: int) -> Ints:
    latest = np.full(n_results, np.iinfo(np.int64).min)
    np.maximum.at(latest, identity, times)
    return latest
