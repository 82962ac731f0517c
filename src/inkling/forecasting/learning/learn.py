"""Learning models from data: counting, choosing an order by log-loss on held-out rows, and building the models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators.certain import run_plan
from inkling.evaluators.forecast.symbols import SymbolReader, symbol_words
from inkling.forecasting.learning.program import LearningProgram, ModelToLearn, column_of, learning_event, subjects_of
from inkling.forecasting.learning.rejected_rows import RejectedRows
from inkling.forecasting.learning.settings import AUTO, DEEPEST, DEFAULT_ORDER, FitSettings
from inkling.forecasting.models.counts import WordCounts, check_codes
from inkling.forecasting.models.model import ForecastModel, best_order, counts_in, log_loss
from inkling.io import Data
from inkling.io.normalize import END
from inkling.local import IngestedInputs, ingest
from inkling.logical.forecasts import COUNT_COLUMNS
from inkling.logical.plan import EventPlan, forecast_of
from inkling.model.time import Clock
from inkling.physical.plan import Runnable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FLOOR = 0.001
"""The least probability of a symbol when orders are compared: a symbol that was never seen is still possible."""

MOST = 64
"""The largest order."""

_BEFORE = "@before"
"""The suffix of events that count only the rows before the held-out rows."""


@dataclass(frozen=True, slots=True)
class LearnedModels:
    """Models by name, and, if the order was chosen, the log-loss of each order in bits per held-out event."""

    models: dict[str, ForecastModel]
    losses: Mapping[str, Mapping[int, float]]
    until: int | None  # the last time that was learned from, if there was one
    held_out_after: int | None
    clock: Clock
    rejected: RejectedRows


def learn(
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    settings: FitSettings | None = None,
    *,
    spark: SparkSession | None = None,
    partitions: int | None = None,
    names: Collection[str] | None = None,
) -> LearnedModels:
    """Learns the models of the forecasts of a program, in one pass over the data."""
    settings = settings or FitSettings()
    subjects = subjects_of(program, names)
    drafts = {subject.model: _event(program, subject, settings) for subject in subjects}
    draft = LearningProgram.of(program, tuple(drafts.values()))
    readers = {model: draft.reader(event.name) for model, event in drafts.items()}
    orders = {subject.model: _order(subject, readers[subject.model], settings) for subject in subjects}
    events = {model: _with_forecast(event, order=orders[model]) for model, event in drafts.items()}
    run = _run(draft, program, inputs, tables, spark, partitions)
    until = _until(run, settings)
    split = run.earliest(1 - settings.held_out, until) if settings.order == AUTO else None
    counting = {model: _with_forecast(event, until=until) for model, event in events.items()}
    before = {model: _before(event, split) for model, event in events.items()} if split is not None else {}
    learning = LearningProgram.of(program, (*counting.values(), *before.values()))
    found, rejected = run.counts(learning, [event.name for event in (*counting.values(), *before.values())])
    models, losses = {}, {}
    for subject in subjects:
        event = counting[subject.model]
        model = _model(learning, subject, event, readers[subject.model], found[event.name], settings, rejected)
        if subject.model in before:
            first, _ = counts_in(found[before[subject.model].name], model.counts.n_symbols, model.counts.order)
            losses[subject.model] = compared(model, first)
            best = best_order(losses[subject.model]) if losses[subject.model] else model.counts.order
            model = replace(model, learning=replace(model.learning, order=best))
        models[subject.model] = model
    return LearnedModels(models, losses, until, split, run.clock, rejected)


def compared(model: ForecastModel, first: WordCounts) -> dict[int, float]:
    """The log-loss by order, in bits per event: of a model of the first events, on the later events."""
    later = _without(model.counts, first).total()
    if not later.n_events or not first.n_events:
        return {}
    return {
        order: log_loss(
            replace(model, counts=first, learning=replace(model.learning, order=order, shrinkage=None)).contexts(),
            later,
            floor=FLOOR,
        )
        for order in range(model.counts.order + 1)
    }


def _order(subject: ModelToLearn, reader: SymbolReader, settings: FitSettings) -> int:
    """The order of the words to count."""
    deepest = _deepest(reader)
    asked = settings.order if isinstance(settings.order, int) else None
    if settings.order == AUTO:
        asked = min(deepest, DEEPEST)
    order = max((one for one in (asked, subject.order) if one is not None), default=DEFAULT_ORDER)
    if order > deepest:
        raise InputError.of(
            "INK0618",
            f"`{subject.model}` cannot be learned with order {order}",
            notes=(f"with {reader.n_symbols} kinds of events the highest possible order is {deepest}",),
            helps=("use a smaller order, or fewer kinds of events",),
        )
    return order


def _deepest(reader: SymbolReader) -> int:
    """The largest order whose words can be counted."""
    order = -1
    while order < MOST:
        try:
            check_codes(reader.n_symbols, order + 2, reader.dfa.n_states)
        except ValueError:
            break
        order += 1
    return order


def _event(program: Runnable, subject: ModelToLearn, settings: FitSettings) -> EventPlan:
    by = None if settings.by is None else column_of(program, subject, settings.by)
    return learning_event(subject, 0, by=by)


def _run(
    learning: LearningProgram,
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None,
    spark: SparkSession | None,
    partitions: int | None,
) -> LearningData:
    """The data to learn from; only streams and tables that learning needs are read."""
    declared = {stream.schema.name for stream in program.plan.streams}
    read = {name: data for name, data in inputs.items() if name in learning.streams or name not in declared}
    kept = {table.name for table in learning.plan.tables}
    known = {table.name for table in program.plan.tables}
    facts = {name: data for name, data in (tables or {}).items() if name in kept or name not in known}
    if spark is None:
        return LocalRun.of(learning, read, facts)
    from inkling.forecasting.learning.on_spark import SparkRun

    return SparkRun(spark, learning, read, facts, partitions)


def _until(run: LearningData, settings: FitSettings) -> int | None:
    last = settings.last
    if last is not None:
        until, clock = last
        if clock is not run.clock:
            counted, example = (
                ("integers", "1200") if run.clock is Clock.TICKS else ("timestamps", "2026-03-01T12:00:00")
            )
            raise InputError.of(
                "INK0618",
                f"the times of the input are {counted}, but learning ends at `{settings.until}`",
                helps=(f"write a time such as `{example}`",),
            )
        return until
    return None if settings.share is None else run.earliest(settings.share, None)


def _with_forecast(event: EventPlan, **changes: int | None) -> EventPlan:
    return replace(event, forecast=replace(forecast_of(event), **changes))  # type: ignore[arg-type]


def _before(event: EventPlan, split: int | None) -> EventPlan:
    name = f"{event.name}{_BEFORE}"
    return replace(_with_forecast(event, until=split), name=name, schema=replace(event.schema, name=name))


def _model(
    learning: LearningProgram,
    subject: ModelToLearn,
    event: EventPlan,
    reader: SymbolReader,
    found: pa.Table,
    settings: FitSettings,
    rejected: RejectedRows,
) -> ForecastModel:
    forecast = forecast_of(event)
    assert forecast.order is not None
    words, gaps = counts_in(found, reader.n_symbols, forecast.order)
    if not words.n_events:
        raise InputError.of(
            "INK0617",
            f"no events to learn `{subject.model}` from",
            notes=(
                f"the model is learned from {', '.join(event.scope)}"
                + ("" if forecast.until is None else ", up to the given time"),
                *([str(rejected)] if rejected else []),
            ),
            helps=("check the input: rows may be missing, rejected or later than the given time",),
        )
    n_symbols = max(reader.n_symbols, settings.symbols or 0)
    if settings.kind in ("tree", "wayeb") and n_symbols * settings.gamma_min > 1:
        raise InputError.of(
            "INK0618",
            f"`{subject.model}` cannot be learned with a gamma_min of {settings.gamma_min:g}",
            notes=(f"{n_symbols} kinds of events cannot all have at least this probability",),
            helps=("use a smaller gamma_min",),
        )
    asked = settings.order if isinstance(settings.order, int) else forecast.order
    return ForecastModel(
        subject.forecast.of,
        symbol_words(learning.step(event.name)[1], reader),
        reader.dfa.fingerprint,
        reader.dfa.n_states,
        words,
        gaps,
        settings.learning(asked, grouped=forecast.by is not None),
    )


def _without(counts: WordCounts, part: WordCounts) -> WordCounts:
    """Counts minus a part of them."""
    left = WordCounts.merged(counts, replace(part, count=-part.count))
    rows = left.count > 0
    return replace(
        left,
        group_of=left.group_of[rows],
        state=left.state[rows],
        length=left.length[rows],
        code=left.code[rows],
        count=left.count[rows],
    )


class LearningData(Protocol):
    """Protocol: data that learning programs are run over."""

    @property
    def clock(self) -> Clock: ...

    def earliest(self, share: float, until: int | None) -> int | None:
        """The time by which this share of the rows up to `until` has ended; None without rows."""
        ...

    def counts(self, program: LearningProgram, events: Sequence[str]) -> tuple[Mapping[str, pa.Table], RejectedRows]:
        """The counts of some events, with the columns `COUNT_COLUMNS`, and the rejected rows.

        Equal rows may occur several times.
        """
        ...


@dataclass(frozen=True, slots=True)
class LocalRun:
    """Data in this process; rows are read once."""

    ingested: IngestedInputs
    streams: tuple[str, ...]

    @classmethod
    def of(cls, program: LearningProgram, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None) -> LocalRun:
        return cls(ingest(program, inputs, tables), program.streams)

    @property
    def clock(self) -> Clock:
        return self.ingested.unit.clock

    def earliest(self, share: float, until: int | None) -> int | None:
        times = np.sort(np.concatenate([self.ingested.sources[name][END].to_numpy() for name in self.streams]))
        if until is not None:
            times = times[: np.searchsorted(times, until, side="right")]
        return int(times[max(0, int(np.ceil(share * len(times))) - 1)]) if len(times) else None

    def counts(self, program: LearningProgram, events: Sequence[str]) -> tuple[Mapping[str, pa.Table], RejectedRows]:
        found = run_plan(program.physical, self.ingested.sources, self.ingested.facts, self.ingested.context)
        names = [column.name for column in COUNT_COLUMNS]
        counted = {event: pa.table({name: found[event].values[name] for name in names}) for event in events}
        return counted, RejectedRows.among(self.ingested.rejects)
