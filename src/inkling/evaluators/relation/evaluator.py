"""The evaluator of relations between segments with lost ends: what its state holds, and when a result is emitted.

Rows are due by their end. A result is emitted when nothing can follow any more of both of its keys; with EARLY, as soon
as it is certain to be probable enough; the others, at the end. So are those that depend on the roles of lost events,
which any later row may tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.division import Part
from inkling.evaluators.hashes import Hashes, combined
from inkling.evaluators.numbered.rows import with_roles
from inkling.evaluators.protocol import Answer, Context, Moment, PartEvaluator, Rows
from inkling.evaluators.relation.division import relation_parts
from inkling.evaluators.relation.event import Found, RelationEvent, Sides
from inkling.evaluators.relation.notes import notes_of
from inkling.evaluators.relation.passes import Limits
from inkling.evaluators.relation.program import RelationProgram, answered
from inkling.evaluators.relation.results import probable_enough, results_of
from inkling.evaluators.relation.sides import Keys
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.owners import Owners, is_among, owners_by
from inkling.model.batch import FOREVER, Ints
from inkling.model.roles import NO_ROLES
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class Settled:
    """Hashes of results that were emitted early, and of their keys where these divide the work."""

    results: Hashes
    owners: Owners

    def with_others(self, results: Hashes, owners: Owners) -> Settled:
        return Settled(np.concatenate([self.results, results]), np.concatenate([self.owners, owners]))

    def where(self, mask: np.ndarray) -> Settled:
        return Settled(self.results[mask], self.owners[mask])


@dataclass(frozen=True, slots=True)
class RelationState:
    """Rows of each stream, and per event the results that were emitted early."""

    rows: Mapping[str, pa.Table] = field(default_factory=dict)
    settled: Mapping[str, Settled] = field(default_factory=dict)
    until: int = -FOREVER


@dataclass(frozen=True)
class RelationEvaluator(PartEvaluator):
    """Answers all relations of a program."""

    program: RelationProgram

    @classmethod
    def of(cls, plan: PhysicalPlan, context: Context) -> RelationEvaluator | None:
        """None where no event of the plan is such a relation."""
        if not plan.answered_by(Evaluator.RELATION):
            return None
        limits = Limits.of(context.sampling or Sampling())
        program = RelationProgram.of(plan, context.around, context.measure, limits, context.facts)
        return None if program is None else cls(program)

    @property
    def state_type(self) -> type[RelationState]:
        return RelationState

    def answer(self, rows: Rows) -> Answer:
        every = self.complete(rows)
        tables = answered(self.program, every)
        return Answer(tables, tuple(notes_of(self.program, every, tables)))

    def parts(self) -> list[Part]:
        return relation_parts(self.program)

    def start(self) -> RelationState:
        nothing = Settled(np.empty(0, np.uint64), np.empty(0, np.uint64))
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
            settled[name], tables = _told(asked, every, settled[name], state.until, until.time, self.program, key)
            if tables:
                emitted[name] = pa.concat_tables(tables)
        return RelationState(held, settled, until.time), emitted

    @property
    def is_divisible(self) -> bool:
        """Both sides of every relation must have the columns of the key under the same names."""
        sides = (side for relation in self.program.relations.values() for side in relation.sides)
        has_key = all(set(self.key) <= {column.name for column in side.operand.key} for side in sides)
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

    def migrated(self, state: RelationState, before: RelationEvaluator) -> RelationState:
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
        """Whether time alone can tell that nothing follows."""
        doubts = [stream.schema.doubt for stream in self.program.part.streams]
        return any(getattr(doubt, "timeout", None) or getattr(doubt, "bounds", None) for doubt in doubts)


def _told(
    evaluator: RelationEvent,
    rows: Mapping[str, pa.Table],
    settled: Settled,
    before: int,
    now: int,
    program: RelationProgram,
    key: tuple[str, ...],
) -> tuple[Settled, list[pa.Table]]:
    """What is certain by now and was not before."""
    if evaluator.relation.asks_for_roles and now < FOREVER:
        return settled, []
    before = -FOREVER if evaluator.relation.asks_for_roles else before
    sides, tables = evaluator.sides(rows), []
    names, ids = _names(evaluator, sides), program.id_types[evaluator.event.name]
    for ones, others in evaluator.pairs(sides):
        complete = np.maximum(sides.left.complete[ones], sides.right.complete[others])
        still = complete > before
        over = still & ((complete <= now) | (now >= FOREVER))
        final = _unsettled(evaluator.found(sides, ones[over], others[over]), names, settled.results)
        told = [probable_enough(evaluator, final)]
        if evaluator.relation.is_early:
            still &= _moved(sides.left, before)[ones] | _moved(sides.right, before)[others]
            waiting = _unsettled(evaluator.open_questions(sides, ones[still], others[still]), names, settled.results)
            early = evaluator.early(sides, waiting, now, since=before)
            early = early.where(early.known < FOREVER)
            hashes = _hashes(early, names)
            told = [early, told[0].where(~np.isin(_hashes(told[0], names), hashes))]
            settled = settled.with_others(hashes, _owners(sides.left, key)[early.ones])
        tables += [results_of(evaluator, sides, found, ids, program.measure.clock) for found in told if len(found)]
    return settled, tables


def _owners(keys: Keys, columns: tuple[str, ...]) -> Owners:
    return owners_by(pa.table(dict(keys.values)), columns) if columns else np.zeros(len(keys), np.uint64)


def _moved(keys: Keys, before: int) -> np.ndarray:
    """Of which keys more is known than before: by rows, or because nothing can follow."""
    last = np.append(keys.known, -FOREVER)[keys.offsets[1:] - 1]
    has_rows = np.diff(keys.offsets) > 0
    return (has_rows & (last > before)) | ((keys.complete > before) & (keys.complete < FOREVER))


def _names(evaluator: RelationEvent, sides: Sides) -> tuple[Hashes, Hashes]:
    left, right = evaluator.relation.sides
    return (
        sides.left.hashes(tuple(column.name for column in left.operand.key)),
        sides.right.hashes(tuple(column.name for column in right.operand.key)),
    )


def _hashes(found: Found, names: tuple[Hashes, Hashes]) -> Hashes:
    quantity: Ints = found.quantity
    return combined(names[0][found.ones], names[1][found.others], quantity.view(np.uint64))


def _unsettled(found: Found, names: tuple[Hashes, Hashes], settled: Hashes) -> Found:
    return found.where(~np.isin(_hashes(found, names), settled)) if len(settled) else found
