"""The registry of evaluators: which evaluator runs for each choice in a plan.

A new capability is an entry of `inkling.analysis.choice.FAMILIES`, which recognizes its events, and an entry here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from inkling.analysis.choice import Evaluator as Chosen
from inkling.evaluators.certain import CertainEvaluator
from inkling.evaluators.chain.evaluator import ChainEvaluator
from inkling.evaluators.protocol import EvaluatorContext, StartDecisions, StreamEvaluator
from inkling.evaluators.query.evaluator import QueryEvaluator
from inkling.evaluators.relation.evaluator import RelationEvaluator
from inkling.evaluators.worlds.evaluator import WorldsEvaluator
from inkling.model.time import TimeUnit
from inkling.physical.plan import PhysicalPlan

Maker = Callable[[PhysicalPlan, EvaluatorContext], StreamEvaluator[Any] | None]


MAKERS: dict[str, Maker] = {
    Chosen.CHAIN: ChainEvaluator.of,
    Chosen.QUERY: QueryEvaluator.of,
    Chosen.RELATION: RelationEvaluator.of,
    Chosen.WORLDS: WorldsEvaluator.of,
}
"""Evaluators of events over uncertain streams, by choice."""

_BEGINNINGS: dict[str, Callable[[PhysicalPlan, TimeUnit], StartDecisions | None]] = {
    Chosen.CHAIN: ChainEvaluator.beginning,
    Chosen.WORLDS: WorldsEvaluator.beginning,
}


def evaluators_of(plan: PhysicalPlan, context: EvaluatorContext) -> tuple[StreamEvaluator[Any], ...]:
    """The evaluators of a plan in batch; every event has one."""
    certain = CertainEvaluator.of(plan.on_clock(context.unit.clock), context)
    return (*(() if certain is None else (certain,)), *uncertain_evaluators(plan, context).values())


def uncertain_evaluators(
    plan: PhysicalPlan, context: EvaluatorContext, makers: Mapping[str, Maker] | None = None
) -> dict[str, StreamEvaluator[Any]]:
    """The evaluators of events over uncertain streams, by choice; `makers` replace the registry."""
    plan = plan.on_clock(context.unit.clock)
    chosen = ((name, make) for name, make in (MAKERS if makers is None else makers).items() if plan.answered_by(name))
    found = ((name, make(plan, context)) for name, make in chosen)
    return {name: one for name, one in found if one is not None}


def beginnings(plan: PhysicalPlan, unit: TimeUnit) -> dict[str, StartDecisions]:
    """By choice, what evaluators decide about events that begin now; most evaluators decide nothing."""
    plan = plan.on_clock(unit.clock)
    found = {str(name): begin(plan, unit) for name, begin in _BEGINNINGS.items() if plan.answered_by(name)}
    return {name: one for name, one in found.items() if one is not None}
