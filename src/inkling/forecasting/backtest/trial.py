"""Learns from the first part of the data, forecasts the rest, and compares forecasts with detections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from inkling.analysis.clock import time_unit
from inkling.errors import InputError, ProgramError
from inkling.forecasting.backtest.program import ScoredForecast, WatchingProgram, subjects_of
from inkling.forecasting.backtest.settings import ORDERS, ScoreSettings
from inkling.forecasting.learning.learn import LearnedModels, learn
from inkling.forecasting.learning.rejected_rows import RejectedRows
from inkling.forecasting.models.model import ForecastModel
from inkling.forecasting.scoring.baselines import baselines
from inkling.forecasting.scoring.intervals import interval_scores
from inkling.forecasting.scoring.outcomes import Outcomes, watched_outcomes
from inkling.forecasting.scoring.scorecard import Scorecard, Scores
from inkling.forecasting.scoring.tally import tallied
from inkling.io import Data
from inkling.local import run
from inkling.model.time import Clock, TimeUnit
from inkling.physical.plan import Runnable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THRESHOLD = 0.5


class Watched(Protocol):
    """Protocol: forecasts joined with detections, in this process or on Spark."""

    def cards(self, subject: ScoredForecast) -> Iterator[Scorecard]:
        """A scorecard per order, then those of the baselines."""
        ...

    def close(self) -> None:
        """Releases cached data."""
        ...


def tried(
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    settings: ScoreSettings | None = None,
    *,
    spark: SparkSession | None = None,
    models: Mapping[str, ForecastModel] | None = None,
    on_rejected: Callable[[RejectedRows], None] | None = None,
) -> dict[str, Scores]:
    """Scores of every forecast of a program, by name; `on_rejected` receives the counts of rejected rows.

    Models are learned from rows up to a time. Forecasts are made over all rows, so that the state of a key is known
    when its test begins, but only forecasts after that time are scored. If `models` are given, nothing is learned, and
    all forecasts are scored.
    """
    settings = settings or ScoreSettings()
    if settings.order is None and models is not None:
        settings = replace(settings, order=orders_learned(models))
    subjects = subjects_of(program)
    if not subjects:
        raise ProgramError.of(
            "INK0619",
            "the program has no FORECAST to score",
            helps=("add one, for example `FORECAST my_event WITHIN 10 EVENTS;`",),
        )
    if models is None:
        learned = learn(program, inputs, _without_models(tables, subjects), settings.fit, spark=spark)
    else:
        learned = _learned_before(models, subjects, settings)
    watching = WatchingProgram.of(program, subjects, settings.orders)
    given = {name: data for name, data in inputs.items() if name in watching.streams}
    facts = {**_without_models(tables, subjects), **{name: one.to_arrow() for name, one in learned.models.items()}}
    watched: Watched
    if spark is None:
        found = run(watching, given, facts)
        learned, rejected = replace(learned, clock=found.clock), RejectedRows.among(found.rejects)
        watched = _LocalWatch(watching, found.tables, learned, settings)
    else:
        from inkling.forecasting.backtest.on_spark import SparkWatch

        watched = SparkWatch.of(watching, spark, given, facts, learned, settings)
        rejected = learned.rejected if models is None else watched.rejected()
    if rejected and on_rejected is not None:
        on_rejected(rejected)
    try:
        return {subject.name: _scores(subject, watched, learned, settings) for subject in subjects}
    finally:
        watched.close()


def orders_learned(models: Mapping[str, ForecastModel]) -> tuple[int, ...]:
    """The orders that models were learned with, at most the order that all of them have counts for."""
    deepest = min((model.counts.order for model in models.values()), default=0)
    return tuple(sorted({min(model.learning.order, deepest) for model in models.values()})) or ORDERS


def _learned_before(
    models: Mapping[str, ForecastModel], subjects: tuple[ScoredForecast, ...], settings: ScoreSettings
) -> LearnedModels:
    """Models given by the caller; the clock is unknown until rows are read."""
    if settings.train_until is not None or settings.train_share is not None:
        raise InputError.of(
            "INK0618",
            "existing models are scored on all rows, so no rows remain to learn from",
            helps=("leave out the models, or the end of the training rows",),
        )
    wanted = {subject.forecast.model for subject in subjects}
    for name in sorted(wanted ^ models.keys()):
        what = f"the model `{name}` is missing" if name in wanted else f"the program has no model called `{name}`"
        raise InputError.of("INK0618", what, notes=(f"its forecasts read {', '.join(sorted(wanted))}",))
    for name, model in models.items():
        if max(settings.orders) > model.counts.order:
            raise InputError.of(
                "INK0618",
                f"`{name}` cannot be scored with order {max(settings.orders)}",
                notes=(f"the model has at most order {model.counts.order}",),
                helps=("use smaller orders",),
            )
    return LearnedModels(dict(models), {}, None, None, Clock.TICKS, RejectedRows())


def span_of(subject: ScoredForecast, watching: WatchingProgram, clock: Clock) -> int | None:
    """The duration of a forecast within a duration, in the units of its clock; None for other forecasts."""
    if subject.forecast.within is None:
        return None
    unit: TimeUnit = time_unit(watching.plan, {name: clock for name in watching.streams if watching.plan.stream(name)})
    return unit(subject.forecast.within)


@dataclass(frozen=True, slots=True)
class _LocalWatch:
    """Forecasts joined with detections, in this process."""

    watching: WatchingProgram
    tables: Mapping[str, Data]
    learned: LearnedModels
    settings: ScoreSettings

    def cards(self, subject: ScoredForecast) -> Iterator[Scorecard]:
        span = span_of(subject, self.watching, self.learned.clock)
        outcomes = {order: self._outcomes(subject, order) for order in self.settings.orders}
        for order, one in outcomes.items():
            yield self._card(f"order {order}", one, span, subject, order)
        # baselines forecast wherever the model of the largest order does
        deepest = outcomes[max(outcomes)]
        for name, ruled in baselines(deepest, given=subject.is_given, span=span).items():
            yield self._card(name, ruled, span, subject, None)

    def close(self) -> None:
        """Nothing is cached."""

    def _outcomes(self, subject: ScoredForecast, order: int) -> Outcomes:
        return watched_outcomes(self.tables[subject.watched(order)], subject.keys, after=self.learned.until)

    def _card(
        self, name: str, outcomes: Outcomes, span: int | None, subject: ScoredForecast, order: int | None
    ) -> Scorecard:
        censored = self.settings.censored
        return Scorecard(
            name,
            tallied(outcomes, span=span, censored=censored),
            tallied(outcomes, span=span, censored=True, apart=True),
            order,
            None if span is not None or subject.is_given else interval_scores(outcomes),
        )


def _scores(subject: ScoredForecast, watched: Watched, learned: LearnedModels, settings: ScoreSettings) -> Scores:
    cards = tuple(watched.cards(subject))
    if not any(card.tally.n_forecasts for card in cards):
        raise InputError.of(
            "INK0620",
            f"no forecast of `{subject.name}` was made after the training rows",
            notes=(f"models were learned from rows until {in_words(learned)}",),
            helps=(
                "learn from fewer rows, with "
                + ("a smaller share" if settings.train_until is None else "an earlier time"),
            ),
        )
    confidence = subject.event.confidence
    threshold = settings.threshold
    if threshold is None:
        threshold = THRESHOLD if confidence is None else confidence.threshold
    return Scores(
        subject.name,
        f"{subject.forecast.of} {subject.asked()}",
        threshold,
        cards,
        f"rows until {in_words(learned)}" if learned.until is not None else "other rows, before",
        has_intervals=not subject.is_given,
    )


def in_words(learned: LearnedModels) -> str:
    if learned.until is None:
        return "the end"
    if learned.clock is Clock.TICKS:
        return f"{learned.until}"
    return datetime.fromtimestamp(learned.until / 1_000_000, UTC).isoformat(sep=" ", timespec="seconds")[:19]


def _without_models(tables: Mapping[str, Data] | None, subjects: tuple[ScoredForecast, ...]) -> dict[str, Data]:
    models = {subject.forecast.model for subject in subjects}
    return {name: data for name, data in (tables or {}).items() if name not in models}
