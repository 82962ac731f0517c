"""Room for lost events between the ticks of a clock: times must be small enough to be divided further."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inkling.errors import InputError
from inkling.model.time import FARTHEST
from inkling.worlds.program import WorldProgram
from inkling.worlds.streams.of import WorldStream


def require_room(program: WorldProgram, streams: Sequence[WorldStream]) -> None:
    """Raises `InputError` for times that a finer clock cannot count."""
    if program.scale == 1:
        return
    farthest = FARTHEST // program.scale
    for stream in streams:
        low, high = stream.extents
        if len(low) and max(abs(int(np.min(low))), abs(int(np.max(high)))) > farthest:
            raise InputError.of(
                "INK0559",
                f"the times of `{stream.schema.name}` are too large to place lost events between them",
                notes=(f"with NUMBERED BY, integer times lie within {farthest:,} of zero",),
                helps=("give times as timestamps, or count them from a later beginning",),
            )
