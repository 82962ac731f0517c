"""An evaluator that is no part of inkling: it answers single readings of streams with PROBABILITY, one by one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.verdict import Verdict
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import END, BatchAnswer, EvaluatorContext, Moment, Rows, no_rows
from inkling.evaluators.stage.rows.keys import Owners
from inkling.io.normalize import ID, START
from inkling.logical.plan import EventPlan, Leaf, ProgramPlan, StreamPlan
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema

NAME = "toy"


@dataclass(frozen=True, slots=True)
class Single:
    """A pattern of one reading without conditions."""

    stream: str


def recognize(event: EventPlan, program: ProgramPlan, clock: Clock | None) -> Verdict[object | None]:
    """The whole analysis of the toy."""
    pattern = event.pattern
    if not event.name.startswith("toy") or not isinstance(pattern, Leaf) or pattern.conditions:
        return Verdict(None, "it is no toy")
    return Verdict(Single(pattern.sources[0]), "each row is a match by itself")


@dataclass(frozen=True, slots=True)
class ToyEvaluator:
    """Emits every alternative with the probability in its row; keeps nothing."""

    events: tuple[EventPlan, ...]
    streams: tuple[StreamPlan, ...]
    context: EvaluatorContext
    plan: PhysicalPlan

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> ToyEvaluator | None:
        chosen = plan.answered_by(NAME)
        if not chosen:
            return None
        events = tuple(event for event in plan.program.events if event.name in chosen)
        read = {choice.data.stream for choice in chosen.values() if isinstance(choice.data, Single)}
        streams = tuple(one for one in plan.program.streams if one.schema.name in read)
        return cls(events, streams, context, plan)

    @property
    def key(self) -> tuple[str, ...]:
        return ("who",)

    @property
    def is_divisible(self) -> bool:
        return True

    @property
    def state_type(self) -> type[int]:
        return int

    @property
    def scale(self) -> int:
        return 1

    def answer(self, rows: Rows) -> BatchAnswer:
        return BatchAnswer(self.step(self.start(), rows, END)[1])

    def start(self) -> int:
        return 0

    def step(self, state: int, rows: Rows, until: Moment) -> tuple[int, Mapping[str, pa.Table]]:
        given = {**no_rows(self.streams, self.context.unit.clock), **rows}
        return state + 1, {event.name: self._table(event, given[event.sources[0]]) for event in self.events}

    def copied(self, state: int) -> int:
        return state

    def decided(self, state: int) -> int | None:
        return None

    def forgotten(self, state: int) -> int | None:
        return None

    def split(self, state: int, owners: Owners) -> tuple[int, int]:
        return state, state  # steps, which all keys have in common

    def merge(self, left: int, right: int) -> int:
        return max(left, right)

    def open_matches(self, state: int, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        return []  # a reading is complete at once

    def _table(self, event: EventPlan, rows: pa.Table) -> pa.Table:
        id_type = next(one.id_type for one in self.plan.stages if event.name in {step.event.name for step in one.steps})
        schema = result_schema(event, id_type, self.context.unit.clock)
        n, times = len(rows), rows[START].combine_chunks()
        ids = pa.ListArray.from_arrays(pa.array(np.arange(n + 1), pa.int32()), rows[ID].combine_chunks())
        columns = {
            "event": pa.repeat(pa.scalar(event.name), n),
            "who": rows["who"],
            **dict.fromkeys(("start", "end", "detected_at"), times),
            "probability": rows["p"],
            "method": pa.repeat(pa.scalar("exact"), n),
            "error": pa.array(np.zeros(n)),
            "op": pa.repeat(pa.scalar("+"), n),
            "lineage": ids,
        }
        return pa.table([columns[name] for name in schema.names], schema=schema)

    def migrated(self, state: int, before: object, kept: Collection[str]) -> int:
        return state

    def n_kept(self, state: int) -> int:
        return 0
