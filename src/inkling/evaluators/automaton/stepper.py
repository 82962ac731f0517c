"""All automata of a stage from batch to batch: they read one batch of events, under one book of keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.automaton.carry import AutomatonCarry, joined, only, renamed, without
from inkling.evaluators.automaton.evaluator import AutomatonEvaluator
from inkling.evaluators.automaton.takeover import Running, carried_over, step_since
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch
from inkling.evaluators.stage.chosen import Chosen
from inkling.evaluators.stage.keys import KeyBook
from inkling.evaluators.stage.layout import Layout
from inkling.evaluators.stage.owners import is_among, with_owners
from inkling.evaluators.stage.protocol import Arrived, Setting
from inkling.kernels.order import any_tied
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.plan import EventStep, Stage
from inkling.physical.resets import no_resets

SPARE_KEYS = 1024
"""So many keys without open matches may stay in the book before it is tidied."""


@dataclass(frozen=True, slots=True)
class AutomataCarry:
    """The open runs of each automaton, whose keys are in the book; a step changes both in place."""

    automata: tuple[AutomatonCarry, ...]
    keys: KeyBook

    @property
    def n_kept(self) -> int:
        return sum(len(one.runs.key) for one in self.automata)

    def copied(self) -> AutomataCarry:
        return AutomataCarry(tuple(one.copy() for one in self.automata), self.keys.copy())

    def where(self, chosen: Chosen) -> AutomataCarry:
        codes = np.flatnonzero(is_among(self.keys.owners(), chosen.owners))
        if chosen.others:
            return AutomataCarry(tuple(without(one, codes) for one in self.automata), self.keys.copy())
        some = AutomataCarry(tuple(only(one, codes) for one in self.automata), self.keys)
        return some.tidied() if len(self.keys.schema) else replace(some, keys=KeyBook(self.keys.schema))

    def merged(self, other: AutomataCarry) -> AutomataCarry:
        keys = self.keys.copy()
        codes = keys.codes(other.keys.to_table()) if len(keys.schema) else np.zeros(1, np.int64)
        pairs = zip(self.automata, other.automata, strict=True)
        return AutomataCarry(tuple(joined(*pair, codes) for pair in pairs), keys)

    def tidied(self) -> AutomataCarry:
        """The same with a book of the keys that have open runs."""
        live = self._live_keys()
        return AutomataCarry(tuple(renamed(one, live) for one in self.automata), self.keys.only(live))

    def as_stored(self) -> StoredAutomata:
        """The same; keys without open runs are as good as forgotten."""
        live = self._live_keys()
        keys = self.keys.to_table().take(pa.array(live)) if len(live) else self.keys.schema.empty_table()
        return StoredAutomata(tuple(renamed(one, live) for one in self.automata), keys)

    @classmethod
    def from_stored(cls, stored: StoredAutomata) -> AutomataCarry:
        return cls(stored.automata, KeyBook.from_table(stored.keys))

    def _live_keys(self) -> Ints:
        return reduce(np.union1d, [one.runs.key for one in self.automata], np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class StoredAutomata:
    """What automata keep as it is written: with a table of keys, in the order of their codes."""

    automata: tuple[AutomatonCarry, ...]
    keys: pa.Table


@dataclass(frozen=True, slots=True)
class AutomataStepper:
    """Has all automata of a stage read the next events."""

    stage: Stage
    automata: tuple[AutomatonEvaluator, ...]
    owners: bool = False  # whether results say whose they are

    @classmethod
    def of(cls, steps: Iterable[EventStep], setting: Setting) -> list[AutomataStepper]:
        """One for all events whose automata fit into memory."""
        made = cls(setting.stage, setting.engine.automata, setting.owners)
        if any(bit is not None for bit in setting.stage.resets):
            for step in steps:
                if step.event.name not in made.events:
                    raise no_resets(step.event.name, "its automaton would not fit into memory")
        return [made] if made.automata else []

    @property
    def name(self) -> str:
        return Evaluator.AUTOMATON

    @property
    def events(self) -> tuple[str, ...]:
        return tuple(step.event.name for automaton in self.automata for step in automaton.steps)

    def start(self) -> AutomataCarry:
        return AutomataCarry(tuple(automaton.start() for automaton in self.automata), KeyBook.of(self.stage))

    def step(self, carry: AutomataCarry, arrived: Arrived) -> tuple[AutomataCarry, dict[str, MatchBatch]]:
        after, found = list(carry.automata), {}
        local, codes = carry.keys.local(arrived.rows)
        batch = event_batch(self.stage, arrived.rows, local)
        for number, (automaton, one) in enumerate(zip(self.automata, carry.automata, strict=True)):
            fresh, repeated = _without_ties(automaton, batch)
            if repeated is not None:
                arrived.tied.append(repeated)
            since = [arrived.since.get(step.event.name, -FOREVER) for step in automaton.steps] if arrived.since else []
            if max(since, default=-FOREVER) > arrived.after:
                after[number], results = step_since(automaton, one, _by_code(fresh, codes), since)
                named = codes[local]
            else:
                results = automaton.go_on(one, fresh, codes)
                named = local
            if self.owners:
                n_key_columns = len(self.stage.key_types)
                results = tuple(with_owners(some, arrived.rows, named, n_key_columns) for some in results)
            found.update({matches.event: matches for matches in results})
        return AutomataCarry(tuple(after), _tidied(carry.keys, after)), found

    def migrated(
        self, carry: AutomataCarry, before: AutomataStepper, layout: Layout, kept: frozenset[str]
    ) -> AutomataCarry:
        running = [Running(*pair) for pair in zip(before.automata, carry.automata, strict=True)]
        return AutomataCarry(
            tuple(carried_over(one, running, kept, layout.events) for one in self.automata), carry.keys
        )


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
