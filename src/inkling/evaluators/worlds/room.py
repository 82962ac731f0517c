"""Room for lost events between the times of a clock: ticks are divided further, timestamps are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inkling.errors import InputError
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.model.time import FARTHEST, FOREVER


def require_room(program: WorldProgram, streams: Sequence[WorldStream]) -> None:
    """Raises `InputError` for times that a finer clock cannot count, and for gaps with more events than moments."""
    if program.scale == 1:
        _require_moments(streams)
        return
    farthest = FARTHEST // program.scale
    for stream in streams:
        times = np.concatenate(stream.extents)
        times = np.abs(times[np.abs(times) < FOREVER])  # what a rate limits is nowhere
        if times.max(initial=0) > farthest:
            raise InputError.of(
                "INK0559",
                f"the times of `{stream.schema.name}` are too large to place lost events between them",
                notes=(f"with NUMBERED BY, integer times lie within {farthest:,} of zero",),
                helps=("give times as timestamps, or count them from a later beginning",),
            )


def _require_moments(streams: Sequence[WorldStream]) -> None:
    for stream in streams:
        if not isinstance(stream, LossyStream):
            continue
        n_lost = np.diff(stream.gaps)
        crowded = np.flatnonzero(stream.high - stream.low <= n_lost)
        if len(crowded):
            gap = crowded[0]
            raise InputError.of(
                "INK0559",
                f"{n_lost[gap]:,} events of `{stream.schema.name}` were lost within"
                f" {stream.high[gap] - stream.low[gap]:,} microseconds",
                notes=("timestamps count microseconds, and events of one key happen one after the other",),
                helps=("leave out the rows around the gap, or check their numbers and times",),
            )
