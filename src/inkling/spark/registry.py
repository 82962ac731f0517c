"""How the work of each evaluator is divided on Spark; evaluators without an entry are divided by their key."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from inkling.analysis.choice import Evaluator
from inkling.evaluators.protocol import Context
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.registry import EXACT
from inkling.spark.by_key import run_by_key
from inkling.spark.frames import Frames, Run
from inkling.spark.imprecise.frames import chain_frames
from inkling.spark.lost.frames import relation_frames
from inkling.spark.partitioning import Partitioning
from inkling.spark.probable.frames import query_frames
from inkling.spark.stages import stage_frames

DIVIDED: dict[str, Run] = {
    Evaluator.CHAIN: chain_frames,
    Evaluator.QUERY: query_frames,
    Evaluator.RELATION: relation_frames,
}


def frames_of(
    plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> list[Frames]:
    """Results of every event of a plan, each from the evaluator that the plan names."""
    found = [stage_frames(plan, context, sources, partitioning)]
    for name in EXACT:
        run = DIVIDED.get(name)
        found.append(
            run_by_key(name, plan, context, sources, partitioning)
            if run is None
            else run(plan, context, sources, partitioning)
        )
    if plan.answered_by(Evaluator.WORLDS):
        # only now: bounds of estimates take a large library to compute
        from inkling.spark.worlds.frames import world_frames

        found.append(world_frames(plan, context, sources, partitioning))
    return [one for one in found if one is not None]
