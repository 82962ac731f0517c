"""A stage step by step: what arrives in time order is decided as soon as nothing later can change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.choice import Evaluator
from inkling.analysis.lag import lag_of, settled_after, waiting_time
from inkling.analysis.window import total_horizon
from inkling.evaluators.automaton.carry import renamed
from inkling.evaluators.automaton.evaluator import AutomatonCarry, AutomatonEvaluator
from inkling.evaluators.automaton.takeover import step_since
from inkling.evaluators.consumption.carry import ConsumptionCarry
from inkling.evaluators.forecast.carry import ForecastCarry
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch, in_one_piece, key_codes
from inkling.evaluators.stage.closing import ClosingRows
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.keys import KeyBook
from inkling.evaluators.stage.needed import NeededRows
from inkling.evaluators.stage.owners import with_owners
from inkling.evaluators.stage.resets import without_resets
from inkling.evaluators.windows.carry import WindowCarry
from inkling.kernels.order import any_tied
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import Per, ProgramPlan, Sliding
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.plan import EventStep
from inkling.physical.resets import no_resets

MANY_CHUNKS = 64
SPARE_ROWS = 256
SPARE_KEYS = 1024
"""So many keys without open matches may stay in the book before it is tidied."""


@dataclass(frozen=True, slots=True)
class StageState:
    """Rows that may still be part of a result, the automata's open runs, and the time decided so far.

    A step uses the state up: its book of keys goes over into the next one.
    """

    rows: pa.Table
    automata: tuple[AutomatonCarry, ...]
    keys: KeyBook
    until: int
    since: Mapping[str, int] = field(default_factory=dict)  # of events that do not see rows which end by then
    n_trimmed: int = 0  # rows that were left when those that cannot matter any more were last cleared away
    windows: Mapping[str, WindowCarry] = field(default_factory=dict)  # by event
    waiting: Mapping[str, ConsumptionCarry] = field(default_factory=dict)  # by event
    forecasts: Mapping[str, ForecastCarry] = field(default_factory=dict)  # by event

    def as_stored(self) -> StoredStage:
        """The same; keys without open runs are as good as forgotten."""
        live = reduce(np.union1d, [carry.runs.key for carry in self.automata], np.empty(0, np.int64))
        keys = self.keys.to_table().take(pa.array(live)) if len(live) else self.keys.schema.empty_table()
        values = {name: getattr(self, name) for name in StoredStage.__slots__}
        return StoredStage(**{**values, "automata": tuple(renamed(one, live) for one in self.automata), "keys": keys})

    @classmethod
    def from_stored(cls, stored: StoredStage) -> StageState:
        values = {name: getattr(stored, name) for name in StoredStage.__slots__}
        return cls(**{**values, "keys": KeyBook(stored.keys.schema, stored.keys)})


@dataclass(frozen=True, slots=True)
class StoredStage:
    """The state of a stage as it is written: with a table of keys, in the order of their codes."""

    rows: pa.Table
    automata: tuple[AutomatonCarry, ...]
    keys: pa.Table
    until: int
    since: Mapping[str, int]
    n_trimmed: int
    windows: Mapping[str, WindowCarry]
    waiting: Mapping[str, ConsumptionCarry]
    forecasts: Mapping[str, ForecastCarry]


@dataclass(frozen=True, slots=True)
class Stepped:
    """What one step found: results per event, and rows that `ORDER BY` does not tell apart from the row before."""

    matches: Mapping[str, MatchBatch]
    tied: pa.Table


class StageStepper:
    """Drives the evaluators of a stage over batches of rows that arrive in time order.

    The rows of a step hold every event that ends after the previous step's `until` and not after this one's. The
    results of all steps together do not depend on how the events were cut into steps.

    The results of an event that reads waiting events come with a lag, so that no event is thought absent which is
    only not known yet; and results that another match may still change are held back until it cannot. With `owners`,
    results say whose they are.
    """

    def __init__(
        self, engine: StageEngine, program: ProgramPlan, around: Surroundings, *, owners: bool = False
    ) -> None:
        self._engine = engine
        self._owners = owners
        by_automata = {step.event.name for automaton in engine.automata for step in automaton.steps}
        self._windows = {
            step.event.name: engine.window(step, owners=owners) for step in engine.stage.steps if _slides(step)
        }
        self._consuming = {
            step.event.name: engine.consuming(step, owners=owners)
            for step in engine.stage.steps
            if _consumes(step) and step.event.name not in engine.recursive
        }
        if any(bit is not None for bit in engine.stage.resets):
            for step in engine.stage.steps:
                if step.evaluator is Evaluator.AUTOMATON and step.event.name not in by_automata:
                    raise no_resets(step.event.name, "its automaton would not fit into memory")
        self._forecasts = {
            step.event.name: engine.forecasting(step, owners=owners)
            for step in engine.stage.steps
            if step.event.forecast is not None
        }
        elsewhere = by_automata | set(self._windows) | set(self._consuming) | set(self._forecasts)
        self._network = [step for step in engine.stage.steps if step.event.name not in elsewhere]
        self._lags = {step.event.name: lag_of(step.event, program, around.measure) for step in self._network}
        self._settles = {step.event.name: settled_after(step.event, program, around.measure) for step in self._network}
        waits = [waiting_time(step.event, program, around.measure) for step in self._network]
        self._reach = max((hold + wait for hold, wait in zip(self._settles.values(), waits, strict=True)), default=0)
        horizon = total_horizon([step.event for step in self._network], around.measure)
        self._sums_up = any(step.event.per is Per.VALUES for step in self._network)
        behind = max(self._settles.values(), default=0)
        self._horizon = None if horizon is None or self._sums_up else horizon + behind
        at_once = {name for name, lag in self._lags.items() if not lag and not self._settles[name]}
        at_once -= {step.event.name for step, wait in zip(self._network, waits, strict=True) if wait}
        at_once -= {step.event.name for step in self._network if step.event.per is Per.VALUES}
        self._closing = ClosingRows(engine.stage, self._network, frozenset(at_once))
        self._needed = NeededRows(self._network)
        self._nothing: dict[str, MatchBatch] = {}  # no results, per event
        self._window_lags = {
            step.event.name: lag_of(step.event, program, around.measure)
            for step in engine.stage.steps
            if _slides(step) or _consumes(step)
        }
        self._fed_by_automata = tuple(
            name for name in sorted(elsewhere) if any(one.source == name for one in engine.stage.inputs)
        )
        identity = r.stage_schema(engine.stage).field(r.ID)
        ties = pa.schema([pa.field(r.SOURCE, pa.int16()), pa.field(r.END, pa.int64()), identity])
        self._no_ties = ties.empty_table()

    @property
    def engine(self) -> StageEngine:
        return self._engine

    def start(self) -> StageState:
        empty = r.stage_schema(self._engine.stage).empty_table()
        carries = tuple(automaton.start() for automaton in self._engine.automata)
        return StageState(empty, carries, KeyBook.of(self._engine.stage), -FOREVER)

    def step(self, state: StageState, rows: pa.Table, until: int) -> tuple[StageState, Stepped]:
        """Results that are settled by `until` and were not before; the rows end by then."""
        found: dict[str, MatchBatch] = {}
        carries: tuple[AutomatonCarry, ...] = ()
        keys, tied = state.keys, self._no_ties
        if self._engine.automata:
            carries, keys, tied = self._run_automata(state, rows, found)
        windows = self._run_windows(state, rows, until, found)
        waiting = self._run_consuming(state, rows, until, found)
        forecasts = self._run_forecasts(state, rows, found)
        if not self._network:
            after = StageState(state.rows, carries, keys, until, state.since, 0, windows, waiting, forecasts)
            return after, Stepped(found, tied)
        rows, _ = without_resets(self._engine.stage, rows)
        if self._engine.automata or windows or waiting or forecasts:
            rows = rows.filter(pa.array(self._needed.among(rows)))
        derived = [self._engine.derived_rows(name, found[name]) for name in self._fed_by_automata]
        fresh = pa.concat_tables([rows, *derived]) if derived else rows
        kept = pa.concat_tables([state.rows, fresh]) if len(fresh) else state.rows
        closing = self._closing.among(fresh)
        if self._closing.can_tell and not closing.any() and self._nothing:
            found |= self._nothing
        else:
            self._run_network(state, kept, closing, until, found)
        retained, n_trimmed = self._retained(kept, until, state.n_trimmed)
        after = StageState(retained, carries, keys, until, state.since, n_trimmed, windows, waiting, forecasts)
        return after, Stepped(found, tied)

    def _run_windows(
        self, state: StageState, rows: pa.Table, until: int, found: dict[str, MatchBatch]
    ) -> dict[str, WindowCarry]:
        carries: dict[str, WindowCarry] = {}
        for name, window in self._windows.items():
            lag = self._window_lags[name]
            carries[name], found[name] = window.step(
                state.windows.get(name) or window.start(),
                rows,
                state.since.get(name, -FOREVER),
                _behind(state.until, lag),
                _behind(until, lag),
            )
        return carries

    def _run_consuming(
        self, state: StageState, rows: pa.Table, until: int, found: dict[str, MatchBatch]
    ) -> dict[str, ConsumptionCarry]:
        carries: dict[str, ConsumptionCarry] = {}
        for name, consuming in self._consuming.items():
            lag = self._window_lags[name]
            carries[name], found[name] = consuming.step(
                state.waiting.get(name) or consuming.start(),
                rows,
                state.since.get(name, -FOREVER),
                _behind(state.until, lag),
                _behind(until, lag),
            )
        return carries

    def _run_forecasts(
        self, state: StageState, rows: pa.Table, found: dict[str, MatchBatch]
    ) -> dict[str, ForecastCarry]:
        carries: dict[str, ForecastCarry] = {}
        for name, forecast in self._forecasts.items():
            since = state.since.get(name, -FOREVER)
            carries[name], found[name] = forecast.step(state.forecasts.get(name) or forecast.start(), rows, since)
        return carries

    def _run_automata(
        self, state: StageState, rows: pa.Table, found: dict[str, MatchBatch]
    ) -> tuple[tuple[AutomatonCarry, ...], KeyBook, pa.Table]:
        keys, carries = state.keys, list(state.automata)
        local, codes = keys.local(rows)
        batch = event_batch(self._engine.stage, rows, local)
        tied = [self._no_ties]
        for number, (automaton, carry) in enumerate(zip(self._engine.automata, carries, strict=True)):
            fresh, repeated = _without_ties(automaton, batch)
            if repeated is not None:
                tied.append(repeated)
            since = [state.since.get(step.event.name, -FOREVER) for step in automaton.steps] if state.since else []
            if max(since, default=-FOREVER) > state.until:
                carries[number], results = step_since(automaton, carry, _by_code(fresh, codes), since)
                named = codes[local]
            else:
                results = automaton.go_on(carry, fresh, codes)
                named = local
            if self._owners:
                results = tuple(with_owners(one, rows, named, len(self._engine.stage.key_types)) for one in results)
            found.update({matches.event: matches for matches in results})
        keys = _tidied(keys, carries)
        return tuple(carries), keys, tied[0] if len(tied) == 1 else pa.concat_tables(tied)

    def _run_network(
        self,
        state: StageState,
        kept: pa.Table,
        closing: NDArray[np.bool_],
        until: int,
        found: dict[str, MatchBatch],
    ) -> None:
        after = state.until
        rows = in_one_piece(kept)
        if self._closing.can_tell and after > -FOREVER:
            rows = _with_keys_of(rows, closing, len(self._engine.stage.key_types))
            codes, _ = key_codes(rows, len(self._engine.stage.key_types))
        else:
            codes, _ = key_codes(rows, len(self._engine.stage.key_types))
            if not (self._sums_up and until >= FOREVER):
                rows, codes = self._of_active_keys(rows, codes, after)
        base = event_batch(self._engine.stage, rows, codes)
        known = {name: _behind(until, lag) for name, lag in self._lags.items()}
        among_rows = frozenset(self._fed_by_automata)
        everything = self._engine.rest(rows, codes, base, dict(found), known, among_rows, state.since)
        for step in self._network:
            name = step.event.name
            hold = self._settles[name]
            found[name] = _fresh(step, everything[name], _behind(after, hold), _behind(until, hold))
            if self._owners:
                found[name] = with_owners(found[name], rows, codes, len(self._engine.stage.key_types))
        if not self._nothing:
            for step in self._network:
                name = step.event.name
                self._nothing[name] = replace(found[name].where(np.zeros(len(found[name]), bool)), place_words=None)

    def _of_active_keys(self, rows: pa.Table, codes: Ints, after: int) -> tuple[pa.Table, Ints]:
        """Rows of the keys about which something new can become known: with new rows, or with waits that may end."""
        if not len(rows) or after <= -FOREVER:
            return rows, codes
        moved = np.zeros(int(codes.max()) + 1, bool)
        moved[codes[_known(rows) > _behind(after, self._reach)]] = True
        if moved.all():
            return rows, codes
        chosen = moved[codes]
        left = np.cumsum(moved) - 1
        return rows.filter(pa.array(chosen)), left[codes[chosen]]

    def _retained(self, rows: pa.Table, until: int, n_trimmed: int) -> tuple[pa.Table, int]:
        """Rows that may still matter, and how many they were when the others were last cleared away.

        Looking through them costs more than keeping some that do not matter any more.
        """
        if until >= FOREVER:
            return rows.slice(0, 0), 0
        if rows.column(0).num_chunks > MANY_CHUNKS:
            rows = rows.combine_chunks()
        if self._horizon is None or len(rows) <= n_trimmed + n_trimmed // 4 + SPARE_ROWS:
            return rows, n_trimmed
        rows = rows.filter(pa.array(rows[r.END].to_numpy() >= until - self._horizon))
        return rows, len(rows)


def _with_keys_of(rows: pa.Table, closing: NDArray[np.bool_], n_key_columns: int) -> pa.Table:
    """Rows with a key that one of the last rows has that are marked."""
    if not n_key_columns:
        return rows
    first = len(rows) - len(closing)
    key = rows[r.key_name(0)]
    if n_key_columns == 1 and key.type == pa.int64() and not key.null_count:
        keys = key.to_numpy()
        wanted = keys[first:][closing]
        chosen = keys == wanted[0] if len(wanted) == 1 else np.isin(keys, wanted)
    else:
        codes, _ = key_codes(rows, n_key_columns)
        moved = np.zeros(int(codes.max(initial=-1)) + 1, bool)
        moved[codes[first:][closing]] = True
        chosen = moved[codes]
    return rows if chosen.all() else in_one_piece(rows.filter(pa.array(chosen)))


def _slides(step: EventStep) -> bool:
    """Whether an event is a window that forgets what it leaves behind."""
    return isinstance(step.event.pattern, Sliding) and step.event.pattern.since is None


def _consumes(step: EventStep) -> bool:
    """Whether an event uses up what it finds and says so at once."""
    return step.event.consumption is not None and step.event.per is not Per.VALUES


def _behind(time: int, lag: int) -> int:
    """A time with a lag; the end of all time has none."""
    return time if time >= FOREVER else max(time - lag, -FOREVER)


def _known(rows: pa.Table) -> Ints:
    """When each row was known; derived events may have waited."""
    ends = rows[r.END].to_numpy()
    if r.KNOWN not in rows.column_names:
        return np.asarray(ends)
    known = rows[r.KNOWN].combine_chunks()
    return np.where(known.is_valid(), known.fill_null(0).to_numpy(zero_copy_only=False), ends)


def _without_ties(automaton: AutomatonEvaluator, batch: EventBatch) -> tuple[EventBatch, pa.Table | None]:
    """The rows without those at the place of the row before, which are told apart; an order cannot have them."""
    if not any_tied(batch.key, batch.end, batch.end_place):
        return batch, None
    tied = automaton.ties(batch)
    if not tied.any():
        return batch, None
    rows = np.flatnonzero(tied)
    ids = batch.ids.take(pa.array(batch.id_offsets[rows]))
    return batch.take(np.flatnonzero(~tied)), pa.table(
        {r.SOURCE: batch.source[rows], r.END: batch.end[rows], r.ID: ids}
    )


def _by_code(batch: EventBatch, codes: Ints) -> EventBatch:
    """The same rows, keys under their codes and sorted by them."""
    named = replace(batch, key=codes[batch.key])
    return named.take(np.argsort(named.key, kind="stable"))


def _tidied(keys: KeyBook, carries: Sequence[AutomatonCarry]) -> KeyBook:
    """Keys without an open match are forgotten once there are many of them."""
    if len(keys) <= 2 * sum(carry.n_keys for carry in carries) + SPARE_KEYS:
        return keys
    live = carries[0].live_keys()
    for carry in carries[1:]:
        live = np.union1d(live, carry.live_keys())
    for carry in carries:
        carry.rename_keys(live)
    return keys.only(live)


def _fresh(step: EventStep, matches: MatchBatch, after: int, until: int) -> MatchBatch:
    """What was not reported before; `PER VALUES` waits for the end, when its start and end are settled."""
    if not len(matches):
        return matches
    if step.event.per is Per.VALUES:
        return matches.where(np.full(len(matches), until >= FOREVER))
    return matches.where((matches.detected_at > after) & (matches.detected_at <= until))
