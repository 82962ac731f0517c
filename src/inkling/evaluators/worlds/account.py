"""What a run over uncertain streams rests on: how many worlds were enumerated, and how many were sampled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from inkling.evaluators.worlds.run import WorldData


@dataclass(frozen=True, slots=True)
class Account:
    """Parts of the data whose worlds were all counted, and parts whose worlds were sampled."""

    n_counted: int = 0  # parts
    n_worlds_counted: int = 0
    n_sampled: int = 0  # parts
    n_worlds_sampled: int = 0  # per part
    n_further: int = 0  # worlds, for results that were undecided

    @classmethod
    def of(cls, data: WorldData, n_worlds: int) -> Account:
        n_sampled = int(np.count_nonzero(data.is_sampled))
        finite = data.choices.n_worlds[~data.is_sampled]
        return cls(data.parts.count - n_sampled, int(finite.sum()), n_sampled if n_worlds else 0, n_worlds)

    @classmethod
    def together(cls, accounts: Iterable[Account]) -> Account:
        return reduce(cls._and, accounts, cls())

    def _and(self, other: Account) -> Account:
        return Account(
            self.n_counted + other.n_counted,
            self.n_worlds_counted + other.n_worlds_counted,
            self.n_sampled + other.n_sampled,
            max(self.n_worlds_sampled, other.n_worlds_sampled),
            max(self.n_further, other.n_further),
        )

    def __str__(self) -> str:
        said = []
        if self.n_counted:
            said.append(f"{_number(self.n_counted, 'part')} enumerated ({_number(self.n_worlds_counted, 'world')})")
        if self.n_sampled:
            said.append(f"{_number(self.n_sampled, 'part')} sampled in {self.n_worlds_sampled:,} worlds each")
        if self.n_further:
            said.append(f"undecided results in {self.n_further:,} more")
        return "; ".join(said) or "no worlds"


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
