"""The events of a program that are answered without worlds, by what the analyses find."""

from __future__ import annotations

from inkling.analysis.chain import ChainPattern, chain_of
from inkling.analysis.query.strategy import Strategy, strategy_of
from inkling.analysis.relation import SegmentRelation, relation_of
from inkling.logical.plan import ProgramPlan


def chains_of(plan: ProgramPlan) -> dict[str, ChainPattern]:
    """The chains over imprecise times, by event."""
    found = {event.name: chain_of(event, plan, None).conclusion for event in plan.events}
    return {name: one for name, one in found.items() if one is not None}


def strategies_of(plan: ProgramPlan) -> dict[str, Strategy]:
    """How queries over probable streams are answered, by event."""
    found = {event.name: strategy_of(event, plan).conclusion for event in plan.events}
    return {name: one for name, one in found.items() if one is not None}


def relations_of(plan: ProgramPlan) -> dict[str, SegmentRelation]:
    """The relations between segments with lost ends, by event."""
    found = {event.name: relation_of(event, plan).conclusion for event in plan.events}
    return {name: one for name, one in found.items() if one is not None}
