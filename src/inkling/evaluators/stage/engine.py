"""All events of a stage over complete keys: base rows in, results of every event out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.automaton.evaluator import AutomatonEvaluator, automata_of
from inkling.evaluators.base import Progress
from inkling.evaluators.network.evaluator import NetworkEvaluator
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch, key_codes
from inkling.evaluators.stage.prepare import stage_rows
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.plan import Evaluator, EventStep, Stage

EVERYTHING = Progress(-FOREVER, FOREVER)


@dataclass(frozen=True, slots=True)
class StageResults:
    """Results per event; `keys` gives the partition key of each key code."""

    matches: Mapping[str, MatchBatch]
    keys: pa.Table


class StageEngine:
    """Evaluates the events of one stage; compiled once, used for any number of row sets."""

    def __init__(self, stage: Stage, tables: Mapping[str, pa.Table], around: Surroundings) -> None:
        self._stage = stage
        self._tables = tables
        self._around = around
        produced = {step.event.name for step in stage.steps}
        self._feeds = {
            step.event.name: tuple(
                i for i, one in enumerate(stage.inputs) if one.source in produced & set(step.event.sources)
            )
            for step in stage.steps
        }
        shared = tuple(
            step
            for step in stage.steps
            if step.evaluator is Evaluator.AUTOMATON and not self._feeds[step.event.name]
        )
        self._shared = automata_of(shared, len(stage.inputs), around)
        self._alone: dict[str, AutomatonEvaluator] = {
            step.event.name: automata_of((step,), len(stage.inputs), around)[0]
            for step in stage.steps
            if step.evaluator is Evaluator.AUTOMATON and self._feeds[step.event.name]
        }

    def run(self, rows: pa.Table, progress: Progress = EVERYTHING) -> StageResults:
        """Results over rows that hold all events of their keys."""
        codes, keys = key_codes(rows, len(self._stage.key_types))
        n_keys = len(keys)
        base = event_batch(self._stage, rows, codes)
        found: dict[str, MatchBatch] = {}
        for automata in self._shared:
            found.update({matches.event: matches for matches in automata.evaluate(base)})
        for step in self._stage.steps:
            if step.event.name not in found:
                batch = self._with_derived(step, rows, codes, base, found)
                found[step.event.name] = self._evaluate(step, batch, n_keys, progress)
        return StageResults(found, keys)

    def _evaluate(self, step: EventStep, batch: EventBatch, n_keys: int, progress: Progress) -> MatchBatch:
        if step.evaluator is Evaluator.AUTOMATON:
            return self._alone[step.event.name].evaluate(batch)[0]
        return NetworkEvaluator(step, self._around).evaluate(batch, n_keys, progress)

    def _with_derived(
        self, step: EventStep, rows: pa.Table, codes: Ints, base: EventBatch, found: Mapping[str, MatchBatch]
    ) -> EventBatch:
        """The rows plus the events that earlier steps of this stage derived, where the step reads them."""
        feeds = self._feeds[step.event.name]
        if not feeds:
            return base
        tables, all_codes = [rows], [codes]
        for number in feeds:
            matches = found[self._stage.inputs[number].source]
            source = source_table(matches).append_column("@code", pa.array(matches.key))
            fed = stage_rows(self._stage, number, source, self._tables, self._around, carry="@code")
            all_codes.append(fed["@code"].to_numpy())
            tables.append(fed.drop_columns(["@code"]))
        return event_batch(self._stage, pa.concat_tables(tables), np.concatenate(all_codes))


def source_table(matches: MatchBatch) -> pa.Table:
    """Derived events in the form in which stages read their sources."""
    columns: dict[str, pa.Array] = dict(matches.values)
    columns[r.START] = pa.array(matches.start)
    columns[r.END] = pa.array(matches.end)
    columns[r.PLACE] = pa.array(matches.start_place)
    columns[r.END_PLACE] = pa.array(matches.end_place)
    columns[r.KNOWN] = pa.array(matches.detected_at)
    columns[r.IDS] = matches.lineage
    return pa.table(columns)
