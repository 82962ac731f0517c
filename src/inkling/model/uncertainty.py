"""Where the doubt of a stream comes from: when its events happened, what they were, or whether they were recorded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImpreciseTime:
    """The event is a point somewhere in `[lo, hi]`, uniformly unless a column gives weights."""

    lo: str
    hi: str
    weights: str | None = None


@dataclass(frozen=True, slots=True)
class ProbableValue:
    """One row per alternative; with `given`, alternatives depend on the previous value of the key (Markov)."""

    probability: str
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LostEvents:
    """Gaps in a numbering show how many events were lost; roles open and close segments."""

    number: str
    role: str | None = None
    count: str | None = None
    bounds: tuple[str, str] | None = None


Doubt = ImpreciseTime | ProbableValue | LostEvents
