"""Models that go on learning as bytes: what predicts, what was counted since, and how well it fits."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.markov.model import Model
from inkling.runtime.adaptation.drift import Drift
from inkling.runtime.adaptation.learner import Learned, as_table
from inkling.runtime.adaptation.models import LearningModels


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model as it is written: what it learned, what was counted since, in which time, and its drift."""

    model: pa.Table
    pending: pa.Table
    since: int
    until: int
    drift: Drift | None


def dumped_models(models: LearningModels) -> bytes:
    return codec.to_bytes(
        {
            name: StoredModel(one.model.to_arrow(), one.pending, one.since, one.until, models.drift.get(name))
            for name, one in models.learned.items()
        }
    )


def load_models(models: LearningModels, data: bytes) -> dict[str, pa.Table]:
    """Have models go on from what `dumped_models` gave; their tables."""
    tables = {}
    for name, stored in codec.from_bytes(data, dict[str, StoredModel]).items():
        model = Model.from_arrow(stored.model)
        learned = Learned.of(model).and_counted(stored.pending, (stored.since, stored.until))
        models.resume(name, learned, stored.drift)
        tables[name] = as_table(name, model)
    return tables
