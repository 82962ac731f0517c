"""Whether a relation between segments with lost ends needs only keys that exist at the same time.

With TIMEOUT, every key ends. Where related segments intersect, two keys whose times are apart are not related, so a
complete key is needed only until every key that began before its end is complete.
"""

from collections.abc import Iterator
from dataclasses import replace

from inkling.analysis.relation import RelationOperand, SegmentRelation
from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.patterns.allen import ends_of, relation_holds
from inkling.model.time import Duration
from inkling.model.uncertainty import LostEvents


def lifetime_of(relation: SegmentRelation, program: p.ProgramPlan) -> Verdict[tuple[Duration, ...]]:
    """The TIMEOUTs of both operands if complete keys can be forgotten; () with the reason if they are always needed."""
    why = next(_obstacles(relation, program), None)
    if why is not None:
        return Verdict((), why)
    found = [_losses(operand, program) for operand in relation.operands]
    timeouts = dict.fromkeys(one.timeout for one in found if one is not None and one.timeout is not None)
    return Verdict(tuple(timeouts), "related segments intersect, and TIMEOUT ends every key")


def _obstacles(relation: SegmentRelation, program: p.ProgramPlan) -> Iterator[str]:
    for operand in relation.operands:
        uncertainty = _losses(operand, program)
        if uncertainty is None or uncertainty.timeout is None:
            yield f"{operand.stream} has no TIMEOUT, so its keys do not end"
        elif uncertainty.rate is not None:
            yield f"with RATE, events of {operand.stream} before its first row can be of any age"
    for name in relation.relations:
        if relation_holds(name, *ends_of(0, 1), *ends_of(3, 4)) or relation_holds(name, *ends_of(3, 4), *ends_of(0, 1)):
            yield f"{name} also holds for segments of which one ended long before the other began"
    for operand in relation.operands:
        why = _without_segments(operand, relation, program)
        if why is not None:
            asked = "ALL" if operand.declared.least is None else "AT LEAST 0"
            yield f"{asked} also holds for {why}, with any other key"
    if relation.asks_for_roles:
        yield "conditions read roles of lost events, which any later row can show"
    reader = next((one.name for one in program.events if relation.event.name in one.sources), None)
    if reader is not None:
        yield f"{reader} reads its results in worlds, where they are known at the end of the stream"


def _losses(operand: RelationOperand, program: p.ProgramPlan) -> LostEvents | None:
    stream = program.stream(operand.stream)
    uncertainty = None if stream is None else stream.schema.uncertainty
    return uncertainty if isinstance(uncertainty, LostEvents) else None


def _without_segments(operand: RelationOperand, relation: SegmentRelation, program: p.ProgramPlan) -> str | None:
    """Which keys of an operand have no segments to compare although the relation can hold; None if there are none."""
    least, uncertainty, stream = operand.declared.least, _losses(operand, program), operand.stream
    if least is not None:
        return f"every key of {stream} without related segments" if least == 0 else None
    if relation.same is not None and operand is relation.right:
        return f"a key of {stream} of which no segment has the same `{relation.same}`"
    if operand.needs_segments:
        return None
    if operand.declared.leaf.conditions:
        return f"a key of {stream} of which WHERE selects no segment"
    if uncertainty is not None and uncertainty.role is not None:
        return f"a key of {stream} that has marks only"
    if uncertainty is not None and uncertainty.count is not None:
        return f"a key of {stream} whose `{uncertainty.count}` is 1, so without a segment"
    return None


def counting(relation: SegmentRelation) -> SegmentRelation:
    """The relation with AT LEAST 1 in place of ALL and AT LEAST 0, which asks for a segment."""

    def asking(operand: RelationOperand) -> RelationOperand:
        return replace(operand, declared=replace(operand.declared, least=operand.declared.least or 1))

    return replace(relation, left=asking(relation.left), right=asking(relation.right))
