"""Which streams each subgoal reads, for fixed values of variables, and the times (steps) at which they have events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from inkling.analysis.query.query import Query
from inkling.evaluators.query.groundings import grounding_names
from inkling.evaluators.query.probable_events import NULL_KEY, Numbers, ProbableEvents, constant_keys
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes
from inkling.model.runs import ranges


@dataclass(frozen=True, slots=True)
class SafeBlock:
    """A block of complete times: alternatives with their predicate masks, and the groups of each stream."""

    query: Query
    events: ProbableEvents
    predicates: Ints
    rest: Numbers
    begin: Ints  # groups of stream s are begin[s]:end[s]
    end: Ints
    kernels: SimpleNamespace

    @classmethod
    def of(cls, query: Query, events: ProbableEvents, predicates: Ints, kernels: SimpleNamespace) -> SafeBlock:
        first = np.searchsorted(events.stream, np.arange(events.n_streams + 1))
        return cls(query, events, predicates, events.rest, first[:-1], first[1:], kernels)

    def windows(self, n_rows: int) -> Iterator[SafeBlock]:
        """The block cut into blocks of whole times, of about `n_rows` rows each."""
        events = self.events
        times, place = np.unique(events.time, return_inverse=True)
        part = np.cumsum(np.bincount(place, np.diff(events.offsets))) // max(n_rows, 1)
        for number in np.unique(part):
            lowest, highest = times[part == number][[0, -1]]
            earlier, done = (events.stream[late] for late in (events.time < lowest, events.time <= highest))
            n = events.n_streams
            begin, end = self.begin + np.bincount(earlier, minlength=n), self.begin + np.bincount(done, minlength=n)
            yield replace(self, begin=begin, end=end)

    def groups(self, streams: Ints) -> Ints:
        return ranges(self.begin[streams], self.end[streams] - self.begin[streams])

    def rows(self, groups: Ints) -> Ints:
        begin = self.events.offsets[groups]
        return ranges(begin, self.events.offsets[groups + 1] - begin)

    def codes(self, variable: str, subgoal: int) -> Hashes | None:
        """The code of a variable in each stream of a subgoal; None where the subgoal does not have the variable."""
        columns = self._columns(variable, subgoal)
        return self.events.keys[self.query.subgoals[subgoal].source, columns[0]] if columns else None

    def readable(self, subgoal: int, variables: Iterable[str]) -> Mask:
        """Which streams match the constants and repeated variables of a subgoal."""
        source = self.query.subgoals[subgoal].source
        readable = self.events.source == self.events.sources.index(source)
        for name in variables:
            columns = self._columns(name, subgoal)
            for column in columns[1:]:
                readable &= self.events.keys[source, column] == self.events.keys[source, columns[0]]
            if columns and len(self.query.variable(name).places) > 1:
                readable &= self.events.keys[source, columns[0]] != NULL_KEY
        for column, code in constant_keys(self.query, subgoal):
            readable &= self.events.keys[source, column] == code
        return readable

    def _columns(self, variable: str, subgoal: int) -> list[str]:
        return sorted(self.query.key_columns(self.query.variable(variable), subgoal))


@dataclass(frozen=True, slots=True)
class StreamScope:
    """The streams of each subgoal for fixed values of the variables that operators above project."""

    block: SafeBlock
    streams: tuple[Ints, ...]  # per subgoal
    times: Ints

    def steps_of(self, groups: Ints) -> Ints:
        return np.searchsorted(self.times, self.block.events.time[groups])

    def by_values(self, variables: Sequence[str], subgoals: Sequence[int]) -> tuple[Ints, Hashes, Ints]:
        """The streams of some subgoals, the grounding of each stream, and its bits of predicate masks."""
        block = self.block
        ids, groundings, bits = [], [], []
        for subgoal in subgoals:
            mine = self.streams[subgoal]
            mine = mine[block.readable(subgoal, variables)[mine]]
            ids.append(mine)
            groundings.append(grounding_names([one[mine] for one in self._codes(variables, subgoal)], len(mine)))
            bits.append(np.full(len(mine), 3 << (2 * subgoal), np.int64))
        streams, place, back = np.unique(np.concatenate(ids), return_index=True, return_inverse=True)
        masks = np.zeros(len(streams), np.int64)
        np.bitwise_or.at(masks, back, np.concatenate(bits))
        return streams, np.concatenate(groundings)[place], masks

    def divided(self, variable: str, subgoals: Sequence[int]) -> dict[int, StreamScope]:
        """One scope per value of a variable that occurs in all of some subgoals."""
        parts: dict[int, list[Ints]] = {}
        for subgoal in subgoals:
            mine = self.streams[subgoal]
            mine = mine[self.block.readable(subgoal, [variable])[mine]]
            for code, some in _by_name(self._codes([variable], subgoal)[0][mine], mine):
                parts.setdefault(code, [np.empty(0, np.int64) for _ in self.streams])[subgoal] = some
        return {code: replace(self, streams=tuple(read)) for code, read in parts.items()}

    def nothing(self) -> StreamScope:
        """A scope with the same times and no streams."""
        return replace(self, streams=tuple(np.empty(0, np.int64) for _ in self.streams))

    def _codes(self, variables: Sequence[str], subgoal: int) -> list[Hashes]:
        codes = [self.block.codes(name, subgoal) for name in variables]
        return [one for one in codes if one is not None]


def scopes_of(block: SafeBlock, variables: Sequence[str]) -> dict[int, StreamScope]:
    """The scope of each grounding by variables that occur in all subgoals."""
    none = np.empty(0, np.int64)
    read: dict[int, list[Ints]] = {}
    for subgoal in range(len(block.query.subgoals)):
        streams = np.flatnonzero(block.readable(subgoal, variables) & (block.begin < block.end))
        codes = [one[streams] for one in (block.codes(name, subgoal) for name in variables) if one is not None]
        for name, mine in _by_name(grounding_names(codes, len(streams)), streams):
            read.setdefault(name, [none for _ in block.query.subgoals])[subgoal] = mine
    scopes = {}
    for name in sorted(read):
        groups = block.groups(np.unique(np.concatenate(read[name])))
        scopes[name] = StreamScope(block, tuple(read[name]), np.unique(block.events.time[groups]))
    return scopes


def _by_name(names: Hashes, streams: Ints) -> Iterator[tuple[int, Ints]]:
    order = np.argsort(names, kind="stable")
    found, first = np.unique(names[order], return_index=True)
    if len(found):
        yield from zip(found.tolist(), np.split(streams[order], first[1:]), strict=True)
