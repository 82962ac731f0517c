"""What was proved about relations between segments with lost ends: how they are answered, or why in worlds."""

from __future__ import annotations

from inkling.analysis.lost import Relation, relation_of
from inkling.logical import plan as p
from inkling.model.uncertainty import LostEvents


def relation_lines(event: p.EventPlan, program: p.ProgramPlan) -> dict[str, str] | None:
    """What `explain` says of a relation, by title; None where the event is none, or is looked for in worlds."""
    found = relation_of(event, program)
    if found.conclusion is None:
        return None
    return {
        "evaluator": "a pass over the order of all ends, exact; grows with the recorded ends of two keys, and with the "
        "square of what was lost between two of them; where that is too much, samples with a bound",
        "losses": f"summed over: {found.reason}",
        "wait": _told(event, found.conclusion),
    }


def _told(event: p.EventPlan, relation: Relation) -> str:
    if relation.is_early:
        return "as soon as it is certain to be probable enough, with bounds on the probability"
    sides = " and ".join(dict.fromkeys(side.stream for side in relation.sides))
    return f"when both keys of {sides} are complete, at the latest at the end"


def no_relation(event: p.EventPlan, program: p.ProgramPlan) -> str | None:
    """Why a relation between segments with lost ends has to be looked for in worlds."""
    if not isinstance(event.pattern, p.Quantified):
        return None
    streams = [program.stream(name) for name in event.sources]
    if not any(one is not None and isinstance(one.schema.doubt, LostEvents) for one in streams):
        return None
    found = relation_of(event, program)
    return found.reason if found.conclusion is None else None
