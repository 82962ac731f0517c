"""The one list of evaluators: what answers the events of each choice in a plan.

A capability is an entry of `inkling.analysis.choice.FAMILIES`, which recognizes its events, and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inkling.analysis.choice import Evaluator as Chosen
from inkling.evaluators.chain.evaluator import ChainEvaluator
from inkling.evaluators.protocol import Beginning, Context, Evaluator, StreamEvaluator
from inkling.evaluators.query.evaluator import QueryEvaluator
from inkling.evaluators.relation.evaluator import RelationEvaluator
from inkling.evaluators.whole import CertainEvaluator
from inkling.evaluators.worlds.evaluator import WorldsEvaluator
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.certain import CertainStages

Maker = Callable[[PhysicalPlan, Context], StreamEvaluator[Any] | None]


def _worlds(plan: PhysicalPlan, context: Context) -> WorldsEvaluator | None:
    return WorldsEvaluator.of(plan, context, CertainStages)


MAKERS: dict[str, Maker] = {
    Chosen.CHAIN: ChainEvaluator.of,
    Chosen.QUERY: QueryEvaluator.of,
    Chosen.RELATION: RelationEvaluator.of,
    Chosen.WORLDS: _worlds,
}
"""Evaluators of events over uncertain streams."""

_BEGINNINGS: dict[str, Callable[[PhysicalPlan, Measure], Beginning | None]] = {
    Chosen.CHAIN: ChainEvaluator.beginning,
    Chosen.WORLDS: WorldsEvaluator.beginning,
}


def evaluators_of(plan: PhysicalPlan, context: Context) -> tuple[Evaluator, ...]:
    """What answers the events of a plan over complete streams; every event has one evaluator."""
    certain = CertainEvaluator.of(plan.on_clock(context.measure.clock), context)
    return (*(() if certain is None else (certain,)), *uncertain_evaluators(plan, context).values())


def uncertain_evaluators(
    plan: PhysicalPlan, context: Context, makers: Mapping[str, Maker] | None = None
) -> dict[str, StreamEvaluator[Any]]:
    """What answers the events that depend on uncertain streams, by choice; `makers` are those of another process."""
    plan = plan.on_clock(context.measure.clock)
    found = {name: make(plan, context) for name, make in (MAKERS if makers is None else makers).items()}
    return {name: one for name, one in found.items() if one is not None}


def beginnings(plan: PhysicalPlan, measure: Measure) -> dict[str, Beginning]:
    """What evaluators decide about the events of a plan that begin now, by choice of the plan; most decide nothing."""
    plan = plan.on_clock(measure.clock)
    found = {str(name): begin(plan, measure) for name, begin in _BEGINNINGS.items()}
    return {name: one for name, one in found.items() if one is not None}
