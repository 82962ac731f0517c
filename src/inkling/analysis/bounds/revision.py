"""Revision of emitted results: how long they can change, why, what is replayed, and the memory it needs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inkling.analysis.uncertainty import streams_of
from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.printing.text import span_text, window_text
from inkling.model.schema import StreamSchema
from inkling.model.time import Duration


@dataclass(frozen=True, slots=True)
class Revision:
    """That results of an event can change; for how long after they happened, None for ever."""

    window: Duration | None


def revision_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Revision | None]:
    """Whether emitted results of an event can change; None if never."""
    streams = [stream.schema for stream in streams_of(event, program) if stream.schema.revises]
    if not streams:
        return Verdict(None, "no stream of the event withdraws events or is speculative")
    reasons = ", ".join(reason for stream in streams for reason in _reasons(stream))
    if any(is_withdrawable_for_ever(stream) for stream in streams):
        return Verdict(Revision(None), reasons)
    return Verdict(Revision(longest(streams)), reasons)


def is_withdrawable_for_ever(stream: StreamSchema) -> bool:
    return stream.op is not None and stream.op_for is None


def longest(streams: Iterable[StreamSchema]) -> Duration | None:
    """The longest time for which one of some streams can change its past; None where none can."""
    lengths = {}
    for stream in streams:
        for span in (stream.op_for, stream.late if stream.speculative else None):
            if span is not None:
                lengths[span] = span.length(stream.tick)
    return max(lengths, key=lambda span: lengths[span], default=None)


def revision_text(revision: Revision) -> str:
    """How long results can change, in words."""
    if revision.window is None:
        return "results can change forever"
    return f"results can change until they are {span_text(revision.window)} old"


def replay_text(key: str | None) -> str:
    """What is done again when the past changes; `key` is what keeps events apart."""
    whose = "all events" if key is None else f"the events of the same {key}"
    return f"{whose}, from the newest stored state before the change; emitted results that differ are corrected"


def memory_text(revision: Revision, pushed: Iterable[p.Window]) -> str:
    """What revisions need besides the state of the event, and when it is collected."""
    if revision.window is None:
        kept = "every row, result and intermediate state; nothing is ever dropped"
    else:
        kept = f"rows, results and intermediate states of the last {span_text(revision.window)}; older ones are dropped"
    windows = " and ".join(map(window_text, dict.fromkeys(pushed)))
    return f"{kept}; partial matches longer than {windows} are dropped" if windows else kept


def pushed_windows(event: p.EventPlan) -> Iterator[p.Window]:
    """Limits in time that joins apply to parts of a match already."""
    if event.within is not None and not isinstance(event.within, p.EventCount):
        yield event.within
    if event.keep is not None:
        yield event.keep
    yield from _nested(event.pattern)


def _nested(pattern: p.Pattern) -> Iterator[p.Window]:
    if isinstance(pattern, p.Narrowed) and pattern.within is not None and not isinstance(pattern.within, p.EventCount):
        yield pattern.within
    for inner in p.sub_patterns(pattern):
        yield from _nested(inner)


def _reasons(stream: StreamSchema) -> Iterator[str]:
    if stream.op is not None:
        how_long = "without FOR" if stream.op_for is None else f"FOR {span_text(stream.op_for)}"
        yield f"{stream.name} has OP {how_long}"
    if stream.speculative and stream.late is not None:
        yield f"{stream.name} has LATENESS {span_text(stream.late)} SPECULATIVE"
