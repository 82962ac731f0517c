"""Uncertain streams whose past may change, in a streaming query: all worlds of a bucket can go back."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc
from pyspark.sql.streaming.stateful_processor import ValueState

from inkling.live.clocks import Marks
from inkling.runtime.uncertain.program import Told
from inkling.runtime.uncertain.revised import RevisableWorlds, RevisedWorlds
from inkling.spark.streaming.messages import UNCERTAIN, Kind, Message
from inkling.spark.streaming.worlds import Rows, WorldsOperator


class RevisedWorldsOperator(WorldsOperator):
    """Takes the place of `WorldsOperator` behind the ledgers; rows that have no ids got theirs there."""

    def _advanced(self, bucket: int, come: Rows, gone: Rows, marks: Marks, kept: ValueState) -> Iterator[Message]:
        worlds = self._job.revised_worlds()
        steps, state = self._remembered(worlds, kept)
        state, told = worlds.advance(state, come, gone, marks)
        data = worlds.to_bytes(state)
        kept.update((steps + 1, self._job.definition, data))
        yield from self._said(bucket, told)
        yield from self._taken_back(bucket, told)
        latest, decided = state.clocks.latest, worlds.decided(state)
        yield self._state_message(bucket, latest, decided, worlds.n_kept(state), len(data))

    def _taken_back(self, bucket: int, told: Told) -> Iterator[Message]:
        for number, name in enumerate(self._job.event_names):
            if name in told.tables and len(told.tables[name]):
                n_gone = pc.sum(pc.equal(told.tables[name]["op"], "-")).as_py()
                yield Message(UNCERTAIN, bucket, Kind.TAKEN_BACK, number, n_gone, b"")

    def _remembered(self, worlds: RevisedWorlds, kept: ValueState) -> tuple[int, RevisableWorlds]:
        stored = kept.get()
        if stored is None:
            return 0, worlds.start()
        steps, definition, data = stored
        state = worlds.from_bytes(bytes(data))
        return steps, state if definition == self._job.definition else worlds.rewindowed(state)
