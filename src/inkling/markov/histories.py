"""What is carried of each key from one batch to the next: the automaton's state and the last symbols."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MOST_BITS = 62


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """One entry per key; ``code`` holds its last symbols in base ``n_symbols``, the newest least significant."""

    state: npt.NDArray[np.int32]
    code: npt.NDArray[np.int64]  # of the last `memory` symbols, or of all there are
    events: npt.NDArray[np.int64]  # since the key began or was reset

    @classmethod
    def new(cls, n_keys: int) -> "Histories":
        return cls(np.zeros(n_keys, np.int32), np.zeros(n_keys, np.int64), np.zeros(n_keys, np.int64))

    def copy(self) -> "Histories":
        return Histories(self.state.copy(), self.code.copy(), self.events.copy())


def n_words(n_symbols: int, longest: int) -> int:
    """Words of at most so many symbols, the empty one included."""
    return sum(n_symbols**length for length in range(longest + 1))


def check_codes(n_symbols: int, longest: int, times: int = 1) -> None:
    """Refuse words whose numbers do not fit into an integer of the kernels."""
    numbers = times * n_words(n_symbols, longest)
    if numbers.bit_length() > MOST_BITS:
        raise ValueError(
            f"words of {longest} symbols out of {n_symbols}, each in {times} ways, need {numbers.bit_length()} bits; "
            f"there are {MOST_BITS}"
        )


def code_of(word: Sequence[int], n_symbols: int) -> int:
    """A word as a number, the oldest symbol most significant."""
    code = 0
    for symbol in word:
        code = code * n_symbols + symbol
    return code


def word_of(code: int, length: int, n_symbols: int) -> tuple[int, ...]:
    """The word with a number.

    >>> word_of(code_of((2, 0, 1), 3), 3, 3)
    (2, 0, 1)
    """
    word = []
    for _ in range(length):
        code, symbol = divmod(code, n_symbols)
        word.append(symbol)
    return tuple(reversed(word))
