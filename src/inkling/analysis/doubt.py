"""Which kinds of doubt touch an event, through the streams it reads and the events it is built on."""

from __future__ import annotations

from enum import Enum

from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.recursion import resting_on
from inkling.model.uncertainty import Doubt, ImpreciseTime, LostEvents, ProbableValue


class DoubtKind(Enum):
    """What is not known about an event of an uncertain stream."""

    WHEN = "when"
    WHAT = "what"
    WHETHER = "whether"


def doubt_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[frozenset[DoubtKind]]:
    """The kinds of doubt that results of an event inherit."""
    doubtful = [stream for stream in streams_of(event, program) if stream.schema.doubt is not None]
    if not doubtful:
        return Verdict(frozenset(), "all streams it reads are certain")
    kinds = {stream.schema.name: kind_of(stream.schema.doubt) for stream in doubtful if stream.schema.doubt}
    said = ", ".join(f"{name} leaves open {kind.value} its events happened" for name, kind in kinds.items())
    return Verdict(frozenset(kinds.values()), said.replace("what its events happened", "what its events were"))


def kind_of(doubt: Doubt) -> DoubtKind:
    match doubt:
        case ImpreciseTime():
            return DoubtKind.WHEN
        case ProbableValue():
            return DoubtKind.WHAT
        case LostEvents():
            return DoubtKind.WHETHER


def streams_of(event: p.EventPlan, program: p.ProgramPlan) -> tuple[p.StreamPlan, ...]:
    """The declared streams that an event rests on, in the order of the program."""
    names = resting_on(event, program)
    return tuple(stream for stream in program.streams if stream.schema.name in names)
