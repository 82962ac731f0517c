"""Whether a run is given what its program reads."""

from __future__ import annotations

from collections.abc import Mapping

from inkling.errors import InputError
from inkling.logical.plan import ProgramPlan


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
                    "INK0555",
                    f"no input was given for the stream `{source}`, which `{event.name}` reads",
                )
