"""One relation between segments with lost ends: the pairs of keys to compare, and the probability of each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.analysis.relation import RelationOperand, SegmentRelation
from inkling.evaluators.memory import working_on
from inkling.evaluators.relation.bounds import first_moments
from inkling.evaluators.relation.forward import Limits, chances
from inkling.evaluators.relation.intensity import CumulativeIntensity
from inkling.evaluators.relation.operands import OperandKeys, RelationContext, keys_of
from inkling.evaluators.relation.points import ALL, RelationQuery
from inkling.evaluators.segments.relations import truth_table
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.vectorized import evaluate
from inkling.model.batch import FOREVER, Ints
from inkling.model.hashes import Hashes
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

PAIRS_AT_ONCE = 1 << 18
"""The most pairs of keys in memory at once."""

ANSWERS_AT_ONCE = 1 << 21
"""The most probabilities in memory at once; a pair has one per quantity up to the largest."""


def pairs_of(
    left: Hashes, right: Hashes, chosen: Ints | None = None, *, apart: bool, at_once: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of a left and a right key with equal hashes, in portions, ordered by the left key.

    `chosen` selects left keys. With `apart`, no key is paired with itself.
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
    """The keys of both operands."""

    left: OperandKeys
    right: OperandKeys


@dataclass(frozen=True, slots=True)
class RelationMatches:
    """Possible results: a left and a right key, a quantity k, and P[at least k left segments qualify]."""

    ones: Ints
    others: Ints
    quantity: Ints
    chance: np.ndarray
    error: np.ndarray
    known: Ints  # when the result was known early; FOREVER otherwise

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
    """Answers one event that is a relation between segments."""

    event: p.EventPlan
    relation: SegmentRelation
    schemas: Mapping[str, StreamSchema]
    context: RelationContext
    limits: Limits

    def operands(self, rows: Mapping[str, pa.Table]) -> RelationOperands:
        working_on(self.event.name)
        left = self._keys(self.relation.left, rows)
        if self._is_symmetric:
            return RelationOperands(left, left)
        return RelationOperands(left, self._keys(self.relation.right, rows))

    def _keys(self, operand: RelationOperand, rows: Mapping[str, pa.Table]) -> OperandKeys:
        schema = self.schemas[operand.stream]
        return keys_of(operand, schema, rows[operand.stream], self.relation.same, self.context, self._axis)

    @cached_property
    def _is_symmetric(self) -> bool:
        """Whether both operands are the same keys with the same segments."""
        left, right = self.relation.operands
        plain = not left.declared.leaf.conditions and not right.declared.leaf.conditions
        return self.relation.is_within_one_stream and plain

    @cached_property
    def _axis(self) -> CumulativeIntensity | None:
        uncertainties = [self.schemas[operand.stream].uncertainty for operand in self.relation.operands]
        names = {
            uncertainty.intensity
            for uncertainty in uncertainties
            if isinstance(uncertainty, LostEvents) and uncertainty.intensity
        }
        return next((CumulativeIntensity.of(name, self.context.tables[name]) for name in names), None)

    @cached_property
    def query(self) -> RelationQuery:
        left, right = (operand.declared for operand in self.relation.operands)
        most = 0 if left.least is None else left.most or left.least
        least_right = ALL if right.least is None else right.least
        table = truth_table(self.relation.relations)
        return RelationQuery(table, least_right, self.relation.same is not None, most, left.least is None)

    @property
    def quantities(self) -> Ints:
        """The quantities of left segments that the event asks for; 0 stands for ALL."""
        left = self.relation.left.declared
        if left.least is None:
            return np.zeros(1, np.int64)
        return np.arange(left.least, (left.most or left.least) + 1)

    def pairs(self, operands: RelationOperands, chosen: Ints | None = None) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of keys that the event asks about, in portions; `chosen` selects left keys."""
        by_left, by_right = self.joined_by
        left, right = operands.left.hashes(by_left), operands.right.hashes(by_right)
        at_once = min(PAIRS_AT_ONCE, ANSWERS_AT_ONCE // (self.query.most + 1))
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
        """Columns of the left and of the right key that must be equal: PARTITION BY, and equalities in HAVING."""
        left, right = self.relation.operands
        columns = [(column.name, column.name) for column in self.event.partition]
        keys = {(operand.slot, column.name) for operand in (left, right) for column in operand.declared.key}
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
        """Conditions on a pair of keys that do not read the quantity."""
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
                    raise AssertionError(f"{type(expr).__name__} is no column of two keys")

        return resolve

    def head(self, operands: RelationOperands, found: RelationMatches) -> dict[str, pa.Array]:
        resolve = self._values(operands, found.ones, found.others, found.quantity)
        return {one.name: evaluate(one.expr, resolve, len(found), self.context.expressions) for one in self.event.head}

    def found(self, operands: RelationOperands, ones: Ints, others: Ints) -> RelationMatches:
        """The final probabilities of some pairs; impossible results are left out."""
        answer = chances(operands.left.lists, operands.right.lists, ones, others, self.query, self.limits)
        known = ~(operands.left.unanswerable[ones] | operands.right.unanswerable[others])
        every = replace(
            self._every(ones, others),
            chance=(answer.at_least[:, self.quantities] * known[:, None]).reshape(-1),
            error=np.repeat(answer.error * known, len(self.quantities)),
        )
        return self._asked_about(operands, every.where((every.chance > 0) | (every.error > 0)))

    def open_questions(self, operands: RelationOperands, ones: Ints, others: Ints) -> RelationMatches:
        """All possible results of some pairs, with probability 0."""
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
        """The results with bounds that reach CONFIDENCE after `since` and up to `until`; `known` has the time.

        Probability and error are the middle and half the width of the bounds.
        """
        assert self.event.confidence is not None
        asked = (found.ones, found.others, found.quantity)
        moment = first_moments(operands.left, operands.right, *asked, self.query, self.event.confidence, since, until)
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


def _there(operand: RelationOperand, keys: OperandKeys) -> np.ndarray:
    """Which keys an operand has: all, or only those with segments."""
    return (np.diff(keys.lists.segments) > 0) | (not operand.needs_segments)
