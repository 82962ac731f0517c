"""The streams that a stage depends on, and how late their rows may arrive."""

from collections.abc import Callable, Iterable

from inkling.analysis.policies import read_sources
from inkling.io.normalize import END, START
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.schema import StreamSchema
from inkling.model.time import Duration
from inkling.model.uncertainty import ImpreciseTime, ProbableValue
from inkling.physical.plan import PhysicalPlan, Stage


def streams_behind(stage: Stage, plan: PhysicalPlan) -> tuple[str, ...]:
    """The streams that a stage waits for, in the order of the program.

    These are the streams that it reads, and the streams of the stages that derive its inputs: a derived event arrives
    no earlier than its stage advances, even if its own pattern needs fewer streams than others of that stage.
    """
    sources = {given.source for one in _stages_behind(stage, plan) for given in one.inputs}
    return tuple(stream.schema.name for stream in plan.program.streams if stream.schema.name in sources)


def _stages_behind(stage: Stage, plan: PhysicalPlan) -> list[Stage]:
    """A stage and all stages that derive its inputs, directly or indirectly."""
    found = [stage]
    for one in found:
        read = {given.source for given in one.inputs}
        found += [
            other
            for other in plan.stages
            if other not in found and any(step.event.name in read for step in other.steps)
        ]
    return found


def time_of(schema: StreamSchema) -> str:
    """The time column that orders rows of a stream: START for imprecise times and alternatives, else END."""
    return START if isinstance(schema.uncertainty, ImpreciseTime | ProbableValue) else END


def streams_of_event(event: EventPlan, program: ProgramPlan) -> tuple[str, ...]:
    """Streams whose rows can change the results of an event."""
    found: set[str] = set()
    _collect(read_sources(event), program, found)
    return tuple(stream.schema.name for stream in program.streams if stream.schema.name in found)


def _collect(sources: Iterable[str], program: ProgramPlan, found: set[str]) -> None:
    for source in sources:
        if source in found:
            continue
        found.add(source)
        event = program.event(source)
        if event is not None:
            _collect(read_sources(event), program, found)


def lateness_of(streams: Iterable[str], program: ProgramPlan, unit: Callable[[Duration], int]) -> dict[str, int]:
    """By stream, how much earlier than its latest row a new row may be.

    This is LATENESS, plus the width of the widest interval for imprecise times, whose starts may be out of order.
    """
    declared = {stream.schema.name: stream.schema for stream in program.streams}
    return {name: _lateness(declared[name], unit) for name in streams}


def _lateness(schema: StreamSchema, unit: Callable[[Duration], int]) -> int:
    late = 0 if schema.late is None else unit(schema.late)
    return late + (schema.uncertainty.width(unit) or 0 if isinstance(schema.uncertainty, ImpreciseTime) else 0)
