"""When relations are sampled instead of counted out, and how."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.evaluators.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Limits:
    """A pair of keys may take so many states and operations; beyond that, so many samples have this error at most."""

    n_samples: int = 20_000
    error: float = 0.01
    seed: int = 0
    states: int = 2**25
    operations: int = 2**34

    @classmethod
    def of(cls, sampling: Sampling) -> Limits:
        """The limits that the settings of a run set."""
        return cls(n_samples=sampling.n_worlds, error=sampling.epsilon, seed=sampling.seed)
