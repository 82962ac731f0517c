"""The explanation of a forecast: its state and context, what was counted there, and what may follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.forecast.families import Families
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.counts import code_of
from inkling.forecasting.models.model import ForecastModel
from inkling.forecasting.models.prediction_tree import CounterTree
from inkling.io import Data
from inkling.logical import plan as p
from inkling.logical.forecasts import DISTRIBUTION, PLACE_COLUMNS, placed_plan
from inkling.model.batch import MatchBatch
from inkling.physical.plan import EventStep, Runnable, Stage
from inkling.physical.planner import plan_program
from inkling.results import result_table
from inkling.why.explanation import Why
from inkling.why.progress import PatternProgress, answers, needed_part, progress_of
from inkling.why.trees import Derivation


@dataclass(frozen=True, slots=True)
class NextEvent:
    """What may come next: a kind of event, how often it came in the training data, and its probability."""

    kind: str
    count: float
    probability: float


@dataclass(frozen=True, slots=True)
class ForecastReasons:
    """Why a forecast is what it is.

    `distance` is the least number of events to a detection, and `context` the kinds of the last events that the model
    looks at, oldest first. `waiting` has the probability of the next detection with the first event from now, the
    second, ….
    """

    event: str  # the event that is forecast
    state: int  # of its automaton
    distance: int
    context: tuple[str, ...]
    group: str | None  # whose model it is; None for the model of all
    next: tuple[NextEvent, ...]
    waiting: tuple[float, ...]


class ForecastWhy(Why):
    """Why a forecast was made as it was; made by `Program.why`."""

    def __init__(
        self, program: Runnable, event: str, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None = None
    ) -> None:
        super().__init__(program, event, inputs, tables)
        self._placed = placed_plan(self._event)
        subject = program.plan.event(p.forecast_of(self._event).of)
        assert subject is not None
        self._subject, self._subject_plan = subject, needed_part(program.plan, subject)

    @cached_property
    def progress(self) -> PatternProgress:
        """How far the pattern of the event that is forecast got, part by part."""
        return progress_of(self._subject, self._subject_plan, self._ingested)

    @cached_property
    def results(self) -> pa.Table:
        """The forecasts that a run reports, in the public columns."""
        return self._with_places.drop_columns([column.name for column in PLACE_COLUMNS])

    def tree(self, number: int = 1) -> Derivation:
        """The event after which a forecast was made: forecasts follow from it and from their model."""
        self._require(number)
        row = self.results.slice(number - 1, 1).to_pylist()[0]
        head = {output.name: row[output.name] for output in self._event.head if output.name != DISTRIBUTION.name}
        return Derivation(self._event.name, head, row["start"], row["end"], tuple(row["lineage"]))

    def reasons(self, number: int = 1) -> ForecastReasons:
        """The reasons for a forecast, by its number from 1 in `results`."""
        self._require(number)
        family, row = (int(self._with_places[column.name][number - 1].as_py()) for column in PLACE_COLUMNS)
        model = self._families.model
        group = model.counts.group[family - 1] if family else None
        chain = MarkovChain.of(self._reader.delta, self._reader.dfa.final, model.contexts(group))
        state = int(chain.state[row])
        word = _context(model, chain, row)
        counts = _followers(model, state, word)
        following = [
            NextEvent(*one) for one in zip(model.alphabet, counts.tolist(), chain.weight[row].tolist(), strict=True)
        ]
        return ForecastReasons(
            p.forecast_of(self._event).of,
            state,
            int(chain.distance[row]),
            tuple(model.alphabet[symbol] for symbol in word),
            group,
            tuple(sorted(following, key=lambda one: -one.probability)),
            tuple(self._families.member(family).table.times[row].tolist()),
        )

    @cached_property
    def _with_places(self) -> pa.Table:
        return result_table(self._placed, self._matches[self._event.name], self._ingested.unit.clock)

    @cached_property
    def _matches(self) -> Mapping[str, MatchBatch]:
        return answers(self._placed_program, self._ingested)

    @property
    def _placed_program(self) -> p.ProgramPlan:
        events = tuple(self._placed if one.name == self._event.name else one for one in self._plan.events)
        return replace(self._plan, events=events)

    @cached_property
    def _reader(self) -> SymbolReader:
        stage, step = self._step
        return SymbolReader.of(step, len(stage.inputs), stage.resets)

    @cached_property
    def _families(self) -> Families:
        _, step = self._step
        table = self._ingested.facts[p.forecast_of(self._event).model]
        return Families.of(step, self._reader, table, self._ingested.context.unit)

    @cached_property
    def _step(self) -> tuple[Stage, EventStep]:
        stages = plan_program(self._plan).stages
        return next((stage, one) for stage in stages for one in stage.steps if one.event.name == self._event.name)


def _context(model: ForecastModel, chain: MarkovChain, row: int) -> tuple[int, ...]:
    """The last symbols that decide about the next one."""
    context = int(chain.context[row])
    if model.learning.kind == "full":
        return chain.contexts.words()[context]
    return model.tree().words()[int(chain.contexts.node[context])]


def _followers(model: ForecastModel, state: int, word: tuple[int, ...]) -> NDArray[np.float64]:
    """How often each symbol followed a word; with a full-order model, in a state of the automaton."""
    counts = model.counts.total().shallower(model.learning.order)
    if model.learning.kind == "full":
        here = counts.state == state
        columns = ("group_of", "state", "length", "code", "count")
        counts = replace(counts, **{name: getattr(counts, name)[here] for name in columns})
    code = np.array([code_of(word, counts.n_symbols)], np.int64)
    return np.asarray(CounterTree.of(counts).followers(len(word), code)[0], np.float64)
