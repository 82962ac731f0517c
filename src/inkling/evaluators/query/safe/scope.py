"""The streams that the stages of a query look at for some values of its variables, on one axis of times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from inkling.analysis.query.query import Query
from inkling.evaluators.hashes import Hashes, combined
from inkling.evaluators.query.probable_events import NULL_KEY, Mask, Numbers, ProbableEvents, constant_keys, ranges
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class SafeBlock:
    """Complete times: what may happen, and what each row can do for the query."""

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
        """The same times, one after the other, in parts of about so many rows."""
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

    def codes(self, variable: str, stage: int) -> Hashes | None:
        """The value that a variable has in each stream of a stage; None where the stage does not have it."""
        columns = self._columns(variable, stage)
        return self.events.keys[self.query.stages[stage].source, columns[0]] if columns else None

    def readable(self, stage: int, variables: Iterable[str]) -> Mask:
        """Which streams a stage can read at all."""
        source = self.query.stages[stage].source
        readable = self.events.source == self.events.sources.index(source)
        for name in variables:
            columns = self._columns(name, stage)
            for column in columns[1:]:
                readable &= self.events.keys[source, column] == self.events.keys[source, columns[0]]
            if columns and len(self.query.variable(name).places) > 1:
                readable &= self.events.keys[source, columns[0]] != NULL_KEY
        for column, code in constant_keys(self.query, stage):
            readable &= self.events.keys[source, column] == code
        return readable

    def _columns(self, variable: str, stage: int) -> list[str]:
        source = self.query.source(stage)
        return sorted(one for one in self.query.variable(variable).columns_in(stage) if source.is_key(one))


@dataclass(frozen=True, slots=True)
class StreamScope:
    """What stages read for some values of the variables around them."""

    block: SafeBlock
    streams: tuple[Ints, ...]  # per stage
    times: Ints

    def steps_of(self, groups: Ints) -> Ints:
        return np.searchsorted(self.times, self.block.events.time[groups])

    def by_values(self, variables: Sequence[str], stages: Sequence[int]) -> tuple[Ints, Hashes, Ints]:
        """Streams of some stages, the unit that each belongs to, and the bits of predicate masks that count there."""
        block = self.block
        ids, units, bits = [], [], []
        for stage in stages:
            mine = self.streams[stage]
            mine = mine[block.readable(stage, variables)[mine]]
            ids.append(mine)
            units.append(unit_names([one[mine] for one in self._codes(variables, stage)], len(mine)))
            bits.append(np.full(len(mine), 3 << (2 * stage), np.int64))
        streams, place, back = np.unique(np.concatenate(ids), return_index=True, return_inverse=True)
        masks = np.zeros(len(streams), np.int64)
        np.bitwise_or.at(masks, back, np.concatenate(bits))
        return streams, np.concatenate(units)[place], masks

    def divided(self, variable: str, stages: Sequence[int]) -> dict[int, StreamScope]:
        """One scope per value of a variable that all of some stages have."""
        parts: dict[int, list[Ints]] = {}
        for stage in stages:
            mine = self.streams[stage]
            mine = mine[self.block.readable(stage, [variable])[mine]]
            for code, some in _by_name(self._codes([variable], stage)[0][mine], mine):
                parts.setdefault(code, [np.empty(0, np.int64) for _ in self.streams])[stage] = some
        return {code: replace(self, streams=tuple(read)) for code, read in parts.items()}

    def nothing(self) -> StreamScope:
        """The same times, at which nothing happens."""
        return replace(self, streams=tuple(np.empty(0, np.int64) for _ in self.streams))

    def _codes(self, variables: Sequence[str], stage: int) -> list[Hashes]:
        codes = [self.block.codes(name, stage) for name in variables]
        return [one for one in codes if one is not None]


def unit_names(codes: Sequence[Hashes], n: int) -> Hashes:
    """One name per combination of values, the same as that of `units_of`."""
    return combined(np.zeros(n, np.uint64), *codes) if codes else np.zeros(n, np.uint64)


def scopes_of(block: SafeBlock, variables: Sequence[str]) -> dict[int, StreamScope]:
    """What each unit reads of variables that all stages have, by its name."""
    none = np.empty(0, np.int64)
    read: dict[int, list[Ints]] = {}
    for stage in range(len(block.query.stages)):
        streams = np.flatnonzero(block.readable(stage, variables) & (block.begin < block.end))
        codes = [one[streams] for one in (block.codes(name, stage) for name in variables) if one is not None]
        for name, mine in _by_name(unit_names(codes, len(streams)), streams):
            read.setdefault(name, [none for _ in block.query.stages])[stage] = mine
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
