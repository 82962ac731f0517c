"""Counter suffix trees: occurrences of all words up to a length, to be asked by context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.markov.counts import WordCounts

Level = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class CounterTree:
    """By length of a word: the codes that occur, sorted, and how often."""

    n_symbols: int
    levels: Sequence[Level]

    @classmethod
    def of(cls, counts: WordCounts, *, fixed: bool = False) -> CounterTree:
        return cls(counts.n_symbols, counts.levels(fixed=fixed))

    @property
    def depth(self) -> int:
        """Length of the longest words that were counted."""
        return len(self.levels) - 1

    def level(self, length: int) -> Level:
        return self.levels[length]

    def count(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """How often words of one length occur."""
        known, counts = self.levels[length]
        if not len(known):
            return np.zeros(codes.shape)
        at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        return np.where(known[at] == codes, counts[at], 0.0)

    def probability(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The share of words among all of their length."""
        everything = self.levels[length][1].sum()
        return self.count(length, codes) / everything if everything else np.zeros(codes.shape)

    def followers(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """[context, symbol]: how often a symbol follows a context."""
        return self.count(length + 1, codes[:, None] * self.n_symbols + np.arange(self.n_symbols))

    def ratios(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """[context, symbol]: the share of the occurrences of a context that a symbol follows.

        Not quite the law of the next symbol: nothing follows the last context of a key.
        """
        occurrences = self.count(length, codes)[:, None]
        return np.divide(
            self.followers(length, codes),
            occurrences,
            out=np.zeros((len(codes), self.n_symbols)),
            where=occurrences > 0,
        )
