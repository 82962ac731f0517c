"""One model that goes on learning: counts that came since its last version, and when the next one is due."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.forecast.learning import ORDER
from inkling.evaluators.forecast.symbols import SymbolReader, symbol_words
from inkling.io.tables import typed_table
from inkling.logical.forecasts import COUNTED, model_table
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.markov.counts import WordCounts
from inkling.markov.gaps import GapCounts
from inkling.markov.model import GAP, WORD, Learning, Model
from inkling.model.batch import FOREVER
from inkling.physical.plan import EventStep
from inkling.runtime.adaptation.online import OnlineLearning

NO_TIME = -FOREVER


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A model, and what was counted since it was made."""

    model: Model
    words: WordCounts
    gaps: GapCounts
    since: int = NO_TIME  # the time up to which the model knows everything
    until: int = NO_TIME  # the time of the last one that was counted

    @classmethod
    def of(cls, model: Model) -> Learned:
        return cls(model, WordCounts.empty(model.counts.n_symbols, model.counts.order), GapCounts.empty())

    def and_counted(self, counted: pa.Table, times: tuple[int, int]) -> Learned:
        """The same after more was counted; rows are those of `COUNTED`."""
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

    def renewed(self, online: OnlineLearning) -> Learned:
        """The next version; what it kept of the last one weighs less."""
        model = self.model
        words = _sum(model.counts.scaled(online.forget), self.words)
        gaps = GapCounts.merged(model.gaps.scaled(online.forget), self.gaps) if len(model.gaps.count) else self.gaps
        how = model.learning if model.version else replace(online.how, order=words.order)
        renewed = replace(model, counts=words, gaps=gaps, learning=how, version=model.version + 1)
        return replace(Learned.of(renewed), since=self.until, until=self.until)

    @property
    def pending(self) -> pa.Table:
        """What was counted since the last version."""
        return pa.concat_tables([_marked(WORD, self.words.to_arrow()), _marked(GAP, self.gaps.to_arrow())])


def first_model(step: EventStep, reader: SymbolReader, online: OnlineLearning) -> Model:
    """The model that knows nothing, and of which nothing is said: version 0."""
    event = step.event
    assert event.forecast is not None
    n, order = reader.n_symbols, counting_order(event, online)
    nothing = Learning("full", 0)
    return Model(
        event.forecast.of,
        symbol_words(step, reader),
        reader.dfa.fingerprint,
        reader.dfa.n_states,
        WordCounts.empty(n, order),
        learning=nothing,
        version=0,
    )


def counting_order(event: EventPlan, online: OnlineLearning) -> int:
    """How far back words reach where no model says it."""
    assert event.forecast is not None
    told = [order for order in (online.order, event.forecast.order) if order is not None]
    return max(told, default=ORDER)


def as_table(name: str, model: Model) -> pa.Table:
    """A model as the facts of its table."""
    return typed_table(model_table(name), model.to_arrow())


def counts_of(counted: pa.Table, n_symbols: int, order: int) -> tuple[WordCounts, GapCounts]:
    """Counts from rows of `COUNTED`; they may have been counted further back."""
    what = counted["what"]
    words = counted.filter(pc.equal(what, WORD)).select(["group", "state", "length", "code", "count"])
    if not len(words):
        return WordCounts.empty(n_symbols, order), GapCounts.from_arrow(counted.filter(pc.equal(what, GAP)))
    deepest = max(order, pc.max(words["length"]).as_py() - 1)
    described = words.replace_schema_metadata({"n_symbols": str(n_symbols), "order": str(deepest)})
    return WordCounts.from_arrow(described).shallower(order), GapCounts.from_arrow(counted.filter(pc.equal(what, GAP)))


def _sum(before: WordCounts, more: WordCounts) -> WordCounts:
    """Both together; where nothing was counted there are no groups either."""
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
            for column in COUNTED
        }
    )
