"""The registry of evaluators: which evaluator runs for each choice in a plan.

A new capability is an entry of `inkling.analysis.choice.FAMILIES`, which recognizes its events, and an entry here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from inkling.analysis.choice import Evaluator as Chosen
from inkling.evaluators.certain import CertainEvaluator
from inkling.evaluators.protocol import EvaluatorContext, StartDecisions, StreamEvaluator
from inkling.model.time import TimeUnit
from inkling.physical.plan import PhysicalPlan

Maker = Callable[[PhysicalPlan, EvaluatorContext], StreamEvaluator[Any] | None]


def _chain(plan: PhysicalPlan, context: EvaluatorContext) -> StreamEvaluator[Any] | None:
    from inkling.evaluators.chain.evaluator import ChainEvaluator

    return ChainEvaluator.of(plan, context)


def _query(plan: PhysicalPlan, context: EvaluatorContext) -> StreamEvaluator[Any] | None:
    from inkling.evaluators.query.evaluator import QueryEvaluator

    return QueryEvaluator.of(plan, context)


def _relation(plan: PhysicalPlan, context: EvaluatorContext) -> StreamEvaluator[Any] | None:
    from inkling.evaluators.relation.evaluator import RelationEvaluator

    return RelationEvaluator.of(plan, context)


def _worlds(plan: PhysicalPlan, context: EvaluatorContext) -> StreamEvaluator[Any] | None:
    from inkling.evaluators.worlds.evaluator import WorldsEvaluator

    return WorldsEvaluator.of(plan, context)


MAKERS: dict[str, Maker] = {
    Chosen.CHAIN: _chain,
    Chosen.QUERY: _query,
    Chosen.RELATION: _relation,
    Chosen.WORLDS: _worlds,
}
"""Evaluators of events over uncertain streams, by choice; each is imported when a plan needs it."""


def _chain_beginning(plan: PhysicalPlan, unit: TimeUnit) -> StartDecisions | None:
    from inkling.evaluators.chain.evaluator import ChainEvaluator

    return ChainEvaluator.beginning(plan, unit)


def _worlds_beginning(plan: PhysicalPlan, unit: TimeUnit) -> StartDecisions | None:
    from inkling.evaluators.worlds.evaluator import WorldsEvaluator

    return WorldsEvaluator.beginning(plan, unit)


_BEGINNINGS: dict[str, Callable[[PhysicalPlan, TimeUnit], StartDecisions | None]] = {
    Chosen.CHAIN: _chain_beginning,
    Chosen.WORLDS: _worlds_beginning,
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
