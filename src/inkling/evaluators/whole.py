"""A whole plan over complete sources: stage after stage, each reading what those before it derived."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from inkling.evaluators.stage.derive import all_derived
from inkling.evaluators.stage.engine import StageEngine, source_table
from inkling.evaluators.stage.prepare import stage_rows
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import MatchBatch
from inkling.physical.plan import PhysicalPlan, Stage


def run_plan(
    plan: PhysicalPlan, sources: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], around: Surroundings
) -> dict[str, MatchBatch]:
    """Evaluate all stages over normalized sources."""
    ready = all_derived(plan.program.streams, sources, around)
    matches: dict[str, MatchBatch] = {}
    for stage in plan.stages:
        engine = StageEngine(stage, tables, around)
        found = engine.run(rows_of(stage, ready, tables, around)).matches
        matches.update(found)
        ready.update({name: source_table(batch) for name, batch in found.items()})
    return matches


def rows_of(
    stage: Stage, ready: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], around: Surroundings
) -> pa.Table:
    """Rows of all inputs that exist before the stage starts."""
    made_here = {step.event.name for step in stage.steps}
    return pa.concat_tables(
        [
            stage_rows(stage, number, ready[given.source], tables, around)
            for number, given in enumerate(stage.inputs)
            if given.source not in made_here
        ]
    )
