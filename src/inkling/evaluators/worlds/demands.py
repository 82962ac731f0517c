"""An error where EXACT is demanded and some part of the data has too many worlds; it names the part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from inkling.analysis.choice import Evaluator
from inkling.analysis.uncertainty import streams_of
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.of import CertainStream
from inkling.logical.plan import Demand, EventPlan


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an event, known by its place in the program, cannot be exact, in a part known by the hash of its key."""

    event: int
    part: int
    error: InputError


def require_exact(data: WorldData, sampling: Sampling) -> None:
    """Raises `InputError` for the first event that demands EXACT and cannot have it."""
    if (found := rejection(data, sampling)) is not None:
        raise found.error


def rejection(data: WorldData, sampling: Sampling) -> Rejection | None:
    """The first event that demands EXACT and cannot have it, and the first part of the data to blame."""
    return next(_rejections(data, sampling), None)


def _rejections(data: WorldData, sampling: Sampling) -> Iterator[Rejection]:
    for number, event in enumerate(data.program.events):
        if event.demand is Demand.EXACT:
            for part, error in _problems(event, data, sampling):
                yield Rejection(number, int(data.parts.keys[part]), error)


def _problems(event: EventPlan, data: WorldData, sampling: Sampling) -> Iterator[tuple[int, InputError]]:
    behind = {stream.schema.name for stream in streams_of(event, data.program.part)}
    for number in np.flatnonzero(data.is_sampled).tolist():
        causes, where = _causes(data, number, behind)
        if not causes:
            continue
        notes = [f"{where}: {', '.join(causes)}"]
        choice = data.program.choices[event.name]
        if (why := choice.rejected_by(Evaluator.CHAIN) or choice.rejected_by(Evaluator.QUERY)) is not None:
            notes.append(f"it has to be looked for in worlds, because {why}")
        if not data.program.order_only and any("lost" in cause for cause in causes):
            notes.append("lengths of time between lost events cannot be enumerated, only their order can")
        yield (
            number,
            InputError.of(
                "INK0615",
                f"`{event.name}` demands EXACT, but a part of the data has more than {sampling.exact_up_to:,} worlds",
                notes=tuple(notes),
                helps=(
                    "leave EXACT out to sample it",
                    "raise the limit (`--exact-up-to`), or make parts smaller with PARTITION BY and WITHIN",
                ),
            ),
        )


def _causes(data: WorldData, number: int, behind: set[str]) -> tuple[list[str], str]:
    """The choices of a component by stream, and where the component lies."""
    causes, where = [], "in all of the data"
    for stream, component in zip(data.streams, data.parts.of_rows, strict=True):
        rows = np.flatnonzero(component == number)
        if stream.schema.name not in behind or not len(rows):
            continue
        if data.program.key:
            values = [f"{name} = {stream.rows[name][int(rows[0])].as_py()!r}" for name in data.program.key]
            where = f"where {', '.join(values)}"
        if isinstance(stream, CertainStream):
            continue
        n = len(np.unique(stream.factors[rows][stream.factors[rows] >= 0]))
        many = "" if n == 1 else "s"
        kind = f"gap{many} with lost events" if isinstance(stream, LossyStream) else f"uncertain event{many}"
        if n:
            causes.append(f"{n} {kind} of {stream.schema.name}")
    return causes, where
