"""The one list of evaluators: what answers the events of each choice in a plan.

A capability is an entry of `inkling.analysis.choice.FAMILIES`, which recognizes its events, and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inkling.analysis.choice import Evaluator as Chosen
from inkling.evaluators.chain.evaluator import ChainEvaluator
from inkling.evaluators.protocol import Context, Evaluator, StreamEvaluator
from inkling.evaluators.query.evaluator import QueryEvaluator
from inkling.evaluators.relation.evaluator import RelationEvaluator
from inkling.evaluators.whole import CertainEvaluator
from inkling.evaluators.worlds.evaluator import WorldsEvaluator
from inkling.physical.plan import PhysicalPlan

Maker = Callable[[PhysicalPlan, Context], StreamEvaluator[Any] | None]

EXACT: dict[str, Maker] = {
    Chosen.CHAIN: ChainEvaluator.of,
    Chosen.QUERY: QueryEvaluator.of,
    Chosen.RELATION: RelationEvaluator.of,
}
"""Evaluators of events over uncertain streams that need no worlds."""

OTHERS: tuple[Callable[[PhysicalPlan, Context], Evaluator | None], ...] = (CertainEvaluator.of, WorldsEvaluator.of)
"""Certain events, by the stages of the plan; and events that have to be looked for in worlds."""


def evaluators_of(plan: PhysicalPlan, context: Context) -> tuple[Evaluator, ...]:
    """What answers the events of a plan over complete streams; every event has one evaluator."""
    plan = plan.on_clock(context.measure.clock)
    found = (make(plan, context) for make in (*EXACT.values(), *OTHERS))
    return tuple(one for one in found if one is not None)


def uncertain_evaluators(plan: PhysicalPlan, context: Context) -> list[Evaluator]:
    """What answers the events of a plan that depend on uncertain streams."""
    found: list[Evaluator] = [*exact_evaluators(plan, context).values()]
    worlds = WorldsEvaluator.of(plan.on_clock(context.measure.clock), context)
    return found if worlds is None else [*found, worlds]


def exact_evaluators(
    plan: PhysicalPlan, context: Context, makers: Mapping[str, Maker] | None = None
) -> dict[str, StreamEvaluator[Any]]:
    """What answers events over uncertain streams without worlds, by choice; `makers` are those of another process."""
    plan = plan.on_clock(context.measure.clock)
    found = {name: make(plan, context) for name, make in (EXACT if makers is None else makers).items()}
    return {name: one for name, one in found.items() if one is not None}
