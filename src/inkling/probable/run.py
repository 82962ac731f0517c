"""Runs the queries of a program over complete streams."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from inkling.evaluators.stage.derive import with_derived_columns
from inkling.probable.program import ProbableProgram
from inkling.probable.results import combined, results_of


def answered(program: ProbableProgram, rows: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Results of every query over the checked rows of all streams, in the public columns."""
    ready = {
        one.schema.name: with_derived_columns(one, rows[one.schema.name], program.around)
        for one in program.part.streams
    }
    found = {}
    for name, evaluator in program.evaluators.items():
        mine = {source: ready[source] for source in evaluator.event.sources}
        _, answers = evaluator.advance(evaluator.start(), mine)
        found[name] = results_of(
            evaluator.event, combined(evaluator, answers), program.id_types[name], program.measure.clock
        )
    return found
