"""Joint states of groundings: automaton state and values of Markovian streams, and how they move at each time.

A grounding that reads k Markovian streams has one row per automaton state and combination of their values. A layout
numbers these rows; it grows when new groundings or values occur. At one time all streams of a grounding move together:

    rows of one grounding: (value of stream 1, value of stream 2, state), the state changing fastest
    a move:                from row `source` to row `target` with probability `weight`, and its `kind`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.query.probable_events import NO_EVENT, Numbers
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.kernels.query.forward import Groups, Rows
from inkling.kernels.query.moves import Cells, ChainedStreams, KindsBySymbol, StateMoves
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.runs import ranges
from inkling.model.uncertainty import TOLERANCE

MOST_ROWS = 1024
"""The most rows of one grounding."""


class TooManyValues(Exception):  # noqa: N818
    """The Markovian streams of one grounding have too many combinations of values."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows)
        self.n_rows = n_rows

    def __str__(self) -> str:
        return f"streams that must be evaluated together have {self.n_rows} joint states, the limit is {MOST_ROWS}"


@dataclass(frozen=True, slots=True)
class JointLayout:
    """Rows of grounding g are base[g]:base[g + 1]: values of its Markovian streams, the last fastest, then states."""

    groundings: Hashes
    first: Ints  # Markovian streams of grounding g are first[g]:first[g + 1]
    streams: Hashes
    values: tuple[Hashes, ...]  # of each Markovian stream, ascending; NO_EVENT comes first
    n_states: int

    @classmethod
    def empty(cls, n_states: int) -> JointLayout:
        none = np.empty(0, np.uint64)
        return cls(none, np.zeros(1, np.int64), none, (), n_states)

    @property
    def sizes(self) -> Ints:
        return np.array([len(one) for one in self.values], np.int64)

    @property
    def base(self) -> Ints:
        together = np.full(len(self.groundings), self.n_states, np.int64)
        if len(self.values):
            owner = np.repeat(np.arange(len(self.groundings)), np.diff(self.first))
            np.multiply.at(together, owner, self.sizes)
        return np.append(0, np.cumsum(together))

    def require_few(self) -> None:
        """Raises `TooManyValues`."""
        largest = int(np.diff(self.base).max(initial=0))
        if largest > MOST_ROWS:
            raise TooManyValues(largest)

    def possible(self, full: Numbers) -> JointLayout:
        """The layout with only those values that have positive probability in `full`."""
        values = []
        base = self.base
        for u in np.flatnonzero(np.diff(self.first)):
            chains = range(self.first[u], self.first[u + 1])
            shape = (*(len(self.values[m]) for m in chains), self.n_states)
            mass = np.asarray(full[base[u] : base[u + 1]] != 0, bool).reshape(shape)
            for axis, m in enumerate(chains):
                others = tuple(one for one in range(len(shape)) if one != axis)
                can_be = np.atleast_1d(mass.any(axis=others))
                can_be[0] = True
                values.append(self.values[m][can_be])
        return JointLayout(self.groundings, self.first, self.streams, tuple(values), self.n_states)

    def grown(self, groundings: Hashes, owners: Hashes, streams: Hashes, values: Sequence[Hashes]) -> JointLayout:
        """The layout with further groundings, and further values of Markovian streams."""
        fresh = np.setdiff1d(groundings, self.groundings)
        names = np.concatenate([self.groundings, fresh])
        if not len(self.streams) and not len(streams):
            return JointLayout(names, np.zeros(len(names) + 1, np.int64), self.streams, (), self.n_states)
        place = {int(name): number for number, name in enumerate(names)}
        known: list[dict[int, Hashes]] = [{} for _ in names]
        for u in range(len(self.groundings)):
            for m in range(self.first[u], self.first[u + 1]):
                known[u][int(self.streams[m])] = self.values[m]
        nothing = np.array([NO_EVENT], np.uint64)
        for owner, stream, more in zip(owners, streams, values, strict=True):
            mine = known[place[int(owner)]]
            mine[int(stream)] = np.unique(np.concatenate([nothing, mine.get(int(stream), nothing), more]))
        listed = [one for mine in known for one in mine.items()]
        return JointLayout(
            names,
            np.append(0, np.cumsum([len(mine) for mine in known])).astype(np.int64),
            np.array([stream for stream, _ in listed], np.uint64),
            tuple(some for _, some in listed),
            self.n_states,
        )

    def rows_in(self, larger: JointLayout) -> Ints:
        """For each row its number in a layout grown from this one; -1 where the value of a stream was dropped."""
        mine, other = self.base, larger.base
        moved = np.empty(mine[-1], np.int64)
        plain = np.diff(larger.first)[: len(self.groundings)] == 0
        counts = np.where(plain, self.n_states, 0)
        moved[ranges(mine[:-1], counts)] = ranges(other[: len(self.groundings)], counts)
        for u in np.flatnonzero(~plain):
            index = np.zeros(1, np.int64)
            chains = {int(self.streams[m]): self.values[m] for m in range(self.first[u], self.first[u + 1])}
            for m in range(larger.first[u], larger.first[u + 1]):
                wanted, now = chains.get(int(larger.streams[m]), larger.values[m][:1]), larger.values[m]
                found = np.minimum(np.searchsorted(now, wanted), len(now) - 1)
                steps = np.where(now[found] == wanted, found, np.iinfo(np.int32).min)
                index = (index[:, None] * len(now) + steps).ravel()
            states = (index[:, None] * self.n_states + np.arange(self.n_states)).ravel()
            moved[mine[u] : mine[u + 1]] = np.where(states < 0, -1, states + other[u])
        return moved

    def packed(self) -> dict[str, np.ndarray]:
        flat = np.concatenate([*self.values, np.empty(0, np.uint64)])
        return {
            "groundings": self.groundings,
            "first": self.first,
            "streams": self.streams,
            "sizes": self.sizes,
            "values": flat,
        }

    @classmethod
    def unpacked(cls, state: Mapping[str, np.ndarray], n_states: int) -> JointLayout:
        values = tuple(np.split(state["values"], np.cumsum(state["sizes"])[:-1])) if len(state["sizes"]) else ()
        return cls(state["groundings"], state["first"], state["streams"], values, n_states)


def moved_rows(old: np.ndarray, rows: Ints, n_rows: int, axis: int = 0) -> np.ndarray:
    """An array by row, moved to the new numbers of its rows; zero in new rows."""
    shape = list(old.shape)
    shape[axis] = n_rows
    new = np.zeros(shape, old.dtype)
    kept = rows >= 0
    np.moveaxis(new, axis, 0)[rows[kept]] = np.moveaxis(old, axis, 0)[kept]
    return new


@dataclass(frozen=True, slots=True)
class KindAlphabet:
    """Transitions of states by symbol, each with a kind below `n_kinds`: its effect on the operator."""

    predicates: Ints  # the predicate mask of each symbol, in ascending order
    union: Ints  # [symbol, symbol]
    delta: Ints  # [state, symbol]
    kind: Ints  # [state, symbol]
    n_kinds: int


class JointMoves(NamedTuple):
    """Moves of all groundings, as kernels take them; sources and targets are numbers of rows within the grounding."""

    step_cells: np.ndarray  # step i has the cells step_cells[i]:step_cells[i + 1]
    cell_grounding: np.ndarray  # [cell]
    offsets: np.ndarray  # cell c has the moves offsets[c]:offsets[c + 1]
    source: np.ndarray  # d', with the state before
    target: np.ndarray  # d, with the state after
    weight: np.ndarray  # E(t)[d', d]
    kind: np.ndarray

    def steps_where(self, chosen: NDArray[np.bool_]) -> Ints:
        """The steps with at least one of the chosen moves."""
        cells = np.repeat(np.arange(len(self.cell_grounding)), np.diff(self.offsets))[chosen]
        steps = np.repeat(np.arange(len(self.step_cells) - 1), np.diff(self.step_cells))
        return np.unique(steps[cells])


def moves_of(
    scope: StreamScope,
    streams: Ints,
    groundings: Hashes,
    masks: Ints,
    layout: JointLayout,
    symbols: Callable[[Ints], KindAlphabet],
) -> tuple[JointLayout, JointMoves]:
    """The moves of the groundings of some streams, and the layout grown for them; `masks` selects predicate bits."""
    block, events = scope.block, scope.block.events
    sizes = block.end[streams] - block.begin[streams]
    groups, member = block.groups(streams), np.repeat(np.arange(len(streams)), sizes)
    layout = layout.grown(np.unique(groundings), *_chained(scope, streams, groundings))
    layout.require_few()
    by_name = np.argsort(layout.groundings)
    grounding = (
        by_name[np.searchsorted(layout.groundings[by_name], groundings)] if len(groundings) else np.empty(0, np.int64)
    )
    steps = scope.steps_of(groups)
    order = np.lexsort((groups, grounding[member], steps))
    groups, member, steps = groups[order], member[order], steps[order]
    rows = block.rows(groups)
    counts = events.offsets[groups + 1] - events.offsets[groups]
    predicates = block.predicates[rows] & np.repeat(masks[member], counts)
    alphabet = symbols(predicates)
    new_cell = np.ones(len(groups), bool)
    new_cell[1:] = (steps[1:] != steps[:-1]) | (grounding[member][1:] != grounding[member][:-1])
    begins = np.flatnonzero(new_cell)
    ends = np.cumsum(counts)
    chain_of, value, given = _hidden(scope, layout, streams, grounding, groups, member, rows, counts)
    offsets = np.zeros(len(begins) + 1, np.int64)

    def found(fill: bool, source: Ints, target: Ints, weight: Numbers, kind: Ints) -> int:
        return int(
            block.kernels.moves_of_cells(
                fill,
                Cells(np.append(begins, len(groups)), grounding[member][begins], offsets),
                Groups(ends - counts, ends, block.rest[groups], events.anew[groups], chain_of >= 0),
                Rows(np.searchsorted(alphabet.predicates, predicates), events.chance[rows], value, given, rows),
                ChainedStreams(chain_of, layout.first, layout.sizes),
                KindsBySymbol(alphabet.union, alphabet.delta, alphabet.kind, alphabet.n_kinds),
                0 if events.is_exact else float(TOLERANCE) / 2,
                StateMoves(source, target, weight, kind),
            )
        )

    none = np.empty(0, np.int64)
    n_moves = found(False, none, none, np.empty(0, events.chance.dtype), none)
    source, target, kind = (np.empty(n_moves, np.int64) for _ in range(3))
    weight = np.zeros(n_moves, events.chance.dtype)
    found(True, source, target, weight, kind)
    step_cells = np.searchsorted(steps[begins], np.arange(len(scope.times) + 1))
    return layout, JointMoves(step_cells, grounding[member][begins], offsets, source, target, weight, kind)


def _chained(scope: StreamScope, streams: Ints, groundings: Hashes) -> tuple[Hashes, Hashes, list[Hashes]]:
    """Groundings, names and possible values of the Markovian streams."""
    events, block = scope.block.events, scope.block
    chained = np.flatnonzero(events.markov[streams]) if len(streams) else np.empty(0, np.int64)
    values = []
    for one in streams[chained]:
        rows = slice(events.offsets[block.begin[one]], events.offsets[block.end[one]])
        values.append(events.value[rows][np.asarray(events.chance[rows] != 0, bool)])
    return groundings[chained], events.name[streams[chained]], values


def _hidden(
    scope: StreamScope,
    layout: JointLayout,
    streams: Ints,
    grounding: Ints,
    groups: Ints,
    member: Ints,
    rows: Ints,
    counts: Ints,
) -> tuple[Ints, Ints, Ints]:
    """Per group its Markovian stream, or -1; per row the numbers of its value and of the value before, or -1."""
    events = scope.block.events
    chain_of = np.full(len(groups), -1, np.int64)
    value, given = np.zeros(len(rows), np.int64), np.full(len(rows), -1, np.int64)
    chained = np.flatnonzero(events.markov[streams]) if len(streams) else np.empty(0, np.int64)
    if not len(chained):
        return chain_of, value, given
    of_stream = np.full(len(streams), -1, np.int64)
    for one in chained:
        chains = range(layout.first[grounding[one]], layout.first[grounding[one] + 1])
        of_stream[one] = next(m for m in chains if layout.streams[m] == events.name[streams[one]])
    chain_of = of_stream[member]
    of_row = np.repeat(chain_of, counts)
    by_chain = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[by_chain], np.arange(len(layout.values) + 1))
    for m, known in enumerate(layout.values):
        mine = by_chain[bounds[m] : bounds[m + 1]]
        value[mine] = _places(known, events.value[rows[mine]])
        given[mine] = _places(known, events.given[rows[mine]])
    return chain_of, value, given


def _places(known: Hashes, wanted: Hashes) -> Ints:
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[found] == wanted, found, -1)


def started(layout: JointLayout, old: JointLayout, full: Numbers) -> Numbers:
    """Probabilities of all rows of a grown layout; new groundings are in the initial state."""
    base = layout.base
    grown = moved_rows(full, old.rows_in(layout), int(base[-1]))
    grown[base[len(old.groundings) : -1]] = 1
    return grown


assert NO_EVENT == 0, "NO_EVENT must come first in ascending values"
