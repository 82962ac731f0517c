"""How probabilities are to be found: when to count all worlds, and how closely to estimate otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from inkling.evaluators.bounds import worlds_needed
from inkling.logical.plan import EventPlan

MOST_COUNTED = 1_000_000
"""All worlds of a part are held in memory while they are counted."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings of a run over uncertain streams.

    Parts of the data with at most `exact_up_to` worlds are counted out. The others are sampled, in as many worlds as
    make every probability known to ± `epsilon` with confidence 1 - `delta`. Results that are undecided about their
    CONFIDENCE are sampled further, in up to `budget` times as many worlds. Equal seeds give equal answers.
    """

    epsilon: float = 0.01
    delta: float = 0.01
    seed: int = 0
    exact_up_to: int = 1024
    budget: int = 4

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"expected {name} to lie between 0 and 1, found {getattr(self, name)}")
        if not 0 <= self.exact_up_to <= MOST_COUNTED:
            raise ValueError(f"expected exact_up_to to lie between 0 and {MOST_COUNTED:,}, found {self.exact_up_to}")
        if self.budget < 1:
            raise ValueError(f"expected budget to be at least 1, found {self.budget}")
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"expected seed to lie between 0 and 2**64 - 1, found {self.seed}")

    @property
    def n_worlds(self) -> int:
        """The worlds that one look takes."""
        return worlds_needed(self.epsilon, self.delta)

    @property
    def once(self) -> Sampling:
        """The same for who cannot look again, as on a stream."""
        return replace(self, budget=1)

    def plan(self, events: Iterable[EventPlan]) -> tuple[int, float]:
        """The number of worlds of the first look, and the share of results that any look may get wrong.

        Events with CONFIDENCE may be looked at twice, so both looks share what `delta` allows.
        """
        looks = 2 if self.budget > 1 and any(event.confidence is not None for event in events) else 1
        return worlds_needed(self.epsilon, self.delta / looks), self.delta / looks
