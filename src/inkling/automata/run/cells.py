"""Cells: numbers of combinations of stream and predicate bits, computed once per row for a group of patterns.

Each pattern maps cells to its own symbols.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.automata.guards import RESET, Alphabet, bits_read, members
from inkling.automata.limits import TooManySymbols
from inkling.kernels.automaton.cells import PackedCells, SearchedCells, pack, search

MAX_PACKED_BITS = 16
MAX_SHARED_CELLS = 1 << 14
MAX_SEARCHED_GUARDS = 64


@dataclass(frozen=True, slots=True)
class CellGroup:
    """Patterns (by index) that share a column of cells, and per pattern the symbol of every cell."""

    patterns: tuple[int, ...]
    cells: PackedCells | SearchedCells
    symbols: tuple[npt.NDArray[np.int32], ...]

    @property
    def n_streams(self) -> int:
        return len(self.cells.base if isinstance(self.cells, PackedCells) else self.cells.readers)

    def fill(self, stream: npt.NDArray[np.int16], octets: npt.NDArray[np.uint8], out: npt.NDArray[np.int32]) -> int:
        """Writes the cells of rows; returns the first row without a cell, or the number of rows."""
        if isinstance(self.cells, PackedCells):
            return int(pack(self.cells, stream, octets, out))
        return int(search(self.cells, stream, octets, out))


def cell_groups(alphabets: Sequence[Alphabet]) -> tuple[CellGroup, ...]:
    """Groups of patterns over the same streams; patterns share a group while its table stays small."""
    groups: list[CellGroup] = []
    shared: list[int] = []
    used: tuple[int, ...] = ()
    for index, alphabet in enumerate(alphabets):
        wanted = _bits_read(alphabet)
        if max(bits.bit_count() for bits in wanted) > MAX_PACKED_BITS:
            groups.append(_searched(index, alphabet))
            continue
        wider = tuple(a | b for a, b in zip(used, wanted, strict=True)) if shared else wanted
        if shared and sum(1 << bits.bit_count() for bits in wider) > MAX_SHARED_CELLS:
            groups.append(_packed(shared, [alphabets[i] for i in shared], used))
            shared, wider = [], wanted
        shared.append(index)
        used = wider
    if shared:
        groups.append(_packed(shared, [alphabets[i] for i in shared], used))
    return tuple(groups)


def _bits_read(alphabet: Alphabet) -> tuple[int, ...]:
    """Per stream the predicates that guards read, as an integer."""
    return tuple(bits_read(alphabet.guards, stream) for stream in range(alphabet.n_streams))


def _packed(indexes: Sequence[int], alphabets: Sequence[Alphabet], used: Sequence[int]) -> CellGroup:
    bytes_used = sorted({bit // 8 for bits in used for bit in members(bits)})
    base = 1 + np.cumsum([0, *(1 << bits.bit_count() for bits in used)])
    values = np.arange(256)
    packed = np.zeros((len(used), len(bytes_used), 256), dtype=np.int32)
    for stream, bits in enumerate(used):
        for place, bit in enumerate(members(bits)):
            packed[stream, bytes_used.index(bit // 8)] += ((values >> bit % 8 & 1) << place).astype(np.int32)
    possible = np.concatenate([[True], *(_possible(bits, alphabets[0]) for bits in used)])
    cells = PackedCells(
        np.array(bytes_used, dtype=np.int64), base[:-1].astype(np.int32), packed, possible.astype(np.uint8)
    )
    symbols = tuple(_symbols_of_cells(alphabet, used, possible) for alphabet in alphabets)
    return CellGroup(tuple(indexes), cells, symbols)


def _possible(bits: int, alphabet: Alphabet) -> npt.NDArray[np.bool_]:
    """A mask of the combinations of predicates that exclusions and dependencies allow."""
    combinations = np.arange(1 << bits.bit_count())
    kept = np.ones(len(combinations), dtype=np.bool_)
    for mask in alphabet.exclusive:
        kept &= np.bitwise_count(combinations & _squeezed(mask, bits)) <= 1
    for one in alphabet.joint:
        sets = np.array([_squeezed(held, bits) for held in one.among(bits)])
        kept &= np.isin(combinations & _squeezed(one.mask, bits), sets)
    return kept


def _squeezed(mask: int, bits: int) -> int:
    """The predicates of a mask, renumbered by their rank among some bits."""
    return sum(1 << place for place, bit in enumerate(members(bits)) if mask >> bit & 1)


def _symbols_of_cells(
    alphabet: Alphabet, used: Sequence[int], possible: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    symbols = {truth: symbol for symbol, truth in enumerate(alphabet.truths) if symbol != RESET}
    parts = [np.array([RESET], dtype=np.int32)]
    for stream, bits in enumerate(used):
        combinations = np.arange(1 << bits.bit_count())
        held = np.zeros((len(combinations), len(alphabet.guards)), dtype=np.bool_)
        for index, guard in enumerate(alphabet.guards):
            if guard.reads(stream):
                mask = _squeezed(guard.mask, bits)
                held[:, index] = combinations & mask == mask
        distinct, cells = np.unique(held, axis=0, return_inverse=True)
        truths = [sum(1 << index for index in np.flatnonzero(row).tolist()) for row in distinct]
        # a truth without a symbol belongs to impossible cells
        known = np.array([symbols.get(truth, RESET) for truth in truths], dtype=np.int32)
        parts.append(known[cells.reshape(-1)])
    return np.where(possible, np.concatenate(parts), RESET).astype(np.int32)


def _searched(index: int, alphabet: Alphabet) -> CellGroup:
    guards = alphabet.guards
    if len(guards) > MAX_SEARCHED_GUARDS:
        raise TooManySymbols(1 << len(guards), 1 << MAX_SEARCHED_GUARDS)
    bytes_used = sorted({bit // 8 for guard in guards for bit in guard.bits})
    unhurt = np.zeros((len(bytes_used), 256), dtype=np.uint64)
    for row, byte in enumerate(bytes_used):
        for value in range(256):
            unhurt[row, value] = _guard_set(not guard.mask >> 8 * byte & 255 & ~value for guard in guards)
    readers = [_guard_set(guard.reads(stream) for guard in guards) for stream in range(alphabet.n_streams)]
    truths = np.array(alphabet.truths[1:], dtype=np.uint64)
    order = np.argsort(truths)
    cells = SearchedCells(
        np.array(bytes_used, dtype=np.int64), np.array(readers, dtype=np.uint64), unhurt, truths[order]
    )
    symbols = np.concatenate([[RESET], order + 1]).astype(np.int32)
    return CellGroup((index,), cells, (symbols,))


def _guard_set(held: Iterable[bool]) -> int:
    return sum(1 << index for index, holds in enumerate(held) if holds)
