"""The probability that a query is true at least once in each of some spans of time (Lahar, 3.3.1: `q[i, j]`)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.query.strategy import Engine
from inkling.errors import InputError
from inkling.evaluators.protocol import EvaluatorContext, Rows
from inkling.evaluators.query.answers import CHANCE, ERROR
from inkling.evaluators.query.program import QueryProgram
from inkling.evaluators.query.results import NEGLECTED, combined
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.io.normalize import START
from inkling.logical.plan import Per
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.results import in_time, methods

Spans = Sequence[tuple[int, int]]
"""First and last times, both included."""


def chances_during(
    plan: PhysicalPlan, event: str, context: EvaluatorContext, rows: Rows, spans: Spans, clock: Clock
) -> pa.Table:
    """One row per span and possible value of the head, in the order of the spans."""
    sampling = WorldSampler.of(context.sampling or Sampling())
    program = QueryProgram.of(plan, context.expressions, context.unit, sampling)
    if program is None or event not in program.strategies or _is_forecast(plan, event):
        raise InputError.of(
            "INK0656",
            f"the probability that `{event}` happens between two times cannot be computed",
            notes=(_no_query(plan, event),),
            helps=("use an event over probable streams with PER END",),
        )
    of_streams = context.unit.clock
    if clock is not of_streams:
        raise InputError.of(
            "INK0657",
            f"spans are given as {_CLOCKS[clock]}, but the times of the streams are {_CLOCKS[of_streams]}",
            helps=("write integers where times are integers, else for example `2026-03-01T12:00:00`",),
        )
    found = _by_span(program, event, rows, spans)
    at = pa.array(found["span"].to_numpy())
    for place, name in enumerate(("since", "until")):
        times = pa.array([span[place] for span in spans], pa.int64()).take(at)
        found = found.append_column(name, in_time(times, clock))
    shown = [name for name in found.column_names if name not in ("span", "probability", "method", "error")]
    return found.select([*shown, "probability", "method", "error"])


_CLOCKS = {Clock.TICKS: "integers", Clock.TIMESTAMP: "timestamps"}


def _is_forecast(plan: PhysicalPlan, name: str) -> bool:
    event = plan.program.event(name)
    return event is not None and event.forecast is not None


def _no_query(plan: PhysicalPlan, name: str) -> str:
    if plan.program.event(name) is None:
        return f"the program has no event `{name}`"
    if _is_forecast(plan, name):
        return "the event is a forecast"
    return plan.steps[name].choice.rejected_by(Evaluator.QUERY) or "no stream of the event has a PROBABILITY"


def _by_span(program: QueryProgram, event: str, rows: Rows, spans: Spans) -> pa.Table:
    """The probabilities, with the number of their span.

    One run goes through all times and stops before each span; from there a second one counts first matches.
    """
    watched, asked = (_with_per(program, event, per).evaluators[event] for per in (Per.END, Per.VALUES))
    read = (one for one in program.part.streams if one.schema.name in watched.event.sources)
    ready = all_derived(read, rows, program.context)
    found: dict[int, pa.Table] = {}
    state, known = watched.start(), None
    for number in sorted(range(len(spans)), key=lambda number: spans[number][0]):
        since, until = spans[number]
        state, _ = watched.advance(state, _between(ready, known, since - 1))
        known = since - 1
        _, some = asked.advance(state, _between(ready, known, until))
        found[number] = _shown(combined(asked, some), number)
    _, nothing = asked.advance(asked.start(), {name: one.slice(0, 0) for name, one in ready.items()})
    return pa.concat_tables([_shown(nothing, 0), *(found[number] for number in range(len(spans)))])


def _with_per(program: QueryProgram, name: str, per: Per) -> QueryProgram:
    """The program with one event and another PER; safe plans cannot continue from a state of the other."""
    strategy = program.strategies[name]
    engine = Engine.UNIVERSAL if strategy.engine is Engine.SAFE else strategy.engine
    strategy = replace(strategy, query=replace(strategy.query, per=per), engine=engine)
    events = tuple(replace(one, per=per) for one in program.part.events if one.name == name)
    return replace(program, part=replace(program.part, events=events), strategies={name: strategy})


def _between(rows: Mapping[str, pa.Table], after: int | None, until: int) -> dict[str, pa.Table]:
    chosen = {}
    for name, table in rows.items():
        time = table[START].to_numpy()
        chosen[name] = table.filter(pa.array((time <= until) & (time > after if after is not None else True)))
    return chosen


def _shown(found: pa.Table, number: int) -> pa.Table:
    names = [name for name in found.column_names if not name.startswith("@")]
    columns = {name: found[name] for name in names}
    chance, error = np.clip(found[CHANCE].to_numpy(), 0.0, 1.0), found[ERROR].to_numpy()
    columns["span"] = pa.chunked_array([pa.array(np.full(len(found), number))])
    columns["probability"] = pa.chunked_array([chance])
    columns["method"] = pa.chunked_array([pa.array(methods(chance, error, None, NEGLECTED), pa.string())])
    columns["error"] = pa.chunked_array([error])
    table = pa.table(columns)
    return table.sort_by([(name, "ascending") for name in names]) if names else table
