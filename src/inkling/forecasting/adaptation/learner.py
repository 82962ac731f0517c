"""Online learning of one model: counts since its last version, and when the next version is due."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.forecast.learning import ORDER
from inkling.evaluators.forecast.symbols import SymbolReader, symbol_words
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.gaps import GapCounts
from inkling.forecasting.models.model import GAP, WORD, ForecastModel, Learning, counts_in
from inkling.io.tables import typed_table
from inkling.logical.forecasts import COUNT_COLUMNS, model_table
from inkling.logical.plan import EventPlan, forecast_of
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import FOREVER
from inkling.physical.plan import EventStep

NO_TIME = -FOREVER


@dataclass(frozen=True, slots=True, eq=False)
class ModelCounts:
    """A model, and the counts since its version was made."""

    model: ForecastModel
    words: WordCounts
    gaps: GapCounts
    since: int = NO_TIME  # the time up to which the model includes all events
    until: int = NO_TIME  # the time of the last counted event

    @classmethod
    def of(cls, model: ForecastModel) -> ModelCounts:
        return cls(model, WordCounts.empty(model.counts.n_symbols, model.counts.order), GapCounts.empty())

    def and_counted(self, counted: pa.Table, times: tuple[int, int]) -> ModelCounts:
        """Adds counts, a table with the columns `COUNT_COLUMNS`."""
        words, gaps = counts_of(counted, self.model.counts.n_symbols, self.model.counts.order)
        first, last = times
        return replace(
            self,
            words=_sum(self.words, words),
            gaps=GapCounts.merged(self.gaps, gaps) if len(self.gaps.count) else gaps,
            since=first if self.since == NO_TIME else self.since,
            until=max(self.until, last),
        )

    def is_due(self, online: OnlineLearning) -> bool:
        return online.passed(self.words.n_events, self.until - self.since)

    def renewed(self, online: OnlineLearning) -> ModelCounts:
        """The next version; the counts of the last version are scaled by the forgetting factor."""
        model = self.model
        words = _sum(model.counts.scaled(online.forget), self.words)
        gaps = GapCounts.merged(model.gaps.scaled(online.forget), self.gaps) if len(model.gaps.count) else self.gaps
        how = model.learning if model.version else replace(online.how, order=words.order)
        renewed = replace(model, counts=words, gaps=gaps, learning=how, version=model.version + 1)
        return replace(ModelCounts.of(renewed), since=self.until, until=self.until)

    @property
    def pending(self) -> pa.Table:
        """The counts since the last version."""
        return pa.concat_tables([_marked(WORD, self.words.to_arrow()), _marked(GAP, self.gaps.to_arrow())])


def first_model(step: EventStep, reader: SymbolReader, online: OnlineLearning) -> ForecastModel:
    """The empty model, version 0, which makes no forecasts."""
    event = step.event
    n, order = reader.n_symbols, counting_order(event, online)
    nothing = Learning("full", 0)
    return ForecastModel(
        forecast_of(event).of,
        symbol_words(step, reader),
        reader.dfa.fingerprint,
        reader.dfa.n_states,
        WordCounts.empty(n, order),
        learning=nothing,
        version=0,
    )


def counting_order(event: EventPlan, online: OnlineLearning) -> int:
    """The order of counting if there is no model yet."""
    orders = [order for order in (online.order, forecast_of(event).order) if order is not None]
    return max(orders, default=ORDER)


def as_table(name: str, model: ForecastModel) -> pa.Table:
    """A model as a table of the program."""
    return typed_table(model_table(name), model.to_arrow())


def counts_of(counted: pa.Table, n_symbols: int, order: int) -> tuple[WordCounts, GapCounts]:
    """Counts at an order, from a table with the columns `COUNT_COLUMNS` of this or a larger order."""
    longest = pc.max(counted["length"]).as_py() or 0
    words, gaps = counts_in(counted, n_symbols, max(order, longest - 1))
    return words.shallower(order), gaps


def _sum(before: WordCounts, more: WordCounts) -> WordCounts:
    """The sum of counts; empty counts have no groups."""
    return WordCounts.merged(before, more) if len(before.code) else more


def _marked(what: str, counted: pa.Table) -> pa.Table:
    n = len(counted)
    return pa.table(
        {
            column.name: pa.repeat(pa.scalar(what), n)
            if column.name == "what"
            else counted[column.name].cast(ARROW_TYPES[column.type])
            if column.name in counted.column_names
            else pa.nulls(n, ARROW_TYPES[column.type])
            for column in COUNT_COLUMNS
        }
    )
