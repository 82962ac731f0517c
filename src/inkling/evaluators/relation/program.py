"""The relations of a program between segments with lost ends, and their results over complete data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.relation import SegmentRelation
from inkling.evaluators.memory import require_rest
from inkling.evaluators.relation.event import RelationEvent, RelationMatches, RelationOperands
from inkling.evaluators.relation.forward import Limits
from inkling.evaluators.relation.operands import RelationContext
from inkling.evaluators.relation.results import probable_enough, results_of
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import Clock, TimeUnit
from inkling.physical.plan import PhysicalPlan
from inkling.results import in_order, most_probable


@dataclass(frozen=True)
class RelationProgram:
    """The relations of a program, the streams that they read, and the settings of the run."""

    part: p.ProgramPlan  # the relations and the streams that they read
    relations: Mapping[str, SegmentRelation]
    context: ExpressionContext
    unit: TimeUnit
    limits: Limits
    id_types: Mapping[str, pa.DataType]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        context: ExpressionContext,
        unit: TimeUnit,
        limits: Limits,
        tables: Mapping[str, pa.Table],
    ) -> RelationProgram | None:
        """None where the program has no such relation."""
        chosen = plan.answered_by(Evaluator.RELATION)
        relations = {name: choice.data for name, choice in chosen.items() if isinstance(choice.data, SegmentRelation)}
        if not relations:
            return None
        read = {operand.stream for relation in relations.values() for operand in relation.operands}
        return cls(plan.part(relations, read), relations, context, unit, limits, plan.id_types, tables)

    @cached_property
    def evaluators(self) -> Mapping[str, RelationEvent]:
        schemas = {stream.schema.name: stream.schema for stream in self.part.streams}
        context = RelationContext(self.context, self.tables, self.unit)
        return {
            name: RelationEvent(relation.event, relation, schemas, context, self.limits)
            for name, relation in self.relations.items()
        }


MOST_QUANTITIES = 1 << 16
"""More quantities than a program can ask for."""

_NOBODY = (np.empty(0, np.int64), np.empty(0, np.int64))


def answered(program: RelationProgram, rows: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Results of every relation over the checked rows of all streams, in the public columns."""
    return {
        name: answer(evaluator, rows, program.id_types[name], program.unit.clock)
        for name, evaluator in program.evaluators.items()
    }


def answer(evaluator: RelationEvent, rows: Mapping[str, pa.Table], ids: pa.DataType, clock: Clock) -> pa.Table:
    """Results of one relation."""
    operands = evaluator.operands(rows)
    tables = [results_of(evaluator, operands, evaluator.found(operands, *_NOBODY), ids, clock)]
    for ones, others in evaluator.pairs(operands):
        require_rest(evaluator.event.name)
        found = emitted(evaluator, operands, ones, others, evaluator.found(operands, ones, others))
        tables.append(results_of(evaluator, operands, found, ids, clock))
    table = in_order(evaluator.event, pa.concat_tables(tables))
    return table if evaluator.event.top is None else most_probable(table, evaluator.event.top)


def emitted(
    evaluator: RelationEvent, operands: RelationOperands, ones: Ints, others: Ints, answers: RelationMatches
) -> RelationMatches:
    """The results of some pairs: early ones with the time at which they were certain, then the other final ones."""
    final = probable_enough(evaluator, answers)
    if not evaluator.relation.is_early:
        return final
    soon = evaluator.early(operands, evaluator.open_questions(operands, ones, others), FOREVER)
    soon = soon.where(soon.known < FOREVER)
    again = np.isin(_names(final, operands), _names(soon, operands))
    return soon.followed_by(final.where(~again))


def _names(found: RelationMatches, operands: RelationOperands) -> Ints:
    """A number for each pair and quantity."""
    return (found.ones * len(operands.right) + found.others) * MOST_QUANTITIES + found.quantity
