"""All models of a program that go on learning, together, and as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators import state as codec
from inkling.io import Data
from inkling.markov.model import Model
from inkling.model.time import Clock
from inkling.physical.forecasts import refuse_learning_from_doubt
from inkling.physical.plan import PhysicalPlan
from inkling.physical.runnable import Runnable
from inkling.runtime.adaptation.counting import first_forecasts, readers
from inkling.runtime.adaptation.drift import Drift, DriftMeter
from inkling.runtime.adaptation.learner import Learned, as_table, counts_of, first_model
from inkling.runtime.adaptation.online import OnlineLearning


class LearningModels:
    """Takes in what was counted, and makes new versions when they are due."""

    def __init__(self, online: OnlineLearning, tables: Mapping[str, pa.Table], models: Iterable[str]) -> None:
        self.online = online
        self.learned = {name: Learned.of(Model.from_arrow(tables[name])) for name in models}
        self._meters = {name: DriftMeter(online.alarm, online.at_least) for name in self.learned}
        self.use(tables)

    @property
    def orders(self) -> dict[str, int]:
        """How far back words are counted for each model."""
        return {name: one.model.counts.order for name, one in self.learned.items()}

    @property
    def drift(self) -> dict[str, Drift]:
        """By model, where there is one by now."""
        return {name: meter.drift for name, meter in self._meters.items() if meter.drift is not None}

    def use(self, tables: Mapping[str, pa.Table]) -> None:
        """These are the versions that predict from now on."""
        for name, meter in self._meters.items():
            if name in tables:
                meter.use(Model.from_arrow(tables[name]))

    def begin_anew(self, name: str, table: pa.Table) -> None:
        """Another model takes the place of what was learned."""
        self.learned[name] = Learned.of(Model.from_arrow(table))

    def take(self, name: str, counted: pa.Table, times: tuple[int, int]) -> None:
        """More was counted for a model."""
        before = self.learned[name]
        words, _ = counts_of(counted, before.model.counts.n_symbols, before.model.counts.order)
        self._meters[name].take(words)
        self.learned[name] = before.and_counted(counted, times)

    def renewed(self) -> dict[str, pa.Table]:
        """The models of which a new version was due, as tables; they predict once they are in `use`."""
        tables = {}
        for name, one in self.learned.items():
            if one.is_due(self.online):
                self.learned[name] = one.renewed(self.online)
                tables[name] = as_table(name, self.learned[name].model)
        return tables

    def resume(self, name: str, learned: Learned, drift: Drift | None = None) -> None:
        """Go on from what an earlier run knew."""
        self.learned[name] = learned
        meter = self._meters[name]
        meter.use(learned.model)
        if drift is not None and meter.drift is not None and meter.drift.version == drift.version:
            meter.drift = drift


def learning_names(plan: PhysicalPlan) -> list[str]:
    """The models that a program uses."""
    return list(first_forecasts(plan.program))


def with_first_models(program: Runnable, given: Mapping[str, Data], online: OnlineLearning) -> dict[str, Data]:
    """What was given for tables; models that are nowhere to be found begin with nothing."""
    forecasts = first_forecasts(program.physical.program)
    missing = [
        table.name
        for table in program.plan.tables
        if table.name in forecasts and table.name not in given and not (program.folder / table.path).exists()
    ]
    spelled = readers(program.physical) if missing else {}
    first = {name: first_model(*spelled[name], online) for name in missing}
    return {**given, **{name: model.to_arrow() for name, model in first.items()}}


def require_measurable(online: OnlineLearning, clock: Clock) -> None:
    """Refuse lengths of time where times are plain numbers."""
    if isinstance(online.every, timedelta) and clock is Clock.TICKS:
        raise InputError.of(
            "INK0623",
            f"new versions every {online.every} cannot be made: the times of the streams are plain numbers",
            helps=("say after how many events: `every=10_000`",),
        )


def require_forecasts(plan: PhysicalPlan) -> None:
    """Refuse to learn for a program that forecasts nothing."""
    if not first_forecasts(plan.program):
        raise InputError.of(
            "INK0623", "there is nothing to learn: the program has no FORECAST", helps=("leave `learn` out",)
        )
    if plan.program.revises:
        raise InputError.of(
            "INK0623",
            "models cannot go on learning from streams whose rows are withdrawn or not waited for",
            notes=("a model counts what happened, and cannot take back what did not",),
            helps=("leave `learn` out, and give the forecast a model that was learned from stored data",),
        )
    refuse_learning_from_doubt(plan.program, first_forecasts(plan.program).values())


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
