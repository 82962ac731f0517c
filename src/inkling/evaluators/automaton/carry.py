"""What automata keep between batches: open runs, and the events that a later result may still name."""

from __future__ import annotations

import numpy as np

from inkling.automata.memory import RunMemory
from inkling.automata.state import AutomatonState
from inkling.evaluators.automaton.kept import KeptEvents
from inkling.model.batch import EventBatch, Ints


class AutomatonCarry:
    """Runs and the events they hold, `numbers` being what the runs call them.

    It is held in one of two forms and changes over when the other one is asked for: as values, or as a memory that is
    changed in place, where an event's number is its place.
    """

    __slots__ = ("_memory", "_values")

    def __init__(self, runs: AutomatonState, rows: EventBatch | None, numbers: Ints, next_number: int) -> None:
        self._values: tuple[AutomatonState, EventBatch | None, Ints, int] | None = (runs, rows, numbers, next_number)
        self._memory: tuple[RunMemory, KeptEvents] | None = None

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

    def copy(self) -> AutomatonCarry:
        """Another one with the same values."""
        return AutomatonCarry(*self._as_values())

    def memory(self) -> tuple[RunMemory, KeptEvents]:
        """Runs and events to be changed in place."""
        if self._memory is None:
            runs, rows, numbers, _ = self._as_values()
            memory = RunMemory(runs)
            # numbers become places
            nodes = memory.nodes
            memory.nodes = nodes._replace(
                event=np.searchsorted(numbers, nodes.event), first=np.searchsorted(numbers, nodes.first)
            )
            self._memory = memory, KeptEvents() if rows is None else KeptEvents.of(rows)
        self._values = None
        return self._memory

    def rename_keys(self, codes: Ints) -> None:
        """Name keys by their places among these codes, which are all that occur, ascending."""
        self.memory()[0].rename(codes)

    def _as_values(self) -> tuple[AutomatonState, EventBatch | None, Ints, int]:
        if self._values is None:
            assert self._memory is not None
            memory, events = self._memory
            events.keep_only(memory.compact())
            n = len(events)
            self._values = memory.state(), events.batch() if n else None, np.arange(n), n
        return self._values
