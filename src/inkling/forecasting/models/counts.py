"""Counts of words of symbols, the only statistics that models are learned from; counts of parts of a stream add up.

This is the counter suffix tree of Ntoulias et al., section 3.2, as a table. `Histories` is the state of each key
between batches: the state of the automaton, and the last symbols as one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.kernels.forecast import words as kernel

MOST_BITS = 62


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """One entry per key; ``code`` has its last symbols in base ``n_symbols``, the newest least significant."""

    state: npt.NDArray[np.int32]
    code: npt.NDArray[np.int64]  # of the last `memory` symbols, or of all there are
    events: npt.NDArray[np.int64]  # since the key began or was reset

    @classmethod
    def new(cls, n_keys: int) -> Histories:
        return cls(np.zeros(n_keys, np.int32), np.zeros(n_keys, np.int64), np.zeros(n_keys, np.int64))

    def copy(self) -> Histories:
        return Histories(self.state.copy(), self.code.copy(), self.events.copy())


def n_words(n_symbols: int, longest: int) -> int:
    """The number of words of at most ``longest`` symbols, including the empty word."""
    return sum(n_symbols**length for length in range(longest + 1))


def check_codes(n_symbols: int, longest: int, times: int = 1) -> None:
    """Reject words whose codes do not fit into the integers of the kernels."""
    numbers = times * n_words(n_symbols, longest)
    if numbers.bit_length() > MOST_BITS:
        raise ValueError(
            f"words of {longest} symbols out of {n_symbols}, each in {times} ways, need {numbers.bit_length()} bits; "
            f"there are {MOST_BITS}"
        )


def code_of(word: Sequence[int], n_symbols: int) -> int:
    """The code of a word: a number in base ``n_symbols``, the oldest symbol most significant."""
    code = 0
    for symbol in word:
        code = code * n_symbols + symbol
    return code


def word_of(code: int, length: int, n_symbols: int) -> tuple[int, ...]:
    """The word with a code.

    >>> word_of(code_of((2, 0, 1), 3), 3, 3)
    (2, 0, 1)
    """
    word = []
    for _ in range(length):
        code, symbol = divmod(code, n_symbols)
        word.append(symbol)
    return tuple(reversed(word))


SCHEMA = pa.schema(
    [
        ("group", pa.string()),
        ("state", pa.int32()),
        ("length", pa.int16()),
        ("code", pa.int64()),
        ("count", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """One row per group, state and word, in this order; every position of a stream is counted once.

    A position is counted under the longest word of at most ``order`` + 1 symbols that ends there, so shorter words
    occur only at the beginning of a key and after a reset.
    """

    n_symbols: int
    order: int
    group: tuple[str, ...]
    group_of: npt.NDArray[np.int32]
    state: npt.NDArray[np.int32]  # of the automaton, before the last symbol of the word
    length: npt.NDArray[np.int16]
    code: npt.NDArray[np.int64]  # in base n_symbols, the oldest symbol most significant
    count: npt.NDArray[np.float64]  # whole numbers unless something was forgotten

    @classmethod
    def empty(cls, n_symbols: int, order: int, group: Sequence[str] = ("",)) -> WordCounts:
        check_codes(n_symbols, order + 1)
        none = np.empty(0, np.int64)
        return _tidy(n_symbols, order, tuple(group), none, none, none, none, none.astype(np.float64))

    @classmethod
    def of(
        cls,
        symbols: npt.NDArray[np.int32],
        segments: npt.NDArray[np.int64],
        delta: npt.NDArray[np.int32],
        order: int,
        histories: Histories,
        *,
        group: Sequence[str] = ("",),
        group_of_key: npt.NDArray[np.int32] | None = None,
    ) -> WordCounts:
        """Counts of rows sorted by key; ``histories`` continue from one call to the next and are changed in place."""
        n_states, n_symbols = delta.shape
        check_codes(n_symbols, order + 1, n_states * max(len(group), 1))
        if group_of_key is None:
            group_of_key = np.zeros(len(segments) - 1, np.int32)
        number, count = kernel.count_words(
            np.ascontiguousarray(symbols, np.int32),
            np.ascontiguousarray(segments, np.int64),
            group_of_key,
            np.ascontiguousarray(delta, np.int32),
            order,
            histories.state,
            histories.code,
            histories.events,
        )
        where, word = np.divmod(number, n_words(n_symbols, order + 1))
        bases = _bases(n_symbols, order + 1)
        length = np.asarray(np.searchsorted(bases, word, side="right") - 1)
        code = word - bases[length]
        return _tidy(n_symbols, order, tuple(group), where // n_states, where % n_states, length, code, count)

    @property
    def n_events(self) -> float:
        return float(self.count.sum())

    @staticmethod
    def merged(*parts: WordCounts) -> WordCounts:
        """The sum of all parts; its order is the smallest order of the parts."""
        if not parts:
            raise ValueError("there is nothing to add up")
        sizes = {part.n_symbols for part in parts}
        if len(sizes) > 1:
            raise ValueError(f"counts of different alphabets cannot be added: {sorted(sizes)} symbols")
        order = min(part.order for part in parts)
        parts = tuple(part.shallower(order) for part in parts)
        return _tidy(
            parts[0].n_symbols,
            order,
            *in_one_numbering([(part.group, part.group_of) for part in parts]),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("state", "length", "code", "count")),
        )

    def scaled(self, factor: float) -> WordCounts:
        """The same counts with less weight: exponential forgetting."""
        if not factor >= 0:
            raise ValueError(f"counts cannot be multiplied by {factor}")
        return replace(self, count=self.count * factor)

    def of_group(self, name: str) -> WordCounts:
        """The counts of one group; none if the group was never seen."""
        if name not in self.group:
            return WordCounts.empty(self.n_symbols, self.order, (name,))
        number = self.group.index(name)
        rows = slice(*np.searchsorted(self.group_of, [number, number + 1]))
        return _tidy(
            self.n_symbols,
            self.order,
            (name,),
            np.zeros(rows.stop - rows.start, np.int64),
            *(getattr(self, column)[rows] for column in ("state", "length", "code", "count")),
        )

    def total(self) -> WordCounts:
        """The counts of all groups together."""
        nowhere = np.zeros(len(self.code), np.int64)
        return _tidy(self.n_symbols, self.order, ("",), nowhere, self.state, self.length, self.code, self.count)

    def shallower(self, order: int) -> WordCounts:
        """The counts that a smaller order would have given."""
        if order > self.order:
            raise ValueError(f"words of order {order} were not counted; the order is {self.order}")
        if order == self.order:
            return self
        length = np.minimum(self.length, order + 1)
        code = self.code % (np.int64(self.n_symbols) ** length.astype(np.int64))
        return _tidy(self.n_symbols, order, self.group, self.group_of, self.state, length, code, self.count)

    def levels(self, *, fixed: bool = False) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """The levels of the counter suffix tree, for lengths 0 to ``order`` + 1: sorted codes of words, and counts.

        With ``fixed``, only positions count at which a word of full length ends, so that the beginnings of keys are
        left out of the shorter words as well.
        """
        levels = []
        for length in range(self.order + 2):
            rows = self.length >= (self.order + 1 if fixed else length)
            codes = self.code[rows] % (self.n_symbols**length)
            found, at = np.unique(codes, return_inverse=True)
            levels.append((found, np.bincount(at, self.count[rows], len(found)).astype(np.float64)))
        return levels

    def occurrences(self, *, fixed: bool = False) -> dict[tuple[int, ...], float]:
        """The count of every word of at most ``order`` + 1 symbols that occurs; for reading, not for speed."""
        return {
            word_of(code, length, self.n_symbols): count
            for length, (codes, counts) in enumerate(self.levels(fixed=fixed))
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }

    def to_arrow(self) -> pa.Table:
        names = pa.array(self.group, pa.string())
        columns = [names.take(pa.array(self.group_of)), self.state, self.length, self.code, self.count]
        meta = {b"n_symbols": str(self.n_symbols).encode(), b"order": str(self.order).encode()}
        return pa.Table.from_arrays([pa.array(c) for c in columns], schema=SCHEMA.with_metadata(meta))

    @classmethod
    def from_arrow(cls, table: pa.Table) -> WordCounts:
        meta = table.schema.metadata or {}
        if b"n_symbols" not in meta or b"order" not in meta:
            raise ValueError("a table of word counts says how many symbols there are and how long its words are")
        n_symbols, order = int(meta[b"n_symbols"]), int(meta[b"order"])
        if not table.num_rows:
            return cls.empty(n_symbols, order)
        columns = (table[name].to_numpy() for name in ("state", "length", "code", "count"))
        return _tidy(n_symbols, order, *groups_in(table), *columns)


def added_up(
    columns: Sequence[npt.NDArray[np.integer]], count: npt.NDArray[np.integer] | npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """[column, row]: the different rows, in order of the columns, and the sum of the counts of each."""
    by = np.lexsort(tuple(reversed(columns)))
    rows = np.stack([column[by].astype(np.int64) for column in columns])
    first = np.ones(len(by), np.bool_)
    first[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(count[by].astype(np.float64), starts) if len(starts) else np.empty(0)
    return rows[:, starts], sums


def in_one_numbering(
    parts: Sequence[tuple[Sequence[str], npt.NDArray[np.integer]]],
) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """The names of all parts, sorted, and the numbers of all rows among them, part after part."""
    names = tuple(sorted({name for part, _ in parts for name in part}))
    at = {name: index for index, name in enumerate(names)}
    return names, np.concatenate([np.array([at[name] for name in part], np.int64)[numbers] for part, numbers in parts])


def groups_in(table: pa.Table) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """The different values of the column `group`, sorted, and the number of each row's value."""
    coded = table["group"].combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    return in_one_numbering([(coded.dictionary.to_pylist(), coded.indices.to_numpy())])


def _bases(n_symbols: int, longest: int) -> npt.NDArray[np.int64]:
    return np.array([n_words(n_symbols, length - 1) for length in range(longest + 1)], np.int64)


def _tidy(
    n_symbols: int,
    order: int,
    group: tuple[str, ...],
    group_of: npt.NDArray[np.integer],
    state: npt.NDArray[np.integer],
    length: npt.NDArray[np.integer],
    code: npt.NDArray[np.integer],
    count: npt.NDArray[np.integer] | npt.NDArray[np.floating],
) -> WordCounts:
    """Rows in order; counts of equal rows are added up."""
    kept, sums = added_up((group_of, state, length, code), count)
    return WordCounts(
        n_symbols,
        order,
        group,
        kept[0].astype(np.int32),
        kept[1].astype(np.int32),
        kept[2].astype(np.int16),
        kept[3],
        sums,
    )
