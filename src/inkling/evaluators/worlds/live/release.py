"""Rows on their way into sampled worlds: buffered until their time is decided, then assigned to every world.

The time of a row is decided once the watermark has passed it. Rows of a stream with lost events wait for longer: how
many events were lost before a row shows only with the next number of its key, or when a timeout closes the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.rows import of_whole_stream
from inkling.evaluators.gaps.sequence_log import SequenceLog, is_needed
from inkling.evaluators.worlds.streams.assignment import OWN_TIME, WorldAssignment, world_rows
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.evaluators.worlds.streams.world_stream import CertainStream, WorldStream
from inkling.io.normalize import END, START
from inkling.model.batch import FOREVER, Ints
from inkling.model.hashes import Hashes
from inkling.model.roles import NO_ROLES, Roles
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.model.watermarks import NEVER
from inkling.physical.streams import time_of


@dataclass(frozen=True, slots=True)
class Draws:
    """The sample of worlds, and what drawing lost events needs."""

    seed: int
    n_worlds: int
    scale: int
    clock: Clock = Clock.TICKS
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    compared: frozenset[str] = frozenset()  # streams that are read only by patterns that compare keys

    @property
    def start(self) -> np.uint64:
        return np.uint64(self.seed & (2**64 - 1))


@dataclass(frozen=True, slots=True)
class WaitingState:
    """The state of a stream: rows that have not entered all worlds, and the latest values of Markovian chains."""

    rows: pa.Table
    chains: Mapping[int, Hashes] = field(default_factory=dict)  # with GIVEN: latest value in every world, by key
    roles: Roles = NO_ROLES
    begun: int = NEVER  # when the stream began
    entered: pa.Table | None = None  # rows of worlds that have begun and not ended


@dataclass(frozen=True, slots=True)
class Released:
    """Rows of worlds, and the events that their tokens name."""

    rows: pa.Table
    tokens: Ints
    events: pa.Table  # one row per token
    until: Ints  # the latest time at which each can happen


def step_times(
    schemas: Mapping[str, StreamSchema], waiting: Mapping[str, WaitingState], old: int, new: int, n_rows: int
) -> list[int]:
    """Times after `old` and up to `new` that cut the waiting rows into portions of about `n_rows`."""
    if new <= old:
        return []
    times = [one.rows[time_of(schemas[name])].to_numpy() for name, one in waiting.items()]
    due = np.sort(np.concatenate([np.empty(0, np.int64), *times]))
    due = due[(due > old) & (due < new)]
    return [*np.unique(due[:: max(1, n_rows)][1:]).tolist(), new]


def released_rows(stream: WorldStream, assignment: WorldAssignment, until: Ints, draws: Draws) -> Released:
    """The assigned rows as rows of worlds; `until` is the latest time at which each row of the stream can happen."""
    rows = world_rows(stream.rows, stream.tokens, assignment, stream.time_columns, draws.scale)
    used = np.unique(assignment.rows)
    return Released(rows, stream.tokens.view(np.int64)[used], stream.rows.take(pa.array(used)), until[used])


def assigned_between(assignment: WorldAssignment, old: int, new: int, scale: int) -> WorldAssignment:
    """The rows that happen after `old` and not after `new`."""
    assert assignment.times is not None
    after = assignment.times > last_moment(old, scale)
    return assignment.take(np.flatnonzero(after & (assignment.times <= last_moment(new, scale))))


def last_moment(time: int, scale: int) -> int:
    """The last moment of a time on the worlds' clock."""
    return time if abs(time) >= FOREVER else time * scale + scale - 1


def split_at(rows: pa.Table, column: str, time: int) -> tuple[pa.Table, pa.Table]:
    """Rows up to a time, and later ones."""
    due = rows[column].to_numpy() <= time
    return rows.filter(pa.array(due)).combine_chunks(), rows.filter(pa.array(~due))


def release(
    schema: StreamSchema, waiting: WaitingState, old: int, new: int, draws: Draws
) -> tuple[WaitingState, Released]:
    """The rows that wait for longer, and the rows of worlds that end in (old, new]."""
    after, released = _entered(schema, waiting, old, new, draws)
    begun = released.rows if waiting.entered is None else pa.concat_tables([waiting.entered, released.rows])
    due, later = split_at(begun, END, last_moment(new, draws.scale))
    return replace(after, entered=later if len(later) else None), replace(released, rows=due)


def _entered(
    schema: StreamSchema, waiting: WaitingState, old: int, new: int, draws: Draws
) -> tuple[WaitingState, Released]:
    """The rows of worlds that are drawn at times in (old, new], by the uncertainty of the stream."""
    match schema.uncertainty:
        case None:
            now, later = split_at(waiting.rows, END, new)
            stream: WorldStream = CertainStream.of(schema, now)
            assignment = stream.draw(draws.start, 0, draws.n_worlds, draws.scale)
            return replace(waiting, rows=later), released_rows(stream, assignment, stream.extents[1], draws)
        case ImpreciseTime():
            now, later = split_at(waiting.rows, START, new)
            stream = ImpreciseStream.of(schema, now)
            assignment = assigned_between(
                stream.draw(draws.start, 0, draws.n_worlds, draws.scale), old, new, draws.scale
            )
            still = now.filter(pa.array(now[END].to_numpy() > new))
            ready = released_rows(stream, assignment, stream.extents[1], draws)
            return replace(waiting, rows=pa.concat_tables([still, later])), ready
        case ProbableValue():
            now, later = split_at(waiting.rows, START, new)
            alternatives = ProbableStream.of(schema, now)
            assignment, chains = _drawn_chains(alternatives, waiting.chains, draws)
            until = _latest_end(alternatives)
            return replace(waiting, rows=later, chains=chains), released_rows(alternatives, assignment, until, draws)
        case LostEvents():
            return _release_numbered(schema, schema.uncertainty, waiting, old, new, draws)


def _latest_end(stream: ProbableStream) -> Ints:
    """Per alternative, when the last alternative of its event ends."""
    if not len(stream.rows):
        return np.empty(0, np.int64)
    return np.repeat(np.maximum.reduceat(stream.rows[END].to_numpy(), stream.offsets[:-1]), np.diff(stream.offsets))


def _drawn_chains(
    stream: ProbableStream, known: Mapping[int, Hashes], draws: Draws
) -> tuple[WorldAssignment, dict[int, Hashes]]:
    """Draws chains that continue with the latest value of each world; chains without any value are dropped."""
    if not stream.is_markov:
        return stream.draw(draws.start, 0, draws.n_worlds, draws.scale), {}
    firsts = stream.offsets[stream.chains[:-1]]
    keys = [int(key) for key in stream.keys[firsts]]
    latest = np.zeros((len(keys), draws.n_worlds), np.uint64)
    for number, key in enumerate(keys):
        if key in known:
            latest[number] = known[key]
    assignment = stream.draw_on(draws.start, 0, latest)
    after = dict(known)
    for number, key in enumerate(keys):
        after[key] = latest[number]
    return assignment, {key: values for key, values in after.items() if values.any()}


def frontier(schema: StreamSchema, waiting: WaitingState, watermark: int) -> int:
    """The time up to which all events are known in every world, lost ones included, at a watermark."""
    uncertainty, rows = schema.uncertainty, waiting.rows
    if not isinstance(uncertainty, LostEvents) or watermark >= FOREVER or not len(rows):
        return watermark
    log = SequenceLog.of(schema, of_whole_stream(schema, rows, waiting.roles, waiting.begun))
    if uncertainty.role is not None and None in waiting.roles:
        return min(
            watermark, max(NEVER, _earliest(log) - 1)
        )  # the roles of lost events are unknown until the stream ends
    last = log.last[~log.closed_by(watermark)]
    # a lost event may follow right after the last recorded one
    return min(watermark, int(log.time[last].min(initial=FOREVER)) - 1)


def _earliest(log: SequenceLog) -> int:
    """The earliest time of any event, lost ones included."""
    since = np.where(log.before > 0, np.maximum(log.since, NEVER), log.time[log.first])
    return int(since.min())


def _release_numbered(
    schema: StreamSchema, uncertainty: LostEvents, waiting: WaitingState, old: int, new: int, draws: Draws
) -> tuple[WaitingState, Released]:
    """Recorded rows in (old, new], and lost ones in the worlds where they fall there.

    The last row of a key still waits.
    """
    near, rest = _near(schema, waiting.rows, old, new)
    stream = LossyStream.of(
        schema,
        of_whole_stream(schema, near, waiting.roles, waiting.begun),
        old,
        tables=draws.tables,
        clock=draws.clock,
        with_empty=schema.name in draws.compared,
    )
    assignment = stream.draw(draws.start, 0, draws.n_worlds, draws.scale)
    assert assignment.times is not None
    own = assignment.times == OWN_TIME
    at = np.where(own, stream.rows[END].to_numpy()[assignment.rows] * draws.scale, assignment.times)
    assignment = assigned_between(WorldAssignment(assignment.rows, assignment.worlds, at), old, new, draws.scale)
    still = near.filter(pa.array(is_needed(schema, uncertainty, near, new, forgetting=uncertainty.timeout is None)))
    ready = released_rows(stream, assignment, stream.extents[1], draws)
    return replace(waiting, rows=pa.concat_tables([still, rest])), ready


def _near(schema: StreamSchema, rows: pa.Table, old: int, new: int) -> tuple[pa.Table, pa.Table]:
    """The rows up to `new` with the next row of each key, before which events may have been lost; and all other rows.

    Keys that were closed by `old` are left out.
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
