"""Learn from the first part, forecast the rest, and compare with what came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from inkling.analysis.clock import measure_for
from inkling.errors import InputError, ProgramError
from inkling.fitting.learn import Learned, learn
from inkling.fitting.refusals import Refusals
from inkling.fitting.settings import FitSettings, Moment
from inkling.io import Data
from inkling.local import run
from inkling.markov.model import Learner, Model
from inkling.model.clock import Measure
from inkling.model.time import Clock
from inkling.physical.runnable import Runnable
from inkling.scoring.baselines import baselines
from inkling.scoring.intervals import interval_scores
from inkling.scoring.outcomes import Outcomes, watched_outcomes
from inkling.scoring.scorecard import Scorecard, Scores
from inkling.scoring.tally import tallied
from inkling.trials.program import Subject, WatchingProgram, subjects_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THRESHOLD = 0.5
ORDERS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """How forecasts are tried; `until` or `share` end what is learned from, by time."""

    orders: tuple[int, ...] = ORDERS
    kind: Learner = "tree"
    until: Moment | None = None
    share: float | None = None
    threshold: float | None = None  # from which chance on a forecast counts as yes: CONFIDENCE, or a half
    censored: bool = False  # leave out forecasts that look past the end of their key

    def __post_init__(self) -> None:
        if any(type(order) is not int for order in self.orders):
            raise ValueError(f"orders are whole numbers, not {self.orders}")
        if not self.orders or min(self.orders) < 0 or len(set(self.orders)) < len(self.orders):
            raise ValueError(f"expected different orders of 0 or more, found {self.orders}")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"a threshold lies between 0 and 1, not at {self.threshold}")

    @property
    def fit(self) -> FitSettings:
        until, share = self.until, self.share
        return FitSettings(
            order=max(self.orders), kind=self.kind, until=until, share=0.5 if until is None and share is None else share
        )


class Watched(Protocol):
    """Forecasts beside the truth, wherever they are."""

    def cards(self, subject: Subject) -> Iterator[Scorecard]:
        """A card per order, then those of simple rules."""
        ...

    def close(self) -> None:
        """Free what was kept."""
        ...


def tried(
    program: Runnable,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    settings: TrialSettings | None = None,
    *,
    spark: SparkSession | None = None,
    models: Mapping[str, Model] | None = None,
    on_refused: Callable[[Refusals], None] | None = None,
) -> dict[str, Scores]:
    """Scores of every forecast of a program, by its name; `on_refused` is told of rows that took no part.

    Models are learned from rows up to a time. Forecasts are made over all rows, so that a key is known when its test
    begins, but only those count that were made later than that. If `models` are given, nothing is learned, and all
    forecasts count.
    """
    settings = settings or TrialSettings()
    subjects = subjects_of(program)
    if not subjects:
        raise ProgramError.of(
            "INK0619",
            "this program has no forecast, so there is nothing to score",
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
        learned, refused = replace(learned, clock=found.clock), Refusals.among(found.rejects)
        watched = _LocalWatch(watching, found.tables, learned, settings)
    else:
        from inkling.trials.on_spark import SparkWatch

        watched = SparkWatch.of(watching, spark, given, facts, learned, settings)
        refused = learned.refused if models is None else watched.refused()
    if refused and on_refused is not None:
        on_refused(refused)
    try:
        return {subject.name: _scores(subject, watched, learned, settings) for subject in subjects}
    finally:
        watched.close()


def orders_learned(models: Mapping[str, Model]) -> tuple[int, ...]:
    """The orders that models were learned with, as far as all of them allow."""
    deepest = min((model.counts.order for model in models.values()), default=0)
    return tuple(sorted({min(model.learning.order, deepest) for model in models.values()})) or ORDERS


def _learned_before(models: Mapping[str, Model], subjects: tuple[Subject, ...], settings: TrialSettings) -> Learned:
    """Models that are there already; the clock is that of the rows, which nobody has read yet."""
    if settings.until is not None or settings.share is not None:
        raise InputError.of(
            "INK0618",
            "models that are given are tried on all rows, so there is no part to learn from",
            helps=("leave out the models, or the end of what is learned from",),
        )
    wanted = {subject.forecast.model for subject in subjects}
    for name in sorted(wanted ^ models.keys()):
        what = f"the model `{name}` is missing" if name in wanted else f"the program has no model called `{name}`"
        raise InputError.of("INK0618", what, notes=(f"its forecasts read {', '.join(sorted(wanted))}",))
    for name, model in models.items():
        if max(settings.orders) > model.counts.order:
            raise InputError.of(
                "INK0618",
                f"`{name}` cannot be tried with order {max(settings.orders)}",
                notes=(f"it was learned with words for order {model.counts.order}",),
                helps=("ask for smaller orders",),
            )
    return Learned(dict(models), {}, None, None, Clock.TICKS, Refusals())


def span_of(subject: Subject, watching: WatchingProgram, clock: Clock) -> int | None:
    """How long a forecast within a duration looks ahead, in the units of its clock."""
    if subject.forecast.within is None:
        return None
    measure: Measure = measure_for(
        watching.plan, {name: clock for name in watching.streams if _is_stream(name, watching)}
    )
    return measure(subject.forecast.within)


def _is_stream(name: str, watching: WatchingProgram) -> bool:
    return any(stream.schema.name == name for stream in watching.plan.streams)


@dataclass(frozen=True, slots=True)
class _LocalWatch:
    """In this process."""

    watching: WatchingProgram
    tables: Mapping[str, Data]
    learned: Learned
    settings: TrialSettings

    def cards(self, subject: Subject) -> Iterator[Scorecard]:
        span = span_of(subject, self.watching, self.learned.clock)
        outcomes = {order: self._outcomes(subject, order) for order in self.settings.orders}
        for order, one in outcomes.items():
            yield self._card(f"order {order}", one, span, subject, order)
        # a rule speaks wherever the deepest model does
        deepest = outcomes[max(outcomes)]
        for name, ruled in baselines(deepest, given=subject.is_given, span=span).items():
            yield self._card(name, ruled, span, subject, None)

    def close(self) -> None:
        """Nothing was kept."""

    def _outcomes(self, subject: Subject, order: int) -> Outcomes:
        return watched_outcomes(self.tables[subject.watched(order)], subject.keys, after=self.learned.until)

    def _card(self, name: str, outcomes: Outcomes, span: int | None, subject: Subject, order: int | None) -> Scorecard:
        censored = self.settings.censored
        return Scorecard(
            name,
            tallied(outcomes, span=span, censored=censored),
            tallied(outcomes, span=span, censored=True, apart=True),
            order,
            None if span is not None or subject.is_given else interval_scores(outcomes),
        )


def _scores(subject: Subject, watched: Watched, learned: Learned, settings: TrialSettings) -> Scores:
    cards = tuple(watched.cards(subject))
    if not any(card.tally.n_forecasts for card in cards):
        raise InputError.of(
            "INK0620",
            f"no forecast of `{subject.name}` was made after the part that was learned from",
            notes=(f"models were learned from rows until {in_words(learned)}",),
            helps=("learn from less, with " + ("a smaller share" if settings.until is None else "an earlier time"),),
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


def in_words(learned: Learned) -> str:
    if learned.until is None:
        return "the end"
    if learned.clock is Clock.TICKS:
        return f"{learned.until}"
    return datetime.fromtimestamp(learned.until / 1_000_000, UTC).isoformat(sep=" ", timespec="seconds")[:19]


def _without_models(tables: Mapping[str, Data] | None, subjects: tuple[Subject, ...]) -> dict[str, Data]:
    models = {subject.forecast.model for subject in subjects}
    return {name: data for name, data in (tables or {}).items() if name not in models}
