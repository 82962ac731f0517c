"""Models that go on learning as bytes: what predicts, what was counted since, and how well it fits."""

from __future__ import annotations

import pyarrow as pa

from inkling.live.adaptation.learner import Learned, as_table
from inkling.live.adaptation.models import LearningModels, drift_of
from inkling.live.snapshot import Pack, table_of, unpacked
from inkling.markov.model import Model


def dumped_models(models: LearningModels) -> bytes:
    pack = Pack()
    about = {}
    for name, one in models.learned.items():
        pack.table(f"model:{name}", one.model.to_arrow())
        pack.table(f"pending:{name}", one.pending)
        drift = models.drift.get(name)
        about[name] = {"since": one.since, "until": one.until, "drift": None if drift is None else drift.to_dict()}
    return pack.finished({"models": about})


def load_models(models: LearningModels, data: bytes) -> dict[str, pa.Table]:
    """Have models go on from what `dumped_models` gave; their tables."""
    head, parts = unpacked(data)
    tables = {}
    for name, about in head["models"].items():
        model = Model.from_arrow(table_of(parts[f"model:{name}"]))
        since, until, drift = about["since"], about["until"], about["drift"]
        learned = Learned.of(model).and_counted(table_of(parts[f"pending:{name}"]), (since, until))
        models.resume(name, learned, None if drift is None else drift_of(drift))
        tables[name] = as_table(name, model)
    return tables
