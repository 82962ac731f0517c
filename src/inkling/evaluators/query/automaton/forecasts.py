"""Forecasts over a probable stream: the forecasts of a model, averaged over the distribution of its states.

A forecast depends on the state of its automaton together with the model's context: the state of the model's chain. The
forward pass keeps the probability of each such state (the belief), and the forecast is the mixture of the forecasts of
all states in these proportions. Times without an event leave the belief as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.strategy import Strategy
from inkling.errors import InputError
from inkling.evaluators.forecast.families import Families
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.evaluators.query.answers import answer_table, shown
from inkling.evaluators.query.automaton.forward import COMPILED, NO_RUNS, ForwardState, forward_by_key, has_whole_key
from inkling.evaluators.query.automaton.transitions import SymbolTables
from inkling.evaluators.query.probable_events import ProbableEvents, probable_events_of, stream_names, taken
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.keys import is_among
from inkling.evaluators.stage.rows.prepare import InputReader
from inkling.forecasting.models.contexts import NEVER
from inkling.io.normalize import ID
from inkling.io.normalize import START as TIME
from inkling.kernels.forecast.chains import FollowTables
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.forecasts import FORECAST
from inkling.logical.plan import EventPlan, Forecast, forecast_of
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.runs import changes
from inkling.model.schema import StreamSchema
from inkling.physical.plan import EventStep, Stage
from inkling.results import CHANCE, MARGIN

MOST_PLACES = 20_000
"""The most states of one model; the forward pass keeps a probability per state."""

CELLS_AT_ONCE = 1 << 23
"""The most probabilities in memory at once: rows of a block times states."""


@dataclass(frozen=True, slots=True, eq=False)
class ForecastStates:
    """States of a model's chain, distinguished by the number of earlier events as long as that number matters.

    A chain state issues forecasts only after `ready_after` events, so early on the same chain state has several of
    these states.
    """

    delta: Ints  # [state, symbol]; symbol 0 stands for no event
    state: Ints  # the chain states that can issue forecasts
    usable: Ints  # the states that can, in order of their chain states
    first: Ints  # of each chain state in `state`, its first place in `usable`
    n_states: int  # of the chain

    @classmethod
    def of(cls, chain: FollowTables, name: str) -> ForecastStates:
        cap = max(1, int(chain.ready_after[chain.ready_after < NEVER].max(initial=0)))
        width = cap + 1
        known = np.zeros(len(chain.state) * width, bool)
        fresh = np.zeros(1, np.int64)
        while len(fresh):
            known[fresh] = True
            if np.count_nonzero(known) > MOST_PLACES:
                raise InputError.of(
                    "INK0633",
                    f"the model of `{name}` is too large to forecast over an uncertain stream",
                    notes=(f"more than {MOST_PLACES:,} automaton states with their contexts would need a probability",),
                    helps=("use a smaller `ORDER n`",),
                )
            onward = _onward(chain, fresh, width)
            fresh = np.unique(onward[~known[onward]])
        codes = np.flatnonzero(known)  # the beginning, state 0 without events, comes first
        number = np.full(len(known), -1)
        number[codes] = np.arange(len(codes))
        state, seen = np.divmod(codes, width)
        usable = np.flatnonzero((seen >= 1) & (seen >= chain.ready_after[state]))
        states = state[usable]
        first = np.flatnonzero(changes(states))
        delta = np.column_stack([np.arange(len(codes)), number[_onward(chain, codes, width)]])
        return cls(np.ascontiguousarray(delta), states[first], usable, first, len(chain.state))

    @property
    def mark(self) -> int:
        return crc32(self.delta.astype("<i8").tobytes())

    @property
    def tables(self) -> SymbolTables:
        """The transition tables, for an automaton in which no match ends."""
        n_symbols, none = self.delta.shape[1], np.zeros(0, np.int64)
        return SymbolTables(
            none,
            np.zeros((0, 0), np.int64),
            self.delta,
            np.zeros(self.delta.shape, bool),
            np.zeros(n_symbols + 1, np.int64),
            none,
            none,
            np.zeros(0, bool),
            np.zeros(1, bool),
            np.zeros(len(self.delta), bool),
            np.zeros(1, bool),
        )

    def of_states(self, belief: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of each chain state, of those that can issue forecasts."""
        found = np.zeros((len(belief), self.n_states))
        if len(self.usable):
            found[:, self.state] = np.add.reduceat(belief[:, self.usable], self.first, axis=1)
        return found


def _onward(chain: FollowTables, codes: Ints, width: int) -> Ints:
    state, seen = np.divmod(codes, width)
    after = np.minimum(seen + 1, width - 1)
    return np.asarray(chain.target[state].astype(np.int64) * width + after[:, None], np.int64)


@dataclass(frozen=True, slots=True)
class BeliefState:
    """Per model the belief of its keys and a checksum of its states; and how many times each key has had.

    The checksum shows whether a restored state was written for the same model.
    """

    chains: Mapping[int, ForwardState] = field(default_factory=dict)
    marks: Mapping[int, int] = field(default_factory=dict)
    groundings: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))  # in order
    n_times: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def n_states(self) -> int:
        """How many entries of all models there are."""
        return sum(one.n_states for one in self.chains.values())

    @property
    def known(self) -> Hashes:
        return self.groundings

    def only(self, groundings: Hashes) -> BeliefState:
        """The state of some keys, given in ascending order."""
        mine = is_among(self.groundings, groundings)
        chains = {model: one.only(groundings) for model, one in self.chains.items()}
        return BeliefState(chains, self.marks, self.groundings[mine], self.n_times[mine])

    def merged(self, other: BeliefState) -> BeliefState:
        """The state of the keys of two states that have none in common."""
        chains = {**self.chains, **other.chains}
        for model in self.chains.keys() & other.chains.keys():
            chains[model] = self.chains[model].merged(other.chains[model])
        groundings = np.concatenate([self.groundings, other.groundings])
        order = np.argsort(groundings)
        n_times = np.concatenate([self.n_times, other.n_times])[order]
        return BeliefState(chains, {**self.marks, **other.marks}, groundings[order], n_times)


@dataclass(frozen=True)
class BeliefEvaluator:
    """Answers one FORECAST over a probable stream; `stage` reads the stream as if it were certain."""

    event: EventPlan
    strategy: Strategy
    schemas: Mapping[str, StreamSchema]
    context: ExpressionContext
    stage: Stage
    tables: Mapping[str, pa.Table]
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)
    _places: dict[int, ForecastStates] = field(default_factory=dict, compare=False, repr=False)

    @property
    def engine(self) -> BeliefEvaluator:
        return self

    @cached_property
    def step(self) -> EventStep:
        (step,) = self.stage.steps
        return step

    @cached_property
    def reader(self) -> SymbolReader:
        return SymbolReader.of(self.step, len(self.stage.inputs), self.stage.resets)

    @cached_property
    def families(self) -> Families:
        return Families.of(self.step, self.reader, self.tables[self.forecast.model], self.context.unit)

    @property
    def forecast(self) -> Forecast:
        return forecast_of(self.event)

    def groundings(self, source: str, rows: pa.Table) -> Hashes:
        return stream_names(self.schemas[source], rows)

    def start(self) -> BeliefState:
        return BeliefState()

    def advance(
        self, state: BeliefState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[BeliefState, pa.Table]:
        """The state and the forecasts after a block of complete times, later than all times before."""
        assert not exact, "models are made of floats"
        (source,) = self.strategy.query.sources
        rows, found = tables[source], []
        numbered = rows.append_column("@row", pa.array(np.arange(len(rows))))
        read = InputReader(self.stage, 0, self.tables, self.context)(numbered, keep_column="@row")
        words = [read[r.mask_name(word)].to_numpy().view(np.uint64) for word in range(r.n_masks(self.stage))]
        symbol = np.ones(len(rows), np.int64)
        symbol[read["@row"].to_numpy()] = self.reader.symbols_of(words) + 1
        for chosen in self._portions(rows):
            state, issued_columns = self._advance(state, rows.take(chosen), symbol[chosen.to_numpy()])
            found.append(issued_columns)
        return state, pa.concat_tables(found)

    def places(self, number: int) -> ForecastStates:
        """The states of one model."""
        if number not in self._places:
            self._places[number] = ForecastStates.of(self.families.member(number).follow, self.event.name)
        return self._places[number]

    def _portions(self, rows: pa.Table) -> Iterator[pa.Array]:
        """Rows in portions of whole times, few enough to keep the beliefs of each portion in memory."""
        most = max(1, CELLS_AT_ONCE // max(self._width(rows), 1))
        if len(rows) <= most:
            yield pa.array(np.arange(len(rows)))
            return
        time = rows[TIME].to_numpy()
        order = np.argsort(time, kind="stable")
        begins = np.flatnonzero(changes(time[order]))
        ends, at = np.append(begins[1:], len(order)), 0
        while at < len(order):
            until = int(ends[max(np.searchsorted(ends, at + most, side="right") - 1, np.searchsorted(ends, at + 1))])
            yield pa.array(np.sort(order[at:until]))
            at = until

    def _width(self, rows: pa.Table) -> int:
        return max((self.places(int(one)).delta.shape[0] for one in np.unique(self._models(rows))), default=0)

    def _models(self, rows: pa.Table) -> Ints:
        """The number of the model of each row."""
        if self.forecast.by is None:
            return np.zeros(len(rows), np.int64)
        coded = rows[self.forecast.by.name].combine_chunks().cast(pa.string()).fill_null("").dictionary_encode()
        return self.families.numbers(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def _advance(self, state: BeliefState, rows: pa.Table, symbol: Ints) -> tuple[BeliefState, pa.Table]:
        (source,) = self.strategy.query.sources
        events = probable_events_of(self.strategy.query, self.schemas, {source: rows}, canonical=False)
        first = events.row[events.offsets[np.searchsorted(events.stream, np.arange(events.n_streams))]]
        family = self._models(rows)[first]
        number, after_times = _counted(state, events)
        chains, marks, issued_columns = dict(state.chains), dict(state.marks), []
        whole = has_whole_key(events)
        for one in np.unique(family).tolist():
            groups, part = taken(events, family == one)
            places = self.places(one)
            before = chains.get(one, ForwardState.empty(len(places.delta), NO_RUNS))
            if marks.setdefault(one, places.mark) != places.mark:
                raise _another_model(self.event.name)
            found = forward_by_key(
                before, part, places.tables, symbol[part.row], NO_RUNS, keeps_belief=True, kernels=self.kernels
            )
            chains[one] = found.after
            belief = places.of_states(np.asarray(found.belief, np.float64))
            spoken = self.families.on(one, belief)
            issued = np.flatnonzero(spoken.issued & whole[events.stream[groups]])
            columns = spoken.columns(issued.astype(np.int32), distribution=self.forecast.distribution)
            columns["event_number"] = pa.array(number[groups[issued]])
            issued_columns.append(self._table(rows, events, groups[issued], columns))
        groundings, counts = after_times
        table = pa.concat_tables(issued_columns) if issued_columns else self._nothing(rows)
        return BeliefState(chains, marks, groundings, counts), table

    def _table(
        self, rows: pa.Table, events: ProbableEvents, groups: Ints, issued_columns: Mapping[str, pa.Array]
    ) -> pa.Table:
        likeliest = rows.take(pa.array(events.row[_likeliest(events)[groups]]))
        columns: dict[str, pa.Array] = {}
        for output in self.event.head:
            is_forecast = isinstance(output.expr, e.ColumnOf) and output.expr.slot == FORECAST
            value = issued_columns[output.name] if is_forecast else shown(output.expr, likeliest, self.context)
            columns[output.name] = value.cast(ARROW_TYPES[output.type])
        time = events.time[groups]
        grounding = events.name[events.stream[groups]]
        return answer_table(
            columns,
            likeliest[ID],
            grounding=grounding,
            head=grounding,
            end=time,
            known=time,
            start=time,
            chance=issued_columns[CHANCE],
            error=issued_columns[MARGIN],
        )

    def _nothing(self, rows: pa.Table) -> pa.Table:
        shown_columns = {output.name: pa.array([], ARROW_TYPES[output.type]) for output in self.event.head}
        names, times, reals = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0)
        return answer_table(
            shown_columns, rows[ID].slice(0, 0), grounding=names, head=names, end=times, known=times, start=times,
            chance=reals, error=reals,
        )  # fmt: skip


def _counted(state: BeliefState, events: ProbableEvents) -> tuple[Ints, tuple[Hashes, Ints]]:
    """The number of each group among the groups of its key; all keys, and how many groups each has had by now."""
    first = np.searchsorted(events.stream, np.arange(events.n_streams + 1))
    place = np.minimum(np.searchsorted(state.groundings, events.name), max(len(state.groundings) - 1, 0))
    before = np.zeros(events.n_streams, np.int64)
    if len(state.groundings):
        known = state.groundings[place] == events.name
        before[known] = state.n_times[place[known]]
    number = before[events.stream] + np.arange(events.n_groups) - first[events.stream] + 1
    others = ~np.isin(state.groundings, events.name)
    groundings = np.concatenate([state.groundings[others], events.name])
    counts = np.concatenate([state.n_times[others], before + np.diff(first)])
    order = np.argsort(groundings)
    return number, (groundings[order], counts[order])


def _likeliest(events: ProbableEvents) -> Ints:
    """The most probable row of each group, given whatever value before; of equally probable ones the first."""
    order = np.lexsort((events.row, -events.chance, events.group))
    return order[events.offsets[:-1]]


def _another_model(event: str) -> InputError:
    return InputError.of(
        "INK0631",
        f"`{event}` cannot continue with a model that uses other past events",
        notes=("over uncertain streams, the state depends on the model and on ORDER",),
        helps=("start again, without the old state, to use this model",),
    )
