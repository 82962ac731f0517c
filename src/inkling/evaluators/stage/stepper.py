"""A stage step by step: what arrives in time order is decided as soon as nothing later can change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.lag import lag_of, waiting_time
from inkling.analysis.window import total_horizon
from inkling.evaluators.automaton.evaluator import AutomatonCarry, AutomatonEvaluator
from inkling.evaluators.automaton.takeover import step_since
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch, key_codes
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.keys import KeyBook
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import Per, ProgramPlan
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.plan import EventStep

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


@dataclass(frozen=True, slots=True)
class Stepped:
    """What one step found: results per event, and rows that `ORDER BY` does not tell apart from the row before."""

    matches: Mapping[str, MatchBatch]
    tied: pa.Table


class StageStepper:
    """Drives the evaluators of a stage over batches of rows; see `evaluators.base.Stepper`.

    The results of an event that reads waiting events come with a lag, so that no event is thought absent which is
    only not known yet.
    """

    def __init__(self, engine: StageEngine, program: ProgramPlan, around: Surroundings) -> None:
        self._engine = engine
        by_automata = {step.event.name for automaton in engine.automata for step in automaton.steps}
        self._network = [step for step in engine.stage.steps if step.event.name not in by_automata]
        self._lags = {step.event.name: lag_of(step.event, program, around.measure) for step in self._network}
        waits = [waiting_time(step.event, program, around.measure) for step in self._network]
        self._reach = max((lag + wait for lag, wait in zip(self._lags.values(), waits, strict=True)), default=0)
        horizon = total_horizon([step.event for step in self._network], around.measure)
        self._sums_up = any(step.event.per is Per.VALUES for step in self._network)
        self._horizon = None if horizon is None or self._sums_up else horizon + max(self._lags.values(), default=0)
        self._fed_by_automata = tuple(
            name for name in sorted(by_automata) if any(one.source == name for one in engine.stage.inputs)
        )

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
        keys, tied = state.keys, rows.slice(0, 0)
        if self._engine.automata:
            carries, keys, tied = self._run_automata(state, rows, found)
        if not self._network:
            return StageState(state.rows, carries, keys, until, state.since), Stepped(found, tied)
        derived = [self._engine.derived_rows(name, found[name]) for name in self._fed_by_automata]
        kept = pa.concat_tables([state.rows, rows, *derived])
        self._run_network(state, kept, until, found)
        return StageState(self._retained(kept, until), carries, keys, until, state.since), Stepped(found, tied)

    def _run_automata(
        self, state: StageState, rows: pa.Table, found: dict[str, MatchBatch]
    ) -> tuple[tuple[AutomatonCarry, ...], KeyBook, pa.Table]:
        keys, carries = state.keys, list(state.automata)
        local, codes = keys.local(rows)
        batch = event_batch(self._engine.stage, rows, local)
        tied = [_no_ties(rows)]
        for number, (automaton, carry) in enumerate(zip(self._engine.automata, carries, strict=True)):
            fresh, repeated = _without_ties(automaton, batch)
            if repeated is not None:
                tied.append(repeated)
            since = [state.since.get(step.event.name, -FOREVER) for step in automaton.steps] if state.since else []
            if max(since, default=-FOREVER) > state.until:
                carries[number], results = step_since(automaton, carry, _by_code(fresh, codes), since)
            else:
                results = automaton.go_on(carry, fresh, codes)
            found.update({matches.event: matches for matches in results})
        keys = _tidied(keys, carries)
        return tuple(carries), keys, tied[0] if len(tied) == 1 else pa.concat_tables(tied)

    def _run_network(self, state: StageState, kept: pa.Table, until: int, found: dict[str, MatchBatch]) -> None:
        after = state.until
        codes, _ = key_codes(kept, len(self._engine.stage.key_types))
        rows = kept.combine_chunks()
        if not (self._sums_up and until >= FOREVER):
            rows, codes = self._of_active_keys(rows, codes, after)
        base = event_batch(self._engine.stage, rows, codes)
        settled = {name: _behind(until, lag) for name, lag in self._lags.items()}
        among_rows = frozenset(self._fed_by_automata)
        everything = self._engine.rest(rows, codes, base, dict(found), settled, among_rows, state.since)
        for step in self._network:
            name = step.event.name
            found[name] = _fresh(step, everything[name], _behind(after, self._lags[name]), until)

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

    def _retained(self, rows: pa.Table, until: int) -> pa.Table:
        if until >= FOREVER:
            return rows.slice(0, 0)
        if self._horizon is None:
            return rows
        return rows.filter(pa.array(rows[r.END].to_numpy() >= until - self._horizon))


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
    if len(batch) < 2:
        return batch, None
    tied = automaton.ties(batch)
    if not tied.any():
        return batch, None
    rows = np.flatnonzero(tied)
    ids = batch.ids.take(pa.array(batch.id_offsets[rows]))
    return batch.take(np.flatnonzero(~tied)), pa.table(
        {r.SOURCE: batch.source[rows], r.END: batch.end[rows], r.ID: ids}
    )


def _no_ties(rows: pa.Table) -> pa.Table:
    schema = pa.schema([(r.SOURCE, pa.int16()), (r.END, pa.int64()), (r.ID, rows.schema.field(r.ID).type)])
    return schema.empty_table()


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
    if step.event.per is Per.VALUES:
        return matches.where(np.full(len(matches), until >= FOREVER))
    return matches.where(matches.detected_at > after)
