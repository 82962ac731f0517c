"""Runs a physical plan in this process, without a JVM: for tests, notebooks and small data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from inkling.evaluators.stage.derive import with_derived_columns
from inkling.evaluators.stage.engine import StageEngine, source_table
from inkling.evaluators.stage.prepare import stage_rows
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import MatchBatch
from inkling.physical.plan import PhysicalPlan, Stage


@dataclass(frozen=True, slots=True)
class LocalRun:
    """Results of every event, in the order of the program."""

    matches: Mapping[str, MatchBatch]


def run_plan(
    plan: PhysicalPlan, sources: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], around: Surroundings
) -> LocalRun:
    """Evaluate all stages over normalized sources; a stream without a source is empty."""
    ready = {
        stream.schema.name: with_derived_columns(stream, sources[stream.schema.name], around)
        for stream in plan.program.streams
        if stream.schema.name in sources
    }
    matches: dict[str, MatchBatch] = {}
    for stage in plan.stages:
        engine = StageEngine(stage, tables, around)
        found = engine.run(_rows(stage, ready, tables, around)).matches
        matches.update(found)
        ready.update({name: source_table(batch) for name, batch in found.items()})
    return LocalRun(matches)


def _rows(
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
