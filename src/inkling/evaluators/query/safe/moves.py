"""What units do at each time, as moves between the rows of a layout that has room for all of their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.probable_events import NOTHING, Numbers
from inkling.evaluators.query.safe.layout import JointLayout, moved_rows
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.kernels.query.forward import Groups, Rows
from inkling.kernels.query.moves import Cells, ChainedStreams, KindsBySymbol, StateMoves
from inkling.model.batch import Ints
from inkling.model.uncertainty import TOLERANCE


@dataclass(frozen=True, slots=True)
class KindAlphabet:
    """Transitions of states by symbol, and what follows for the operator above: a `kind` below `n_kinds`."""

    predicates: Ints  # the predicate mask of each symbol, in ascending order
    union: Ints  # [symbol, symbol]
    delta: Ints  # [state, symbol]
    kind: Ints  # [state, symbol]
    n_kinds: int


@dataclass(frozen=True, slots=True)
class JointMoves:
    """Step i has cells step_cells[i]:step_cells[i + 1], cell c the moves offsets[c]:offsets[c + 1] of one unit.

    Sources and targets are rows of the unit.
    """

    step_cells: Ints
    cell_unit: Ints
    offsets: Ints
    source: Ints
    target: Ints
    weight: Numbers
    kind: Ints

    def steps_where(self, chosen: NDArray[np.bool_]) -> Ints:
        """Steps with some moves of a kind."""
        cells = np.repeat(np.arange(len(self.cell_unit)), np.diff(self.offsets))[chosen]
        steps = np.repeat(np.arange(len(self.step_cells) - 1), np.diff(self.step_cells))
        return np.unique(steps[cells])


def moves_of(
    scope: StreamScope,
    streams: Ints,
    units: Hashes,
    masks: Ints,
    layout: JointLayout,
    symbols: Callable[[Ints], KindAlphabet],
) -> tuple[JointLayout, JointMoves]:
    """The moves of all units that streams belong to; only bits in their masks count."""
    block, events = scope.block, scope.block.events
    sizes = block.end[streams] - block.begin[streams]
    groups, member = block.groups(streams), np.repeat(np.arange(len(streams)), sizes)
    layout = layout.grown(np.unique(units), *_chained(scope, streams, units))
    layout.require_few()
    by_name = np.argsort(layout.units)
    unit = by_name[np.searchsorted(layout.units[by_name], units)] if len(units) else np.empty(0, np.int64)
    steps = scope.steps_of(groups)
    order = np.lexsort((groups, unit[member], steps))
    groups, member, steps = groups[order], member[order], steps[order]
    rows = block.rows(groups)
    counts = events.offsets[groups + 1] - events.offsets[groups]
    predicates = block.predicates[rows] & np.repeat(masks[member], counts)
    alphabet = symbols(predicates)
    new_cell = np.ones(len(groups), bool)
    new_cell[1:] = (steps[1:] != steps[:-1]) | (unit[member][1:] != unit[member][:-1])
    begins = np.flatnonzero(new_cell)
    ends = np.cumsum(counts)
    chain_of, value, given = _hidden(scope, layout, streams, unit, groups, member, rows, counts)
    offsets = np.zeros(len(begins) + 1, np.int64)

    def found(fill: bool, source: Ints, target: Ints, weight: Numbers, kind: Ints) -> int:
        return int(
            block.kernels.moves_of_cells(
                fill,
                Cells(np.append(begins, len(groups)), unit[member][begins], offsets),
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
    return layout, JointMoves(step_cells, unit[member][begins], offsets, source, target, weight, kind)


def _chained(scope: StreamScope, streams: Ints, units: Hashes) -> tuple[Hashes, Hashes, list[Hashes]]:
    """Units, names and values of streams whose value depends on the one before."""
    events, block = scope.block.events, scope.block
    chained = np.flatnonzero(events.markov[streams]) if len(streams) else np.empty(0, np.int64)
    values = []
    for one in streams[chained]:
        rows = slice(events.offsets[block.begin[one]], events.offsets[block.end[one]])
        values.append(events.value[rows][np.asarray(events.chance[rows] != 0, bool)])
    return units[chained], events.name[streams[chained]], values


def _hidden(
    scope: StreamScope,
    layout: JointLayout,
    streams: Ints,
    unit: Ints,
    groups: Ints,
    member: Ints,
    rows: Ints,
    counts: Ints,
) -> tuple[Ints, Ints, Ints]:
    """Per group its chained stream, or -1; per row which of its values it has and had before, -1 where it cannot."""
    events = scope.block.events
    chain_of = np.full(len(groups), -1, np.int64)
    value, given = np.zeros(len(rows), np.int64), np.full(len(rows), -1, np.int64)
    chained = np.flatnonzero(events.markov[streams]) if len(streams) else np.empty(0, np.int64)
    if not len(chained):
        return chain_of, value, given
    of_stream = np.full(len(streams), -1, np.int64)
    for one in chained:
        chains = range(layout.first[unit[one]], layout.first[unit[one] + 1])
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
    """Chances of all rows, where units that are new have seen nothing."""
    base = layout.base
    grown = moved_rows(full, old.rows_in(layout), int(base[-1]))
    grown[base[len(old.units) : -1]] = 1
    return grown


assert NOTHING == 0
"""It comes first in the order of values."""
