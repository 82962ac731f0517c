"""What was proved about relations between segments with lost ends: how they are answered, or why in worlds."""

from __future__ import annotations

from inkling.analysis.lost import Relation


def relation_lines(relation: Relation, reason: str) -> dict[str, str]:
    """What `explain` says of a relation, by title."""
    return {
        "evaluator": "a pass over the order of all ends, exact; grows with the recorded ends of two keys, and with the "
        "square of what was lost between two of them; where that is too much, samples with a bound",
        "losses": f"summed over: {reason}",
        "wait": _told(relation),
    }


def _told(relation: Relation) -> str:
    if relation.is_early:
        return "as soon as it is certain to be probable enough, with bounds on the probability"
    sides = " and ".join(dict.fromkeys(side.stream for side in relation.sides))
    return f"when both keys of {sides} are complete, at the latest at the end"
