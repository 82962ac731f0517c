"""The worlds of a probable stream: per key and time one alternative, or no event.

Re, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams, SIGMOD 2008 (Lahar), section 2.3:
independent streams, and with GIVEN Markovian streams, in which a value depends on the previous value of its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import given_hashes, key_hashes, value_hashes
from inkling.evaluators.worlds.streams.assignment import (
    ALTERNATIVE,
    OWN_TIME,
    Alternative,
    Alternatives,
    WeightType,
    WorldAssignment,
    listed,
    tokens_of,
)
from inkling.io.normalize import END, START
from inkling.kernels.worlds.draws import count_paths, cumulated, draw_alternatives, draw_paths
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.runs import ranges
from inkling.model.schema import StreamSchema, value_columns
from inkling.model.uncertainty import ProbableValue, exact, with_nothing

NOTHING = np.uint64(0)
"""In place of the hash of a value: no event."""


@dataclass(frozen=True, slots=True)
class ProbableStream:
    """Rows sorted by key, time and value. A group of rows holds the alternatives of one event.

    A choice is one group, or with GIVEN a chain of groups: all events of a key whose values depend on each other.
    """

    schema: StreamSchema
    rows: pa.Table
    tokens: Hashes  # per row; alternatives of one event differ in the bits of `ALTERNATIVE`
    group_tokens: Hashes
    offsets: Ints  # group g has the rows offsets[g]:offsets[g + 1]
    chains: Ints  # chain c has the groups chains[c]:chains[c + 1]
    anew: NDArray[np.bool_]  # per group: whether it does not depend on the group before
    given: Hashes  # per row: the hash of the previous value that it depends on, or `NOTHING`
    value: Hashes  # per row: the hash of its value, never `NOTHING`
    chances: NDArray[np.float64]  # per row: its probability
    shares: NDArray[np.float64]  # probabilities, cumulated within a group and a previous value
    keys: Hashes  # per row

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table) -> ProbableStream:
        uncertainty = schema.uncertainty
        assert isinstance(uncertainty, ProbableValue)
        chances = np.clip(rows[uncertainty.probability].to_numpy().astype(np.float64), 0.0, 1.0)
        values = [name for name in value_columns(uncertainty, schema) if name in rows.column_names]
        if uncertainty.given:
            values = values[: len(uncertainty.given)]
        value, given = value_hashes(rows, values), given_hashes(rows, uncertainty.given)
        key = key_hashes(schema, rows)
        time = rows[START].to_numpy()
        order = np.lexsort((rows[END].to_numpy(), value, given, time, key))
        rows = rows.take(pa.array(order)).combine_chunks()
        key, time, value, given, chances = key[order], time[order], value[order], given[order], chances[order]
        new_key = np.diff(key, prepend=key[:1] + np.uint64(1) if len(key) else key) != 0
        new_group = new_key | (np.diff(time, prepend=time[:1]) != 0)
        offsets = _borders(new_group)
        first = offsets[:-1]
        anew = np.maximum.reduceat(given, first) == NOTHING if len(first) else np.empty(0, bool)
        starts_chain = np.ones(len(first), bool) if not uncertainty.given else new_key[first] | anew
        events = tokens_of(schema, rows, START)
        if uncertainty.given:
            parts = _borders(new_group | (np.diff(given, prepend=given[:1]) != 0))
        else:
            parts = offsets
        shares = cumulated(parts, chances, _is_full(parts, chances))
        return cls(
            schema,
            rows,
            _row_tokens(events, offsets),
            events[first],
            offsets,
            _borders(starts_chain),
            anew,
            given,
            value,
            chances,
            shares,
            key,
        )

    @property
    def is_markov(self) -> bool:
        uncertainty = self.schema.uncertainty
        assert isinstance(uncertainty, ProbableValue)
        return bool(uncertainty.given)

    @property
    def time_columns(self) -> tuple[str, ...]:
        return ()

    @property
    def extents(self) -> tuple[Ints, Ints]:
        """All rows of a chain extend from its first time to its last."""
        time, factors = self.rows[START].to_numpy(), self.factors
        if not len(time):
            return time, time
        first = np.searchsorted(factors, np.arange(len(self.chains) - 1))
        return time[first][factors], np.maximum.reduceat(self.rows[END].to_numpy(), first)[factors]

    @property
    def factors(self) -> Ints:
        group = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        chain = np.repeat(np.arange(len(self.chains) - 1), np.diff(self.chains))
        return chain[group]

    def draw(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> WorldAssignment:
        return _assignment(self.chosen(seed, first, n_worlds), first)

    def draw_on(self, seed: np.uint64, first: int, latest: Hashes) -> WorldAssignment:
        """Like `draw` for chains that continue.

        `latest` is the value before each chain, [chain, world], and is updated.
        """
        return _assignment(self._drawn_paths(seed, first, latest), first)

    def chosen(self, seed: np.uint64, first: int, n_worlds: int) -> Ints:
        """The row of each group in each world, [group, world]; -1 for no event."""
        if self.is_markov:
            return self._drawn_paths(seed, first, np.zeros((len(self.chains) - 1, n_worlds), np.uint64))
        return np.asarray(
            draw_alternatives(seed, self.group_tokens, self.offsets, self.shares, first, n_worlds), np.int64
        )

    def _drawn_paths(self, seed: np.uint64, first: int, latest: Hashes) -> Ints:
        drawn = draw_paths(
            seed,
            self.group_tokens,
            self.chains,
            self.offsets,
            self.anew,
            self.given,
            self.value,
            self.shares,
            first,
            latest.shape[1],
            latest,
        )
        return np.asarray(drawn, np.int64)

    def n_alternatives(self, limit: int) -> NDArray[np.float64]:
        """Per choice, the number of alternatives, or of paths through a chain; counted up to the limit."""
        if self.is_markov:
            most = float(limit + 1)
            paths = count_paths(self.chains, self.offsets, self.anew, self.given, self.value, self.chances, most)
            return np.asarray(paths, np.float64)
        first = self.offsets[:-1]
        some = np.add.reduceat(self.chances > 0, first) if len(first) else np.empty(0)
        return some + ~_is_full(self.offsets, self.chances)

    def alternatives(self, factors: Ints, scale: int, numbers: WeightType) -> Alternatives:
        """The alternatives of some choices; the remaining probability is that of no event."""
        if self.is_markov:
            return listed(([*self._paths(int(chain))] for chain in factors), numbers)
        begin, end = self.offsets[factors], self.offsets[factors + 1]
        if numbers is WeightType.FRACTION:
            return listed(([*self._paths(int(group))] for group in factors), numbers)
        width = end - begin + 1  # the last alternative is no event
        row = ranges(begin, width)
        is_nothing = row == np.repeat(end, width)
        weights = np.append(self.chances, 0.0)[np.where(is_nothing, len(self.rows), row)]
        sums = np.bincount(np.repeat(np.arange(len(factors)), width), weights, minlength=len(factors))
        full = _is_full(self.offsets, self.chances)[factors]
        weights /= np.repeat(np.where(full, sums, 1.0), width)
        weights[is_nothing] = np.where(full, 0.0, 1.0 - sums)
        possible = weights > 0
        sizes = np.bincount(np.repeat(np.arange(len(factors)), width)[possible], minlength=len(factors))
        assignment = possible & ~is_nothing
        return Alternatives(
            sizes,
            weights[possible],
            (~is_nothing)[possible].astype(np.int64),
            row[assignment],
            np.full(np.count_nonzero(assignment), OWN_TIME),
        )

    def _paths(self, chain: int) -> Iterator[Alternative]:
        """The paths through a chain with their probabilities, in fractions."""
        paths: list[tuple[Fraction, tuple[int, ...], np.uint64]] = [(Fraction(1), (), NOTHING)]
        for group in range(self.chains[chain], self.chains[chain + 1]):
            longer = []
            for weight, path, latest in paths:
                before = NOTHING if self.anew[group] else latest
                rows = range(self.offsets[group], self.offsets[group + 1])
                following = [(exact(float(self.chances[row])), row) for row in rows if self.given[row] == before]
                for chance, row in with_nothing(following):
                    after = (path, NOTHING) if row is None else ((*path, row), self.value[row])
                    longer.append((weight * chance, *after))
            paths = longer
        for weight, path, _ in paths:
            yield Alternative(weight, tuple((row, int(OWN_TIME)) for row in path))


def _row_tokens(events: Hashes, offsets: Ints) -> Hashes:
    """The token of the event, with the place of the alternative in the lowest bits."""
    place = np.arange(len(events)) - np.repeat(offsets[:-1], np.diff(offsets))
    return (events & ~ALTERNATIVE) | (place.astype(np.uint64) & ALTERNATIVE)


def _assignment(chosen: Ints, first: int) -> WorldAssignment:
    group, world = np.nonzero(chosen >= 0)
    return WorldAssignment(chosen[group, world], world + first)


def _borders(is_first: NDArray[np.bool_]) -> Ints:
    return np.append(np.flatnonzero(is_first), len(is_first))


def _is_full(offsets: Ints, chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Per group, whether its probabilities sum to 1, up to rounding."""
    if len(offsets) == 1:
        return np.empty(0, bool)
    return np.add.reduceat(chances, offsets[:-1]) >= 1.0 - 1e-9
