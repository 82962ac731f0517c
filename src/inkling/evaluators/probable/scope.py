"""The streams that the stages of a query look at for some values of its variables, on one axis of times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from inkling.analysis.probable.query import Query
from inkling.evaluators.hashes import Hashes, combined
from inkling.evaluators.probable.ground import NULL_KEY, Ground, Mask, Numbers
from inkling.model.batch import Ints

Binding = tuple[int | None, ...]
"""Codes of the values of some variables, None for any."""


@dataclass(frozen=True, slots=True)
class Block:
    """Complete times: what may happen, and what each row can do for the query."""

    query: Query
    ground: Ground
    words: Ints
    rest: Numbers
    first: Ints  # groups of stream s are first[s]:first[s + 1]
    kernels: SimpleNamespace

    @classmethod
    def of(cls, query: Query, ground: Ground, words: Ints, kernels: SimpleNamespace) -> Block:
        first = np.searchsorted(ground.stream, np.arange(ground.n_streams + 1))
        return cls(query, ground, words, ground.rest, first, kernels)

    def groups(self, streams: Ints) -> Ints:
        return ranges(self.first[streams], self.first[streams + 1] - self.first[streams])

    def rows(self, groups: Ints) -> Ints:
        begin = self.ground.offsets[groups]
        return ranges(begin, self.ground.offsets[groups + 1] - begin)

    def codes(self, variable: str, stage: int) -> Hashes | None:
        """The value that a variable has in each stream of a stage; None where the stage does not have it."""
        columns = self._columns(variable, stage)
        return self.ground.keys[self.query.stages[stage].source, columns[0]] if columns else None

    def readable(self, stage: int, variables: Iterable[str]) -> Mask:
        """Which streams a stage can read at all."""
        source = self.query.stages[stage].source
        readable = self.ground.source == self.ground.sources.index(source)
        for name in variables:
            columns = self._columns(name, stage)
            for column in columns[1:]:
                readable &= self.ground.keys[source, column] == self.ground.keys[source, columns[0]]
            if columns and len(self.query.variable(name).places) > 1:
                readable &= self.ground.keys[source, columns[0]] != NULL_KEY
        return readable

    def _columns(self, variable: str, stage: int) -> list[str]:
        source = self.query.source(stage)
        return sorted(one for one in self.query.variable(variable).columns_in(stage) if source.is_key(one))


@dataclass(frozen=True, slots=True)
class Scope:
    """What stages read for some values of the variables around them."""

    block: Block
    streams: tuple[Ints, ...]  # per stage
    times: Ints

    def steps_of(self, groups: Ints) -> Ints:
        return np.searchsorted(self.times, self.block.ground.time[groups])

    def by_values(self, variables: Sequence[str], stages: Sequence[int]) -> tuple[Ints, Hashes, Ints]:
        """Streams of some stages, the unit of variables that each belongs to, and the bits of words that count there."""
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

    def divided(self, variable: str, stages: Sequence[int]) -> dict[int, Scope]:
        """One scope per value of a variable that all of some stages have."""
        parts: dict[int, list[Ints]] = {}
        for stage in stages:
            mine = self.streams[stage]
            mine = mine[self.block.readable(stage, [variable])[mine]]
            codes = self._codes([variable], stage)[0][mine]
            for code in np.unique(codes):
                found = parts.setdefault(int(code), [np.empty(0, np.int64) for _ in self.streams])
                found[stage] = mine[codes == code]
        return {code: replace(self, streams=tuple(some)) for code, some in parts.items()}

    def nothing(self) -> Scope:
        """The same times, at which nothing happens."""
        return replace(self, streams=tuple(np.empty(0, np.int64) for _ in self.streams))

    def _codes(self, variables: Sequence[str], stage: int) -> list[Hashes]:
        codes = [self.block.codes(name, stage) for name in variables]
        return [one for one in codes if one is not None]


def unit_names(codes: Sequence[Hashes], n: int) -> Hashes:
    """One name per combination of values, the same as that of `units_of`."""
    return combined(np.zeros(n, np.uint64), *codes) if codes else np.zeros(n, np.uint64)


def scopes_of(block: Block, variables: Sequence[str], known: Iterable[Binding]) -> dict[Binding, Scope]:
    """What all bindings of variables read that come to be in a block, by the bindings that were known before.

    A binding is made of those of single stages that agree. Those that leave a variable open tell what has happened
    before it gets a value. Bindings of which nothing happens are left out.
    """
    by_stage = [_by_binding(block, variables, stage) for stage in range(len(block.query.stages))]
    bindings: set[Binding] = {tuple(None for _ in variables), *known}
    for part in sorted({one for some in by_stage for one in some}, key=repr):
        bindings |= {_joined(one, part) for one in bindings if _agree(one, part)}
    scopes = {}
    for binding in bindings:
        streams = tuple(_read(some, binding) for some in by_stage)
        if any(len(one) for one in streams):
            groups = block.groups(np.unique(np.concatenate(streams)))
            scopes[binding] = Scope(block, streams, np.unique(block.ground.time[groups]))
    return scopes


def closest(binding: Binding, known: Iterable[Binding]) -> Binding | None:
    """Of bindings that leave more open, the one that leaves least open."""
    found = [one for one in known if _agree(one, binding) and _joined(one, binding) == binding]
    return max(found, key=lambda one: sum(value is not None for value in one), default=None)


def _by_binding(block: Block, variables: Sequence[str], stage: int) -> Mapping[Binding, Ints]:
    """Streams that a stage reads, by what it knows of the variables."""
    streams = np.flatnonzero(block.readable(stage, variables))
    codes = [block.codes(name, stage) for name in variables]
    present = [one[streams] for one in codes if one is not None]
    if not present:
        return {tuple(None for _ in variables): streams}
    rows, back = np.unique(np.column_stack(present), axis=0, return_inverse=True)
    order = np.argsort(back.ravel(), kind="stable")
    bounds = np.searchsorted(back.ravel()[order], np.arange(len(rows) + 1))
    found: dict[Binding, Ints] = {}
    for number, row in enumerate(rows):
        values = iter(row.tolist())
        binding = tuple(None if one is None else next(values) for one in codes)
        found[binding] = np.sort(streams[order[bounds[number] : bounds[number + 1]]])
    return found


def _read(by_binding: Mapping[Binding, Ints], binding: Binding) -> Ints:
    some = next(iter(by_binding), None)
    if some is None:
        return np.empty(0, np.int64)
    restricted = tuple(None if known is None else value for known, value in zip(some, binding, strict=True))
    return by_binding.get(restricted, np.empty(0, np.int64))


def _agree(one: Binding, other: Binding) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _joined(one: Binding, other: Binding) -> Binding:
    return tuple(b if a is None else a for a, b in zip(one, other, strict=True))


def ranges(first: Ints, counts: Ints) -> Ints:
    """first[i], first[i] + 1, … of each, counts[i] many."""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts - first, counts)
