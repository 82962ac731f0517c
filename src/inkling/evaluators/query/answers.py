"""What a query answers: how probable it is, at each time, that it has just been satisfied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.probable_events import Numbers
from inkling.model.batch import Ints

BEFORE = np.int64(-(2**62))
"""Earlier than any time."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Per unit (values of the head's variables) and time; what is impossible is left out.

    `start` is the earliest time at which a match that ends then can have begun. Where worlds were sampled, the chance
    may be wrong by `error`. By the time in `known` all worlds know that have it; without, by its own.
    `weight` says of each row of the block how probable it is, where that is known.
    """

    unit: Hashes
    time: Ints
    chance: Numbers
    start: Ints
    error: NDArray[np.float64]
    known: Ints | None = None
    weight: Numbers | None = None

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def exactly(cls, unit: Hashes, time: Ints, chance: Numbers, start: Ints | None = None) -> Answers:
        return cls(unit, time, chance, time if start is None else start, np.zeros(len(time)))


def joined(parts: Sequence[Answers]) -> Answers:
    """Answers about different units or times."""

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    return Answers(column("unit"), column("time"), column("chance"), column("start"), column("error"))


def ever(answers: Answers) -> Answers:
    """Per unit, from chances to be satisfied for the first time: whether it ever is, and when it can be last."""
    order = np.lexsort((answers.time, answers.unit))
    unit, time = answers.unit[order], answers.time[order]
    first = np.flatnonzero(np.append(True, unit[1:] != unit[:-1])) if len(unit) else np.empty(0, np.int64)
    if not len(first):
        return answers
    last = np.append(first[1:], len(unit)) - 1
    return Answers(
        unit[first],
        time[last],
        np.add.reduceat(answers.chance[order], first),
        np.minimum.reduceat(answers.start[order], first),
        np.maximum.reduceat(answers.error[order], first),
        last_time(time, answers.chance[order], first),
        answers.weight,
    )


def last_time(time: Ints, chance: Numbers, first: Ints) -> Ints:
    """The last time with a chance from each place to the next; before all times where there is none."""
    return np.maximum.reduceat(np.where(chance > 0, time, BEFORE), first)
