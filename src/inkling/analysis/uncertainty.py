"""The kinds of uncertainty that affect an event, through its streams and the events that it reads."""

from enum import Enum

from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.recursion import dependencies_of
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue, Uncertainty


class UncertaintyKind(Enum):
    """What is not known about an event of an uncertain stream."""

    WHEN = "when"
    WHAT = "what"
    WHETHER = "whether"


def uncertainty_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[frozenset[UncertaintyKind]]:
    """The kinds of uncertainty that results of an event inherit."""
    uncertain = [stream for stream in streams_of(event, program) if stream.schema.uncertainty is not None]
    if not uncertain:
        return Verdict(frozenset(), "all streams of the event are certain")
    kinds = {
        stream.schema.name: kind_of(stream.schema.uncertainty) for stream in uncertain if stream.schema.uncertainty
    }
    return Verdict(frozenset(kinds.values()), ", ".join(_WORDS[kind].format(name) for name, kind in kinds.items()))


_WORDS = {
    UncertaintyKind.WHEN: "{} has imprecise times",
    UncertaintyKind.WHAT: "{} has alternatives",
    UncertaintyKind.WHETHER: "events of {} may be lost",
}


def kind_of(uncertainty: Uncertainty) -> UncertaintyKind:
    match uncertainty:
        case ImpreciseTime():
            return UncertaintyKind.WHEN
        case ProbableValue():
            return UncertaintyKind.WHAT
        case LostEvents():
            return UncertaintyKind.WHETHER


def streams_of(event: p.EventPlan, program: p.ProgramPlan) -> tuple[p.StreamPlan, ...]:
    """The declared streams that an event depends on, in the order of the program."""
    names = dependencies_of(event, program)
    return tuple(stream for stream in program.streams if stream.schema.name in names)
