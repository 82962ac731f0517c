"""Relations between segments some of whose ends were lost: pairs of keys, and how probable each relation is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.analysis.relation import RelationOperand, SegmentRelation
from inkling.evaluators.hashes import Hashes
from inkling.evaluators.relation.axis import CumulativeIntensity
from inkling.evaluators.relation.bounds import first_moments
from inkling.evaluators.relation.forward import Limits, chances
from inkling.evaluators.relation.lists import ALL, RelationQuery
from inkling.evaluators.relation.operands import OperandKeys, RelationContext, keys_of
from inkling.evaluators.segments.relations import truth_table
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.vectorized import evaluate
from inkling.model.batch import FOREVER, Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

PAIRS_AT_ONCE = 1 << 18

ANSWERS_AT_ONCE = 1 << 21
"""A pair has one for each number of segments up to the largest that is asked for."""


def pairs_of(
    left: Hashes, right: Hashes, chosen: Ints | None = None, *, apart: bool, at_once: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of keys with equal hashes, in the order of the left ones, or of `chosen` ones of them.

    With `apart`, no key with itself.
    """
    keys = np.arange(len(left)) if chosen is None else chosen
    left = left[keys]
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, side="left")
    n_partners = np.searchsorted(right[order], left, side="right") - first
    until = np.cumsum(n_partners)
    begin = 0
    while begin < len(left):
        done = until[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(until, done + at_once, side="right")))
        ones = np.repeat(np.arange(begin, end), n_partners[begin:end])
        place = np.arange(len(ones)) - np.repeat(until[begin:end] - n_partners[begin:end] - done, n_partners[begin:end])
        others = order[first[ones] + place]
        ones = keys[ones]
        if apart:
            differs = ones != others
            ones, others = ones[differs], others[differs]
        if len(ones):
            yield ones, others
        begin = end


@dataclass(frozen=True, slots=True)
class RelationOperands:
    left: OperandKeys
    right: OperandKeys


@dataclass(frozen=True, slots=True)
class RelationMatches:
    """Possible results: two keys, which number of segments is meant, and how probable it is that so many qualify."""

    ones: Ints
    others: Ints
    quantity: Ints
    chance: np.ndarray
    error: np.ndarray
    known: Ints  # when that was known; FOREVER for the end

    def __len__(self) -> int:
        return len(self.ones)

    def followed_by(self, others: RelationMatches) -> RelationMatches:
        return RelationMatches(
            *(np.concatenate([getattr(self, name), getattr(others, name)]) for name in self.__slots__)
        )

    def where(self, mask: np.ndarray) -> RelationMatches:
        return RelationMatches(*(getattr(self, name)[mask] for name in self.__slots__))


@dataclass(frozen=True)
class RelationEvent:
    """Evaluates one event; rows of its streams come as they are stored."""

    event: p.EventPlan
    relation: SegmentRelation
    schemas: Mapping[str, StreamSchema]
    context: RelationContext
    limits: Limits

    def operands(self, rows: Mapping[str, pa.Table]) -> RelationOperands:
        left = self._keys(self.relation.left, rows)
        if self._is_symmetric:
            return RelationOperands(left, left)
        return RelationOperands(left, self._keys(self.relation.right, rows))

    def _keys(self, side: RelationOperand, rows: Mapping[str, pa.Table]) -> OperandKeys:
        schema = self.schemas[side.stream]
        return keys_of(side, schema, rows[side.stream], self.relation.same, self.context, self._axis)

    @cached_property
    def _is_symmetric(self) -> bool:
        """Whether both sides are the same keys with the same segments."""
        left, right = self.relation.sides
        plain = not left.operand.leaf.conditions and not right.operand.leaf.conditions
        return self.relation.is_within_one_stream and plain

    @cached_property
    def _axis(self) -> CumulativeIntensity | None:
        uncertainties = [self.schemas[side.stream].uncertainty for side in self.relation.sides]
        names = {
            uncertainty.intensity
            for uncertainty in uncertainties
            if isinstance(uncertainty, LostEvents) and uncertainty.intensity
        }
        return next((CumulativeIntensity.of(name, self.context.tables[name]) for name in names), None)

    @cached_property
    def asked(self) -> RelationQuery:
        left, right = (side.operand for side in self.relation.sides)
        most = 0 if left.least is None else left.most or left.least
        least_right = ALL if right.least is None else right.least
        table = truth_table(self.relation.relations)
        return RelationQuery(table, least_right, self.relation.same is not None, most, left.least is None)

    @property
    def quantities(self) -> Ints:
        """Columns of the answer that are asked for; all left segments have one of their own."""
        left = self.relation.left.operand
        if left.least is None:
            return np.zeros(1, np.int64)
        return np.arange(left.least, (left.most or left.least) + 1)

    def pairs(self, operands: RelationOperands, chosen: Ints | None = None) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of keys that the event asks about; of `chosen` left ones, where only some are."""
        by_left, by_right = self.joined_by
        left, right = operands.left.hashes(by_left), operands.right.hashes(by_right)
        at_once = min(PAIRS_AT_ONCE, ANSWERS_AT_ONCE // (self.asked.most + 1))
        for ones, others in pairs_of(left, right, chosen, apart=self.relation.is_within_one_stream, at_once=at_once):
            there = (
                _there(self.relation.left, operands.left)[ones] & _there(self.relation.right, operands.right)[others]
            )
            ones, others = ones[there], others[there]
            for condition in self._of_pairs:
                holds = truth_of(condition, self._values(operands, ones, others), len(ones), self.context.expressions)
                ones, others = ones[holds], others[holds]
            yield ones, others

    @cached_property
    def joined_by(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns of both sides that have to be equal."""
        left, right = self.relation.sides
        columns = [(column.name, column.name) for column in self.event.partition]
        keys = {(side.slot, column.name) for side in (left, right) for column in side.operand.key}
        for condition in (part for one in self.event.having for part in e.conjuncts(one)):
            match condition:
                case e.Compare(operator="=", left=e.ColumnOf() as one, right=e.ColumnOf() as other):
                    if one.slot == right.slot:
                        one, other = other, one
                    ends = {(one.slot, one.column), (other.slot, other.column)}
                    sided = (one.slot, other.slot) == (left.slot, right.slot)
                    if sided and one.type is other.type and ends <= keys:
                        columns.append((one.column, other.column))
                case _:
                    pass
        return tuple(one for one, _ in columns), tuple(other for _, other in columns)

    @cached_property
    def _of_pairs(self) -> tuple[e.Expr, ...]:
        """Conditions on two keys, whatever number of segments is meant."""
        return tuple(one for one in self.event.having if not _mentions_quantity(one))

    def _values(
        self, operands: RelationOperands, ones: Ints, others: Ints, quantity: Ints | None = None
    ) -> Callable[[e.Expr], pa.Array]:
        def resolve(expr: e.Expr) -> pa.Array:
            match expr:
                case e.ColumnOf(slot=slot, column=column) if slot == self.relation.left.slot:
                    return operands.left.values[column].take(pa.array(ones))
                case e.ColumnOf(column=column):
                    return operands.right.values[column].take(pa.array(others))
                case e.KeyColumn(column=column):
                    return operands.left.values[column].take(pa.array(ones))
                case e.Quantity():
                    assert quantity is not None
                    return pa.array(quantity)
                case _:
                    raise AssertionError(f"{type(expr).__name__} is nothing that two keys have")

        return resolve

    def head(self, operands: RelationOperands, found: RelationMatches) -> dict[str, pa.Array]:
        resolve = self._values(operands, found.ones, found.others, found.quantity)
        return {one.name: evaluate(one.expr, resolve, len(found), self.context.expressions) for one in self.event.head}

    def found(self, operands: RelationOperands, ones: Ints, others: Ints) -> RelationMatches:
        """The final answer about some pairs."""
        answer = chances(operands.left.lists, operands.right.lists, ones, others, self.asked, self.limits)
        known = ~(operands.left.unanswerable[ones] | operands.right.unanswerable[others])
        every = replace(
            self._every(ones, others),
            chance=(answer.at_least[:, self.quantities] * known[:, None]).reshape(-1),
            error=np.repeat(answer.error * known, len(self.quantities)),
        )
        return self._asked_about(operands, every.where((every.chance > 0) | (every.error > 0)))

    def open_questions(self, operands: RelationOperands, ones: Ints, others: Ints) -> RelationMatches:
        """All that is asked about some pairs, of which nothing is known yet."""
        return self._asked_about(operands, self._every(ones, others))

    def _every(self, ones: Ints, others: Ints) -> RelationMatches:
        quantities, n = self.quantities, len(self.quantities)
        nothing = np.zeros(n * len(ones))
        never = np.full(n * len(ones), FOREVER)
        return RelationMatches(
            np.repeat(ones, n), np.repeat(others, n), np.tile(quantities, len(ones)), nothing, nothing, never
        )

    def early(
        self, operands: RelationOperands, found: RelationMatches, until: int, since: int = -FOREVER
    ) -> RelationMatches:
        """The same, with bounds and the time where it is certain by then that a probability is large enough.

        It is not by the time `since`.
        """
        assert self.event.confidence is not None
        asked = (found.ones, found.others, found.quantity)
        moment = first_moments(operands.left, operands.right, *asked, self.asked, self.event.confidence, since, until)
        is_known = moment.time < FOREVER
        return replace(
            found,
            chance=np.where(is_known, (moment.lower + moment.upper) / 2, found.chance),
            error=np.where(is_known, (moment.upper - moment.lower) / 2, found.error),
            known=moment.time,
        )

    def _asked_about(self, operands: RelationOperands, found: RelationMatches) -> RelationMatches:
        for condition in (one for one in self.event.having if _mentions_quantity(one)):
            resolve = self._values(operands, found.ones, found.others, found.quantity)
            found = found.where(truth_of(condition, resolve, len(found), self.context.expressions))
        return found


def _mentions_quantity(condition: e.Expr) -> bool:
    return any(isinstance(part, e.Quantity) for part in e.walk(condition))


def _there(side: RelationOperand, keys: OperandKeys) -> np.ndarray:
    """Which keys a side has: all, or those with segments."""
    return (np.diff(keys.lists.segments) > 0) | (not side.needs_segments)
