"""The evaluator of relations between segments with lost ends: what its state holds, and when a result is emitted.

Rows are due by their end. A result is emitted when nothing can follow any more of both of its keys; with EARLY, as soon
as it is certain to be probable enough; the others, at the end. So are those that depend on the roles of lost events,
which any later row may show.

What there is to say about a run over lost events besides its results.

Lost arrivals are spread as if by chance, which is wrong where they come as by a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.division import EvaluatorPart
from inkling.evaluators.gaps.rows import NumberedRows, with_roles
from inkling.evaluators.hashes import Hashes, combined, key_hashes
from inkling.evaluators.open_matches import OpenMatch, not_kept
from inkling.evaluators.protocol import BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows
from inkling.evaluators.relation.division import relation_parts
from inkling.evaluators.relation.event import RelationEvent, RelationMatches, RelationOperands
from inkling.evaluators.relation.forward import Limits
from inkling.evaluators.relation.operands import OperandKeys
from inkling.evaluators.relation.program import RelationProgram, answered
from inkling.evaluators.relation.results import probable_enough, results_of
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_by
from inkling.io.normalize import START
from inkling.model.batch import FOREVER, Ints
from inkling.model.roles import NO_ROLES
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import PhysicalPlan
from inkling.results import BOUNDS, ROUNDING


def notes_of(program: RelationProgram, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]) -> list[str]:
    """Answers that were sampled, and streams whose arrivals are more regular than they say."""
    return [*_sampled(program, tables), *_regular(program, rows)]


def _sampled(program: RelationProgram, tables: Mapping[str, pa.Table]) -> Iterator[str]:
    for event in program.events:
        table = tables[event.name]
        n = int(((table["error"].to_numpy() > ROUNDING) & (np.array(table["method"].to_pylist()) != BOUNDS)).sum())
        if n:
            yield f"{n:,} of {len(table):,} of {event.name} sampled ({program.limits.n_samples:,} orders)"


def _regular(program: RelationProgram, rows: Mapping[str, pa.Table]) -> Iterator[str]:
    for schema in (stream.schema for stream in program.part.streams):
        uncertainty = schema.uncertainty
        if not isinstance(uncertainty, LostEvents) or uncertainty.intensity is not None or not len(rows[schema.name]):
            continue
        found = NumberedRows.of(schema, rows[schema.name], tables=program.tables)
        recorded = found.rows.slice(0, found.n_recorded)
        key = np.unique(key_hashes(schema, recorded), return_inverse=True)[1]
        number, time = recorded[uncertainty.number].to_numpy().astype(np.int64), recorded[START].to_numpy()
        n_lost = int(np.diff(found.gaps).sum())
        note = regularity_note(schema.name, regularity(key, number, time), n_lost, uncertainty.shape)
        if note is not None:
            yield note


LEAST_GAPS = 30
CLEARLY_LESS = 0.5
"""Of what the declaration says; gaps that vary a little less do little harm."""

SIGMAS = 2.5758
LARGEST_SHAPE = 20
"""Gaps more regular than these differ little, and each costs as many points per lost event."""


class Regularity(NamedTuple):
    """Squared coefficient of variation of the gaps between neighbors: 1 by chance, 0 as by a clock."""

    n_gaps: int
    variation: float
    upper: float  # with 99 % confidence it is not more

    @property
    def shape(self) -> int:
        """The shape of Erlang gaps that vary as much."""
        return min(LARGEST_SHAPE, max(1, round(1 / max(self.variation, 1 / LARGEST_SHAPE))))


def regularity(key: Ints, number: Ints, time: Ints) -> Regularity | None:
    """How gaps between recorded events with consecutive numbers vary, key by key; None where there are too few.

    Keys may differ in how fast their events come: gaps of each are compared with their own mean.

    >>> every = np.arange(40)
    >>> regularity(every * 0, every, every * 10)
    Regularity(n_gaps=39, variation=0.0, upper=0.0)
    """
    order = np.lexsort((number, key))
    key, number, time = key[order], number[order], time[order]
    follows = (np.diff(key) == 0) & (np.diff(number) == 1)
    gaps = np.diff(time)[follows].astype(np.float64)
    _, group, size = np.unique(key[1:][follows], return_inverse=True, return_counts=True)
    enough = size[group] > 2  # one of them is left out below
    gaps, group = gaps[enough], np.unique(group[enough], return_inverse=True)[1]
    if gaps.size < LEAST_GAPS or not gaps.any():
        return None
    gaps /= gaps.mean()
    n = np.bincount(group).astype(np.float64)
    total, squares = np.bincount(group, gaps), np.bincount(group, gaps**2)
    spread, level = _terms(n, total, squares)
    variation = _ratio(spread.sum(), level.sum())
    less = _terms(n[group] - 1, total[group] - gaps, squares[group] - gaps**2)
    without = _ratio(spread.sum() - spread[group] + less[0], level.sum() - level[group] + less[1])
    deviation = np.sqrt((gaps.size - 1) / gaps.size * ((without - without.mean()) ** 2).sum())
    return Regularity(gaps.size, float(variation), float(variation + SIGMAS * deviation))


def _terms(n: np.ndarray, total: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each key, weighted by its gaps: estimates of the variance of a gap and of its squared mean, both unbiased."""
    mean = total / n
    variance = np.maximum(squares - n * mean**2, 0.0) / (n - 1)
    return n * variance, n * (mean**2 - variance / n)


def _ratio(spread: np.ndarray, level: np.ndarray) -> np.ndarray:
    return spread / np.maximum(level, np.finfo(np.float64).tiny)


def regularity_note(stream: str, found: Regularity | None, n_lost: int, shape: int = 1) -> str | None:
    """A warning where events were lost whose neighbors come clearly more regularly than gaps of the shape do."""
    if found is None or n_lost == 0 or found.upper >= CLEARLY_LESS / shape:
        return None
    declared = "by chance" if shape == 1 else f"with gaps of shape {shape}"
    return (
        f"arrivals of `{stream}` are more regular than declared: the squared variation of {found.n_gaps:,} gaps is "
        f"{found.variation:.2f}, and {1 / shape:.2g} if they came {declared}, as probabilities assume of the "
        f"{n_lost:,} lost; `GAPS ERLANG {found.shape}` after `NUMBERED BY` fits better"
    )


@dataclass(frozen=True, slots=True)
class EarlyResults:
    """Hashes of results that were emitted early, and of their keys where these divide the work."""

    results: Hashes
    owners: Owners

    def with_others(self, results: Hashes, owners: Owners) -> EarlyResults:
        return EarlyResults(np.concatenate([self.results, results]), np.concatenate([self.owners, owners]))

    def where(self, mask: np.ndarray) -> EarlyResults:
        return EarlyResults(self.results[mask], self.owners[mask])


@dataclass(frozen=True, slots=True)
class RelationState:
    """Rows of each stream, and per event the results that were emitted early."""

    rows: Mapping[str, pa.Table] = field(default_factory=dict)
    settled: Mapping[str, EarlyResults] = field(default_factory=dict)
    until: int = -FOREVER


@dataclass(frozen=True)
class RelationEvaluator(PartEvaluator):
    """Answers all relations of a program."""

    program: RelationProgram

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> RelationEvaluator | None:
        """None where no event of the plan is such a relation."""
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
        nothing = EarlyResults(np.empty(0, np.uint64), np.empty(0, np.uint64))
        return RelationState(self.complete({}), {event.name: nothing for event in self.program.events})

    def step(self, state: RelationState, rows: Rows, until: Moment) -> tuple[RelationState, dict[str, pa.Table]]:
        if not any(map(len, rows.values())) and not until.is_end and not self._may_run_out:
            return replace(state, until=until.time), {}
        held = {name: pa.concat_tables([one, rows[name]]) if name in rows else one for name, one in state.rows.items()}
        schemas = {stream.schema.name: stream.schema for stream in self.streams}
        every = {name: with_roles(schemas[name], one, until.roles.get(name, NO_ROLES)) for name, one in held.items()}
        settled, emitted = dict(state.settled), {}
        key = self.key if self.is_divisible else ()
        for name, asked in self.program.evaluators.items():
            settled[name], tables = _emitted(asked, every, settled[name], state.until, until.time, self.program, key)
            if tables:
                emitted[name] = pa.concat_tables(tables)
        return RelationState(held, settled, until.time), emitted

    @property
    def is_divisible(self) -> bool:
        """Both sides of every relation must have the columns of the key under the same names."""
        operands = (side for relation in self.program.relations.values() for side in relation.sides)
        has_key = all(set(self.key) <= {column.name for column in side.operand.key} for side in operands)
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
            {
                name: one.with_others(right.settled[name].results, right.settled[name].owners)
                for name, one in left.settled.items()
            },
            left.until,
        )

    def open_matches(self, state: RelationState, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """Rejected, as for segments without lost ends: neither side of a relation is its first part."""
        raise not_kept(event, "a relation between segments is no sequence, so it has no first parts")

    def migrated(self, state: RelationState, before: RelationEvaluator, kept: Collection[str]) -> RelationState:
        return RelationState(
            {one.schema.name: state.rows[one.schema.name] for one in self.streams},
            {event.name: state.settled[event.name] for event in self.program.events},
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
        """Whether time alone can prove that nothing follows."""
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
    """What is certain by now and was not before."""
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
            settled = settled.with_others(hashes, _owners(operands.left, key)[early.ones])
        tables += [results_of(evaluator, operands, found, ids, program.unit.clock) for found in answers if len(found)]
    return settled, tables


def _owners(keys: OperandKeys, columns: tuple[str, ...]) -> Owners:
    return owners_by(pa.table(dict(keys.values)), columns) if columns else np.zeros(len(keys), np.uint64)


def _moved(keys: OperandKeys, before: int) -> np.ndarray:
    """Of which keys more is known than before: by rows, or because nothing can follow."""
    last = np.append(keys.known, -FOREVER)[keys.offsets[1:] - 1]
    has_rows = np.diff(keys.offsets) > 0
    return (has_rows & (last > before)) | ((keys.complete > before) & (keys.complete < FOREVER))


def _names(evaluator: RelationEvent, operands: RelationOperands) -> tuple[Hashes, Hashes]:
    left, right = evaluator.relation.sides
    return (
        operands.left.hashes(tuple(column.name for column in left.operand.key)),
        operands.right.hashes(tuple(column.name for column in right.operand.key)),
    )


def _hashes(found: RelationMatches, names: tuple[Hashes, Hashes]) -> Hashes:
    quantity: Ints = found.quantity
    return combined(names[0][found.ones], names[1][found.others], quantity.view(np.uint64))


def _unsettled(found: RelationMatches, names: tuple[Hashes, Hashes], settled: Hashes) -> RelationMatches:
    return found.where(~np.isin(_hashes(found, names), settled)) if len(settled) else found
