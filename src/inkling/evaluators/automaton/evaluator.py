"""Automata on streams: all automata of a stage read the same batches, with one index of keys.

Ntoulias et al. (Wayeb), section 3.1: symbolic automata per key; here with the events of each match.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.automaton.events import RegularEvents
from inkling.evaluators.automaton.migration import RunningAutomata, migrated, step_since
from inkling.evaluators.automaton.state import RunsState, joined, only, renamed, without
from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.member import StageSetting, StepInput, StepOutput
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch
from inkling.evaluators.stage.rows.keys import KeyIndex, Owners, is_among, with_owners
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.kernels.automaton.order import any_tied
from inkling.logical.plan import EventPlan
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.checks import no_resets
from inkling.physical.plan import EventStep, Stage

SPARE_KEYS = 1024
"""The number of keys without open runs that the index may hold before they are cleared."""


@dataclass(frozen=True, slots=True)
class AutomataState:
    """The open runs of each automaton, and the index of their keys; steps change both in place."""

    automata: tuple[RunsState, ...]
    keys: KeyIndex

    def tidied(self) -> AutomataState:
        """The state with an index of only the keys that have open runs."""
        live = self._live_keys()
        return AutomataState(tuple(renamed(one, live) for one in self.automata), self.keys.only(live))

    def as_stored(self) -> StoredAutomata:
        """The stored form, without keys that have no open run."""
        live = self._live_keys()
        keys = self.keys.to_table().take(pa.array(live)) if len(live) else self.keys.schema.empty_table()
        return StoredAutomata(tuple(renamed(one, live) for one in self.automata), keys)

    @classmethod
    def from_stored(cls, stored: StoredAutomata) -> AutomataState:
        return cls(stored.automata, KeyIndex.from_table(stored.keys))

    def _live_keys(self) -> Ints:
        return reduce(np.union1d, [one.runs.key for one in self.automata], np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class StoredAutomata:
    """The stored form of automata: runs, and a table of keys in the order of their codes."""

    automata: tuple[RunsState, ...]
    keys: pa.Table


@dataclass(frozen=True, slots=True)
class AutomatonEvaluator:
    """Answers the regular events of a stage."""

    stage: Stage
    automata: tuple[RegularEvents, ...]
    owners: bool = False  # whether matches have the hashes of their keys

    @classmethod
    def of(cls, steps: Iterable[EventStep], setting: StageSetting) -> list[AutomatonEvaluator]:
        """One evaluator for all events whose automata fit into memory; the network answers the others."""
        made = cls(setting.stage, setting.engine.automata, setting.owners)
        if any(bit is not None for bit in setting.stage.resets):
            answered = {event.name for event in made.events}
            for step in steps:
                if step.event.name not in answered:
                    raise no_resets(step.event.name, "its automaton would not fit into memory")
        return [made] if made.automata else []

    @property
    def name(self) -> str:
        return Evaluator.AUTOMATON

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return tuple(step.event for automaton in self.automata for step in automaton.steps)

    @property
    def state_type(self) -> type[AutomataState]:
        return AutomataState

    @property
    def is_divisible(self) -> bool:
        return bool(self.stage.key_types)

    def start(self) -> AutomataState:
        return AutomataState(tuple(automaton.start() for automaton in self.automata), KeyIndex.of(self.stage))

    def step(self, state: AutomataState, given: StepInput, until: Moment) -> tuple[AutomataState, StepOutput]:
        after, found, ties = list(state.automata), dict[str, MatchBatch](), list[pa.Table]()
        local, codes = state.keys.local(given.rows)
        batch = event_batch(self.stage, given.rows, local)
        for number, (automaton, one) in enumerate(zip(self.automata, state.automata, strict=True)):
            fresh, tied = _without_ties(automaton, batch)
            if tied is not None:
                ties.append(tied)
            since = [given.since.get(step.event.name, -FOREVER) for step in automaton.steps] if given.since else []
            if max(since, default=-FOREVER) > given.after:
                after[number], results = step_since(automaton, one, _by_code(fresh, codes), since)
                named = codes[local]
            else:
                results = automaton.go_on(one, fresh, codes)
                named = local
            if self.owners:
                n_key_columns = len(self.stage.key_types)
                results = tuple(with_owners(some, given.rows, named, n_key_columns) for some in results)
            found.update({matches.event: matches for matches in results})
        kept = AutomataState(tuple(after), _tidied(state.keys, after))
        return kept, StepOutput(found, pa.concat_tables(ties) if ties else None)

    def split(self, state: AutomataState, owners: Owners) -> tuple[AutomataState, AutomataState]:
        codes = np.flatnonzero(is_among(state.keys.owners(), owners))
        theirs = AutomataState(tuple(only(one, codes) for one in state.automata), state.keys)
        others = AutomataState(tuple(without(one, codes) for one in state.automata), state.keys.copy())
        if not len(state.keys.schema):
            return replace(theirs, keys=KeyIndex(state.keys.schema)), others
        return theirs.tidied(), others

    def merge(self, left: AutomataState, right: AutomataState) -> AutomataState:
        keys = left.keys.copy()
        codes = keys.codes(right.keys.to_table()) if len(keys.schema) else np.zeros(1, np.int64)
        pairs = zip(left.automata, right.automata, strict=True)
        return AutomataState(tuple(joined(*pair, codes) for pair in pairs), keys)

    def copied(self, state: AutomataState) -> AutomataState:
        return AutomataState(tuple(one.copy() for one in state.automata), state.keys.copy())

    def migrated(self, state: AutomataState, before: AutomatonEvaluator, kept: Collection[str]) -> AutomataState:
        running = [RunningAutomata(*pair) for pair in zip(before.automata, state.automata, strict=True)]
        layout = RowMigration.between(before.stage, self.stage, kept)
        return AutomataState(tuple(migrated(one, running, kept, layout.events) for one in self.automata), state.keys)

    def n_kept(self, state: AutomataState) -> int:
        return sum(len(one.runs.key) for one in state.automata)


def _without_ties(automaton: RegularEvents, batch: EventBatch) -> tuple[EventBatch, pa.Table | None]:
    """The rows without those that ORDER BY leaves unordered with the row before, and these rows."""
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
    """The batch with key codes as keys, sorted by them."""
    named = replace(batch, key=codes[batch.key])
    return named.take(np.argsort(named.key, kind="stable"))


def _tidied(keys: KeyIndex, states: Sequence[RunsState]) -> KeyIndex:
    """The index without keys that have no open run, if there are many of them."""
    if len(keys) <= 2 * sum(state.n_keys for state in states) + SPARE_KEYS:
        return keys
    live = states[0].live_keys()
    for state in states[1:]:
        live = np.union1d(live, state.live_keys())
    for state in states:
        state.rename_keys(live)
    return keys.only(live)
