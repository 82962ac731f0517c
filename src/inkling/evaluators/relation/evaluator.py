"""The evaluator of relations between segments with lost ends (SimpMatch): its state, and when a result is emitted.

A step takes rows by their end time. A result is emitted when both of its keys are complete; with EARLY, as soon as its
lower bound reaches CONFIDENCE; otherwise at the end of the stream. Results that depend on the roles of lost events are
emitted at the end, because any later row may show these roles.

Where TIMEOUT ends every key and related segments intersect, keys that can no longer be related are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.analysis.bounds.lifetimes import lifetime_of
from inkling.analysis.choice import Evaluator
from inkling.analysis.relation import RelationOperand
from inkling.evaluators.division import EvaluatorPart
from inkling.evaluators.gaps.rows import of_whole_stream
from inkling.evaluators.open_matches import OpenMatch, not_kept
from inkling.evaluators.protocol import BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows
from inkling.evaluators.relation.division import relation_parts
from inkling.evaluators.relation.event import RelationEvent, RelationMatches, RelationOperands
from inkling.evaluators.relation.forgetting import Lifetimes, horizon_of
from inkling.evaluators.relation.forward import Limits
from inkling.evaluators.relation.operands import OperandKeys
from inkling.evaluators.relation.program import RelationProgram, answered
from inkling.evaluators.relation.regularity import notes_of
from inkling.evaluators.relation.results import probable_enough, results_of
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_by
from inkling.model.batch import FOREVER, Ints
from inkling.model.hashes import Hashes, combined, row_hashes
from inkling.model.roles import NO_ROLES
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class EarlyResults:
    """Results that were emitted early: hashes of them and their keys, and owners where the state is divided by key."""

    results: Hashes
    ones: Hashes
    others: Hashes
    owners: Owners

    @classmethod
    def none(cls) -> EarlyResults:
        nothing = np.empty(0, np.uint64)
        return cls(nothing, nothing, nothing, nothing)

    def with_others(self, added: EarlyResults) -> EarlyResults:
        return EarlyResults(
            *(np.concatenate([getattr(self, name), getattr(added, name)]) for name in EarlyResults.__slots__)
        )

    def where(self, mask: np.ndarray) -> EarlyResults:
        return EarlyResults(*(getattr(self, name)[mask] for name in EarlyResults.__slots__))


@dataclass(frozen=True, slots=True)
class RelationState:
    """The rows of each stream that are needed, and per event the results that were emitted early."""

    rows: Mapping[str, pa.Table] = field(default_factory=dict)
    settled: Mapping[str, EarlyResults] = field(default_factory=dict)
    until: int = -FOREVER


@dataclass(frozen=True)
class RelationEvaluator(PartEvaluator):
    """Answers all relations of a program."""

    program: RelationProgram

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> RelationEvaluator | None:
        """None where no event of the plan is answered by this evaluator."""
        if not plan.answered_by(Evaluator.RELATION):
            return None
        limits = Limits.of(context.sampling or Sampling())
        program = RelationProgram.of(plan, context.expressions, context.unit, limits, context.facts)
        return None if program is None else cls(program)

    @property
    def state_type(self) -> type[RelationState]:
        return RelationState

    def answer(self, rows: Rows) -> BatchAnswer:
        every = self.complete(rows)
        tables = answered(self.program, every)
        return BatchAnswer(tables, tuple(notes_of(self.program, every, tables)))

    def parts(self) -> list[EvaluatorPart]:
        return relation_parts(self.program)

    def start(self) -> RelationState:
        return RelationState(self.complete({}), {event.name: EarlyResults.none() for event in self.events})

    def step(self, state: RelationState, rows: Rows, until: Moment) -> tuple[RelationState, dict[str, pa.Table]]:
        if not any(map(len, rows.values())) and not until.is_end and not self._may_run_out:
            return replace(state, until=until.time), {}
        held = {name: pa.concat_tables([one, rows[name]]) if name in rows else one for name, one in state.rows.items()}
        schemas = {stream.schema.name: stream.schema for stream in self.streams}
        every = {
            name: of_whole_stream(schemas[name], one, until.roles.get(name, NO_ROLES), until.begun)
            for name, one in held.items()
        }
        settled, emitted = dict(state.settled), {}
        key = self.key if self.is_divisible else ()
        for name, asked in self.program.evaluators.items():
            settled[name], tables = _emitted(asked, every, settled[name], state.until, until.time, self.program, key)
            if tables:
                emitted[name] = pa.concat_tables(tables)
        return self._without_ended(RelationState(held, settled, until.time), every), emitted

    def forgotten(self, state: RelationState) -> int | None:
        return None if self._spare is None else state.until - self._spare

    @cached_property
    def _spare(self) -> int | None:
        """How much older than the watermark lost events of a new key can be; None if no key can be forgotten."""
        lifetimes = [lifetime_of(one, self.program.part).conclusion for one in self.program.relations.values()]
        return max(self.program.unit(one) for some in lifetimes for one in some) if all(lifetimes) else None

    def _without_ended(self, state: RelationState, every: Rows) -> RelationState:
        """The state without keys that no open or later key can be related to."""
        if self._spare is None or state.until >= FOREVER:
            return state
        lifetimes = {
            one.schema.name: Lifetimes.of(one.schema, every[one.schema.name], state.until) for one in self.streams
        }
        horizon = horizon_of(lifetimes.values(), state.until - self._spare)
        ended = {name: one.before(horizon) for name, one in lifetimes.items()}
        if not any(mask.any() for mask in ended.values()):
            return state
        settled = dict(state.settled)
        for name, relation in self.program.relations.items():
            left, right = (_ended_keys(state, operand, ended) for operand in relation.operands)
            known = settled[name]
            settled[name] = known.where(~np.isin(known.ones, left) & ~np.isin(known.others, right))
        rows = {name: rows.filter(pa.array(~ended[name])) for name, rows in state.rows.items()}
        return replace(state, rows=rows, settled=settled)

    @property
    def is_divisible(self) -> bool:
        """Whether both operands of every relation have the columns of the key, under the same names."""
        operands = (operand for relation in self.program.relations.values() for operand in relation.operands)
        has_key = all(set(self.key) <= {column.name for column in operand.declared.key} for operand in operands)
        return has_key and super().is_divisible

    def split(self, state: RelationState, owners: Owners) -> tuple[RelationState, RelationState]:
        return (
            self._where(state, lambda found: is_among(found, owners)),
            self._where(state, lambda found: ~is_among(found, owners)),
        )

    def merge(self, left: RelationState, right: RelationState) -> RelationState:
        assert left.until == right.until, "states of different times do not go together"
        return RelationState(
            {name: pa.concat_tables([rows, right.rows[name]]) for name, rows in left.rows.items()},
            {name: one.with_others(right.settled[name]) for name, one in left.settled.items()},
            left.until,
        )

    def open_matches(self, state: RelationState, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """Rejected, as for segments without lost ends: neither side of a relation is its first part."""
        why = "a relation between segments is not a sequence: any two keys that can get further segments are open"
        raise not_kept(event, why)

    def migrated(self, state: RelationState, before: RelationEvaluator, kept: Collection[str]) -> RelationState:
        return RelationState(
            {one.schema.name: state.rows[one.schema.name] for one in self.streams},
            {event.name: state.settled[event.name] for event in self.events},
            state.until,
        )

    def n_kept(self, state: RelationState) -> int:
        return sum(map(len, state.rows.values()))

    def _where(self, state: RelationState, chosen: Callable[[Owners], np.ndarray]) -> RelationState:
        """The state of some keys."""
        return RelationState(
            {name: rows_where(rows, chosen(owners_by(rows, self.key))) for name, rows in state.rows.items()},
            {name: one.where(chosen(one.owners)) for name, one in state.settled.items()},
            state.until,
        )

    @property
    def _may_run_out(self) -> bool:
        """Whether the passing of time alone can complete a key."""
        uncertainties = [stream.schema.uncertainty for stream in self.program.part.streams]
        return any(
            getattr(uncertainty, "timeout", None) or getattr(uncertainty, "bounds", None)
            for uncertainty in uncertainties
        )


def _emitted(
    evaluator: RelationEvent,
    rows: Mapping[str, pa.Table],
    settled: EarlyResults,
    before: int,
    now: int,
    program: RelationProgram,
    key: tuple[str, ...],
) -> tuple[EarlyResults, list[pa.Table]]:
    """The results that became final, or certain with EARLY, after `before` and up to `now`."""
    if evaluator.relation.asks_for_roles and now < FOREVER:
        return settled, []
    before = -FOREVER if evaluator.relation.asks_for_roles else before
    operands, tables = evaluator.operands(rows), []
    names, ids = _names(evaluator, operands), program.id_types[evaluator.event.name]
    for ones, others in evaluator.pairs(operands):
        complete = np.maximum(operands.left.complete[ones], operands.right.complete[others])
        still = complete > before
        over = still & ((complete <= now) | (now >= FOREVER))
        final = _unsettled(evaluator.found(operands, ones[over], others[over]), names, settled.results)
        answers = [probable_enough(evaluator, final)]
        if evaluator.relation.is_early:
            still &= _moved(operands.left, before)[ones] | _moved(operands.right, before)[others]
            waiting = _unsettled(evaluator.open_questions(operands, ones[still], others[still]), names, settled.results)
            early = evaluator.early(operands, waiting, now, since=before)
            early = early.where(early.known < FOREVER)
            hashes = _hashes(early, names)
            answers = [early, answers[0].where(~np.isin(_hashes(answers[0], names), hashes))]
            owners = _owners(operands.left, key)[early.ones]
            settled = settled.with_others(EarlyResults(hashes, names[0][early.ones], names[1][early.others], owners))
        tables += [results_of(evaluator, operands, found, ids, program.unit.clock) for found in answers if len(found)]
    return settled, tables


def _ended_keys(state: RelationState, operand: RelationOperand, ended: Mapping[str, np.ndarray]) -> Hashes:
    """Hashes of the keys of an operand that are forgotten."""
    rows = state.rows[operand.stream].filter(pa.array(ended[operand.stream]))
    return row_hashes((rows[column.name] for column in operand.declared.key), len(rows))


def _owners(keys: OperandKeys, columns: tuple[str, ...]) -> Owners:
    return owners_by(pa.table(dict(keys.values)), columns) if columns else np.zeros(len(keys), np.uint64)


def _moved(keys: OperandKeys, before: int) -> np.ndarray:
    """Which keys have new rows, or have been completed since `before`."""
    last = np.append(keys.known, -FOREVER)[keys.offsets[1:] - 1]
    has_rows = np.diff(keys.offsets) > 0
    return (has_rows & (last > before)) | ((keys.complete > before) & (keys.complete < FOREVER))


def _names(evaluator: RelationEvent, operands: RelationOperands) -> tuple[Hashes, Hashes]:
    left, right = evaluator.relation.operands
    return (
        operands.left.hashes(tuple(column.name for column in left.declared.key)),
        operands.right.hashes(tuple(column.name for column in right.declared.key)),
    )


def _hashes(found: RelationMatches, names: tuple[Hashes, Hashes]) -> Hashes:
    quantity: Ints = found.quantity
    return combined(names[0][found.ones], names[1][found.others], quantity.view(np.uint64))


def _unsettled(found: RelationMatches, names: tuple[Hashes, Hashes], settled: Hashes) -> RelationMatches:
    return found.where(~np.isin(_hashes(found, names), settled)) if len(settled) else found
