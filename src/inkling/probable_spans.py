"""How probable it is that an event over probable streams happens at least once in each of some spans of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.errors import InputError
from inkling.evaluators.query import during
from inkling.evaluators.query.program import QueryProgram
from inkling.evaluators.query.sets.sampled import Sampling as Lanes
from inkling.evaluators.sampling import Sampling
from inkling.io import Data
from inkling.local import taken_in
from inkling.logical.plan import ProgramPlan
from inkling.model.time import Clock
from inkling.physical.runnable import Runnable
from inkling.results import in_time


def chances_during(
    program: Runnable,
    event: str,
    inputs: Mapping[str, Data],
    spans: Sequence[tuple[int, int]],
    clock: Clock,
    tables: Mapping[str, Data] | None = None,
    sampling: Sampling | None = None,
) -> pa.Table:
    """How probable it is that an event over probable streams happens at least once in each span of a clock."""
    given = taken_in(program, inputs, tables)
    probable = QueryProgram.of(program.physical, given.around, given.measure, Lanes.of(sampling or Sampling()))
    if probable is None or event not in probable.strategies or _is_forecast(program.plan, event):
        raise InputError.of(
            "INK0656",
            f"whether `{event}` happens between two times cannot be told",
            notes=(_no_query(program, event),),
            helps=("ask it of a query over probable streams, PER END",),
        )
    if clock is not given.measure.clock:
        raise InputError.of(
            "INK0657",
            f"spans are given as {_CLOCKS[clock]}, but the times of the streams are {_CLOCKS[given.measure.clock]}",
            helps=("write integers where times are integers, else for example `2026-03-01T12:00:00`",),
        )
    found = during.chances_during(probable, event, given.sources, spans)
    at = pa.array(found["span"].to_numpy())
    for place, name in enumerate(("since", "until")):
        times = pa.array([span[place] for span in spans], pa.int64()).take(at)
        found = found.append_column(name, in_time(times, clock))
    shown = [name for name in found.column_names if name not in ("span", "probability", "method", "error")]
    return found.select([*shown, "probability", "method", "error"])


def _is_forecast(plan: ProgramPlan, name: str) -> bool:
    event = plan.event(name)
    return event is not None and event.forecast is not None


_CLOCKS = {Clock.TICKS: "integers", Clock.TIMESTAMP: "timestamps"}


def _no_query(program: Runnable, name: str) -> str:
    event = program.plan.event(name)
    if event is None:
        return f"the program has no event `{name}`"
    if event.forecast is not None:
        return "it is a forecast"
    choice = program.physical.steps[name].choice
    return choice.refused_by(Evaluator.QUERY) or "it rests on no stream with a PROBABILITY"
