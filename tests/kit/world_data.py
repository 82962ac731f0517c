"""The rows of a case as they stand in worlds, counted out in exact fractions."""

from __future__ import annotations

from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.probable_comparison import FoundResult
from tests.kit.uncertain import UncertainCase

from inkling.analysis.clock import time_unit
from inkling.evaluators.worlds.answer import event_ids_of
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.assignment import WeightType
from inkling.io import normalize
from inkling.io.checks.acceptable import acceptable
from inkling.knowledge.materialize import expression_context, known


def world_data(case: UncertainCase, exact_up_to: int) -> WorldData:
    """The worlds of a case, as a run would have them."""
    program = case.program
    given = arrow_streams(case.plan, case.rows)
    read, clocks = {}, {}
    for stream in program.plan.streams:
        name = stream.schema.name
        normalized = normalize(given[name], stream.schema, [column.name for column in stream.derived])
        read[name], rejects = acceptable(stream.schema, normalized.rows)
        rejected = [*normalized.rejects.to_pylist(), *(row for some in rejects for row in some.to_pylist())]
        assert not rejected, f"rows of {name} were rejected: {rejected}"
        clocks[name] = normalized.clock
    unit = time_unit(program.plan, clocks)
    facts = known(program.plan, arrow_tables(case.plan, case.tables), unit)
    context = expression_context(facts, unit)
    return WorldData.of(WorldProgram.of(program.physical, context, unit, with_chains=True), read, facts, exact_up_to)


def counted_out(data: WorldData) -> dict[str, list[FoundResult]]:
    """All results of the uncertain events, with exact probabilities."""
    assert not data.is_sampled.any(), "some parts have too many worlds"
    found: dict[str, list[FoundResult]] = {}
    sums = data.enumerated(WeightType.FRACTION)
    for event in data.program.events:
        results = sums[event.name]
        ids = event_ids_of(data, data.program.id_types[event.name]).lineage(results.lineage).to_pylist()
        heads = [results.values[output.name].to_pylist() for output in event.head]
        scale = data.program.scale
        found[event.name] = [
            FoundResult(
                tuple(values[row] for values in heads),
                int(results.start[row]) // scale,
                int(results.end[row]) // scale,
                tuple(ids[row]),
                results.weight[row],
            )
            for row in range(len(results))
        ]
    return found
