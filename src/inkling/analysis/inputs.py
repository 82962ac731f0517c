"""The inputs of a run: one for each stream that the program reads."""

from collections.abc import Mapping
from typing import TypeVar

from inkling.errors import InputError
from inkling.logical.plan import ProgramPlan

T = TypeVar("T")


def inputs_by_stream(plan: ProgramPlan, inputs: Mapping[str, T] | T) -> Mapping[str, T]:
    """Inputs by the names of streams; data without a name belongs to the only stream that the program reads."""
    if isinstance(inputs, Mapping):
        return inputs
    return {only_stream(plan): inputs}


def only_stream(plan: ProgramPlan) -> str:
    """The name of the stream that a program reads, if it reads one."""
    declared = [stream.schema.name for stream in plan.streams]
    read = {source for event in plan.events for source in event.sources}
    names = [name for name in declared if name in read] or declared
    if len(names) != 1:
        example = ", ".join(f'"{name}": …' for name in names) or '"Stream": …'
        raise InputError.of(
            "INK0555",
            f"the program reads {len(names)} streams, so an input needs the name of its stream",
            notes=(f"its streams are {', '.join(names) or 'none'}",),
            helps=(f"give inputs by stream: `{{{example}}}`",),
        )
    return names[0]


def only_event(plan: ProgramPlan, name: str | None = None) -> str:
    """The name of an event of a program; without a name, that of its only event."""
    names = [event.name for event in plan.shown]
    if name in names:
        return name
    if name is None and len(names) == 1:
        return names[0]
    what = f"the program has {len(names)} events" if name is None else f"the program has no event called `{name}`"
    helps = (f'name one of them: `event="{names[0]}"`',) if name is None and names else ()
    raise InputError.of("INK0561", what, notes=(f"its events are {', '.join(names) or 'none'}",), helps=helps)


def require_inputs(plan: ProgramPlan, inputs: Mapping[str, object]) -> None:
    """Every stream that an event reads must be given, and nothing else."""
    declared = [stream.schema.name for stream in plan.streams]
    for name in inputs:
        if name not in declared:
            raise InputError.of(
                "INK0554",
                f"the program has no stream called `{name}`",
                notes=(f"its streams are {', '.join(declared) or 'none'}",),
            )
    for event in plan.events:
        for source in event.sources:
            if source in declared and source not in inputs:
                raise InputError.of(
                    "INK0555", f"no input was given for the stream `{source}`, which `{event.name}` reads"
                )
