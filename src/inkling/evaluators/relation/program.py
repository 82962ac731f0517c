"""The events of a program that are relations between segments with lost ends, and what answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.relation import Relation
from inkling.evaluators.relation.event import RelationEvent
from inkling.evaluators.relation.passes import Limits
from inkling.evaluators.relation.sides import Context
from inkling.logical import plan as p
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True)
class RelationProgram:
    part: p.ProgramPlan  # the relations and the streams that they read
    relations: Mapping[str, Relation]
    around: Surroundings
    measure: Measure
    limits: Limits
    id_types: Mapping[str, pa.DataType]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        around: Surroundings,
        measure: Measure,
        limits: Limits,
        tables: Mapping[str, pa.Table],
    ) -> RelationProgram | None:
        """None where the program has no such event."""
        chosen = plan.answered_by(Evaluator.RELATION)
        relations = {name: choice.data for name, choice in chosen.items() if isinstance(choice.data, Relation)}
        if not relations:
            return None
        read = {side.stream for relation in relations.values() for side in relation.sides}
        return cls(plan.part(relations, read), relations, around, measure, limits, plan.id_types, tables)

    @property
    def events(self) -> tuple[p.EventPlan, ...]:
        return self.part.events

    @cached_property
    def evaluators(self) -> Mapping[str, RelationEvent]:
        """By event."""
        schemas = {stream.schema.name: stream.schema for stream in self.part.streams}
        context = Context(self.around, self.tables, self.measure)
        return {
            name: RelationEvent(relation.event, relation, schemas, context, self.limits)
            for name, relation in self.relations.items()
        }
