"""Runs a program in this process, without a JVM: for tests, notebooks and small data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.clock import measure_for
from inkling.analysis.inputs import require_inputs
from inkling.errors import InputError
from inkling.evaluators.protocol import Context
from inkling.evaluators.sampling import Sampling, lanes_of
from inkling.io import REJECTS_SCHEMA, Data, Normalized, normalize, read_table
from inkling.io.corrections import corrected_stream
from inkling.io.tables import read_tables
from inkling.knowledge.materialize import known, surroundings
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import ProgramPlan, retracted_outputs
from inkling.model.clock import Measure
from inkling.model.time import Clock
from inkling.physical.runnable import Runnable
from inkling.probable import during
from inkling.probable.program import ProbableProgram
from inkling.results import Results, in_time
from inkling.runtime.registry import evaluators_of
from inkling.worlds.run import OnWorlds
from inkling.worlds.sources import acceptable


def run(
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    sampling: Sampling | None = None,
    on_worlds: OnWorlds | None = None,
) -> Results:
    """Results of every event of a program over the given inputs."""
    given = taken_in(program, inputs, tables)
    context = Context(given.facts, given.around, given.measure, sampling, on_worlds=on_worlds)
    answers = [one.answer(given.sources) for one in evaluators_of(program.physical, context)]
    found = {name: table for one in answers for name, table in one.tables.items()}
    notes = [note for one in answers for note in one.notes]
    emitted = {event.name: found[event.name] for event in program.plan.events}
    emitted |= {output: emitted[name].slice(0, 0) for name, output in retracted_outputs(program.plan).items()}
    return Results(
        emitted,
        given.rejects,
        given.n_read,
        given.measure.clock,
        "; ".join(notes) or None,
    )


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
    probable = ProbableProgram.of(program.physical, given.around, given.measure, lanes_of(sampling or Sampling()))
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


@dataclass(frozen=True, slots=True)
class TakenIn:
    """Inputs as a program reads them: checked rows of streams, facts of tables, and the clock of their times."""

    sources: Mapping[str, pa.Table]
    facts: Mapping[str, pa.Table]
    measure: Measure
    around: Surroundings
    rejects: pa.Table
    n_read: Mapping[str, int]


def taken_in(program: Runnable, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None = None) -> TakenIn:
    """Reads and checks everything that a program needs."""
    read = _read_streams(program.plan, inputs)
    measure = measure_for(program.plan, {name: one.clock for name, one in read.items() if one.n_read})
    facts = known(program.plan, read_tables(program.plan.tables, tables, program.folder), measure)
    around = surroundings(facts, measure)
    sources, rejects = {}, [one.rejects for one in read.values()]
    for stream in program.plan.streams:
        name = stream.schema.name
        sources[name], refused = acceptable(stream.schema, read[name].rows)
        rejects += refused
    refused_rows = pa.concat_tables([REJECTS_SCHEMA.empty_table(), *rejects])
    return TakenIn(sources, facts, measure, around, refused_rows, {name: one.n_read for name, one in read.items()})


def _read_streams(plan: ProgramPlan, inputs: Mapping[str, Data]) -> dict[str, Normalized]:
    require_inputs(plan, inputs)
    read = {}
    for stream in plan.streams:
        schema = stream.schema
        derived = [column.name for column in stream.derived]
        raw = read_table(inputs[schema.name], what=schema.name) if schema.name in inputs else pa.table({})
        read[schema.name] = corrected_stream(schema, normalize(raw, schema, derived))
    return read
