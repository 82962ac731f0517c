"""Probabilistic events of all streams that a query reads, as arrays (Lahar, sections 2.1 and 2.3).

A stream here is one KEY of a declared stream (Lahar: one stream per event type and key). A group has the alternatives
of one stream at one time, of which at most one happens; the remaining probability is that of no event (⊥). A row of a
certain stream is a stream of its own, with one group of one row.

    key  time  value  chance
    joe     1      a     0.2
    joe     1      b     0.7      →  stream joe, one group at time 1 with two rows, and 0.1 for no event
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.query import Query, QuerySource
from inkling.evaluators.hashes import given_hashes, value_hashes
from inkling.io.normalize import START
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.runs import changes, ranges
from inkling.model.schema import StreamSchema, value_columns
from inkling.model.uncertainty import TOLERANCE, ProbableValue, exact

Numbers = NDArray[Any]
"""Probabilities in [0, 1]: floats, or `Fraction`s in tests."""

NO_EVENT = np.uint64(0)
"""The value ⊥ of a stream that has no event; the smallest value."""

NULL_KEY = np.uint64(0)
"""The code of a null in a key, which equals no other code."""


@dataclass(frozen=True, slots=True)
class ProbableEvents:
    """Alternatives of a block of complete times. Groups are ordered by stream and time, rows by group."""

    sources: tuple[str, ...]
    source: Ints  # of each stream
    name: Hashes  # of each stream: a hash that is the same in every block
    markov: Mask  # of each stream: whether probabilities depend on the value before
    keys: Mapping[tuple[str, str], Hashes]  # by source and column, of each stream; NULL_KEY where it is null
    stream: Ints  # of each group
    time: Ints  # of each group
    anew: Mask  # of each group: an initial marginal, independent of the value before
    offsets: Ints  # rows of group g are offsets[g]:offsets[g + 1]
    chance: Numbers  # of each row: P[value], or of Markovian streams P[value | given]
    value: Hashes  # of each row: a hash, never NO_EVENT
    given: Hashes  # of each row: the value before
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
        return np.repeat(np.arange(self.n_groups), np.diff(self.offsets))

    @property
    def rest(self) -> Numbers:
        """Per group, the probability of no event, for independent streams."""
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

    With `canonical`, rows of a group are sorted by value, so that sampled worlds do not depend on the order of arrival.
    """
    names = tuple(sorted(query.sources))
    parts = [_SourceRows.of(query, query.sources[name], schemas[name], tables[name], exact_numbers) for name in names]
    return _grouped(names, parts, canonical=canonical)


@dataclass(frozen=True, slots=True)
class _SourceRows:
    """Rows of one declared stream, with their hashes and probabilities."""

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
            if query.subgoals[place.subgoal].source == source.name and source.is_key(place.column)
        }
        for number, subgoal in enumerate(query.subgoals):
            if subgoal.source == source.name:
                wanted |= {column for column, _ in constant_keys(query, number)}
        hashes = {column: hashes_of(rows[column].combine_chunks()) for column in sorted({*wanted, *schema.key})}
        keys = {column: _equality_codes(rows[column], hashes[column]) for column in sorted(wanted)}
        stream = _stream_names(schema.name, [hashes[column] for column in schema.key], n)
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
            value_hashes(rows, values),
            given_hashes(rows, uncertainty.given),
        )


def stream_names(schema: StreamSchema, rows: pa.Table) -> Hashes:
    """The stream of each row of a declared probable stream: a hash of its name and KEY."""
    return _stream_names(schema.name, [hashes_of(rows[name].combine_chunks()) for name in schema.key], len(rows))


def _stream_names(name: str, keys: Sequence[Hashes], n_rows: int) -> Hashes:
    return combined(np.repeat(hashes_of(pa.array([name])), n_rows), *keys)


def _exact(chances: NDArray[np.float64]) -> NDArray[np.object_]:
    return np.array([exact(float(one)) for one in chances] or [Fraction(0)], object)[: len(chances)]


def constant_keys(query: Query, number: int) -> list[tuple[str, np.uint64]]:
    """KEY columns that a subgoal compares with a constant, and the code of that constant."""
    source = query.source(number)
    return [
        (column, equality_codes(pa.array([literal.value], ARROW_TYPES[literal.type]))[0])
        for column, literal in query.subgoals[number].constants.items()
        if source.is_key(column)
    ]


def equality_codes(column: pa.Array) -> Hashes:
    """Codes that are equal where values are equal, the same in every process; NULL_KEY for null."""
    return _equality_codes(column, hashes_of(column))


def _equality_codes(column: pa.Array | pa.ChunkedArray, hashes: Hashes) -> Hashes:
    found = combined(hashes)  # mixed, so that a code of 0 is as rare as a collision
    found[found == NULL_KEY] = 1
    if column.null_count:
        found[np.asarray(column.is_null())] = NULL_KEY
    return found


def _grouped(names: tuple[str, ...], parts: Sequence[_SourceRows], *, canonical: bool) -> ProbableEvents:
    source = np.concatenate([np.full(len(part.time), number) for number, part in enumerate(parts)])
    row = np.concatenate([np.arange(len(part.time)) for part in parts])
    name = np.concatenate([part.name for part in parts])
    time = np.concatenate([part.time for part in parts])
    given = np.concatenate([part.given for part in parts])
    value = np.concatenate([part.value for part in parts])
    chance = np.concatenate([part.chance for part in parts])
    order = np.lexsort((value, given, time, name, source)) if canonical else _order(source, name, time)
    if order is not None:
        source, row, name, time = source[order], row[order], name[order], time[order]
        given, value, chance = given[order], value[order], chance[order]
    new_stream = changes(source) | changes(name)
    new_group = new_stream | changes(time)
    offsets = np.append(np.flatnonzero(new_group), len(row))
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
    anew = np.maximum.reduceat(given, first) == NO_EVENT if len(first) else np.empty(0, bool)
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
    return _normalized(events)


def _order(source: Ints, name: Hashes, time: Ints) -> Ints | None:
    """The order of rows by stream and time; None where rows already have this order."""
    begins = np.flatnonzero(changes(source) | changes(name))
    falls = np.flatnonzero(np.diff(time, prepend=time[:1]) < 0)
    if np.isin(falls, begins, assume_unique=True).all() and len(np.unique(name[begins])) == len(begins):
        return None
    return np.lexsort((time, name, source))


def _normalized(events: ProbableEvents) -> ProbableEvents:
    """Probabilities of a group, given one value before, that sum to nearly 1 are scaled to sum to 1."""
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
    return replace(events, chance=scaled)


def taken(events: ProbableEvents, streams: Mask) -> tuple[Ints, ProbableEvents]:
    """The groups of some streams, and the alternatives of these streams alone."""
    groups = np.flatnonzero(streams[events.stream])
    sizes = np.diff(events.offsets)[groups]
    rows = ranges(events.offsets[:-1][groups], sizes)
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
