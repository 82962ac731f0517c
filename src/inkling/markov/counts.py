"""How often words of symbols occurred: all that is ever learned from a stream, and additive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.kernels import words as kernel
from inkling.markov.histories import Histories, check_codes, n_words, word_of

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

    It is counted under the longest word of at most ``order`` + 1 symbols that ends there, so shorter ones stand
    for the beginnings of keys and for what follows a reset.
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
        """Count rows sorted by key; ``histories`` go on from one call to the next and are changed in place."""
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
        """The sum; an order is that of the part that looked back least."""
        if not parts:
            raise ValueError("there is nothing to add up")
        sizes = {part.n_symbols for part in parts}
        if len(sizes) > 1:
            raise ValueError(f"counts of different alphabets cannot be added: {sorted(sizes)} symbols")
        order = min(part.order for part in parts)
        parts = tuple(part.shallower(order) for part in parts)
        group = tuple(sorted({name for part in parts for name in part.group}))
        at = {name: index for index, name in enumerate(group)}
        group_of = [np.array([at[name] for name in part.group], np.int64)[part.group_of] for part in parts]
        return _tidy(
            parts[0].n_symbols,
            order,
            group,
            np.concatenate(group_of),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("state", "length", "code", "count")),
        )

    def scaled(self, factor: float) -> WordCounts:
        """The same with less weight: what was seen long ago is forgotten step by step."""
        if not factor >= 0:
            raise ValueError(f"counts cannot be multiplied by {factor}")
        return replace(self, count=self.count * factor)

    def of_group(self, name: str) -> WordCounts:
        """The rows of one group; none if it was never seen."""
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
        """All groups as one."""
        nowhere = np.zeros(len(self.code), np.int64)
        return _tidy(self.n_symbols, self.order, ("",), nowhere, self.state, self.length, self.code, self.count)

    def shallower(self, order: int) -> WordCounts:
        """What would have been counted with a smaller order."""
        if order > self.order:
            raise ValueError(f"words of order {order} were not counted; the order is {self.order}")
        if order == self.order:
            return self
        length = np.minimum(self.length, order + 1)
        code = self.code % (np.int64(self.n_symbols) ** length.astype(np.int64))
        return _tidy(self.n_symbols, order, self.group, self.group_of, self.state, length, code, self.count)

    def levels(self, *, fixed: bool = False) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """By length from 0 to ``order`` + 1: the words that occur, as sorted codes, and how often.

        With ``fixed`` only positions count at which a word of full length ends, so that the beginnings of
        keys are left out of the shorter words as well.
        """
        levels = []
        for length in range(self.order + 2):
            rows = self.length >= (self.order + 1 if fixed else length)
            codes = self.code[rows] % (self.n_symbols**length)
            found, at = np.unique(codes, return_inverse=True)
            levels.append((found, np.bincount(at, self.count[rows], len(found)).astype(np.float64)))
        return levels

    def occurrences(self, *, fixed: bool = False) -> dict[tuple[int, ...], float]:
        """Every word of at most ``order`` + 1 symbols that occurs, and how often; for reading, not for speed."""
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
        coded = table["group"].combine_chunks().dictionary_encode()
        if isinstance(coded, pa.ChunkedArray):
            coded = coded.combine_chunks()
        names = coded.dictionary.to_pylist()
        group = tuple(sorted(names))
        number = {name: index for index, name in enumerate(group)}
        at = np.array([number[name] for name in names], np.int64)
        columns = (table[name].to_numpy() for name in ("state", "length", "code", "count"))
        return _tidy(n_symbols, order, group, at[coded.indices.to_numpy()], *columns)


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
    """Rows in order, equal ones added up."""
    by = np.lexsort((code, length, state, group_of))
    rows = np.stack([column[by].astype(np.int64) for column in (group_of, state, length, code)])
    first = np.ones(len(by), np.bool_)
    first[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(count[by].astype(np.float64), starts) if len(starts) else np.empty(0)
    kept = rows[:, starts]
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
