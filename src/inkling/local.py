"""Runs a program in this process, without Spark: for tests, notebooks and small data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from inkling.analysis.clock import time_unit
from inkling.analysis.inputs import require_inputs
from inkling.evaluators.interrupts import interrupts_by_name
from inkling.evaluators.memory import within_budget, working_on
from inkling.evaluators.protocol import EvaluatorContext, OnWorlds
from inkling.evaluators.sampling import Sampling
from inkling.io import REJECTS_SCHEMA, Data, Normalized, normalize, read_table
from inkling.io.checks.acceptable import acceptable
from inkling.io.corrections import corrected_stream
from inkling.io.tables import read_tables
from inkling.knowledge.materialize import expression_context, known
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import ProgramPlan, retracted_outputs
from inkling.model.time import TimeUnit
from inkling.physical.plan import Runnable
from inkling.results import Results, RunOrigin
from inkling.runtime.registry import evaluators_of


def run(
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    sampling: Sampling | None = None,
    on_worlds: OnWorlds | None = None,
    on_phase: Callable[[str], None] | None = None,
    memory: str | int | None = None,
) -> Results:
    """The results of every event of a program over the given inputs."""
    say = on_phase or (lambda _: None)
    ingested = ingest(program, inputs, tables, say)
    say("matching")
    context = EvaluatorContext(ingested.facts, ingested.context, ingested.unit, sampling, on_worlds=on_worlds)
    answers = []
    with interrupts_by_name(), within_budget(memory):
        for one in evaluators_of(program.physical, context):
            working_on(one.events[0].name)
            answers.append(one.answer(ingested.sources))
    found = {name: table for one in answers for name, table in one.tables.items()}
    notes = [note for one in answers for note in one.notes]
    emitted = {event.name: found[event.name] for event in program.plan.shown}
    emitted |= {output: emitted[name].slice(0, 0) for name, output in retracted_outputs(program.plan).items()}
    return Results(
        emitted,
        ingested.rejects,
        ingested.n_read,
        ingested.unit.clock,
        "; ".join(notes) or None,
        RunOrigin(program, inputs, tables, sampling),
    )


@dataclass(frozen=True, slots=True)
class IngestedInputs:
    """The inputs of a program: checked rows of streams, facts of tables, and the unit of times."""

    sources: Mapping[str, pa.Table]
    facts: Mapping[str, pa.Table]
    unit: TimeUnit
    context: ExpressionContext
    rejects: pa.Table
    n_read: Mapping[str, int]


def ingest(
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> IngestedInputs:
    """Read and check the streams and tables of a program."""
    read = _read_streams(program.plan, inputs, say)
    say("reading tables")
    unit = time_unit(program.plan, {name: one.clock for name, one in read.items() if one.n_read})
    facts = known(program.plan, read_tables(program.plan.tables, tables, program.files), unit)
    context = expression_context(facts, unit)
    sources, rejects = {}, [one.rejects for one in read.values()]
    for stream in program.plan.streams:
        name = stream.schema.name
        sources[name], rejected = acceptable(stream.schema, read[name].rows)
        rejects += rejected
    rejected_rows = pa.concat_tables([REJECTS_SCHEMA.empty_table(), *rejects])
    return IngestedInputs(
        sources, facts, unit, context, rejected_rows, {name: one.n_read for name, one in read.items()}
    )


def _read_streams(plan: ProgramPlan, inputs: Mapping[str, Data], say: Callable[[str], None]) -> dict[str, Normalized]:
    require_inputs(plan, inputs)
    read = {}
    for stream in plan.streams:
        schema = stream.schema
        say(f"reading {schema.name}")
        derived = [column.name for column in stream.derived]
        raw = read_table(inputs[schema.name], what=schema.name) if schema.name in inputs else pa.table({})
        read[schema.name] = corrected_stream(schema, normalize(raw, schema, derived))
    return read
