"""How well a model still fits: the bits per event that it needs for what comes, beside those for what it learned."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from inkling.markov.contexts import Contexts
from inkling.markov.counts import WordCounts
from inkling.markov.model import Model
from inkling.markov.scores import log_loss

FLOOR = 0.0001
"""No symbol is given less than this, so that one surprise is not worth infinity."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Of one version of a model since it came into force."""

    version: int
    trained: float  # bits per event on what it was learned from
    events: float = 0.0
    bits: float = 0.0
    is_alarming: bool = False

    @property
    def loss(self) -> float | None:
        """Bits per event on what came since; None before the first."""
        return self.bits / self.events if self.events else None

    @property
    def excess(self) -> float:
        """Bits per event that it predicts worse than what it was learned from."""
        return 0.0 if self.loss is None else self.loss - self.trained

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "loss": self.loss}


class DriftMeter:
    """Follows the versions of one model."""

    def __init__(self, alarm: float, at_least: int) -> None:
        self._alarm, self._at_least = alarm, at_least
        self._contexts: Contexts | None = None
        self.drift: Drift | None = None  # None while there is no model

    def use(self, model: Model) -> None:
        """From now on this version predicts."""
        if self.drift is not None and self.drift.version == model.version:
            return
        if not model.n_events:
            self._contexts = self.drift = None
            return
        self._contexts = model.contexts()
        self.drift = Drift(model.version, log_loss(self._contexts, model.counts.total(), floor=FLOOR))

    def take(self, counts: WordCounts) -> None:
        """What came; it was counted at least as far back as the model looks."""
        if self._contexts is None or self.drift is None or not counts.n_events or counts.order < self._contexts.depth:
            return
        n = counts.n_events
        bits = self.drift.bits + n * log_loss(self._contexts, counts.total(), floor=FLOOR)
        after = replace(self.drift, events=self.drift.events + n, bits=bits)
        alarming = after.events >= self._at_least and after.excess > self._alarm
        self.drift = replace(after, is_alarming=alarming)
