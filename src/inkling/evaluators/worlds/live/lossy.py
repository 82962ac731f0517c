"""Numbered rows on their way into worlds: what was lost shows with the next row of a key, or when it is closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.relation.numbered import EVEN, ODD, roles_of
from inkling.evaluators.relation.posts import UNSAID, Posts
from inkling.evaluators.worlds.live.waiting import Draws, Released, Waiting, between, divided, released
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.placed import OWN_TIME, Placed
from inkling.io.normalize import END
from inkling.model.batch import FOREVER
from inkling.model.roles import Roles
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER

Mask = NDArray[np.bool_]


def roles_said(schema: StreamSchema, rows: pa.Table) -> Roles | None:
    """What rows call events with even and with odd numbers; None where these have no roles."""
    doubt = schema.doubt
    if not isinstance(doubt, LostEvents) or doubt.role is None:
        return None
    return roles_of(rows.filter(rows[doubt.number].is_valid()), doubt)


def frontier(schema: StreamSchema, waiting: Waiting, watermark: int) -> int:
    """Up to which time all worlds are known."""
    doubt, rows = schema.doubt, waiting.rows
    if not isinstance(doubt, LostEvents) or watermark >= FOREVER or not len(rows):
        return watermark
    known = rows.filter(pa.array(rows[END].to_numpy() <= watermark))
    if not len(known):
        return watermark
    posts = Posts.of(schema, known)
    if doubt.role is not None and None in waiting.roles:
        return min(watermark, max(NEVER, _earliest(posts) - 1))  # nobody knows yet what lost events are called
    last = posts.last[~closed_by(posts, watermark)]
    # what follows an event may follow it at once
    return min(watermark, int(posts.time[last].min(initial=FOREVER)) - 1)


def _earliest(posts: Posts) -> int:
    """The first time at which anything may have happened."""
    since = np.where(posts.before > 0, np.maximum(posts.since, NEVER), posts.time[posts.first])
    return int(since.min())


def closed_by(posts: Posts, time: int) -> Mask:
    """Of which keys nothing can follow after a time up to which all rows are known."""
    is_counted = posts.count != UNSAID
    is_full = posts.ended | (is_counted & (posts.number[posts.last] >= posts.count))
    limit = posts.limit if posts.doubt.timeout is not None else np.where(is_counted, posts.limit, FOREVER)
    return np.asarray(is_full | (limit <= time), bool)


def release_numbered(
    schema: StreamSchema, doubt: LostEvents, waiting: Waiting, times: tuple[int, int, int], draws: Draws
) -> tuple[Waiting, Released]:
    """Recorded events of the time, and lost ones in the worlds where they fall into it; the last of a key stays."""
    old, new, watermark = times
    complete, later = divided(waiting.rows, END, watermark)
    near, rest = _near(schema, complete, old, new)
    stream = LossyStream.of(
        schema,
        _with_roles(near, doubt, waiting.roles),
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
    return replace(waiting, rows=pa.concat_tables([still, rest, later])), told


def _near(schema: StreamSchema, rows: pa.Table, old: int, new: int) -> tuple[pa.Table, pa.Table]:
    """Rows up to a time and the next one of each key, before which events may have been lost; and all others.

    Of keys that were closed before, nothing is left to tell.
    """
    posts = Posts.of(schema, rows)
    past = posts.time <= new
    near = past | np.append(False, past[:-1])[: len(past)]
    near[posts.first] = True
    asleep = closed_by(posts, old) & (posts.time[posts.last] <= old)
    near &= ~np.repeat(asleep, posts.last - posts.first + 1)
    is_near = np.zeros(len(rows), bool)
    is_near[posts.order] = near
    return rows.filter(pa.array(is_near)).combine_chunks(), rows.filter(pa.array(~is_near))


def is_needed(schema: StreamSchema, doubt: LostEvents, rows: pa.Table, time: int, *, forgetting: bool) -> Mask:
    """Which rows must be remembered after a time: the last ones of keys, and all that say more about their key.

    Keys of which nothing can follow are forgotten or not; where they are not, what comes later is refused.
    """
    posts = Posts.of(schema, rows)
    past = posts.time <= time
    needed = ~past | ~np.append(past[1:], False)[: len(past)]
    needed[posts.last] = True
    for name in (doubt.count, *(doubt.bounds or ()), doubt.rate):
        if isinstance(name, str):
            needed |= _last_with(posts, np.asarray(pc.is_valid(rows[name]).to_numpy(), bool)[posts.order])
    if forgetting:
        done = closed_by(posts, time) & past[posts.last]
        needed &= ~np.repeat(done, posts.last - posts.first + 1)
    found = np.zeros(len(rows), bool)
    found[posts.order] = needed
    return found


def _last_with(posts: Posts, said: Mask) -> Mask:
    """The last row of each key that says something."""
    owner = np.repeat(np.arange(len(posts.first)), posts.last - posts.first + 1)
    place = np.full(len(posts.first), -1)
    np.maximum.at(place, owner[said], np.flatnonzero(said))
    found = np.zeros(len(said), bool)
    found[place[place >= 0]] = True
    return found


def _with_roles(rows: pa.Table, doubt: LostEvents, roles: Roles) -> pa.Table:
    if doubt.role is None:
        return rows
    kind = rows.schema.field(doubt.role).type
    for name, role in zip((EVEN, ODD), roles, strict=True):
        rows = rows.append_column(name, pa.array([role] * len(rows), kind))
    return rows
