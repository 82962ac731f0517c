"""Alternatives of the events of all streams, in order of time, up to a time for which all rows are there.

A stream here is one KEY of a declared stream (Lahar, section 2.1: one stream per event type and key). A group holds
the alternatives of one stream at one time; at most one of them happens. A row of a certain stream is a stream of its
own, with one group of one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.query import Query, QuerySource
from inkling.evaluators.hashes import Hashes, combined, hashes_of
from inkling.io.normalize import START
from inkling.logical import expr as e
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema, value_columns
from inkling.model.uncertainty import TOLERANCE, ProbableValue, exact

Mask = NDArray[np.bool_]
Numbers = NDArray[Any]
"""Probabilities: floats, or `Fraction`s in tests."""

NOTHING = np.uint64(0)
"""The value of a stream that has no event."""

NULL_KEY = np.uint64(0)
"""The code of a missing key, which agrees with no other."""


@dataclass(frozen=True, slots=True)
class ProbableEvents:
    """Groups are in order of stream and time, rows in order of group."""

    sources: tuple[str, ...]
    source: Ints  # of each stream
    name: Hashes  # of each stream: the same in every block
    markov: Mask  # of each stream
    keys: Mapping[tuple[str, str], Hashes]  # by source and column, of each stream; NULL_KEY where it is null
    stream: Ints  # of each group
    time: Ints  # of each group
    anew: Mask  # of each group: what happens does not depend on what was before
    offsets: Ints  # rows of group g are offsets[g]:offsets[g + 1]
    chance: Numbers  # of each row, given the value before
    value: Hashes  # of each row; never NOTHING
    given: Hashes  # of each row: the value before, NOTHING for none
    row: Ints  # place of each row in the table of its source

    @property
    def n_streams(self) -> int:
        return len(self.source)

    @property
    def n_groups(self) -> int:
        return len(self.time)

    @property
    def is_exact(self) -> bool:
        return self.chance.dtype == np.object_

    @property
    def group(self) -> Ints:
        """Of each row."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.offsets))

    @property
    def rest(self) -> Numbers:
        """Per group, the chance that an independent stream has no event."""
        rest = np.full(self.n_groups, Fraction(1) if self.is_exact else 1.0, self.chance.dtype)
        np.subtract.at(rest, self.group, self.chance)
        return rest if self.is_exact else np.where(rest < float(TOLERANCE), 0.0, rest)


def probable_events_of(
    query: Query,
    schemas: Mapping[str, StreamSchema],
    tables: Mapping[str, pa.Table],
    *,
    exact_numbers: bool = False,
    canonical: bool = True,
) -> ProbableEvents:
    """The alternatives in checked rows of all streams that a query reads.

    Only where the order of rows matters, in which worlds are drawn, groups need the `canonical` one.
    """
    names = tuple(sorted(query.sources))
    parts = [_SourceRows.of(query, query.sources[name], schemas[name], tables[name], exact_numbers) for name in names]
    return _grouped(names, parts, canonical=canonical)


@dataclass(frozen=True, slots=True)
class _SourceRows:
    """Rows of one declared stream."""

    source: QuerySource
    name: Hashes
    keys: Mapping[str, Hashes]
    time: Ints
    chance: Numbers
    value: Hashes
    given: Hashes

    @classmethod
    def of(
        cls, query: Query, source: QuerySource, schema: StreamSchema, rows: pa.Table, exact_numbers: bool
    ) -> _SourceRows:
        n, uncertainty = len(rows), schema.uncertainty
        wanted = {
            place.column
            for one in query.variables
            for place in one.places
            if query.stages[place.stage].source == source.name and source.is_key(place.column)
        }
        for number, stage in enumerate(query.stages):
            if stage.source == source.name:
                wanted |= {column for column, _ in constant_keys(query, number)}
        keys = {column: equality_codes(rows[column].combine_chunks()) for column in sorted(wanted)}
        stream = stream_names(schema, rows)
        time = rows[START].to_numpy()
        if not isinstance(uncertainty, ProbableValue):
            stream = combined(stream, time.view(np.uint64), np.arange(n).view(np.uint64))
            ones = np.ones(n) if not exact_numbers else np.array([Fraction(1)] * n, object)
            return cls(source, stream, keys, time, ones, np.ones(n, np.uint64), np.zeros(n, np.uint64))
        chances = rows[uncertainty.probability].to_numpy().astype(np.float64)
        values = [name for name in value_columns(uncertainty, schema) if name in rows.column_names]
        values = values[: len(uncertainty.given)] if uncertainty.given else values
        return cls(
            source,
            stream,
            keys,
            time,
            _exact(chances) if exact_numbers else np.clip(chances, 0.0, 1.0),
            _values(rows, values),
            _given(rows, uncertainty.given),
        )


def stream_names(schema: StreamSchema, rows: pa.Table) -> Hashes:
    """The name of the stream to which each row of a declared stream with alternatives belongs."""
    return combined(
        np.repeat(hashes_of(pa.array([schema.name])), len(rows)),
        *(hashes_of(rows[name].combine_chunks()) for name in schema.key),
    )


def _exact(chances: NDArray[np.float64]) -> NDArray[np.object_]:
    return np.array([exact(float(one)) for one in chances] or [Fraction(0)], object)[: len(chances)]


def constant_keys(query: Query, number: int) -> list[tuple[str, np.uint64]]:
    """KEY columns that a stage compares with a value, and the code of that value."""
    stage, source = query.stages[number], query.source(number)
    found = []
    for condition in stage.filters:
        match condition:
            case e.Compare(operator="=", left=e.ColumnOf() as one, right=e.Literal() as other):
                pass
            case e.Compare(operator="=", left=e.Literal() as other, right=e.ColumnOf() as one):
                pass
            case _:
                continue
        if one.type == other.type and other.value is not None and source.is_key(one.column):
            found.append((one.column, equality_codes(pa.array([other.value], ARROW_TYPES[one.type]))[0]))
    return found


def equality_codes(column: pa.Array) -> Hashes:
    """Codes for conditions of equality, the same in every process; null is `NULL_KEY`, which equals nothing there."""
    found = combined(hashes_of(column))  # mixed, so that a code of 0 is as rare as a collision
    found = np.where(found == NULL_KEY, np.uint64(1), found)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), NULL_KEY, found)


def _values(rows: pa.Table, names: Sequence[str]) -> Hashes:
    found = combined(np.ones(len(rows), np.uint64), *(hashes_of(rows[name].combine_chunks()) for name in names))
    return np.where(found == NOTHING, np.uint64(1), found)


def _given(rows: pa.Table, names: Sequence[str]) -> Hashes:
    if not names:
        return np.zeros(len(rows), np.uint64)
    nothing = np.logical_and.reduce([rows[name].is_null().to_numpy() for name in names])
    return np.where(nothing, NOTHING, _values(rows, names))


def _grouped(names: tuple[str, ...], parts: Sequence[_SourceRows], *, canonical: bool) -> ProbableEvents:
    source = np.concatenate([np.full(len(part.time), number) for number, part in enumerate(parts)])
    row = np.concatenate([np.arange(len(part.time)) for part in parts])
    name = np.concatenate([part.name for part in parts])
    time = np.concatenate([part.time for part in parts])
    given = np.concatenate([part.given for part in parts])
    value = np.concatenate([part.value for part in parts])
    chance = np.concatenate([part.chance for part in parts])
    order = _order(source, name, time)
    if canonical:
        order = np.lexsort((value, given, time, name, source))
    source, row, name, time = source[order], row[order], name[order], time[order]
    given, value, chance = given[order], value[order], chance[order]
    new_stream = changes(source) | changes(name)
    new_group = new_stream | changes(time)
    offsets = np.append(np.flatnonzero(new_group), len(order))
    first = offsets[:-1]
    streams = first[new_stream[first]]
    markov = np.array([part.source.markov for part in parts], bool)
    keys: dict[tuple[str, str], Hashes] = {}
    for number, part in enumerate(parts):
        for column, codes in part.keys.items():
            mine = source[streams] == number
            found = np.zeros(len(streams), np.uint64)
            found[mine] = codes[row[streams[mine]]]
            keys[part.source.name, column] = found
    anew = np.maximum.reduceat(given, first) == NOTHING if len(first) else np.empty(0, bool)
    by_source = markov[source[streams]] if len(streams) else np.empty(0, bool)
    events = ProbableEvents(
        names,
        source[streams],
        name[streams],
        by_source,
        keys,
        np.cumsum(new_stream[first]) - 1,
        time[first],
        anew,
        offsets,
        chance,
        value,
        given,
        row,
    )
    return _whole(events)


def _order(source: Ints, name: Hashes, time: Ints) -> Ints:
    """By stream and time; rows that come so are left as they are."""
    begins = np.flatnonzero(changes(source) | changes(name))
    falls = np.flatnonzero(np.diff(time, prepend=time[:1]) < 0)
    if np.isin(falls, begins, assume_unique=True).all() and len(np.unique(name[begins])) == len(begins):
        return np.arange(len(time))
    return np.lexsort((time, name, source))


def _whole(events: ProbableEvents) -> ProbableEvents:
    """Chances that nearly sum to 1 given one value before are meant to."""
    if not len(events.chance):
        return events
    parts = events.group
    if events.markov.any():
        encoded = pa.array(combined(parts.view(np.uint64), events.given)).dictionary_encode()
        parts = encoded.indices.to_numpy().astype(np.int64)
    sums = np.zeros(int(parts.max()) + 1, events.chance.dtype)
    np.add.at(sums, parts, events.chance)
    full = sums >= (1 - TOLERANCE if events.is_exact else 1.0 - float(TOLERANCE))
    scaled = events.chance / np.where(full, sums, 1)[parts]
    names = {name: getattr(events, name) for name in ProbableEvents.__slots__}
    return ProbableEvents(**{**names, "chance": scaled})


def taken(events: ProbableEvents, streams: Mask) -> tuple[Ints, ProbableEvents]:
    """Some of the streams, and which groups are theirs."""
    groups = np.flatnonzero(streams[events.stream])
    sizes = np.diff(events.offsets)[groups]
    first = events.offsets[:-1][groups]
    rows = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes - first, sizes)
    number = np.cumsum(streams) - 1
    part = ProbableEvents(
        events.sources,
        events.source[streams],
        events.name[streams],
        events.markov[streams],
        {place: codes[streams] for place, codes in events.keys.items()},
        number[events.stream[groups]],
        events.time[groups],
        events.anew[groups],
        np.append(0, np.cumsum(sizes)),
        events.chance[rows],
        events.value[rows],
        events.given[rows],
        events.row[rows],
    )
    return groups, part


def changes(column: np.ndarray) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first does."""
    changed = np.ones(len(column), bool)
    changed[1:] = column[1:] != column[:-1]
    return changed


def ranges(first: Ints, counts: Ints) -> Ints:
    """first[i], first[i] + 1, … of each, counts[i] many."""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts - first, counts)
