"""Online learning of all models of a program, and its state as bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators import state as codec
from inkling.forecasting.adaptation.counting import first_forecasts, readers
from inkling.forecasting.adaptation.drift import Drift, DriftMeter
from inkling.forecasting.adaptation.learner import ModelCounts, as_table, counts_of, first_model
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.forecasting.models.model import ForecastModel
from inkling.io import Data
from inkling.model.time import Clock
from inkling.physical.checks import reject_uncertain_training_data
from inkling.physical.plan import PhysicalPlan, Runnable


class LearningModels:
    """Collects counts, and makes new versions of models when they are due."""

    def __init__(self, online: OnlineLearning, tables: Mapping[str, pa.Table], models: Iterable[str]) -> None:
        self.online = online
        self.learned = {name: ModelCounts.of(ForecastModel.from_arrow(tables[name])) for name in models}
        self._meters = {name: DriftMeter(online.alarm, online.at_least) for name in self.learned}
        self.use(tables)

    @property
    def orders(self) -> dict[str, int]:
        """The order of counting for each model."""
        return {name: one.model.counts.order for name, one in self.learned.items()}

    @property
    def drift(self) -> dict[str, Drift]:
        """The drift of each model that has one."""
        return {name: meter.drift for name, meter in self._meters.items() if meter.drift is not None}

    def use(self, tables: Mapping[str, pa.Table]) -> None:
        """Switches to these versions of models."""
        for name, meter in self._meters.items():
            if name in tables:
                meter.use(ForecastModel.from_arrow(tables[name]))

    def begin_anew(self, name: str, table: pa.Table) -> None:
        """Replaces a model, and drops what was learned."""
        self.learned[name] = ModelCounts.of(ForecastModel.from_arrow(table))

    def take(self, name: str, counted: pa.Table, times: tuple[int, int]) -> None:
        """Adds counts for a model."""
        before = self.learned[name]
        words, _ = counts_of(counted, before.model.counts.n_symbols, before.model.counts.order)
        self._meters[name].take(words)
        self.learned[name] = before.and_counted(counted, times)

    def renewed(self) -> dict[str, pa.Table]:
        """Makes the new versions that are due, as tables; forecasts use them after `use`."""
        tables = {}
        for name, one in self.learned.items():
            if one.is_due(self.online):
                self.learned[name] = one.renewed(self.online)
                tables[name] = as_table(name, self.learned[name].model)
        return tables

    def resume(self, name: str, learned: ModelCounts, drift: Drift | None = None) -> None:
        """Resumes from the state of an earlier run."""
        self.learned[name] = learned
        meter = self._meters[name]
        meter.use(learned.model)
        if drift is not None and meter.drift is not None and meter.drift.version == drift.version:
            meter.drift = drift


def learning_names(plan: PhysicalPlan) -> list[str]:
    """The models that a program uses."""
    return list(first_forecasts(plan.program))


def with_first_models(program: Runnable, given: Mapping[str, Data], online: OnlineLearning) -> dict[str, Data]:
    """The given tables, with an empty model for each model that neither a table nor a file provides."""
    forecasts = first_forecasts(program.physical.program)
    missing = [
        table.name
        for table in program.plan.tables
        if table.name in forecasts and table.name not in given and not program.files.path(table.path).exists()
    ]
    known_readers = readers(program.physical) if missing else {}
    first = {name: first_model(*known_readers[name], online) for name in missing}
    return {**given, **{name: model.to_arrow() for name, model in first.items()}}


def require_measurable(online: OnlineLearning, clock: Clock) -> None:
    """Rejects durations if times are integers."""
    if isinstance(online.every, timedelta) and clock is Clock.TICKS:
        raise InputError.of(
            "INK0623",
            f"a new version every {online.every} is not possible: the times of the streams are integers",
            helps=("use a number of events: `every=10_000`",),
        )


def require_forecasts(plan: PhysicalPlan) -> None:
    """Rejects programs for which models cannot learn online."""
    if not first_forecasts(plan.program):
        raise InputError.of("INK0623", "the program has no FORECAST to learn a model for", helps=("leave `learn` out",))
    if plan.program.revises:
        raise InputError.of(
            "INK0623",
            "models cannot keep learning from streams with OP or SPECULATIVE",
            notes=("the counts of a model cannot be withdrawn",),
            helps=("leave `learn` out, and give the forecast a model that was learned from stored data",),
        )
    reject_uncertain_training_data(plan.program, first_forecasts(plan.program).values())


@dataclass(frozen=True, slots=True)
class StoredModel:
    """The stored state of a model: the model, pending counts with their time range, and drift."""

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
    """Restores models from the bytes of `dumped_models`; returns their tables."""
    tables = {}
    for name, stored in codec.from_bytes(data, dict[str, StoredModel]).items():
        model = ForecastModel.from_arrow(stored.model)
        learned = ModelCounts.of(model).and_counted(stored.pending, (stored.since, stored.until))
        models.resume(name, learned, stored.drift)
        tables[name] = as_table(name, model)
    return tables
