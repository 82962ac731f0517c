"""Numbered rows on their way into worlds: what was lost shows with the next row of a key, or when it is closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.rows import with_roles
from inkling.evaluators.gaps.sequence_log import SequenceLog, is_needed
from inkling.evaluators.worlds.live.waiting import Draws, Released, WaitingState, between, released
from inkling.evaluators.worlds.streams.assignment import OWN_TIME, WorldAssignment
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.io.normalize import END
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER


def frontier(schema: StreamSchema, waiting: WaitingState, watermark: int) -> int:
    """Up to which time all worlds are known, if all rows up to `watermark` are."""
    uncertainty, rows = schema.uncertainty, waiting.rows
    if not isinstance(uncertainty, LostEvents) or watermark >= FOREVER or not len(rows):
        return watermark
    log = SequenceLog.of(schema, rows)
    if uncertainty.role is not None and None in waiting.roles:
        return min(watermark, max(NEVER, _earliest(log) - 1))  # nobody knows yet what lost events are called
    last = log.last[~log.closed_by(watermark)]
    # what follows an event may follow it at once
    return min(watermark, int(log.time[last].min(initial=FOREVER)) - 1)


def _earliest(log: SequenceLog) -> int:
    """The first time at which anything may have happened."""
    since = np.where(log.before > 0, np.maximum(log.since, NEVER), log.time[log.first])
    return int(since.min())


def release_numbered(
    schema: StreamSchema, uncertainty: LostEvents, waiting: WaitingState, old: int, new: int, draws: Draws
) -> tuple[WaitingState, Released]:
    """Recorded events of the time, and lost ones in the worlds where they fall into it; the last of a key stays."""
    near, rest = _near(schema, waiting.rows, old, new)
    stream = LossyStream.of(
        schema,
        with_roles(schema, near, waiting.roles),
        old,
        tables=draws.tables,
        clock=draws.clock,
        with_empty=schema.name in draws.compared,
    )
    assignment = stream.draw(draws.start, 0, draws.n_worlds, draws.scale)
    assert assignment.times is not None
    own = assignment.times == OWN_TIME
    at = np.where(own, stream.rows[END].to_numpy()[assignment.rows] * draws.scale, assignment.times)
    assignment = between(WorldAssignment(assignment.rows, assignment.worlds, at), old, new, draws.scale)
    still = near.filter(pa.array(is_needed(schema, uncertainty, near, new, forgetting=uncertainty.timeout is None)))
    ready = released(stream, assignment, stream.extents[1], draws)
    return replace(waiting, rows=pa.concat_tables([still, rest])), ready


def _near(schema: StreamSchema, rows: pa.Table, old: int, new: int) -> tuple[pa.Table, pa.Table]:
    """Rows up to a time and the next one of each key, before which events may have been lost; and all others.

    Of keys that were closed before, nothing is left to report.
    """
    log = SequenceLog.of(schema, rows)
    past = log.time <= new
    near = past | np.append(False, past[:-1])[: len(past)]
    near[log.first] = True
    asleep = log.closed_by(old) & (log.time[log.last] <= old)
    near &= ~np.repeat(asleep, log.last - log.first + 1)
    is_near = np.zeros(len(rows), bool)
    is_near[log.order] = near
    return rows.filter(pa.array(is_near)).combine_chunks(), rows.filter(pa.array(~is_near))
