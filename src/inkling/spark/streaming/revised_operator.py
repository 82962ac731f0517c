"""A stage whose past may change, in a streaming query: rows are added and withdrawn, and so is what they prove."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import ValueState

from inkling.live.clocks import Marks
from inkling.live.parts import Part, parts_for_stages
from inkling.live.revision.chain import AnyStage, AnyState, Told, advanced, rewindowed, watermark_of
from inkling.live.revision.machine import OWNER
from inkling.live.revision.matches import shown_table
from inkling.live.revision.snapshot import state_from_bytes, state_to_bytes
from inkling.live.stage import LiveState
from inkling.results import result_schema
from inkling.spark.streaming.intake import part_messages
from inkling.spark.streaming.messages import Kind, Message
from inkling.spark.streaming.operator import StageOperator, n_kept


class RevisedOperator(StageOperator):
    """Takes the place of `StageOperator` behind the ledgers; rows that have no ids got theirs there."""

    def _advanced(self, bucket: int, parts: list[Part], marks: Marks, kept: ValueState) -> Iterator[Message]:
        stage = self._job.revised_stage(self._number)
        steps, state = self._remembered(stage, kept)
        state, told = advanced(stage, state, parts, marks)
        data = state_to_bytes(state)
        kept.update((steps + 1, self._job.definition, data))
        yield from self._results(bucket, told)
        if not self._is_last:
            yield from self._changes(told)
        for kind, table in ((Kind.LATE, told.late), (Kind.REJECTS, told.rejects)):
            if len(table):
                yield self._out(bucket, kind, table)
        if self._job.staged.stages[self._number].steps:
            yield self._state_message(bucket, state, len(data))

    def _remembered(self, stage: AnyStage, kept: ValueState) -> tuple[int, AnyState]:
        stored = kept.get()
        if stored is None:
            return 0, stage.start()
        steps, definition, data = stored
        state = state_from_bytes(bytes(data))
        return steps, state if definition == self._job.definition else rewindowed(stage, state)

    def _results(self, bucket: int, told: Told) -> Iterator[Message]:
        """What was taken back, then what was told, of every event."""
        job, stage = self._job, self._job.staged.stages[self._number]
        for number, event in enumerate(job.plan.program.events):
            found = [(told.withdrawn.get(event.name), "-"), (told.added.get(event.name), "+")]
            shown = [shown_table(event, rows, job.clock, op) for rows, op in found if rows is not None and len(rows)]
            if shown:
                schema = result_schema(event, stage.id_type, job.clock)
                yield self._out(bucket, Kind.RESULTS, pa.concat_tables([one.cast(schema) for one in shown]), number)
                n_gone = len(told.withdrawn.get(event.name, ()))
                yield Message(self._number, bucket, Kind.TAKEN_BACK, number, n_gone, b"")

    def _changes(self, told: Told) -> Iterator[Message]:
        """The same, for the stages that read these events."""
        job = self._job
        for found, withdrawn in ((told.withdrawn, True), (told.added, False)):
            for name, rows in found.items():
                if not len(rows):
                    continue
                plain = rows.drop_columns([OWNER])
                for part in parts_for_stages(job.staged, name, plain, job.tables, job.around, withdrawn=withdrawn):
                    yield from part_messages(job, part)

    def _state_message(self, bucket: int, state: AnyState, n_bytes: int) -> Message:
        latest = max(state.clocks.latest.values(), default=None)
        about = {"bytes": n_bytes, "rows": n_remembered(state), "watermark": watermark_of(state), "latest": latest}
        return Message(self._number, bucket, Kind.STATE, 0, 1, json.dumps(about).encode())


def n_remembered(state: AnyState) -> int:
    """Rows, results and open matches that a bucket keeps, so far back as the past may change."""
    if isinstance(state, LiveState):
        return n_kept(state)
    held = [*state.pending.values(), *state.log.values(), *state.told.values()]
    return sum(map(len, held)) + n_kept(state.now) + sum(n_kept(one.state) for one in state.checkpoints)
