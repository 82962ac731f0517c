"""In which worlds an uncertain event has a result, and what would have to be otherwise."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.evaluators.worlds.influence import Influence
from inkling.evaluators.worlds.outcomes import Dependence, Scenario
from inkling.why.trees import Derivation


@dataclass(frozen=True, slots=True)
class WithResult:
    """A scenario that has the result, and what the result rests on there."""

    scenario: Scenario
    tree: Derivation


@dataclass(frozen=True, slots=True)
class Looked:
    """The worlds that were looked at: all worlds of the part of the data that the result lies in, or a sample."""

    n_worlds: int
    n_having: int  # of them, that have the result
    n_events: int  # uncertain events of the part
    is_sample: bool
    error: float = 0.0  # how far the share of worlds in a sample may be from the probability


@dataclass(frozen=True, slots=True)
class InWorlds:
    """One result of an uncertain event: its probability, its worlds, and the events that it depends on.

    `without` tells the probability of the result if an event is left out of all worlds. `looked` is None where the
    result could not be told apart from others in worlds.
    """

    probability: float
    error: float  # 0 where the probability is exact
    method: str
    left_out: str | None  # why a run does not report it
    looked: Looked | None = None
    having: tuple[WithResult, ...] = ()
    lacking: tuple[Scenario, ...] = ()
    dependences: tuple[Dependence, ...] = ()
    without: tuple[Influence, ...] = ()
