"""Drift of models: the log-loss of a model on new events, compared with the log-loss on its training data."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from inkling.forecasting.models.contexts import Contexts
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.model import ForecastModel, log_loss

FLOOR = 0.0001
"""The least probability of a symbol, so that the log-loss stays finite."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift of one version of a model, since this version is used."""

    version: int
    trained: float  # bits per event on what it was learned from
    events: float = 0.0
    bits: float = 0.0
    is_alarming: bool = False

    @property
    def loss(self) -> float | None:
        """The log-loss on new events, in bits per event; None before the first event."""
        return self.bits / self.events if self.events else None

    @property
    def excess(self) -> float:
        """The log-loss on new events minus that on the training data."""
        return 0.0 if self.loss is None else self.loss - self.trained

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "loss": self.loss}


class DriftMeter:
    """Measures the drift of one model, version by version."""

    def __init__(self, alarm: float, at_least: int) -> None:
        self._alarm, self._at_least = alarm, at_least
        self._contexts: Contexts | None = None
        self.drift: Drift | None = None  # None while there is no model

    def use(self, model: ForecastModel) -> None:
        """Switches to a version of the model."""
        if self.drift is not None and self.drift.version == model.version:
            return
        if not model.n_events:
            self._contexts = self.drift = None
            return
        self._contexts = model.contexts()
        self.drift = Drift(model.version, log_loss(self._contexts, model.counts.total(), floor=FLOOR))

    def take(self, counts: WordCounts) -> None:
        """Adds counts of new events; their order is at least that of the model."""
        if self._contexts is None or self.drift is None or not counts.n_events or counts.order < self._contexts.depth:
            return
        n = counts.n_events
        bits = self.drift.bits + n * log_loss(self._contexts, counts.total(), floor=FLOOR)
        after = replace(self.drift, events=self.drift.events + n, bits=bits)
        alarming = after.events >= self._at_least and after.excess > self._alarm
        self.drift = replace(after, is_alarming=alarming)
