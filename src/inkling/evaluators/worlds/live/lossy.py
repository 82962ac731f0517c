"""Numbered rows on their way into worlds: what was lost shows with the next row of a key, or when it is closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.numbered.posts import Posts, is_needed
from inkling.evaluators.numbered.rows import with_roles
from inkling.evaluators.worlds.live.waiting import Draws, Released, Waiting, between, released
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.placed import OWN_TIME, Placed
from inkling.io.normalize import END
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER


def frontier(schema: StreamSchema, waiting: Waiting, watermark: int) -> int:
    """Up to which time all worlds are known, if all rows up to `watermark` are."""
    doubt, rows = schema.doubt, waiting.rows
    if not isinstance(doubt, LostEvents) or watermark >= FOREVER or not len(rows):
        return watermark
    posts = Posts.of(schema, rows)
    if doubt.role is not None and None in waiting.roles:
        return min(watermark, max(NEVER, _earliest(posts) - 1))  # nobody knows yet what lost events are called
    last = posts.last[~posts.closed_by(watermark)]
    # what follows an event may follow it at once
    return min(watermark, int(posts.time[last].min(initial=FOREVER)) - 1)


def _earliest(posts: Posts) -> int:
    """The first time at which anything may have happened."""
    since = np.where(posts.before > 0, np.maximum(posts.since, NEVER), posts.time[posts.first])
    return int(since.min())


def release_numbered(
    schema: StreamSchema, doubt: LostEvents, waiting: Waiting, old: int, new: int, draws: Draws
) -> tuple[Waiting, Released]:
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
    placed = stream.draw(draws.start, 0, draws.n_worlds, draws.scale)
    assert placed.times is not None
    own = placed.times == OWN_TIME
    at = np.where(own, stream.rows[END].to_numpy()[placed.rows] * draws.scale, placed.times)
    placed = between(Placed(placed.rows, placed.worlds, at), old, new, draws.scale)
    still = near.filter(pa.array(is_needed(schema, doubt, near, new, forgetting=doubt.timeout is None)))
    told = released(stream, placed, stream.extents[1], draws)
    return replace(waiting, rows=pa.concat_tables([still, rest])), told


def _near(schema: StreamSchema, rows: pa.Table, old: int, new: int) -> tuple[pa.Table, pa.Table]:
    """Rows up to a time and the next one of each key, before which events may have been lost; and all others.

    Of keys that were closed before, nothing is left to tell.
    """
    posts = Posts.of(schema, rows)
    past = posts.time <= new
    near = past | np.append(False, past[:-1])[: len(past)]
    near[posts.first] = True
    asleep = posts.closed_by(old) & (posts.time[posts.last] <= old)
    near &= ~np.repeat(asleep, posts.last - posts.first + 1)
    is_near = np.zeros(len(rows), bool)
    is_near[posts.order] = near
    return rows.filter(pa.array(is_near)).combine_chunks(), rows.filter(pa.array(~is_near))
