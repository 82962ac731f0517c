"""The state of automata between batches: open runs by key, and the events that they contain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.automata.run.memory import RunMemory
from inkling.automata.run.state import AutomatonState
from inkling.evaluators.automaton.event_store import EventStore
from inkling.model.batch import EventBatch, Ints, one_after_the_other


class RunsState:
    """Runs and their events; `numbers` are the event numbers in the runs.

    The state has one of two forms and converts on demand: immutable values, or a memory that steps change in place, in
    which the number of an event is its place in the `EventStore`.
    """

    __slots__ = ("_memory", "_values")

    def __init__(self, runs: AutomatonState, rows: EventBatch | None, numbers: Ints, next_number: int) -> None:
        self._values: tuple[AutomatonState, EventBatch | None, Ints, int] | None = (runs, rows, numbers, next_number)
        self._memory: tuple[RunMemory, EventStore] | None = None

    @property
    def runs(self) -> AutomatonState:
        return self._as_values()[0]

    @property
    def rows(self) -> EventBatch | None:
        return self._as_values()[1]

    @property
    def numbers(self) -> Ints:
        """Of the events in `rows`, ascending."""
        return self._as_values()[2]

    @property
    def next_number(self) -> int:
        return self._as_values()[3]

    @property
    def n_keys(self) -> int:
        """How many keys have open runs."""
        return self._memory[0].n_keys if self._memory is not None else self.runs.n_keys

    def live_keys(self) -> Ints:
        return self._memory[0].live_keys() if self._memory is not None else self.runs.key

    def copy(self) -> RunsState:
        """A copy; values are immutable and shared."""
        return RunsState(*self._as_values())

    def as_stored(self) -> StoredRunsState:
        runs, rows, numbers, following = self._as_values()
        counted = np.array_equal(numbers, np.arange(len(numbers)))
        events = None if rows is None else _event_table(rows)
        return StoredRunsState(
            runs, events, None if rows is None else rows.place_words, None if counted else numbers, following
        )

    @classmethod
    def from_stored(cls, stored: StoredRunsState) -> RunsState:
        rows = None if stored.events is None else _events_of(stored.events, stored.words)
        numbers = np.arange(0 if rows is None else len(rows)) if stored.numbers is None else stored.numbers
        return cls(stored.runs, rows, numbers, stored.next_number)

    def memory(self) -> tuple[RunMemory, EventStore]:
        """Runs and events to be changed in place."""
        if self._memory is None:
            runs, rows, numbers, _ = self._as_values()
            memory = RunMemory(runs)
            # numbers become places
            nodes = memory.nodes
            memory.nodes = nodes._replace(
                event=np.searchsorted(numbers, nodes.event), first=np.searchsorted(numbers, nodes.first)
            )
            self._memory = memory, EventStore() if rows is None else EventStore.of(rows)
        self._values = None
        return self._memory

    def rename_keys(self, codes: Ints) -> None:
        """Renumbers keys by their place among these ascending codes, which include all keys."""
        self.memory()[0].rename(codes)

    def _as_values(self) -> tuple[AutomatonState, EventBatch | None, Ints, int]:
        if self._values is None:
            assert self._memory is not None
            memory, events = self._memory
            events.keep_only(memory.compact())
            n = len(events)
            self._values = memory.state(), events.batch() if n else None, np.arange(n), n
        return self._values


def only(state: RunsState, codes: Ints) -> RunsState:
    """The open runs of the keys with these ascending codes, and the events they hold."""
    return _with_events_of(state, state.runs.only(codes))


def without(state: RunsState, codes: Ints) -> RunsState:
    """The open runs of all other keys, and the events they hold."""
    return _with_events_of(state, state.runs.without(codes))


def renamed(state: RunsState, codes: Ints) -> RunsState:
    """The state with keys renumbered by their place among ascending codes, which include all keys."""
    return RunsState(state.runs.renamed(codes), state.rows, state.numbers, state.next_number)


def joined(one: RunsState, other: RunsState, codes: Ints) -> RunsState:
    """The runs of two states of different keys; key i of the second becomes `codes[i]`."""
    if not other.runs.n_keys:
        return RunsState(one.runs, one.rows, one.numbers, one.next_number)
    shift, nodes = one.next_number, other.runs.nodes
    moved = replace(
        other.runs,
        key=codes[other.runs.key],
        nodes=nodes._replace(event=nodes.event + shift, first=nodes.first + shift),
    )
    rows = [state.rows for state in (one, other) if state.rows is not None]
    events = reduce(one_after_the_other, rows) if rows else None
    numbers = np.concatenate([one.numbers, other.numbers + shift])
    return RunsState(one.runs.joined(moved), events, numbers, shift + other.next_number)


def _with_events_of(state: RunsState, runs: AutomatonState) -> RunsState:
    live = runs.live_events()
    if state.rows is None or not len(live):
        return RunsState(runs, None, live, state.next_number)
    rows = state.rows
    if len(live) < len(rows):
        rows = rows.take(np.searchsorted(state.numbers, live))
    return RunsState(runs, rows, live, state.next_number)


@dataclass(frozen=True, slots=True)
class StoredRunsState:
    """The stored form of runs; without `numbers`, events are numbered by place."""

    runs: AutomatonState
    events: pa.Table | None
    words: pa.Array | None
    numbers: Ints | None
    next_number: int


_COLUMN = "column "


def _event_table(batch: EventBatch) -> pa.Table:
    """The events of runs as a table; points have no start column."""
    columns: dict[str, Any] = {"end": batch.end, "place": batch.start_place}
    if not np.array_equal(batch.start, batch.end):
        columns["start"] = batch.start
    columns |= {f"{_COLUMN}{name}": column for name, column in batch.columns.items()}
    if batch.has_single_ids:
        columns["id"] = batch.ids
    else:
        columns["ids"] = pa.LargeListArray.from_arrays(pa.array(batch.id_offsets, pa.int64()), batch.ids)
    return pa.table(columns)


def _events_of(table: pa.Table, words: pa.Array | None) -> EventBatch:
    held = {name: table[name].combine_chunks() for name in table.column_names}
    end, place = held["end"].to_numpy(), held["place"].to_numpy()
    offsets = np.arange(len(table) + 1) if "id" in held else held["ids"].offsets.to_numpy()
    return EventBatch(
        np.zeros(len(table), np.int64),
        np.zeros(len(table), np.int16),
        held["start"].to_numpy() if "start" in held else end,
        place,
        end,
        place,
        end,
        np.arange(len(table)),
        np.broadcast_to(np.uint64(0), (len(table), 1 << 16)),  # predicate masks are not needed any more
        {name[len(_COLUMN) :]: column for name, column in held.items() if name.startswith(_COLUMN)},
        offsets,
        held["id"] if "id" in held else held["ids"].flatten(),
        words,
    )
