"""Which streams of a program stand behind a stage, and how late their rows may come."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from inkling.analysis.policies import read_sources
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.time import Span
from inkling.physical.plan import Stage


def streams_behind(stage: Stage, program: ProgramPlan) -> tuple[str, ...]:
    """Streams whose rows can reach a stage, directly or through derived events, in the order of the program."""
    return _streams_behind([given.source for given in stage.inputs], program)


def streams_of_event(event: EventPlan, program: ProgramPlan) -> tuple[str, ...]:
    """Streams whose rows can change what an event finds."""
    return _streams_behind(read_sources(event), program)


def _streams_behind(sources: Iterable[str], program: ProgramPlan) -> tuple[str, ...]:
    found: set[str] = set()
    _collect(sources, program, found)
    return tuple(stream.schema.name for stream in program.streams if stream.schema.name in found)


def _collect(sources: Iterable[str], program: ProgramPlan, found: set[str]) -> None:
    for source in sources:
        if source in found:
            continue
        found.add(source)
        event = program.event(source)
        if event is not None:
            _collect(read_sources(event), program, found)


def lateness_of(streams: Iterable[str], program: ProgramPlan, measure: Callable[[Span], int]) -> dict[str, int]:
    """How long after a stream's latest row an earlier one may still come; 0 where `LATENESS` is not declared."""
    late = {stream.schema.name: stream.schema.late for stream in program.streams}
    return {name: 0 if (span := late[name]) is None else measure(span) for name in streams}
